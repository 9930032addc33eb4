"""Local hashing and subset selection once more: slow, obvious, in Python integers.

They read the words of a source in the order in which the kernels do, so that the same words must give the
same reports.
"""

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
    """Return the list that each person reports."""
    tape = iter([half for word in words for half in (int(word) % 2**32, int(word) >> 32)])
    deck = list(range(protocol.k - 1))
    chance, pairs = int(protocol.p_exact * GRID), protocol.k <= 2**14
    reports = []
    for code in codes:
        number = next(tape)
        named = number < chance >> 21
        if number == chance >> 21:
            named = next(tape) >> 11 < chance % 2**21
        place = _slow_below(tape, protocol.size)
        _shuffle(tape, deck, protocol.size, pairs=pairs)
        listed = [other + (other >= code) for other in deck[: protocol.size]]
        if named:
            listed[place] = int(code)
        reports.append(listed)
    return reports


def _shuffle(tape, deck, size, *, pairs):
    column = 0
    while column < size:
        first = len(deck) - column
        second = first - 1 if pairs and column + 1 < size else 1
        both = _slow_below(tape, first * second)
        _swap(deck, column, column + both // second)
        if second > 1:
            _swap(deck, column + 1, column + 1 + both % second)
        column += 2 if pairs else 1


def _swap(deck, one, other):
    deck[one], deck[other] = deck[other], deck[one]


def _slow_below(tape, bound):
    while True:
        product = next(tape) * bound
        if product % 2**32 >= 2**32 % bound:
            return product >> 32
