"""The classifier below a post-processing: one for all groups, or one for each."""

from __future__ import annotations

import inspect
from collections.abc import Mapping
from copy import deepcopy
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from sklearn.base import clone
from sklearn.utils import _safe_indexing
from sklearn.utils.validation import check_is_fitted

from evenhand._validate import kind_of, refuse
from evenhand.collect.privatizer.spent import Spending
from evenhand.collect.reports.streams import stream_for
from evenhand.learn.parity.inputs import OWNER
from evenhand.learn.training.fits import remember_rows, trained_on
from evenhand.privacy.guarantees.guarantee import Guarantee
from evenhand.privacy.sampling import bernoulli

if TYPE_CHECKING:
    from collections.abc import Sequence
    from fractions import Fraction

    from numpy.typing import NDArray

    from evenhand.privacy.ledger import AnyLedger
    from evenhand.privacy.randomness import Source


def take_rows(X: Any, places: NDArray[np.intp]) -> Any:
    """Return some rows of an array, a list or a frame."""
    return _safe_indexing(X, places)


class Rows(NamedTuple):
    """Features, labels if there are any, the places of the groups, and whose rows these are if it is told."""

    X: Any
    y: Any
    codes: NDArray[np.intp]
    people: NDArray[np.intp] | None = None

    def where(self, chosen: Any) -> Rows:
        """Return some of the rows."""
        places = np.arange(len(self.codes))[chosen]
        people = None if self.people is None else self.people[places]
        labels = None if self.y is None else take_rows(self.y, places)
        return Rows(take_rows(self.X, places), labels, self.codes[places], people)

    def draw_coins(self, chance: Fraction, source: Source) -> NDArray[np.bool_]:
        """Return a coin for each row, the same for all rows of one person."""
        if self.people is None:
            return bernoulli(chance, size=len(self.codes), source=source)
        persons, place = np.unique(self.people, return_inverse=True)
        return np.asarray(bernoulli(chance, size=len(persons), source=source)[place])


