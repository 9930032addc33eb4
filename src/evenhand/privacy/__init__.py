"""What is promised, spent and drawn: guarantees, and the randomness that keeps them."""

from evenhand.privacy.guarantee import Guarantee
from evenhand.privacy.units import Measure, Trust, Unit

__all__ = ["Guarantee", "Measure", "Trust", "Unit"]
