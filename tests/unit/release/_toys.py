"""A mechanism and a step of post-processing that no registry of the package lists."""

from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar

import numpy as np

from evenhand._validate import integer
from evenhand.privacy.guarantees.guarantee import Guarantee
from evenhand.privacy.rational import exact
from evenhand.privacy.sampling import discrete_laplace
from evenhand.release.mechanisms.mechanism import Published, ReleaseMechanism
from evenhand.release.postprocess.steps import Step


@dataclass(frozen=True, repr=False)
class RoundedLaplace(ReleaseMechanism):
    """Add Laplace noise to every count and round it down to a multiple of a base."""

    name: ClassVar[str] = "rounded-laplace"
    title: ClassVar[str] = "discrete Laplace noise, rounded"
    label: ClassVar[str] = "Rounded noise"
    defaults: ClassVar[dict] = {"base": 5}
    may_be_negative: ClassVar[bool] = True

    epsilon: Fraction
    base: int

    def __post_init__(self):
        self._set(
            epsilon=exact(self.epsilon, name="epsilon", owner="RoundedLaplace", above=0),
            base=integer("base", self.base, owner="RoundedLaplace", low=1),
        )

    @classmethod
    def example(cls):
        return cls(epsilon=1, base=5)

    def guarantee_for(self, histogram, *, epsilon=None, as_printed=False):
        del epsilon, as_printed
        return Guarantee(
            epsilon=self.epsilon,
            unit="replace one",
            trust="central",
            protects=histogram.columns,
            proof=self.title,
        )

    def _publish(self, histogram, source):
        noise = discrete_laplace(2 / self.epsilon, size=histogram.shape, source=source)
        return Published(histogram.with_counts((histogram.counts + noise) // self.base * self.base))


@dataclass(frozen=True)
class CutAt(Step):
    """Lower counts above a public largest value to it."""

    name: ClassVar[str] = "cut-at"
    amount: ClassVar[str] = "MOST"
    most: int

    @classmethod
    def checked_text(cls, amount, *, owner):
        return str(int(exact(amount, name="post", owner=owner, least=0))) if amount.isdigit() else None

    @classmethod
    def from_text(cls, form, amount):
        del form
        return cls(int(amount))

    @property
    def words(self):
        return f"counts above {self.most} set to {self.most}"

    def apply(self, values, *, source=None):
        del source
        return np.minimum(values, self.most)
