"""The task of a release: which table is published by which mechanisms, and what is made of it."""

from __future__ import annotations

import shlex
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from evenhand._validate import integer, one_of
from evenhand.errors import InvalidParameterError
from evenhand.privacy.rational import as_text
from evenhand.release.mechanisms.registry import MECHANISMS, TableMechanism
from evenhand.release.postprocess.registry import checked_step
from evenhand.study.tasks.base import Task, refuse_field
from evenhand.study.tasks.measure import CLASSIFIER_MEASURES, CLASSIFIER_RATES
from evenhand.study.tasks.release.measures import GROUP_NUMBERS, RELEASE_MEASURES, SIZE_NUMBERS, SIZES
from evenhand.study.tasks.shared.fields import distinct, epsilons_of, several, share, typed_list
from evenhand.study.tasks.shared.parts import overlap_of
from evenhand.study.tasks.shared.table_mechanisms import JOIN, NO_STEPS, UNITS, table_setting
from evenhand.study.tasks.shared.wording import mechanism_name

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from fractions import Fraction

    from evenhand.schema import Schema
    from evenhand.study.plan.cells import Setting
    from evenhand.study.plan.source import DataSource
    from evenhand.study.tasks.measure import Measure

PARAMETERS = ("threshold", "fill", "k", "fraction", "delta", "rho")
"""The parameters of mechanisms that `evenhand release` has an option for."""

WITH_QUASI_IDENTIFIERS = ("record-swapping", "k-anonymity")
"""The mechanisms that are tried as well where a schema says what others may know."""

STATED = 1
"""The epsilon at which delta is stated for a mechanism that has no epsilon of its own."""

_OWNER = "ReleaseTask"


