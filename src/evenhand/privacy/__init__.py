"""What is promised, spent and drawn: guarantees, and the randomness that keeps them."""

from evenhand.privacy.guarantees.guarantee import Guarantee
from evenhand.privacy.guarantees.units import Measure, Trust, Unit

__all__ = ["Guarantee", "Measure", "Trust", "Unit"]