@dataclass(frozen=True, eq=False)
class Base:
    """A classifier for everybody (`single`), or one for each group in the order of the groups.

    Attributes
    ----------
    models : tuple of classifiers
        One, or as many as there are groups.
    labels : tuple
        The labels of the groups.
    columns : tuple of str
        The columns whose combinations are the groups; none of them if the group is one column.
    """

    models: tuple[Any, ...]
    labels: tuple[Any, ...]
    single: bool
    columns: tuple[str, ...] = ()

    @classmethod
    def of(cls, estimator: Any, labels: tuple[Any, ...], columns: tuple[str, ...] = ()) -> Base:
        """Return the classifiers as they were given."""
        decoupled = isinstance(estimator, Mapping)
        models = tuple(estimator[label] for label in labels) if decoupled else (estimator,)
        for model in models:
            if isinstance(model, type) or not hasattr(model, "predict"):
                refuse(
                    "estimator",
                    OWNER,
                    "a classifier, or a mapping from every group to a classifier",
                    kind_of(model),
                )
        return cls(models, labels, not decoupled, columns)

    def estimator(self) -> Any:
        """Return what `estimator_` is: the classifier, or a dictionary of them."""
        return self.models[0] if self.single else dict(zip(self.labels, self.models, strict=True))

    def train(
        self,
        X: Any,
        y: Any,
        codes: NDArray[np.intp],
        people: NDArray[np.intp] | None = None,
        *,
        ledger: AnyLedger | None = None,
    ) -> Base:
        """Return clones trained on these rows, each on those of its group.

        A classifier that charges a ledger and has none of its own charges the one that is given.
        """
        models = []
        for place, model in enumerate(self.models):
            here = np.arange(len(codes)) if self.single else np.flatnonzero(codes == place)
            own_rows, own_labels = take_rows(X, here), take_rows(y, here)
            if len(np.unique(np.asarray(own_labels))) < 2:
                refuse(
                    "y",
                    f"{OWNER}.fit",
                    "such that the rows that train a classifier have two classes or more",
                    "rows of one class, or none",
                    hint="train on more rows, or one classifier for all groups.",
                )
            trained = clone(model)
            rng = None if self.single else getattr(_last(model), "rng", None)
            if rng is not None:  # with one seed, or copies of one generator, all groups had the same draws
                _last(trained).set_params(rng=stream_for(rng, f"group {place}"))
            if ledger is not None and getattr(_last(trained), "ledger", ledger) is None:
                _last(trained).set_params(ledger=ledger)
            step = (
                f"{trained.steps[-1][0]}__" if hasattr(trained, "steps") else ""
            )  # as a pipeline asks for it
            extra = {f"{step}group": self._names(codes[here])} if _takes(_last(trained).fit, "group") else {}
            if people is not None and _takes(_last(trained).fit, "person"):
                extra[f"{step}person"] = people[here]
            trained.fit(own_rows, own_labels, **extra)
            remember_rows(trained, own_rows)
            models.append(trained)
        return replace(self, models=tuple(models))

    def copy(self) -> Base:
        """Return copies of the classifiers: whoever fits one of them again does not change the copy."""
        return replace(self, models=deepcopy(self.models))

    def refuse_training_rows(self, X: Any) -> None:
        """Refuse classifiers that are not fitted, or are known to be trained on these very rows."""
        for model in self.models:
            check_is_fitted(model)
            if trained_on(model, X):
                refuse(
                    "X",
                    f"{OWNER}.fit",
                    "rows that did not train the classifier",
                    "rows that did",
                    hint="rates of training rows are not those of new people: keep some rows back.",
                )

    def classes(self) -> tuple[Any, ...]:
        """Return the classes that all classifiers know, at least two."""
        known = [np.asarray(getattr(model, "classes_", ())).tolist() for model in self.models]
        if any(classes != known[0] for classes in known) or len(known[0]) < 2:
            refuse(
                "estimator",
                OWNER,
                "trained on two classes or more, the same for all groups",
                "a classifier with other classes_",
            )
        return tuple(known[0])

    def predict_places(self, X: Any, codes: NDArray[np.intp], classes: Sequence[Any]) -> NDArray[np.intp]:
        """Return the place among the classes of what is predicted for each row."""
        out = np.zeros(len(codes), dtype=np.intp)
        if self.single and out.size:
            out[:] = _places(self._predict(self.models[0], X, codes), classes)
        for place, model in enumerate(self.models):
            here = np.flatnonzero(codes == place)
            if here.size and not self.single:
                out[here] = _places(self._predict(model, take_rows(X, here), codes[here]), classes)
        return out

    def _predict(self, model: Any, X: Any, codes: NDArray[np.intp]) -> NDArray[Any]:
        extra = {"group": self._names(codes)} if _takes(_last(model).predict, "group") else {}
        return np.asarray(model.predict(X, **extra))

    def _names(self, codes: NDArray[np.intp]) -> Any:
        """Return the group of each row as a classifier takes it: one column, or those that are crossed."""
        if not self.columns:
            return np.array(self.labels)[codes]
        values = zip(*self.labels, strict=True)
        return {name: np.array(column)[codes] for name, column in zip(self.columns, values, strict=True)}

    def guarantee(self) -> Guarantee | None:
        """Return what the training rows are promised by all classifiers; None if one states no guarantee."""
        parts = [_promised(model) for model in self.models]
        if any(part is None for part in parts):
            return None
        return Guarantee.parallel(*(part for part in parts if part is not None))

    def earlier_fits(self, known: frozenset[bytes]) -> tuple[frozenset[bytes], list[Guarantee]]:
        """Return the names of all fits that the classifiers and their copies have spent, and some promises.

        The promises are those of fits that :meth:`guarantee` leaves out: of copies and clones that are not
        among the classifiers. Fits that are known already are left out.
        """
        spendings = [spending for model in self.models if (spending := _spending_of(model)) is not None]
        own = {name for spending in spendings for name in spending.own}
        acts = {name: act for spending in spendings for name, act in spending.acts.items()}
        others = [act.guarantees[0] for name, act in acts.items() if name not in own and name not in known]
        return frozenset(acts), others

    def simulated(self) -> bool:
        """Tell whether a classifier says that it was drawn with a seed."""
        return any(bool(getattr(_last(model), "simulated_", False)) for model in self.models)


def _places(predicted: NDArray[Any], classes: Sequence[Any]) -> NDArray[np.intp]:
    places = np.zeros(len(predicted), dtype=np.intp)
    for place, label in enumerate(classes):
        places[predicted == label] = place
    return places


def _takes(method: Any, name: str) -> bool:
    try:
        return name in inspect.signature(method).parameters
    except (TypeError, ValueError):
        return False


def _last(model: Any) -> Any:
    return model.steps[-1][1] if hasattr(model, "steps") else model


def _promised(model: Any) -> Guarantee | None:
    """Return the guarantee of a classifier; of a pipeline, if the steps before it learn nothing from rows."""
    before = [step for _, step in model.steps[:-1]] if hasattr(model, "steps") else []
    if any(step not in (None, "passthrough") and not hasattr(step, "assumptions") for step in before):
        return None
    spending = _spending_of(model)
    if spending is not None and spending.own:
        return sum(act.guarantees[0] for act in spending.own.values())  # type: ignore[return-value]
    stated = getattr(_last(model), "guarantee_", None)
    return stated if isinstance(stated, Guarantee) else None


def _spending_of(model: Any) -> Spending | None:
    """Return what a classifier and its copies have spent, if it counts its fits."""
    spending = getattr(_last(model), "_spending", None)
    return spending if isinstance(spending, Spending) else None
