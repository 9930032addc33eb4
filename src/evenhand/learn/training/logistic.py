"""Logistic regression trained with a privacy guarantee for every row."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Self

import numpy as np
from scipy.special import expit, log_expit, log_softmax, softmax
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.validation import check_is_fitted

from evenhand._validate import one_of, refuse
from evenhand.collect.reports.streams import check_rng
from evenhand.learn.training import private_rows as inputs
from evenhand.learn.training.descent import Steps, TrainingRows, batches, descend, noises, plan_for
from evenhand.learn.training.fits import CountsFits, remember_rows
from evenhand.learn.training.people import read_people
from evenhand.privacy.accounting import LARGEST_NOISE, SMALLEST_NOISE
from evenhand.privacy.grid_noise import training_guarantee
from evenhand.privacy.guarantees.units import Unit
from evenhand.privacy.rational import Number, exact

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from fractions import Fraction

    from numpy.typing import NDArray

    from evenhand.learn.training.descent import Schedule
    from evenhand.privacy.grid_noise import TrainingGuarantee
    from evenhand.privacy.guarantees.guarantee import Guarantee
    from evenhand.privacy.ledger import AnyLedger

    Floats = NDArray[np.float64]

_OWNER = "DPLogisticRegression"
_UNITS = (Unit.ADD_OR_REMOVE_ONE, Unit.REPLACE_ONE)
_MOST_WEIGHTS = 1 << 20  # times the square of at most 2**20 steps of the grid: below 2**63


class DPLogisticRegression(CountsFits, ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    r"""Logistic regression trained with differential privacy for every row, features and label.

    Gradient descent on random batches, each row's gradient clipped and noise added to every sum [1]_. The
    gradient of row :math:`i` is its residual times the row, so clipping it is a scaling of the row:

    .. math:: \theta \leftarrow \theta - \frac{\eta}{b} \Bigl( \sum_{i \in B}
              \min\Bigl(1, \frac{C}{\lVert r_i \rVert \lVert x_i \rVert}\Bigr) r_i x_i^\top + N \Bigr),
              \quad r_i = \operatorname{softmax}(\theta x_i) - e_{y_i}

    where :math:`B` holds each row with probability :math:`b/n`, :math:`C` is `clip`, :math:`b` is `batch`,
    :math:`\eta` is `rate` and :math:`N` is noise of standard deviation :math:`zC` with :math:`z` = `noise_`.
    With two classes the residual is that of the logistic function. A constant 1 in :math:`x_i`, for the
    intercept, counts in the length of the row.

    **Guarantee.** (epsilon, delta) differential privacy for `unit`, all features and the label; proof: the
    privacy loss distribution of the Poisson-sampled Gaussian, with what the grid costs added. Clipped
    gradients are rounded to a public grid, their length is checked in whole numbers, and the noise is
    discrete Gaussian on that grid, drawn exactly. Everything after the noisy sums is post-processing.
    Assumes what `guarantee_` lists: that a person is one row, or, where :meth:`fit` is told whose row each
    is, that at most `rows_per_person` rows of one person count; the noise is made for so many. Each call of
    :meth:`fit` adds to it, in a copy or clone too.
    Numerics: exact. May be used for release if no `rng` is given.

    Parameters
    ----------
    epsilon : int, float, str, Fraction or Decimal
        Above 0. Not used if `noise` is given.
    delta : int, float, str, Fraction or Decimal
        Above 0; well below one over the number of people.
    noise : int, float, str, Fraction or Decimal, optional
        The noise multiplier, from 0.05 to 20,000. Without it the smallest that gives `epsilon` and `delta`.
    unit : {"add or remove one", "replace one"}
        What may change. Replacing a row needs about twice the noise at the same epsilon.
    rows_per_person : int, default 1
        How many rows of one person count, from 1 to 100; which ones is drawn at random. More than one needs
        `person` in :meth:`fit`, and more noise: about so many times as much.
    clip : float
        The largest length of a row's gradient, from 1e-9 to 1e9.
    epochs : int
        How often each row takes part, on average.
    batch : int, optional
        The expected size of a batch. By default 1024, or a quarter of the rows if there are fewer than 4,096.
    rate : float
        How far a step goes, from 1e-9 to 1e6.
    average : bool
        Whether the weights are the mean over the last half of the steps, which costs nothing and is less
        noisy.
    fit_intercept : bool
        Whether there is a constant.
    rows : int, optional
        The public number of rows that batches and steps are planned for. Without it the number of rows of
        `X` is used, and so must be public; with `person` that of the rows left, which one person can change.
    classes : sequence, optional
        The public classes. Without it they are read from `y`, and so must be public.
    preprocessing : sequence of str, optional
        What is assumed of how the features were made, for the guarantee: ``PublicEncoder(...).assumptions``,
        for instance. Without it, that no scaling constant or vocabulary was learnt from the rows.
    rng : None, int, Generator or Source
        None for the operating system's secure source. Anything else makes a simulation; with a seed each
        call of :meth:`fit` has a stream of its own, and a clone begins again.
    progress : callable, optional
        Called with the number of steps done and of all steps.
    ledger : Ledger, str or path, optional
        The ledger to charge, or its file, before anything is drawn. Without one, the ledger that
        ``EVENHAND_LEDGER`` names is charged, unless an `rng` is given.

    Attributes
    ----------
    coef_ : array of (1, features) or (classes, features)
        The weights, as in scikit-learn.
    intercept_ : array of (1,) or (classes,)
        The constants; 0 without `fit_intercept`.
    classes_ : array
        The classes, in order.
    noise_ : float
        The noise multiplier that was used.
    steps_ : int
        How many steps were made.
    sampling_ : Fraction
        The chance with which a row was in a batch.
    n_features_in_, feature_names_in_
        As in scikit-learn.

    Notes
    -----
    Sums are divided by the expected size of a batch, never by its true size, and a step on an empty batch
    is made of noise alone: both would tell who is in it.

    Choosing settings by looking at results on private rows is not covered by the guarantee.

    References
    ----------
    .. [1] Abadi, Chu, Goodfellow, McMahan, Mironov, Talwar, Zhang (2016). Deep learning with differential
           privacy. CCS. Algorithm 1; here with a row's gradient in closed form, whole numbers throughout and
           exact accounting.

    Examples
    --------
    >>> import evenhand as eh
    >>> from evenhand.learn.training.logistic import DPLogisticRegression
    >>> people = eh.datasets.load("causal", n=5_000, backend="pandas").frame
    >>> X, y = people[["C", "A", "M"]], people["Y"]
    >>> model = DPLogisticRegression(epsilon=1, delta="1e-6", epochs=10, rng=7).fit(X, y)
    >>> f"{model.score(X, y):.2f}"
    '0.71'
    >>> model.guarantee_.epsilon, model.guarantee_.in_clear, model.simulated_
    (Fraction(1, 1), ('people scored later',), True)
    """

    def __init__(  # noqa: PLR0913 - one for each public number of the training
        self,
        epsilon: Number = 1.0,
        delta: Number = 1e-5,
        *,
        noise: Number | None = None,
        unit: str = "add or remove one",
        rows_per_person: int = 1,
        clip: float = 1.0,
        epochs: int = 50,
        batch: int | None = None,
        rate: float = 1.0,
        average: bool = True,
        fit_intercept: bool = True,
        rows: int | None = None,
        classes: Sequence[Any] | None = None,
        preprocessing: Sequence[str] | None = None,
        rng: Any = None,
        progress: Callable[[int, int], object] | None = None,
        ledger: AnyLedger | None = None,
    ) -> None:
        self.epsilon = epsilon
        self.delta = delta
        self.noise = noise
        self.unit = unit
        self.rows_per_person = rows_per_person
        self.clip = clip
        self.epochs = epochs
        self.batch = batch
        self.rate = rate
        self.average = average
        self.fit_intercept = fit_intercept
        self.rows = rows
        self.classes = classes
        self.preprocessing = preprocessing
        self.rng = rng
        self.progress = progress
        self.ledger = ledger

    # --- fitting ---------------------------------------------------------------------------------

    def fit(self, X: Any, y: Any, *, person: Any = None, **refused: Any) -> Self:
        """Train on private rows. Each call is a release of its own and adds to `guarantee_`.

        Parameters
        ----------
        X : pandas, Polars or Arrow frame, or array
            The features: finite numbers. Those beyond 1e150 on either side count as that.
        y : array
            The labels.
        person : array, optional
            Whose row each is: equal for rows of one person.
        **refused
            Nothing: `sample_weight` is refused, because the guarantee is for rows that count once.

        Raises
        ------
        GuaranteeError
            At the second call without an `rng`, if no ledger is configured.
        BudgetExceededError
            If the ledger has less left.

        Warns
        -----
        PrivacyWarning
            At the second call: a person whose row is in both has spent twice.
        """
        owner = f"{_OWNER}.fit"
        inputs.refuse_others(refused, owner=owner)
        rate, clip = self._check_numbers()
        declared = inputs.public_classes(self.classes, owner=_OWNER)
        assumed = inputs.assumptions_about(
            preprocessing=self.preprocessing, rows=self.rows, classes=declared, owner=_OWNER
        )
        check_rng(self.rng)
        features = inputs.read_features(self, X, place="fit", reset=True)
        labels, classes = inputs.read_labels(y, len(features), owner=owner, classes=declared)
        people = read_people(person, len(features), most=self.rows_per_person, owner=owner)
        shape = _shape_of(features, classes, constant=bool(self.fit_intercept))
        schedule = plan_for(self, people.rows_left, owner=_OWNER)
        training = self._noise(schedule, shape, clip)
        source = self._next_stream(self.rng)
        self._count_fit(people.promise(_promise(training, schedule, assumed)), source)
        kept = people.draw(source)
        weights = descend(
            TrainingRows.of(features[kept], labels[kept], constant=bool(self.fit_intercept)),
            np.zeros(shape),
            batches(schedule, people.rows_left, source=source, progress=self.progress),
            noises(lambda size: training.grid.draw(size, source), shape, schedule.steps),
            Steps(float(clip), training.grid.longest, float(rate), average=bool(self.average)),
            schedule=schedule,
        )
        width = features.shape[1]
        self.classes_ = classes
        self.coef_ = weights[:, :width].copy()
        self.intercept_ = weights[:, width].copy() if self.fit_intercept else np.zeros(len(weights))
        self.noise_, self.steps_, self.sampling_ = float(training.noise), schedule.steps, schedule.sampling
        remember_rows(self, X)
        return self

    def _check_numbers(self) -> tuple[Fraction, Fraction]:
        """Refuse public numbers that cannot be, before the rows are looked at; return rate and clip."""
        one_of("unit", self.unit, _UNITS, owner=_OWNER)
        delta = exact(self.delta, name="delta", owner=_OWNER, above=0, most=1)
        if delta == 1:
            refuse("delta", _OWNER, "below 1", self.delta)
        if self.noise is None:
            exact(self.epsilon, name="epsilon", owner=_OWNER, above=0)
        else:
            least, most = float(SMALLEST_NOISE), float(LARGEST_NOISE)
            inputs.positive("noise", self.noise, owner=_OWNER, least=least, most=most)
        rate = inputs.positive("rate", self.rate, owner=_OWNER, least=1e-9, most=1e6)
        return rate, inputs.positive("clip", self.clip, owner=_OWNER, least=1e-9, most=1e9)

    def _noise(self, schedule: Schedule, shape: tuple[int, int], clip: Fraction) -> TrainingGuarantee:
        return training_guarantee(
            self.epsilon if self.noise is None else None,
            self.delta,
            noise=self.noise,
            sampling=schedule.sampling,
            steps=schedule.steps,
            unit=self.unit,
            rows_per_person=self.rows_per_person,
            dimensions=shape[0] * shape[1],
            clip=clip,
        )

    # --- predicting ------------------------------------------------------------------------------

    def decision_function(self, X: Any) -> Floats:
        """Return the scores: with two classes that of the second, else one for each class."""
        return self._scores(X, "decision_function")

    def predict(self, X: Any) -> NDArray[Any]:
        """Return the class with the largest score."""
        scores = self._scores(X, "predict")
        places = scores.argmax(axis=1) if scores.ndim == 2 else (scores > 0).astype(np.intp)
        return np.asarray(self.classes_[places])

    def predict_proba(self, X: Any) -> Floats:
        """Return the probabilities of the classes."""
        scores = self._scores(X, "predict_proba")
        if scores.ndim == 1:
            return np.column_stack([expit(-scores), expit(scores)])
        return np.asarray(softmax(scores, axis=1))

    def predict_log_proba(self, X: Any) -> Floats:
        """Return the logarithms of the probabilities of the classes."""
        scores = self._scores(X, "predict_log_proba")
        if scores.ndim == 1:
            return np.column_stack([log_expit(-scores), log_expit(scores)])
        return np.asarray(log_softmax(scores, axis=1))

    def _scores(self, X: Any, place: str) -> Floats:
        check_is_fitted(self)
        features = inputs.read_features(self, X, place=place, reset=False)
        scores = features @ self.coef_.T + self.intercept_
        return np.asarray(scores[:, 0] if len(self.coef_) == 1 else scores)

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "coef_")

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.non_deterministic = True  # each fit draws anew
        return tags


def _promise(training: TrainingGuarantee, schedule: Schedule, assumed: tuple[str, ...]) -> Guarantee:
    """Return what a fit with this noise promises."""
    return training.guarantee(
        protects=("features", "label"),
        in_clear=("people scored later",),
        assumptions=assumed,
        people=schedule.rows if training.rows_per_person == 1 else None,
    )


def _shape_of(features: Floats, classes: NDArray[Any], *, constant: bool) -> tuple[int, int]:
    """Return how many weights there are: for each answer, one for each feature and perhaps the constant."""
    answers, width = (1 if len(classes) == 2 else len(classes)), features.shape[1] + constant
    if answers * width > _MOST_WEIGHTS:
        refuse(
            "X",
            f"{_OWNER}.fit",
            f"such that there are at most {_MOST_WEIGHTS:,} weights, features times classes",
            f"{answers * width:,} of them",
        )
    return answers, width
