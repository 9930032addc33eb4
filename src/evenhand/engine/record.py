"""What stands beside a file of reports: how each column was made, and what is promised."""

from __future__ import annotations

import hashlib
from dataclasses import asdict, dataclass
from fractions import Fraction
from importlib import import_module
from typing import TYPE_CHECKING, Any, Literal, NoReturn

from evenhand._formats import format_number, version_fault
from evenhand.collect.joint.independent import Sampled
from evenhand.collect.joint.records import describe_column, strategy_from
from evenhand.collect.protocols.channel import MatrixChannel
from evenhand.collect.protocols.optimal import Optimal
from evenhand.collect.reports.layouts import BitsLayout, HashedLayout, SetLayout
from evenhand.engine.promise import Linkability
from evenhand.errors import EvenhandError
from evenhand.privacy.guarantees.guarantee import Guarantee
from evenhand.privacy.guarantees.in_clear import leak_of_domains
from evenhand.privacy.guarantees.units import Trust, Unit
from evenhand.privacy.rational import as_text
from evenhand.privacy.signing.notes import EVIDENCE, MOST_BYTES, hash_terms, parse_note, seal_note
from evenhand.table.source import over_limit, refuse

if TYPE_CHECKING:
    from collections.abc import Mapping

    from evenhand.collect.joint.strategy import Strategy
    from evenhand.collect.protocols.base import Protocol
    from evenhand.privacy.ledger import Entry
    from evenhand.privacy.signing.keys import SigningKey

FORMAT_NAME = "evenhand privatized"
FORMAT_NUMBER, SEALED, OLDEST = 4, 3, 2
FORMAT = f"{FORMAT_NAME} {FORMAT_NUMBER}"
"""The form of the record; another number means another form.

What the oldest lacks is the evidence, which is there from `SEALED` on; what both older ones lack is how many
rows link by the columns in the clear.
"""

_MOST_COLUMNS = 5_000
_MOST_ROWS = 1 << 53
_RNG = {False: "secure", True: "seeded"}
_FIELDS = {
    "format", "evenhand", "rng", "simulated", "file", "rows", "strategy", "epsilon", "columns", "in_clear",
    "schema", "inferred", "guarantee", "statement",
}  # fmt: skip


@dataclass(frozen=True)
class Record:
    """How a file of reports was made.

    Parameters
    ----------
    strategy : Strategy
        What made the reports; it names the columns.
    form : {"csv", "parquet"}
        The form of the file.
    rows : int
        How many people are in it.
    in_clear : tuple of str
        The columns that are in it as they were.
    schema : str
        The fingerprint of the schema beside it.
    simulated : bool
        Whether the reports were drawn with a seed.
    guarantee : Guarantee, optional
        What one person is promised; None for simulated reports.
    inferred : tuple of str
        The columns that are reported whose domains were read from the private rows, which is a leak.
    linkability : Linkability, optional
        How many rows link to one person each; None without columns in the clear, and if nobody measured it.
    """

    strategy: Strategy
    form: Literal["csv", "parquet"]
    rows: int
    in_clear: tuple[str, ...]
    schema: str
    simulated: bool
    guarantee: Guarantee | None
    inferred: tuple[str, ...] = ()
    linkability: Linkability | None = None

    def to_json(
        self,
        *,
        files: Mapping[str, str] | None = None,
        charge: Entry | None = None,
        key: SigningKey | None = None,
    ) -> bytes:
        """Return the record as the bytes of a JSON file, with the evidence by which changes are found.

        Parameters
        ----------
        files : mapping of str to str, optional
            The SHA-256 of the file of reports and of the schema beside it, by name.
        charge : Entry, optional
            The entry of the ledger that was charged.
        key : SigningKey, optional
            Who will sign it.
        """
        terms = self.to_dict()
        return seal_note(terms, files=files or {}, plan=plan_of(terms), charge=charge, key=key)

    def to_dict(self) -> dict[str, Any]:
        """Return what the record says of how the reports were made, without the evidence."""
        promise = self.guarantee
        return {
            "format": FORMAT,
            "evenhand": import_module("evenhand").__version__,  # it stands above all layers
            "rng": _RNG[self.simulated],
            "simulated": self.simulated,
            "file": self.form,
            "rows": self.rows,
            "strategy": self.strategy.name,
            "epsilon": as_text(self.strategy.epsilon),
            "columns": [self._column(place) for place in range(len(self.strategy.columns))],
            "in_clear": list(self.in_clear),
            "linkable": None if self.linkability is None else asdict(self.linkability),
            "schema": self.schema,
            "inferred": list(self.inferred),
            "guarantee": None if promise is None else promise.to_dict(),
            "statement": _SIMULATED if promise is None else str(promise),
        }

    def _column(self, place: int) -> dict[str, Any]:
        strategy = self.strategy
        law = strategy.protocols[strategy.columns[place]]
        sender = strategy.senders[0 if strategy.name == "combined" else place]
        column = describe_column(strategy, place)
        asked = {"asked": column.pop("asked")} if "asked" in column else {}
        return column | _probabilities(law) | _layout_numbers(sender) | asked

    @classmethod
    def from_json(cls, text: bytes, name: str) -> Record:
        """Return the record that the text of file `name` holds, or refuse it.

        Nothing in it is believed that can be computed: the probabilities must be those of the protocols, and
        the guarantee must be one that they keep.

        Raises
        ------
        UnreadableFileError
            If it is no record, is damaged, or contradicts itself.
        LimitExceededError
            If it is too long.
        """
        return cls.from_fields(fields_of(text, name), name)

    @classmethod
    def from_fields(cls, fields: Mapping[str, Any], name: str) -> Record:
        """Return the record that these fields of file `name` describe, or refuse it."""
        number = format_number(fields.get("format"), FORMAT_NAME)
        if number is None:
            refuse(name, "it is not what 'evenhand privatize' writes beside a file of reports.")
        fault = version_fault(number, newest=FORMAT_NUMBER, oldest=OLDEST, writer=fields.get("evenhand"))
        if fault:
            refuse(name, f"it {fault}")
        return _read_fields(fields, name, number)


