"""A private classifier trained with a penalty on the dependence between its answers and the groups."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal, Self

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.validation import check_is_fitted

from evenhand._validate import one_of, refuse
from evenhand.collect.reports.streams import check_rng
from evenhand.learn.columns import declared_columns
from evenhand.learn.fermi import training
from evenhand.learn.fermi.training import public_groups, read_groups
from evenhand.learn.training.descent import plan_for
from evenhand.learn.training.fits import CountsFits, remember_rows
from evenhand.learn.training.people import read_people
from evenhand.learn.training.private_rows import public_classes, read_features, read_labels, refuse_others

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

    from evenhand.learn.fermi.training import Examples, Trained
    from evenhand.privacy.ledger import AnyLedger
    from evenhand.privacy.rational import Number

_OWNER = training.OWNER


class DPFermi(CountsFits, ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    r"""A private logistic classifier whose answers depend little on the group.

    The weights :math:`\theta` minimise, over noisy steps,

    .. math:: \frac1n \sum_i \ell_i(\theta) + \lambda \max_W \frac1n \sum_i \psi_i(\theta, W), \quad
              \psi_i = \sum_j F_{ij} \Bigl( \frac{2 W_{s_i j}}{\sqrt{P_{s_i}}} - \sum_r W_{rj}^2 \Bigr) - 1

    where :math:`\ell` is the logistic loss, :math:`F_{ij}` the chance of answer :math:`j` for row :math:`i`,
    :math:`s_i` its group, :math:`P` the shares of the groups and :math:`\lambda` the `strength`. The maximum
    is the exponential Rényi mutual information of answer and group [1]_, 0 where they are independent. For
    ``kind="odds"`` it is that within each true class, weighted by how many are in it. Predicting needs no
    group.

    **Guarantee.** :math:`(\varepsilon, \delta)` with ``epsilon`` and ``delta``; unit: as given; for all
    features, the label and the group of a row. Of it ``group_epsilon`` is spent on the shares, by discrete
    Laplace noise on the group counts; the rest on the steps, each of which sums the gradients of a random
    batch, clipped row by row, in the weights and in :math:`W`, on a public grid with discrete Gaussian noise.
    Both sums together are one Gaussian query. Proof: the privacy loss distribution of the Poisson-sampled
    Gaussian, with what the grid costs included. Assumes that one person is one row, or has at most
    `rows_per_person` rows that count where :meth:`fit` is told whose row each is, and that the number of
    rows, the groups, the classes and the preparation of the features are public. Numerics: exact; may be
    used for release if no `rng` is given. With `as_printed` **nothing is guaranteed**.

    Parameters
    ----------
    epsilon, delta : int, float, str, Fraction or Decimal
        The budget in all, > 0.
    unit : {"add or remove one", "replace one"}
        What may change between two tables that are to look alike.
    rows_per_person : int, default 1
        How many rows of one person count, from 1 to 100; which ones is drawn at random. More than one needs
        `person` in :meth:`fit`, and more noise.
    strength : float
        What the penalty is multiplied by, at least 0. It is a public choice: trying several on the same rows
        costs each of them.
    group_epsilon : number
        The part of `epsilon` spent on the shares of the groups.
    share : float
        The part of each step's loss spent on the weights, between 0 and 1; the rest goes to :math:`W`.
    clip, matrix_clip : float
        The largest length of a row's gradient in the weights and in :math:`W`. `clip` is 1 by default; with
        `as_printed` it is the assumed bound, 5, at which the *mean* gradient is clipped.
    radius : float
        The largest length of :math:`W`.
    epochs, batch : int
        How often a row takes part, about, and how many rows a step has on average: 1024, or a quarter of the
        rows where there are fewer than 4,096.
    rate, matrix_rate : float, optional
        Step sizes, 4 and 0.5; 0.005 and 0.01 with `as_printed`.
    average : bool, optional
        Whether the weights are the mean over the last half of the steps, or the last ones; yes, except with
        `as_printed`.
    kind : {"parity", "odds"}
        Whether answers are to be independent of the group, or so within each true class.
    as_printed : {False, True, "paper", "thesis"}
        Reproduce the published noise: with the whole penalty as in [1]_ (``"paper"``, or True), or with the
        part of it that the program of [2]_ minimises, where the group named first counts. The batches are
        shuffled, the noise is that of the published formula, which relies on an assumed bound on every row's
        gradient. See `published_`; `guarantee_` says that nothing is guaranteed.
    rows : int, optional
        The public number of rows. Without it their number is taken to be public; with `person` that of the
        rows left, which one person can change.
    groups, classes : sequence, optional
        The public groups and classes. Without them those that occur are taken to be public. Groups of crossed
        columns are tuples, or a mapping of the columns to their values, all of whose combinations are groups.
    preprocessing : sequence of str, optional
        What is assumed of how the features were made, for the guarantee: ``PublicEncoder(...).assumptions``,
        for instance. Without it, that no scaling constant or vocabulary was learnt from the rows.
    rng : None, int, SeedSequence, Generator or Source
        None draws from the secure source. Anything else makes a simulation; with a seed each call of
        :meth:`fit` has a stream of its own.
    progress : callable, optional
        Called with the number of steps done and of all steps.
    ledger : Ledger, str or path, optional
        The ledger to charge, or its file, before anything is drawn. Without one, the ledger that
        ``EVENHAND_LEDGER`` names is charged, unless an `rng` is given.

    Attributes
    ----------
    coef_, intercept_ : arrays
        The weights, (1, features) and (1,).
    classes_ : array
        The two classes; the second one is the positive answer.
    groups_ : list
        The groups, in the order of `shares_`; of crossed columns, tuples.
    shares_ : array of (1, groups), or (2, groups) for odds
        The shares of the groups as they were released.
    matrix_ : array of (1, groups, 2), or (2, groups, 2) for odds
        The last :math:`W`; (1, 1) for the thesis's program.
    published_ : dict
        With `as_printed`: the epsilon and delta put into the published formula, and the noise out of it.
    noise_ : float
        The noise multiplier of a step.
    steps_, sampling_ : int, Fraction
        How many steps there were, and the chance with which a row joined each.

    References
    ----------
    .. [1] Lowy, Gupta, Razaviyayn (2023). Stochastic differentially private and fair learning. ICLR.
    .. [2] Ghoukasian (2024). Fairness and privacy guarantees in machine learning, chapter 3.

    Examples
    --------
    >>> import evenhand as eh
    >>> from evenhand.learn.fermi.classifier import DPFermi
    >>> people = eh.datasets.load("causal", n=5_000, backend="pandas").frame
    >>> X, y, group = people[["C", "A", "M"]], people["Y"], people["A"]
    >>> model = DPFermi(epsilon=3, rows=5_000, groups=[0, 1], classes=[0, 1], rng=7).fit(X, y, group=group)
    >>> model.predict(X).shape, model.simulated_
    ((5000,), True)
    >>> print(f"{float(model.guarantee_.epsilon):.2f}, {model.guarantee_.unit}")
    3.00, add or remove one
    """

    def __init__(  # noqa: PLR0913 - one keyword for each public setting
        self,
        epsilon: Number = 1.0,
        delta: Number = 1e-5,
        *,
        unit: str = "add or remove one",
        rows_per_person: int = 1,
        strength: float = 20.0,
        group_epsilon: Number = 0.05,
        share: float = 0.8,
        clip: float | None = None,
        matrix_clip: float = 4.0,
        radius: float = 5.0,
        epochs: int = 50,
        batch: int | None = None,
        rate: float | None = None,
        matrix_rate: float | None = None,
        average: bool | None = None,
        kind: Literal["parity", "odds"] = "parity",
        as_printed: Literal["paper", "thesis"] | bool = False,
        rows: int | None = None,
        groups: Sequence[Any] | None = None,
        classes: Sequence[Any] | None = None,
        preprocessing: Sequence[str] | None = None,
        rng: Any = None,
        progress: Callable[[int, int], object] | None = None,
        ledger: AnyLedger | None = None,
    ) -> None:
        self.epsilon = epsilon
        self.delta = delta
        self.unit = unit
        self.rows_per_person = rows_per_person
        self.strength = strength
        self.group_epsilon = group_epsilon
        self.share = share
        self.clip = clip
        self.matrix_clip = matrix_clip
        self.radius = radius
        self.epochs = epochs
        self.batch = batch
        self.rate = rate
        self.matrix_rate = matrix_rate
        self.average = average
        self.kind = kind
        self.as_printed = as_printed
        self.rows = rows
        self.groups = groups
        self.classes = classes
        self.preprocessing = preprocessing
        self.rng, self.progress, self.ledger = rng, progress, ledger

    # --- training ----------------------------------------------------------------------------------

    def fit(self, X: Any, y: Any, *, group: Any = None, person: Any = None, **refused: Any) -> Self:
        """Train on private rows. Each call is a release of its own and adds to `guarantee_`.

        Parameters
        ----------
        X : pandas, Polars or Arrow frame, or array
            Finite numbers, scaled by public constants; see
            :class:`~evenhand.learn.encoding.encoder.PublicEncoder`.
        y : array
            Labels of two classes.
        group : array, or mapping or frame of columns
            The group of each row. Several columns are crossed: a group is a combination of their values.
        person : array, optional
            Whose row each is: equal for rows of one person. Not with `as_printed`, which promises nothing.
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
        refuse_others(refused, owner=f"{_OWNER}.fit")
        printed = self._is_printed()
        rows, classes, groups = self._read(X, y, group)
        if printed and person is not None:
            refuse(
                "person", f"{_OWNER}.fit", "left out with 'as_printed', which promises nothing", "a column"
            )
        most = 1 if printed else self.rows_per_person
        people = read_people(person, len(rows.inputs), most=most, owner=f"{_OWNER}.fit")
        source = self._next_stream(self.rng)
        if printed:
            trained = training.train_published(self, rows, source)
            self._count_fit(training.no_promise(), source, simulated=True)
        else:
            schedule = plan_for(self, people.rows_left, owner=_OWNER)
            cells = rows.groups * (2 if self.kind == "odds" else 1)
            budget = training.budget_of(self, schedule, width=rows.inputs.shape[1], cells=cells)
            promised = people.promise(training.promise_of(self, budget, schedule))
            self._count_fit(promised, source)
            trained = training.train_clipped(self, rows.where(people.draw(source)), budget, schedule, source)
        self._take(trained)
        self.classes_, self.groups_ = classes, groups
        remember_rows(self, X)
        return self

    def _is_printed(self) -> bool:
        one_of("kind", self.kind, ("parity", "odds"), owner=_OWNER)
        if self.as_printed is False or self.as_printed is None:
            return False
        if self.as_printed is not True:
            one_of("as_printed", self.as_printed, ("paper", "thesis"), owner=_OWNER)
        if self.kind != "parity":
            refuse("kind", _OWNER, "'parity' with 'as_printed', which has no other", self.kind)
        return True

    def _read(self, X: Any, y: Any, group: Any) -> tuple[Examples, NDArray[Any], list[Any]]:
        """Return the rows, the classes and the groups; whatever can fail for the rows fails here."""
        owner = f"{_OWNER}.fit"
        check_rng(self.rng)
        declared = public_classes(self.classes, owner=_OWNER)
        named = public_groups(self.groups, owner=_OWNER)
        features = read_features(self, X, place="fit", reset=True)
        labels, classes = read_labels(y, len(features), owner=owner, classes=declared)
        if len(classes) != 2:
            hint = "DPLogisticRegression takes more."
            refuse("y", owner, "labels of two classes", "labels of more", hint=hint)
        columns = declared_columns(self.groups)
        codes, known = read_groups(group, len(features), owner=owner, groups=named, columns=columns)
        wide = np.column_stack([features, np.ones(len(features))])
        return training.Examples(wide, labels, codes, len(known)), classes, known

    def _take(self, trained: Trained) -> None:
        self.coef_, self.intercept_ = trained.weights[None, :-1].copy(), trained.weights[-1:].copy()
        self.shares_, self.matrix_ = trained.shares, trained.matrix
        self.noise_, self.steps_, self.sampling_ = trained.noise, trained.steps, trained.sampling
        self.__dict__.pop("published_", None)
        if trained.published is not None:
            self.published_ = trained.published

    # --- predicting --------------------------------------------------------------------------------

    def decision_function(self, X: Any) -> NDArray[np.float64]:
        """Return the scores of rows: above 0 the answer is positive."""
        check_is_fitted(self)
        inputs = read_features(self, X, place="predict", reset=False)
        return np.asarray(inputs @ self.coef_[0] + self.intercept_[0])

    def predict_proba(self, X: Any) -> NDArray[np.float64]:
        """Return the chances of both classes."""
        scores = self.decision_function(X)
        with np.errstate(over="ignore"):
            positive = 1 / (1 + np.exp(-scores))
        return np.column_stack([1 - positive, positive])

    def predict(self, X: Any) -> NDArray[Any]:
        """Return the class of each row; the group is not needed."""
        positive = self.decision_function(X) > 0
        return np.asarray(self.classes_[positive.astype(np.intp)])

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "coef_")

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_class = False
        tags.non_deterministic = True  # each fit draws anew
        return tags
