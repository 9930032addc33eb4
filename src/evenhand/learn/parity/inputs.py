"""What a post-processing is given, read and checked. No message holds a row's label or a number of rows."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.utils.multiclass import type_of_target

from evenhand._validate import kind_of, one_of, refuse, require_true_values
from evenhand.learn.columns import (
    RowGroups,
    declare_groups,
    encode_row_groups,
    places_among,
    places_among_groups,
)
from evenhand.learn.parity.bounds import check_confidence
from evenhand.learn.parity.closest import AIMS, Aim
from evenhand.learn.parity.closest_classes import MOST_CELLS
from evenhand.learn.parity.key import PersonKey
from evenhand.learn.training.people import read_people
from evenhand.measure.crossing import crossed_columns
from evenhand.privacy.accounting import check_rows_per_person
from evenhand.privacy.guarantees.units import Unit
from evenhand.privacy.rational import exact

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from evenhand.learn.training.people import People

OWNER = "ParityPostProcessor"
_MOST_GROUPS = 1_000
_TWO_CLASSES = "Only binary classification is supported."
_UNITS = (Unit.ADD_OR_REMOVE_ONE, Unit.REPLACE_ONE)


@dataclass(frozen=True)
class Settings:
    """The parameters, checked."""

    kind: str
    aim: Aim
    by_people: bool
    unit: Unit
    gap: Fraction
    epsilon: Fraction | None
    holdout: Fraction
    as_printed: bool
    rows_per_person: int = 1

    @property
    def needs_labels(self) -> bool:
        """Whether the table has the true labels in it."""
        return self.kind == "odds" or self.aim == "accuracy"


def read_settings(model: Any) -> Settings:
    """Return the parameters of the model, or refuse them."""
    kind = one_of("kind", model.kind, ("parity", "odds"), owner=OWNER)
    aim = one_of("aim", model.aim, AIMS, owner=OWNER)
    weights = one_of("weights", model.weights, ("people", "groups"), owner=OWNER)
    unit = one_of("unit", model.unit, _UNITS, owner=OWNER)
    printed = bool(model.as_printed)
    if printed and (kind, aim) != ("parity", "changes"):
        refuse("as_printed", OWNER, "False, except for kind='parity' and aim='changes'", model.as_printed)
    if model.key is not None and not isinstance(model.key, PersonKey):
        got, hint = kind_of(model.key), "PersonKey.generate() makes one."
        refuse("key", OWNER, "a PersonKey or None", got, hint=hint)
    epsilon = None if model.epsilon is None else exact(model.epsilon, name="epsilon", owner=OWNER, above=0)
    check_confidence(model.confidence)
    holdout = exact(model.holdout, name="holdout", owner=OWNER, above=0, most=1)
    if holdout == 1:
        refuse("holdout", OWNER, "a number between 0 and 1", model.holdout)
    return Settings(
        kind=kind,
        aim=aim,
        by_people=weights == "people" and not printed,
        unit=Unit.REPLACE_ONE if printed else Unit(unit),
        gap=exact(model.gap, name="gap", owner=OWNER, least=0, most=1),
        epsilon=epsilon,
        holdout=Fraction(round(holdout * 2**53), 2**53),
        as_printed=printed,
        rows_per_person=check_rows_per_person(model.rows_per_person, owner=OWNER),
    )


def declared_groups(groups: Any, estimator: Any) -> tuple[Any, ...] | None:
    """Return the labels of the groups as they were declared; None if they were not."""
    keys = tuple(estimator) if isinstance(estimator, Mapping) else None
    if keys is not None and not 2 <= len(keys) <= _MOST_GROUPS:
        refuse(
            "estimator",
            OWNER,
            f"a classifier, or a mapping from 2 to {_MOST_GROUPS:,} groups",
            "fewer or more",
        )
    if groups is None:
        return keys
    if isinstance(groups, str) or not hasattr(groups, "__iter__"):
        refuse("groups", OWNER, "a sequence of the labels of all groups", groups)
    listed = tuple(
        label.item() if isinstance(label, np.generic) else label for label in declare_groups(groups)
    )
    hashable = all(isinstance(label, Hashable) for label in listed)
    if not hashable or not 2 <= len(set(listed)) == len(listed) <= _MOST_GROUPS:
        refuse("groups", OWNER, f"a sequence of 2 to {_MOST_GROUPS:,} different labels", groups)
    if keys is not None and set(keys) != set(listed):
        refuse("groups", OWNER, "the labels that 'estimator' has a classifier for", groups)
    return listed


def read_group_codes(
    group: Any, known: Sequence[Any] | None, columns: tuple[str, ...] | None = None, *, place: str
) -> RowGroups:
    """Return the place of each row's group among the known ones, or among those found.

    Parameters
    ----------
    group : column, mapping or frame
        The group of each row, or the columns whose combinations are the groups.
    known : sequence, optional
        The labels of the groups.
    columns : tuple of str, optional
        The columns that the known groups are combinations of, which must be there; empty for one column.
    place : str
        Which method asks, for messages.
    """
    owner = f"{OWNER}.{place}"
    if group is None:
        refuse("group", owner, "the group of each row", None)
    if known is None:
        groups = encode_row_groups(group, owner=owner)
        if not 2 <= len(groups.labels) <= _MOST_GROUPS:
            refuse("group", owner, f"labels of 2 to {_MOST_GROUPS:,} groups", "others")
        return groups
    places = places_among_groups(
        group,
        known,
        owner=owner,
        columns=columns,
        must_be="labels of declared groups only",
        hint="no rate is known for a group that fit has not seen; groups_ lists those it has.",
    )
    crossed = tuple(crossed_columns(group) or ()) if columns is None else columns
    return RowGroups(places, list(known), crossed)


def read_class_places(y: Any, classes: Sequence[Any], *, place: str) -> NDArray[np.intp]:
    """Return the place of each label among the classes; no others may be there."""
    must_be = "labels that are classes of the estimator"
    return places_among(y, classes, name="y", owner=f"{OWNER}.{place}", must_be=must_be)


def order_classes(
    classes: tuple[Any, ...], positive: Any, settings: Settings, *, n_groups: int
) -> tuple[Any, ...]:
    """Return the classes in the order of the table: of two classes, the positive one last."""
    if len(classes) > 2:
        if n_groups * len(classes) > MOST_CELLS:
            must_be = f"such that groups times classes are at most {MOST_CELLS:,}"
            refuse("groups", OWNER, must_be, f"{n_groups * len(classes):,}")
        for name, given in (("kind", settings.kind == "odds"), ("as_printed", settings.as_printed)):
            if given:
                must_be = "left as it is with more than two classes: only kind='parity' takes them"
                refuse(name, OWNER, must_be, "another choice", hint=_TWO_CLASSES)
        if positive is not None:
            refuse("positive", OWNER, "left out with more than two classes", positive)
        return classes
    if positive is not None and positive not in classes:
        refuse("positive", OWNER, "a class of the classifier", positive)
    return classes[::-1] if positive == classes[0] else classes


def check_classes(y: Any, settings: Settings) -> None:
    """Refuse labels that are no classes, or of more classes than the kind of parity takes."""
    kind = _mixed_or_complex(y) or type_of_target(y, input_name="y")  # whose own errors may show the labels
    two = settings.kind == "odds" or settings.as_printed
    if kind not in ({"binary"} if two else {"binary", "multiclass"}):
        hint = f"{_TWO_CLASSES} The type of the target is {kind}." if two else ""
        if kind == "unknown" or not two:
            hint = "Unknown label type: labels are numbers or texts, all of one type."
        must_be = "labels of two classes" if two else "labels of two classes or more"
        refuse("y", f"{OWNER}.fit", must_be, f"a target of the type {kind}", hint=hint)


def _mixed_or_complex(y: Any) -> str:
    if np.iscomplexobj(y):
        return "complex"
    array = np.asarray(y)
    mixed = array.dtype.kind == "O" and len({type(label) for label in array.ravel().tolist()}) > 1
    return "unknown" if mixed else ""


def read_people_of(model: Any, person: Any, rows: int, settings: Settings) -> People:
    """Return whose rows there are; refuse several of one person where no proof covers them."""
    people = read_people(person, rows, most=settings.rows_per_person, owner=f"{OWNER}.fit")
    trains_groups = isinstance(model.estimator, Mapping) and not model.prefit
    if people.most > 1 and (settings.as_printed or trains_groups):
        hint = "the rows of one person may be of several groups; train one classifier for all of them."
        if settings.as_printed:
            hint = "the published noise is for one row of each person."
        must_be = "1 with 'as_printed', and where fit trains a classifier for each group"
        refuse("rows_per_person", OWNER, must_be, settings.rows_per_person, hint=hint)
    return people


def counts_training_rows(model: Any, settings: Settings) -> bool:
    """Return whether the rows trained the classifier, which is allowed as printed only."""
    if not model.prefit or model.held_out is True:
        return False
    if settings.as_printed and model.held_out is False:
        return True
    return refuse(
        "held_out",
        OWNER,
        "True, which says that no row given to fit trained the classifier",
        model.held_out,
        hint="rates of training rows are not those of new people; prefit=False keeps rows back.",
    )


def require_labels(model: Any, y: Any, settings: Settings) -> None:
    """Refuse to fit without labels where they are needed, and reports in their place."""
    require_true_values(y, name="y", owner=f"{OWNER}.fit")
    if y is None and (settings.needs_labels or not model.prefit):
        refuse(
            "y",
            f"{OWNER}.fit",
            "an array of labels for kind='odds', for aim='accuracy' and for prefit=False",
            None,
            hint="this ParityPostProcessor requires y to be passed, but the target y is None.",
        )
