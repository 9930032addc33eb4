"""A mechanism of release: Laplace noise on every count, rounded to a multiple of five."""

from typing import Any, ClassVar

import numpy as np

from evenhand.release import Laplace
from evenhand.release.mechanisms.mechanism import Published

MULTIPLE = 5


class RoundedLaplace(Laplace):
    """Add discrete Laplace noise to every count and publish the nearest multiple of five.

    Rounding looks at nothing but the noisy count, so the guarantee is that of the noise.
    """

    name: ClassVar[str] = "rounded-laplace"
    title: ClassVar[str] = "discrete Laplace noise, rounded"
    label: ClassVar[str] = "Rounded Laplace noise"

    def _publish(self, histogram: Any, source: Any) -> Published:
        table = super()._publish(histogram, source).histogram
        rounded = np.rint(table.counts / MULTIPLE).astype(np.int64) * MULTIPLE
        return Published(table.with_counts(rounded))

    def _bias(self, histogram: Any, post: Any) -> None:
        """Return None: there is no formula, so seeded releases are averaged."""

    def _variance(self, histogram: Any) -> None:
        """Return None, for the same reason."""

    def _absolute_error(self, histogram: Any, post: Any) -> None:
        """Return None, for the same reason."""
