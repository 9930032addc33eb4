"""A classifier whose groups are answered alike, by changing as few answers as possible at random."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin, MetaEstimatorMixin
from sklearn.metrics import accuracy_score
from sklearn.utils import get_tags
from sklearn.utils.validation import _num_samples, check_is_fitted, indexable

from evenhand._validate import refuse
from evenhand.collect.privatizer.spent import Act, KeepsSpending
from evenhand.errors import PrivacyWarning
from evenhand.learn.columns import copy_feature_names, declared_columns, require_length
from evenhand.learn.parity import inputs
from evenhand.learn.parity.answers import answer_chances, choose_answers, spread_of_groups
from evenhand.learn.parity.base import Base, Rows
from evenhand.learn.parity.key import BITS, PersonKey
from evenhand.learn.parity.table import (
    bound_gaps,
    count_predictions,
    find_changes,
    find_rates,
    noisy_table,
    printed_table,
    refuse_empty,
    true_table,
)
from evenhand.privacy.guarantees.guarantee import Guarantee
from evenhand.privacy.guarantees.units import ONE_ROW
from evenhand.privacy.randomness import source_from

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.random import Generator, SeedSequence
    from numpy.typing import NDArray

    from evenhand.learn.parity.bounds import Bounds
    from evenhand.learn.parity.closest import Aim
    from evenhand.learn.parity.inputs import Settings
    from evenhand.learn.parity.table import PredictionTable
    from evenhand.learn.training.people import People
    from evenhand.privacy.ledger import AnyLedger
    from evenhand.privacy.randomness import Source
    from evenhand.privacy.rational import Number

_OWNER = inputs.OWNER
_HELD_OUT = "no person whose rows trained the classifier is among those the rates are counted in"
_OWN_GROUP = "nobody's rows trained the classifiers of two groups"
_COIN = "who trains the classifier and whom the rates are counted in is decided by a coin for each {who}"
_SAME_ROWS = "the rates are counted in the rows that trained the classifier"
_READ = "the groups were read from the rows, and are public all the same"
_CLASSES = "the classes are public"


class ParityPostProcessor(KeepsSpending, MetaEstimatorMixin, ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    r"""A classifier whose groups are answered alike, by changing as few answers as possible at random.

    From the share of positive predictions in each group, :meth:`fit` finds two probabilities for each group:
    that a positive prediction stays positive, and that a negative one becomes positive. With them the largest
    difference of the groups' positive rates is `gap`, and no rule changes fewer answers. For ``kind="odds"``
    the true and the false positive rates of the groups agree instead. With more than two classes the rate of
    every class agrees, by one probability for each group, prediction and answer.

    **Guarantee.** What `guarantee_` states, for everybody whose row was given to :meth:`fit` or trained the
    classifier.
    With `epsilon` the table of predictions by group is released once, with exact discrete Laplace noise;
    everything else is made from it. With ``prefit=False`` every row trains the classifier or is counted, by a
    coin for each person, and only the larger of the two epsilons is lost. Without `epsilon` the rates are
    those of the rows and nothing is promised. Numerics: exact. People scored later are not protected.

    Parameters
    ----------
    estimator : scikit-learn classifier, or mapping from group to classifier
        With two classes or, for ``kind="parity"``, more. A mapping has one classifier for each group.
    gap : number, default 0
        The largest difference that is aimed at, from 0 to 1. With noise, `bounds_` says what comes of it.
    epsilon : number, optional
        Privacy parameter of the table, > 0.
    kind : {"parity", "odds"}, default "parity"
        Statistical parity, or equalised odds (of two classes).
    aim : {"changes", "accuracy"}, default "changes"
        Whether as few answers as possible are changed, or as few as possible are wrong. ``"accuracy"``
        and ``kind="odds"`` count the labels too, in a table that is larger by the number of classes.
    weights : {"people", "groups"}, default "people"
        Whether a changed share of a group counts by the size of the group, or all groups alike as in [1]_.
    prefit : bool, default True
        Whether the classifier is trained already. Otherwise clones of it are trained by :meth:`fit`.
    held_out : bool, optional
        With `prefit`, say ``True``: none of the rows given to :meth:`fit` trained the classifier. Without
        that no bound holds, and it is refused.
    holdout : number, default 0.25
        With ``prefit=False``, the probability that a row is counted and not trained on.
    unit : {"add or remove one", "replace one"}
        What may change between two sets of people that are to look alike.
    rows_per_person : int, default 1
        How many rows of one person count, from 1 to 100; which ones is drawn at random. More than one needs
        `person` in :meth:`fit` and so many times the noise, and there are no bounds then: they hold for rows
        of different people.
    groups : sequence, or mapping from column to values, optional
        The labels of all groups, which are public; of crossed columns tuples, or in a mapping the values of
        each column, all of whose combinations are groups. Left out, they are the keys of `estimator` if that
        is a mapping, or else are read from the rows, and the guarantee says that it was so.
    positive : object, optional
        Which of two classes is the positive one; the second by default.
    as_printed : bool, default False
        As Algorithm 2 of [1]_ (with the sizes of the groups where they belong): the sizes are public, noise
        is added to each group's rate, all groups weigh alike and the unit is ``"replace one"`` with
        everybody's group fixed. With ``held_out=False`` the training rows may be counted; the two epsilons
        then add up and there are no bounds.
    public_rows : bool, default False
        Say that the rows given to :meth:`fit` are public, so that without `epsilon` the classifier keeps the
        guarantee it has.
    confidence : float, default 0.95
        Of the bounds.
    key : PersonKey, optional
        With a key, a person gets the same answer at every call; see
        :class:`~evenhand.learn.parity.key.PersonKey`.
    rng : None, int, SeedSequence, Generator or Source
        None is secure. With a seed everything drawn is simulated.
    ledger : Ledger, str or path, optional
        The ledger to charge, or its file, before anything is drawn. Without one, the ledger that
        ``EVENHAND_LEDGER`` names is charged, unless an `rng` is given.

    Attributes
    ----------
    rates_ : Rates, OddsRates or ClassRates
        The rates before and after, the probabilities, their cost and its lower bound.
    bounds_ : Bounds or None
        How large the gap may be, on average and with `confidence`; None where rows were not held out, or
        several may be of one person.
    changes_ : Changes or ClassChanges
        Which share of each group is given another answer, upwards and downwards, or by class.
    guarantee_, rates_guarantee_ : Guarantee
        What everybody is promised, and what those are promised that the rates were counted in.
    table_ : PredictionTable
        What was released, and all that was made use of.
    estimator_ : classifier or dict
        The trained classifier, or those of the groups.
    classes_, groups_ : array and tuple
        The classes, and the labels of the groups; of crossed columns, tuples.
    group_columns_ : tuple of str
        The columns that were crossed; none of them if the group was one column.
    simulated_ : bool
        Whether anything was drawn with a seed.

    Notes
    -----
    Answers are random: without a `key`, asking twice about one person may give two answers, and whoever may
    ask often learns what the classifier said. The group must be known when predicting.

    [1]_ divides both rates by the size of one group and adds the epsilons of the groups up; here each rate
    has its own size and, since a person is in one group, the largest counts. Its Theorem 8 does not hold
    where sizes are secret; the table does not need them.

    References
    ----------
    .. [1] Ghoukasian (2024). Classification Algorithms with Differential Privacy and Fairness Guarantees.
           Thesis, chapter 3.

    Examples
    --------
    >>> import evenhand as eh
    >>> from sklearn.linear_model import LogisticRegression
    >>> people = eh.datasets.load("causal", n=20_000, backend="pandas").frame
    >>> X, y, group = people[["C", "A", "M"]], people["Y"], people["A"]
    >>> classifier = LogisticRegression().fit(X[:10_000], y[:10_000])
    >>> model = ParityPostProcessor(classifier, epsilon=1, groups=[0, 1], held_out=True, rng=7)
    >>> model = model.fit(X[10_000:15_000], group=group[10_000:15_000])
    >>> model.measured(X[15_000:], group=group[15_000:])
    Largest gap between 2 groups, target 0.000
    Gap of         expected <=  95 % sure <=  measured
    positive rate        0.017         0.024     0.000
    Computed from the released table: its sizes hold noise, and the bounds allow for it.
    """

    def __init__(  # noqa: PLR0913 - one keyword for each choice
        self,
        estimator: Any,
        gap: Number = 0.0,
        epsilon: Number | None = None,
        *,
        kind: str = "parity",
        aim: Aim = "changes",
        weights: str = "people",
        prefit: bool = True,
        held_out: bool | None = None,
        holdout: Number = 0.25,
        unit: str = "add or remove one",
        rows_per_person: int = 1,
        groups: Sequence[Any] | None = None,
        positive: Any = None,
        as_printed: bool = False,
        public_rows: bool = False,
        confidence: float = 0.95,
        key: PersonKey | None = None,
        rng: Source | int | SeedSequence | Generator | None = None,
        ledger: AnyLedger | None = None,
    ) -> None:
        self.estimator = estimator
        self.gap = gap
        self.epsilon = epsilon
        self.kind = kind
        self.aim = aim
        self.weights = weights
        self.prefit = prefit
        self.held_out = held_out
        self.holdout = holdout
        self.unit = unit
        self.rows_per_person = rows_per_person
        self.groups = groups
        self.positive = positive
        self.as_printed = as_printed
        self.public_rows = public_rows
        self.confidence = confidence
        self.key = key
        self.rng = rng
        self.ledger = ledger

    # --- fitting ---------------------------------------------------------------------------------

    def fit(self, X: Any, y: Any = None, *, group: Any = None, person: Any = None) -> Self:
        """Count predictions by group, once, and find the probabilities.

        Each call is a release of its own and adds to `guarantee_`, in a copy or clone too.

        Parameters
        ----------
        X : whatever the classifier takes
            Rows that did not train the classifier; or, with ``prefit=False``, all rows.
        y : array, optional
            The labels, needed for training, for ``kind="odds"`` and for ``aim="accuracy"``.
        group : array, or mapping or frame of columns
            The group of each row. Several columns are crossed: a group is a combination of their values.
        person : array, optional
            Whose row each is: equal for rows of one person.
        """
        self.__dict__.pop("rates_", None)
        settings = inputs.read_settings(self)
        same_rows = inputs.counts_training_rows(self, settings)
        inputs.require_labels(self, y, settings)
        declared = inputs.declared_groups(self.groups, self.estimator)
        groups = inputs.read_group_codes(group, declared, declared_columns(self.groups), place="fit")
        codes = groups.codes
        n = _num_samples(X)
        require_length("group", len(codes), n, owner=f"{_OWNER}.fit")
        if y is not None:
            require_length("y", _num_samples(y), n, owner=f"{_OWNER}.fit")
        people = inputs.read_people_of(self, person, n, settings)
        self._source = source_from(self.rng)
        features, target = indexable(X, y)
        base = Base.of(self.estimator, tuple(groups.labels), groups.columns)
        counted = Rows(features, target, codes, people.codes)
        counted = counted.where(people.draw(self._source)) if person is not None else counted
        if not self.prefit:
            inputs.check_classes(counted.y, settings)
            coins = counted.draw_coins(settings.holdout, self._source)
            training, counted = counted.where(~coins), counted.where(coins)
            base = base.train(*training, ledger=self.ledger)
        else:
            if not same_rows:
                base.refuse_training_rows(X)
            base = base.copy()
        self._take_base(base, settings)
        coin = _COIN.format(who="row" if person is None else "person")
        assumed = (
            _SAME_ROWS if same_rows else _HELD_OUT if self.prefit else coin,
            *([_OWN_GROUP] if self.prefit and len(set(map(id, base.models))) > 1 else []),
            *([_READ] if declared is None else []),
            _CLASSES,
        )
        table = self._table(counted, settings, assumed, people, same_rows=same_rows)
        if table.guarantee is not None:
            table = replace(table, guarantee=people.promise(table.guarantee))
        return self._take_table(table, settings, same_rows)

    def _take_base(self, base: Base, settings: Settings) -> None:
        self._order = inputs.order_classes(base.classes(), self.positive, settings, n_groups=len(base.labels))
        self._base, self.groups_, self.group_columns_ = base, base.labels, base.columns
        self.classes_ = np.asarray(base.models[0].classes_)
        copy_feature_names(base.models[0], self)

    def _table(
        self, rows: Rows, settings: Settings, assumed: tuple[str, ...], people: People, *, same_rows: bool
    ) -> PredictionTable:
        """Return the table of predictions, which is counted before noise is drawn for it."""

        def count(promised: Guarantee | None) -> None:
            promised = None if promised is None else people.promise(promised)
            self._count_table(promised, settings=settings, same_rows=same_rows)

        truth = None
        if settings.needs_labels:
            truth = inputs.read_class_places(rows.y, self._order, place="fit")
        predicted = self._base.predict_places(rows.X, rows.codes, self._order)
        sizes = {"n_groups": len(self.groups_), "n_classes": len(self._order)}
        counts = count_predictions(rows.codes, predicted, labels=truth, **sizes)
        if settings.epsilon is None or settings.as_printed:
            refuse_empty(counts, labelled=settings.kind == "odds")
        if settings.epsilon is None:
            count(None)
            return true_table(counts)
        terms: Any = {"epsilon": settings.epsilon, "source": self._source, "assumptions": assumed}
        terms |= {"before_draw": count}
        if settings.as_printed:
            return printed_table(counts, **terms)
        return noisy_table(counts, unit=settings.unit, rows_per_person=settings.rows_per_person, **terms)

    def _take_table(self, table: PredictionTable, settings: Settings, same_rows: bool) -> Self:  # noqa: FBT001 - private
        rates = find_rates(table, settings)
        self.bounds_: Bounds | None = None
        if not same_rows and settings.rows_per_person == 1:
            named: Any = {"groups": self.groups_, "classes": self._order}
            self.bounds_ = bound_gaps(table, rates, settings, confidence=self.confidence, **named)
        self.table_, self._settings = table, settings
        self.changes_ = find_changes(table, rates, self.groups_, self._order)
        self.estimator_ = self._base.estimator()  # not before it is counted
        self.rates_ = rates
        return self

    def _count_table(self, rates: Guarantee | None, *, settings: Settings, same_rows: bool) -> None:
        """Count what this fit will tell, and charge it; classifiers have charged their own fits."""
        promise = rates or Guarantee.no_guarantee(unit=settings.unit)
        known = frozenset().union(*(act.covers for act in self._spending.acts.values()))
        names, others = self._base.earlier_fits(known)
        whole = sum(others, self._whole(rates, settings, same_rows))
        act = Act((whole, promise), self._source.simulated or self._base.simulated(), names)
        charged: Any = {"ledger": self.ledger, "source": self._source, "purpose": f"{_OWNER}.fit"}
        if rates is None and self.public_rows:
            self._spending.add(act)
        else:
            self._spending.charge(act, **charged, owner=_OWNER)

    @property
    def guarantee_(self) -> Guarantee:
        """What everybody is promised whose row trained the classifier or was in any of the tables so far."""
        check_is_fitted(self)
        return sum(self._spending.guarantees())  # type: ignore[return-value]

    @property
    def rates_guarantee_(self) -> Guarantee:
        """What those are promised that the rates were counted in, in every table so far."""
        check_is_fitted(self)
        return sum(self._spending.guarantees(1))  # type: ignore[return-value]

    @property
    def simulated_(self) -> bool:
        """Whether anything was drawn with a seed, in any fit of this model, its copies and clones."""
        check_is_fitted(self)
        return self._spending.simulated

    def _whole(self, rates: Guarantee | None, settings: Settings, same_rows: bool) -> Guarantee:  # noqa: FBT001 - as above
        """Return what the training rows and the rows of the rates are promised together."""
        training, nothing = self._base.guarantee(), Guarantee.no_guarantee(unit=settings.unit)
        if training is not None and settings.rows_per_person > 1 and ONE_ROW in training.assumptions:
            training = None  # what is promised to one row is not promised to a person with several
        if rates is None and not self.public_rows:
            if training is not None:
                _warn_of_guarantee()
            return nothing
        if training is None:
            return nothing
        if rates is None:
            return training
        if same_rows:
            return training + rates
        return Guarantee.parallel(training, rates, membership=None if self.prefit else "public")

    # --- predicting ------------------------------------------------------------------------------

    def predict(self, X: Any, *, group: Any = None, person: Any = None) -> NDArray[Any]:
        """Return an answer for each row.

        Parameters
        ----------
        X : whatever the classifier takes
            The features.
        group : array, or mapping or frame of columns
            The group of each row. A group or a combination that :meth:`fit` has not seen is refused.
        person : array of str or of int, optional
            With a `key`, a stable identifier of each person: the answer to the same prediction is then the
            same at every call. Without, the answers are drawn anew at every call.
        """
        codes, predicted = self._predict_groups(X, group, place="predict")
        numbers = self._numbers(person, len(codes))
        answers = choose_answers(answer_chances(self.rates_), codes, predicted, numbers)
        return np.asarray(self.classes_[self._class_places()[answers]])

    def _class_places(self) -> NDArray[np.intp]:
        """Return the place in `classes_` of each class, in the order of the table."""
        known = self.classes_.tolist()
        return np.array([known.index(label) for label in self._order], dtype=np.intp)

    def _numbers(self, person: Any, n: int) -> NDArray[np.uint64]:
        """Return a uniform whole number below 2**53 for each row."""
        if self.__dict__.get("_key_dropped") and self.key is None:
            refuse(
                "key",
                _OWNER,
                "set again after a model was stored, since the key is never stored with it",
                None,
                hint="model.set_params(key=PersonKey.load(path)).",
            )
        if (self.key is None) != (person is None):
            refuse(
                "person",
                f"{_OWNER}.predict",
                "given with a key, and only then",
                "identifiers, and no key" if self.key is None else "a key, and no identifiers",
                hint="PersonKey.generate() makes a key; without one answers are drawn anew at every call.",
            )
        if self.key is None:
            return self._source.words(n) >> np.uint64(64 - BITS)
        numbers = self.key.numbers(person)
        require_length("person", len(numbers), n, owner=f"{_OWNER}.predict")
        return numbers

    def predict_proba(self, X: Any, *, group: Any = None) -> NDArray[np.float64]:
        """Return the probability of each answer, given what the classifier predicts."""
        codes, predicted = self._predict_groups(X, group, place="predict_proba")
        chances = answer_chances(self.rates_)[codes, predicted]
        return np.asarray(chances[:, np.argsort(self._class_places())])

    def score(
        self, X: Any, y: Any, sample_weight: Any = None, *, group: Any = None, person: Any = None
    ) -> float:
        """Return the accuracy of the answers."""
        answers = self.predict(X, group=group, person=person)
        return float(accuracy_score(y, answers, sample_weight=sample_weight))

    def measured(self, X: Any, y: Any = None, *, group: Any = None) -> Bounds:
        """Return `bounds_` with the gap of these rows beside them, on average over the random answers.

        What is measured comes from the rows themselves and is not private.
        """
        codes, predicted = self._predict_groups(X, group, place="measured")
        if self.bounds_ is None:
            must_be = "left uncalled: there are no bounds for rows that trained, or several of one person"
            refuse("measured", _OWNER, must_be, "a call")
        chances = answer_chances(self.rates_)[codes, predicted]
        if self._settings.kind == "parity":
            shown = chances if len(self._order) > 2 else chances[:, 1:]
            return self.bounds_.beside([spread_of_groups(chance, codes) for chance in shown.T])
        if y is None:
            refuse("y", f"{_OWNER}.measured", "an array of labels, for kind='odds'", None)
        truth = inputs.read_class_places(y, self._order, place="measured")
        require_length("y", len(truth), len(codes), owner=f"{_OWNER}.measured")
        return self.bounds_.beside(
            [spread_of_groups(chances[truth == label, 1], codes[truth == label]) for label in (0, 1)]
        )

    def _predict_groups(self, X: Any, group: Any, *, place: str) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
        check_is_fitted(self)
        groups = inputs.read_group_codes(group, self.groups_, self.group_columns_, place=place)
        require_length("group", len(groups.codes), _num_samples(X), owner=f"{_OWNER}.{place}")
        return groups.codes, self._base.predict_places(X, groups.codes, self._order)

    # --- as an object ----------------------------------------------------------------------------

    def __sklearn_is_fitted__(self) -> bool:
        return "rates_" in self.__dict__

    def __getstate__(self) -> dict[str, Any]:
        """Leave the key out: it is kept apart from the model, and a copy has to be given it again."""
        state: dict[str, Any] = dict(super().__getstate__())
        if state.get("key") is not None:
            state |= {"key": None, "_key_dropped": True}
        return state

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        if not isinstance(self.estimator, Mapping):
            tags.input_tags = get_tags(self.estimator).input_tags
        tags.classifier_tags.multi_class = self.kind == "parity" and not self.as_printed
        tags.non_deterministic = True
        return tags


def _warn_of_guarantee() -> None:
    message = (
        f"{_OWNER} without epsilon counts the rows as they are, so the guarantee of the classifier does not "
        "hold for the two together. Hint: give an epsilon, or say that the rows are public, with "
        "public_rows=True."
    )
    warnings.warn(message, PrivacyWarning, stacklevel=4)
