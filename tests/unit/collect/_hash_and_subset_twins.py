"""Local hashing and subset selection once more: slow, obvious, in Python integers.

They read the words of a source in the order in which the kernels do, so that the same words must give the
same reports.
"""

import math

GRID = 1 << 53


def slow_bucket(family, multiplier, offset, value):
    """The formula of the family, in integers without a width."""
    mixed = (multiplier * value + offset) % 2**family.width
    return (mixed >> (family.width - family.top)) * family.g >> family.top


def slow_hashed(protocol, codes, words):
    """Return (multiplier, offset, bucket) of each person: first all hash functions, then all steps."""
    words = [int(word) for word in words]
    family, n = protocol.family, len(codes)
    per_report = family.width // 32
    seeds = words[: n * per_report]
    if family.width == 32:
        pairs = [(word % 2**32, word >> 32) for word in seeds]
    else:
        pairs = list(zip(seeds[::2], seeds[1::2], strict=True))
    tape = iter(b"".join(word.to_bytes(8, "little") for word in words[n * per_report :]))
    reports = []
    for code, (multiplier, offset) in zip(codes, pairs, strict=True):
        step = _slow_step(protocol, tape)
        bucket = slow_bucket(family, multiplier, offset, int(code))
        reports.append((multiplier, offset, (bucket + step) % protocol.g))
    return reports


def _slow_step(protocol, tape):
    """Read one byte; read six more only if some number that starts with it has another step."""
    first = next(tape)

    def step_of(number):
        step = number // int(protocol.flip_exact * GRID) + 1
        return step if step < protocol.g else 0

    low, high = first << 45, (first << 45) + 2**45 - 1
    if step_of(low) == step_of(high):
        return step_of(low)
    rest = int.from_bytes(bytes(next(tape) for _ in range(6)), "little") % 2**45
    return step_of(low + rest)


def slow_supports(protocol, report, value):
    multiplier, offset, bucket = (int(each) for each in report)
    return slow_bucket(protocol.family, multiplier, offset, value) == bucket


def slow_subsets(protocol, codes, words):
    """Return the list that each person reports, drawn in groups of at most 1024 units."""
    tape = iter([half for word in words for half in (int(word) % 2**32, int(word) >> 32)])
    in_pairs = protocol.k <= 2**14
    bounds = _slow_bounds(protocol, in_pairs=in_pairs)
    decks = [list(range(protocol.k - 1)) for _ in range(4)]
    group = max(1, 1024 // (1 + len(bounds)) // 4 * 4)
    reports = []
    for start in range(0, len(codes), group):
        members = [int(code) for code in codes[start : start + group]]
        drawn = _slow_group(tape, len(members), bounds, int(protocol.p_exact * GRID))
        for index, (code, (named, choices)) in enumerate(zip(members, drawn, strict=True)):
            alone = not in_pairs or index >= len(members) // 4 * 4
            deck = decks[0 if alone else index % 4]
            place, *partners = choices[: protocol.size + 1]
            for column, partner in enumerate(partners):
                _swap(deck, column, column + partner)
            listed = [other + (other >= code) for other in deck[: protocol.size]]
            if named:
                listed[place] = code
            reports.append(listed)
    return reports


def _slow_bounds(protocol, *, in_pairs):
    """The place and the partners of the swaps, two to a unit or one."""
    bounds = [protocol.size, *(protocol.k - 1 - column for column in range(protocol.size))]
    return (
        [bounds[at : at + 2] for at in range(0, len(bounds), 2)] if in_pairs else [[each] for each in bounds]
    )


def _slow_group(tape, reports, bounds, chance):
    """Return (named, choices) of each report: first all units, then those for ties, then those redrawn."""
    units = [[next(tape) for _ in range(1 + len(bounds))] for _ in range(reports)]
    named = [number < chance >> 21 for number, *_ in units]
    for index, (number, *_) in enumerate(units):
        if number == chance >> 21:
            named[index] = next(tape) >> 11 < chance % 2**21
    choices = []
    for _, *rest in units:
        numbers = [
            _slow_below(tape, unit, math.prod(bound)) for unit, bound in zip(rest, bounds, strict=True)
        ]
        split = [
            divmod(number, bound[1]) if bound[1:] else (number,)
            for number, bound in zip(numbers, bounds, strict=True)
        ]
        choices.append([choice for both in split for choice in both])
    return list(zip(named, choices, strict=True))


def _swap(deck, one, other):
    deck[one], deck[other] = deck[other], deck[one]


def _slow_below(tape, unit, bound):
    while unit * bound % 2**32 < 2**32 % bound:
        unit = next(tape)
    return unit * bound >> 32


def slow_mend(chosen, wanted, others, places):
    """Add or remove places, drawn one after the other, until `wanted` are chosen."""
    while len(chosen) < wanted:
        place = next(places)
        if place < others:
            chosen.add(place)
    while len(chosen) > wanted:
        chosen.discard(next(places))


def slow_maps(protocol, codes, words, *, mend=slow_mend):
    """Return the set that each person of a protocol with large sets reports, in ascending order."""
    tape = iter(int(word) for word in words)
    others, (numerator, digits) = protocol.k - 1, protocol._share
    reports = []
    for code in codes:
        named = next(tape) >> 11 < int(protocol.p_exact * GRID)
        levels = [[next(tape) for _ in range(math.ceil(protocol.k / 64))] for _ in range(digits)]
        numbers = [
            sum((level[place // 64] >> place % 64 & 1) << digit for digit, level in enumerate(levels))
            for place in range(others)
        ]
        chosen = {place for place, number in enumerate(numbers) if number >= 2**digits - numerator}
        mend(chosen, protocol.size - named, others, _slow_places(tape, (others - 1).bit_length()))
        values = {protocol.k - 1 if place == code else place for place in chosen}
        reports.append(sorted(values | {int(code)} if named else values))
    return reports


def _slow_places(tape, bits):
    """As many places as fit a word, low end first; what is left of the last word is not used."""
    while True:
        word = next(tape)
        for shift in range(0, 64 - bits + 1, bits):
            yield word >> shift & (2**bits - 1)