def fields_of(text: bytes, name: str) -> dict[str, Any]:
    """Return the fields of a record's file, or refuse what is too long or no JSON object."""
    if len(text) > MOST_BYTES:
        over_limit(name, f"it is longer than {MOST_BYTES:,} bytes.", limit="bytes")
    return parse_note(text, name)


def plan_of(terms: Mapping[str, Any]) -> dict[str, Any]:
    """Return what a record says of the plan: what was to be reported, how, and for whom."""
    planned = ("strategy", "epsilon", "columns", "schema", "inferred")
    promise = terms["guarantee"]
    return {**{name: terms[name] for name in planned}, "unit": None if promise is None else promise["unit"]}


def digest_in_table(text: bytes, fields: Mapping[str, Any]) -> str:
    """Return what a Parquet file of reports says of its record: a hash over all but the evidence.

    The evidence has the hash of the Parquet file, which therefore cannot hold a hash of the evidence. A
    record of the oldest form has none, and its whole text counts.
    """
    is_sealed = fields["format"] != f"{FORMAT_NAME} {OLDEST}"
    return hash_terms(fields) if is_sealed else hashlib.sha256(text).hexdigest()


_SIMULATED = (
    "Simulated: drawn with a seed, for studies and tests. No guarantee holds: whoever has the seed can take "
    "the noise off."
)


def _probabilities(law: Protocol) -> dict[str, str]:
    """Return p and q; where a whole matrix takes their place, the protocol's own record has it."""
    if isinstance(law.channel, MatrixChannel):
        return {}
    return {"p": as_text(law.p_exact), "q": as_text(law.q_exact)}


def _layout_numbers(sender: Protocol) -> dict[str, int]:
    """Return what a reader in another language would have to work out from k and epsilon."""
    layout = sender.layout
    if isinstance(layout, SetLayout):
        return {"size": layout.size}
    if isinstance(layout, HashedLayout):
        family: Any = sender
        return {"buckets": layout.g, "word_bits": layout.width, "top_bits": family.family.top}
    return {"bits": layout.k} if isinstance(layout, BitsLayout) else {}


