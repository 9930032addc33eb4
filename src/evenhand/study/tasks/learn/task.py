"""The task of learning: which classifiers are trained by which methods, with how much privacy."""

from __future__ import annotations

from dataclasses import dataclass
from numbers import Real
from typing import TYPE_CHECKING, Any, ClassVar, NoReturn

from evenhand._validate import boolean, integer, one_of
from evenhand.errors import InvalidParameterError
from evenhand.privacy.rational import as_text, exact
from evenhand.study.plan.cells import Setting
from evenhand.study.tasks.base import Task
from evenhand.study.tasks.effects.classifiers import SPREADS
from evenhand.study.tasks.learn.measures import LEARN_MEASURES, LEARN_RATES
from evenhand.study.tasks.learn.methods import DEFAULT_METHODS, METHODS, PLAIN, method_named
from evenhand.study.tasks.shared.fields import distinct, epsilons_of, participle, several, share
from evenhand.study.tasks.shared.parts import overlap_of
from evenhand.study.tasks.shared.table_mechanisms import NO_GUARANTEE, UNITS

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from fractions import Fraction

    from evenhand.study.tasks.measure import Measure

_OWNER = "LearnTask"
_LARGEST_STRENGTH = 1e6


@dataclass(frozen=True, init=False)
class LearnTask(Task):
    """Train a classifier by each method with each epsilon, test it on true rows, and compare the groups.

    All methods learn from the same features, which :class:`evenhand.learn.PublicEncoder` makes from the
    schema alone, and are compared with plain logistic regression, which is always part of the study.

    Parameters
    ----------
    methods : name or list of names
        Of :data:`evenhand.study.tasks.learn.methods.METHODS`: ``"plain"``, ``"plain+parity"``, ``"dp"``,
        ``"dp+parity"``, ``"fermi"``, ``"fermi+parity"``, ``"dp+projection"`` and ``"local"``.
    epsilons : number or list of numbers
        What one person is promised in all; for ``"local"`` by their report.
    delta : number, default 1e-5
        Of every private method but ``"local"``, which has none.
    gap : float, default 0
        How far apart the rates of two groups may be after parity.
    unit : {"add or remove one", "replace one"}
        What may change between two sets of training rows. Training and parity each have the whole epsilon,
        as a coin for each row, whatever is in it, says which of the two sees it.
    holdout : float, default 0.25
        The share of training rows that go to parity and not to training.
    test : float, default 0.25
        The share of rows that are held out for the test, stratified by the target.
    group_as_input : bool, default False
        Whether the protected column is one of the features.
    strength : float, optional
        How much DP-FERMI weighs independence against accuracy; its own default if left out.
    epochs : int, optional
        How often training goes through the rows on average; each classifier's own default if left out.
    unwanted : bool, default False
        Whether the positive decision hurts who gets it, as a flag or a denial does. It changes how results
        are read, not what is run.
    called : str, default ""
        The participle by which the positive decision is called on pages, such as ``"hired"``.

    Examples
    --------
    >>> task = LearnTask(["dp", "dp + parity"], [1, 3])
    >>> for setting in task.settings():
    ...     print(setting)
    DP, ε = 1
    DP, ε = 3
    DP + parity, ε = 1
    DP + parity, ε = 3
    """

    methods: tuple[str, ...]
    epsilons: tuple[Fraction, ...]
    delta: Fraction
    gap: float
    unit: str
    holdout: float
    test: float
    group_as_input: bool
    strength: float | None
    epochs: int | None
    unwanted: bool
    called: str

    kind: ClassVar[str] = "learn"
    effect_names: ClassVar[tuple[str, ...]] = tuple(SPREADS)
    checks: ClassVar[tuple[str, ...]] = ("people", "groups", "outcomes", "proxies")
    key_measures: ClassVar[tuple[str, ...]] = ("acc", "sp_gap", "fair_gap", "bound")
    unweighted: ClassVar[str] = "shares of decisions that change or flip, the gap of equal rates, and bounds"
    packages: ClassVar[tuple[str, ...]] = ("dp-accounting",)

    def __init__(  # noqa: PLR0913 - one keyword for each field
        self,
        methods: Any = DEFAULT_METHODS,
        epsilons: Any = (1, 3),
        *,
        delta: Any = "1e-5",
        gap: float = 0.0,
        unit: str = "add or remove one",
        holdout: float = 0.25,
        test: float = 0.25,
        group_as_input: bool = False,
        strength: float | None = None,
        epochs: int | None = None,
        unwanted: bool = False,
        called: str = "",
    ) -> None:
        named = [method_named(each) for each in several(methods, "methods", owner=_OWNER)]
        switch: object = group_as_input
        if not isinstance(switch, bool):
            _refuse("group_as_input", "true or false", switch)
        made = {
            "methods": distinct("methods", named, owner=_OWNER),
            "epsilons": epsilons_of(epsilons, owner=_OWNER, most=1_000),
            "delta": _delta(delta),
            "gap": _number("gap", gap, low=0.0, high=1.0),
            "unit": one_of("unit", unit, UNITS, owner=_OWNER),
            "holdout": share("holdout", holdout, owner=_OWNER),
            "test": share("test", test, owner=_OWNER),
            "group_as_input": group_as_input,
            "strength": None
            if strength is None
            else _number("strength", strength, low=0.0, high=_LARGEST_STRENGTH),
            "epochs": None if epochs is None else integer("epochs", epochs, owner=_OWNER, low=1, high=10_000),
            "unwanted": boolean("unwanted", unwanted, owner=_OWNER),
            "called": participle(called, owner=_OWNER),
        }
        for name, value in made.items():
            object.__setattr__(self, name, value)

    # --- what is asked ----------------------------------------------------------------------------

    def is_first_step(self, setting: Setting) -> bool:
        """Return whether a setting is private and nothing else: no parity, no projection, no penalty."""
        method = METHODS[setting.mechanism]
        return method.takes_epsilon and not method.then and method.base != "fermi"

    def settings(self) -> Iterator[Setting]:
        """Yield every setting once, but for the plain one: each method with each epsilon if it has one."""
        for name in self.methods:
            if name == PLAIN:
                continue
            for epsilon in self.epsilons if METHODS[name].takes_epsilon else (None,):
                yield Setting(name, epsilon, label=METHODS[name].title)

    @property
    def measures(self) -> Mapping[str, Measure]:
        """Return what every cell measures."""
        return LEARN_MEASURES

    @property
    def group_numbers(self) -> Mapping[str, Measure]:
        """Return what every cell tells of each group."""
        return LEARN_RATES

    @property
    def overlap(self) -> float:
        """Test rows per training row of one repeat."""
        return overlap_of(self.test)

    @property
    def needs_accounting(self) -> bool:
        """Return whether a method's noise is calibrated by the package of the extra ``dp``."""
        return any(METHODS[name].needs_accounting for name in self.methods)

    # --- files ------------------------------------------------------------------------------------

    @property
    def fixed(self) -> dict[str, Any]:
        """Return what all cells share, in JSON's types: everything but the grid and how results are read."""
        numbers = {name: getattr(self, name) for name in ("gap", "holdout", "test", "strength")}
        return {
            "kind": self.kind,
            "delta": as_text(self.delta),
            "unit": self.unit,
            "group_as_input": self.group_as_input,
            "epochs": self.epochs,
            **{
                name: None if value is None else {"float": float(value).hex()}
                for name, value in numbers.items()
            },
        }

    def to_toml(self) -> dict[str, Any]:
        """Return the task as the ``[task]`` table of a plan file."""
        chosen = {"strength": self.strength, "epochs": self.epochs}
        read = {"unwanted": self.unwanted, "called": self.called}
        return {
            "kind": self.kind,
            "methods": list(self.methods),
            "epsilons": [as_text(each) for each in self.epsilons],
            "delta": as_text(self.delta),
            "gap": self.gap,
            "unit": self.unit,
            "holdout": self.holdout,
            "test": self.test,
            "group_as_input": self.group_as_input,
            **{name: value for name, value in chosen.items() if value is not None},
            **{name: value for name, value in read.items() if value},
        }


def _delta(given: object) -> Fraction:
    must_be = f"a number > 0 and < {NO_GUARANTEE:g}, from which on nothing meaningful is promised"
    try:
        delta = exact(given, name="delta", owner=_OWNER, above=0, most=1)
    except InvalidParameterError:
        _refuse("delta", must_be, given)
    if float(delta) >= NO_GUARANTEE:
        _refuse("delta", must_be, given)
    return delta


def _number(name: str, value: object, *, low: float, high: float) -> float:
    if isinstance(value, bool) or not isinstance(value, Real) or not low <= float(value) <= high:
        _refuse(name, f"a number from {low:g} to {high:g}", value)
    return float(value)


def _refuse(parameter: str, must_be: str, got: object) -> NoReturn:
    raise InvalidParameterError(parameter, owner=_OWNER, must_be=must_be, got=got)