@dataclass(frozen=True, init=False)
class ReleaseTask(Task):
    """Publish a table of counts by each mechanism with each epsilon, and compare it with the true one.

    Parameters
    ----------
    columns : name or list of names
        The columns of the table. The protected column is one of them, and so is the target if a model is
        trained.
    mechanisms : name, TableMechanism, mapping, or list of them
        Of :data:`evenhand.release.MECHANISMS`; one that has no epsilon is run once.
    epsilons : number or list of numbers
    unit : {"replace one", "add or remove one"}
        Sets the noise of mechanisms that have one.
    bound : int, optional
        A public bound on the count of a cell. Never one that was read from the rows.
    post : name or list of names, default ()
        Steps of post-processing in order, such as ``"nonnegative"`` or ``"sum_to=5000"``; see
        :mod:`evenhand.release.postprocess.registry`.
    compare_post : name or list of names, default ()
        Other post-processing, tried as well where noise may make counts negative: steps joined by ``+``, such
        as ``"nonnegative"``, or ``"none"``.
    classify : bool, default True
        Whether to train logistic regression on the rows that the published counts stand for, and test it on
        true rows. Then the table is that of the training rows, otherwise that of all.
    test : float, default 0.2
        The share of rows that are held out for that, stratified by the target.
    draws : int, default 100
        How many releases are averaged where the bias has no formula.

    Examples
    --------
    >>> task = ReleaseTask(["race", "sex"], ["laplace", "suppression"], [0.5, 1], classify=False)
    >>> for setting in task.settings():
    ...     print(setting)
    Laplace noise, ε = 0.5
    Laplace noise, ε = 1
    Suppression, threshold=6
    """

    columns: tuple[str, ...]
    mechanisms: tuple[TableMechanism, ...]
    epsilons: tuple[Fraction, ...]
    unit: str
    bound: int | None
    post: tuple[str, ...]
    compare_post: tuple[str, ...]
    classify: bool
    test: float
    draws: int

    kind: ClassVar[str] = "release"
    audit_epsilons: ClassVar[tuple[str, ...]] = ("0.5", "1", "2", "4")
    audit_mechanisms: ClassVar[tuple[str, ...]] = (
        "laplace", "thresholded-laplace", "suppression", "noisy-suppression",
    )  # fmt: skip
    keeps_schema: ClassVar[bool] = True
    effect_names: ClassVar[tuple[str, ...]] = ("counted", "hidden", "invented", "off")
    checks: ClassVar[tuple[str, ...]] = ("people",)
    key_measures: ClassVar[tuple[str, ...]] = ("delta", "l1_error", "alpha", "acc")

    def __init__(
        self,
        columns: Any,
        mechanisms: Any = ("laplace",),
        epsilons: Any = (1,),
        *,
        unit: str = "replace one",
        bound: int | None = None,
        post: Any = (),
        compare_post: Any = (),
        classify: bool = True,
        test: float = 0.2,
        draws: int = 100,
    ) -> None:
        named = several(columns, "columns", owner=_OWNER)
        for name in named:
            if not isinstance(name, str) or not name:
                raise InvalidParameterError("columns", owner=_OWNER, must_be="names of columns", got=name)
        wanted = [TableMechanism.of(each) for each in several(mechanisms, "mechanisms", owner=_OWNER)]
        amounts = epsilons_of(epsilons, owner=_OWNER)
        unit = one_of("unit", unit, UNITS, owner=_OWNER)
        steps, others = (
            tuple(each) if isinstance(each, list | tuple) else (each,) for each in (post, compare_post)
        )
        switch: object = classify
        if not isinstance(switch, bool):
            raise InvalidParameterError("classify", owner=_OWNER, must_be="true or false", got=switch)
        made = {
            "columns": distinct("columns", named, owner=_OWNER),
            "mechanisms": distinct("mechanisms", wanted, owner=_OWNER),
            "epsilons": amounts,
            "unit": unit,
            "bound": None if bound is None else integer("bound", bound, owner=_OWNER, low=1, high=2**40),
            "post": tuple(checked_step(each) for each in steps),
            "compare_post": distinct("compare_post", [_checked_steps(each) for each in others], owner=_OWNER),
            "classify": classify,
            "test": share("test", test, owner=_OWNER),
            "draws": integer("draws", draws, owner=_OWNER, low=2, high=1_000_000),
        }
        for each in wanted:
            each.check(epsilon=min(amounts), unit=unit)
        for name, value in made.items():
            object.__setattr__(self, name, value)

    def settings(self) -> Iterator[Setting]:
        """Yield every setting once: each mechanism with each epsilon, and without one where it has none."""
        for mechanism in self.mechanisms:
            noisy = MECHANISMS[mechanism.name].may_be_negative
            for post in (None, *(self.compare_post if noisy else ())):
                for epsilon in self.epsilons if mechanism.takes_epsilon else (None,):
                    yield table_setting(mechanism, epsilon, post=post)

    def name_setting(self, setting: Setting) -> str:
        """Return a setting with its parameters in words, as the report has them."""
        return str(replace(setting, label=mechanism_name(setting)))

    def post_of(self, setting: Setting) -> tuple[str, ...]:
        """Return the steps of post-processing of a setting, in order."""
        if "post" not in setting.options:
            return self.post
        return tuple(step for step in str(setting.option("post")).split(JOIN) if step != NO_STEPS)

    @property
    def measures(self) -> Mapping[str, Measure]:
        """Return what every cell measures: of the table, and of a model if one is trained."""
        return {**RELEASE_MEASURES, **(CLASSIFIER_MEASURES if self.classify else {})}

    @property
    def group_numbers(self) -> Mapping[str, Measure]:
        """Return what every cell tells of each group."""
        return {**GROUP_NUMBERS, **(CLASSIFIER_RATES if self.classify else {})}

    @property
    def data_numbers(self) -> tuple[str, ...]:
        """Numbers of each class of cells by size, such as ``error_1_2``."""
        return tuple(f"{part}_{size.key}" for part in SIZE_NUMBERS for size in SIZES)

    @property
    def used_packages(self) -> tuple[str, ...]:
        """Other packages whose mechanisms are used."""
        return MECHANISMS.packages(mechanism.name for mechanism in self.mechanisms)

    @property
    def overlap(self) -> float:
        """Test rows per training row of one repeat."""
        return overlap_of(self.test)

    # --- running and reading ----------------------------------------------------------------------

    def next_command(self, setting: Setting, schema: Schema, *, data: str, file: str) -> str:
        """Return ``evenhand release`` as the setting tested it, with the schema that was tested."""
        return self._release_command(setting, schema, [data, "--schema", file], name=Path(data).stem)

    def data_set_command(self, setting: Setting, schema: Schema, *, data: DataSource | None) -> str:
        """Return the same for a data set that is called by its name; an empty text for a file."""
        if data is None or data.dataset is None or data.options or data.rows is not None:
            return ""
        return self._release_command(setting, schema, [data.dataset], name=data.dataset)

    def _release_command(self, setting: Setting, schema: Schema, rows: list[str], *, name: str) -> str:
        typed = {name: value for name, value in setting.options.items() if name in PARAMETERS}
        usual = TableMechanism(setting.mechanism).parameters
        fixed = {name: value for name, value in setting.options.items() if name not in (*PARAMETERS, "post")}
        if any(usual.get(parameter) != value for parameter, value in fixed.items()):
            return ""
        words = [*rows, "--columns", typed_list(self.columns)]
        words += ["--quasi", typed_list(schema.quasi_identifiers)] if schema.quasi_identifiers else []
        words += ["--mechanism", setting.mechanism]
        words += [] if setting.epsilon is None else ["--epsilon", as_text(setting.epsilon)]
        words += [word for parameter, value in typed.items() for word in (f"--{parameter}", str(value))]
        has_unit = "unit" in MECHANISMS[setting.mechanism].parameter_names()
        words += ["--unit", self.unit] if has_unit and self.unit != UNITS[0] else []
        words += [] if self.bound is None else ["--bound", str(self.bound)]
        words += ["--post", ",".join(self.post_of(setting))] if self.post_of(setting) else []
        return shlex.join(["evenhand", "release", *words, "--out", f"{name}-{setting.mechanism}.csv"])

    # --- files ------------------------------------------------------------------------------------

    @property
    def fixed(self) -> dict[str, Any]:
        """Return what all cells share, in JSON's types: everything but the grid."""
        return {
            "kind": self.kind,
            "columns": list(self.columns),
            "unit": self.unit,
            "bound": self.bound,
            "post": list(self.post),
            "classify": self.classify,
            "test": {"float": self.test.hex()} if self.classify else None,
            "draws": self.draws,
        }

    def to_toml(self) -> dict[str, Any]:
        """Return the task as the ``[task]`` table of a plan file."""
        bound = {} if self.bound is None else {"bound": self.bound}
        return {
            "kind": self.kind,
            "columns": list(self.columns),
            "mechanisms": [each.plain for each in self.mechanisms],
            "epsilons": [as_text(each) for each in self.epsilons],
            "unit": self.unit,
            **bound,
            "post": list(self.post),
            **({"compare_post": list(self.compare_post)} if self.compare_post else {}),
            "classify": self.classify,
            "test": self.test,
            "draws": self.draws,
        }

    @classmethod
    def from_toml(cls, table: Mapping[str, Any]) -> Task:
        """Return the task of a ``[task]`` table without its kind."""
        if "columns" not in table:
            refuse_field("task.columns", "is missing. Hint: name the columns of the table that is published.")
        return cls(**table)

    @classmethod
    def field_of(cls, error: Exception) -> str:
        """Return the field that an error of the constructor is about."""
        return getattr(error, "parameter", "mechanisms")


def _checked_steps(steps: object) -> str:
    """Return steps of post-processing as a setting has them, joined by ``+``; ``none`` for none."""
    if steps == NO_STEPS:
        return NO_STEPS
    try:
        return JOIN.join(checked_step(step) for step in str(steps).split(JOIN))
    except InvalidParameterError as error:
        must_be = f"'{NO_STEPS}', or {error.must_be} with + between them"
        raise InvalidParameterError("compare_post", owner=_OWNER, must_be=must_be, got=steps) from None


# --- what the command line and the workbench share ------------------------------------------------


def default_mechanisms(*, has_quasi_identifiers: bool) -> tuple[str, ...]:
    """Return the mechanisms that are compared where nobody names any."""
    return ReleaseTask.audit_mechanisms + (WITH_QUASI_IDENTIFIERS if has_quasi_identifiers else ())


def roles_to_train(schema: Schema) -> tuple[str, ...]:
    """Return the roles that a model needs beside the target: of crossed groups none is privileged."""
    return ("positive",) if schema.crossing is not None else ("positive", "privileged")


def trains_model(schema: Schema) -> bool:
    """Return whether a schema has all that a model needs that is trained on the published table."""
    return all(getattr(schema, role) is not None for role in ("target", *roles_to_train(schema)))