def _read_fields(fields: Mapping[str, Any], name: str, number: int) -> Record:
    more = {*(EVIDENCE if number >= SEALED else ()), *(("linkable",) if number > SEALED else ())}
    if fields.keys() != _FIELDS | more:
        refuse(name, "a field is missing or unknown.")
    rows, simulated, clear, read = fields["rows"], fields["simulated"], fields["in_clear"], fields["inferred"]
    right = (
        type(rows) is int
        and 0 <= rows < _MOST_ROWS
        and type(simulated) is bool
        and fields["rng"] == _RNG[simulated]
        and fields["file"] in ("csv", "parquet")
        and all(isinstance(fields[name], str) for name in ("evenhand", "schema", "statement"))
        and isinstance(clear, list)
        and len(clear) <= _MOST_COLUMNS
        and all(isinstance(column, str) for column in clear)
        and isinstance(read, list)
        and all(isinstance(column, str) for column in read)
    )
    if not right:
        _refuse_damaged(name)
    if simulated != (fields["guarantee"] is None):
        refuse(name, "collected reports have a guarantee, simulated ones none; here it is otherwise.")
    strategy = _read_strategy(fields, name)
    if read != [column for column in strategy.columns if column in read]:
        _refuse_damaged(name)
    promise = None if simulated else _read_guarantee(fields["guarantee"], strategy, name)
    if promise is not None and read and leak_of_domains(read) not in promise.assumptions:
        refuse(name, "its guarantee does not state that domains were read from private rows.")
    links = _read_linkability(fields.get("linkable"), clear, name)
    record = Record(
        strategy, fields["file"], rows, tuple(clear), fields["schema"], simulated, promise, tuple(read), links
    )
    computed = record.to_dict()
    if any(computed[name] != fields[name] for name in ("epsilon", "columns")):
        refuse(name, "its probabilities are not those of its protocols.")
    return record


def _read_linkability(fields: Any, clear: list[str], name: str) -> Linkability | None:
    if fields is None:
        return None
    right = (
        isinstance(fields, dict)
        and fields.keys() == {"unique_share", "is_sampled"}
        and type(fields["unique_share"]) is float
        and 0 <= fields["unique_share"] <= 1
        and type(fields["is_sampled"]) is bool
    )
    if not right or not set(Linkability(**fields).in_clear) <= set(clear):
        _refuse_damaged(name)
    return Linkability(**fields)


def _read_strategy(fields: Mapping[str, Any], name: str) -> Strategy:
    """Make the strategy again from the record of its columns."""
    columns = fields["columns"]
    if not isinstance(columns, list) or not 0 < len(columns) <= _MOST_COLUMNS:
        _refuse_damaged(name)
    try:
        return strategy_from(fields)
    except (EvenhandError, KeyError, TypeError, ArithmeticError, ValueError):
        refuse(
            name, "a protocol in it cannot be understood: a field is missing, unknown or of a wrong value."
        )


def _read_guarantee(fields: Any, strategy: Strategy, name: str) -> Guarantee:
    """Return the guarantee if the strategy keeps it."""
    try:
        claimed = Guarantee.from_dict(fields)
        least = _realised_epsilon(strategy)
    except (EvenhandError, KeyError, TypeError, AttributeError, ArithmeticError, ValueError):
        refuse(name, "its guarantee cannot be understood.")
    kept = (
        claimed.epsilon is not None
        and claimed.epsilon >= least
        and (claimed.unit, claimed.trust) in _allowed_terms(strategy)
        and claimed.group_size == 1
        and set(claimed.protects) <= set(strategy.columns)
    )
    if not kept:
        refuse(name, "it states a guarantee that its protocols do not keep.")
    return claimed


def _allowed_terms(strategy: Strategy) -> set[tuple[Unit, Trust]]:
    """Return for whom and against whom reports may promise something: more where rows were counted too."""
    local = {(Unit.ONE_PERSON, Trust.LOCAL), (Unit.ONE_REPORT, Trust.LOCAL)}
    if any(isinstance(sender, Optimal) and sender.origin == "noisy" for sender in strategy.senders):
        return local | {(Unit.REPLACE_ONE, Trust.CENTRAL)}
    return local


def _realised_epsilon(strategy: Strategy) -> Fraction:
    """Return the epsilon of what is drawn, exactly."""
    amounts = [sender.realised_epsilon for sender in strategy.senders]
    return max(amounts) if isinstance(strategy, Sampled) else sum(amounts, Fraction(0))


def _refuse_damaged(name: str) -> NoReturn:
    refuse(name, "it is damaged: a field has a value that it cannot have.")
