"""Ways to decide more evenly from protected data, each beside the plain release, behind one interface.

Each takes the problem, the true data and the noise, and returns a
:class:`~evenhand.decide.mitigate.mitigation.Mitigation`: guarantee, bias by entity, mean absolute error,
alpha, and what it does in words. :func:`compare` lists them. :mod:`~evenhand.decide.mitigate.registry` has a
line for each; a file of this folder declares what it is for and what it needs.
"""

from evenhand.decide.mitigate.compare import Comparison, compare
from evenhand.decide.mitigate.linear import linear_proxy, total_sensitivity
from evenhand.decide.mitigate.margin import margin, move_thresholds
from evenhand.decide.mitigate.mitigation import Mitigation, plain_release
from evenhand.decide.mitigate.output import output_perturbation, share_sensitivity, share_sensitivity_here
from evenhand.decide.mitigate.payment import cost_of_privacy, fairness_payment
from evenhand.decide.mitigate.piecewise import alpha_by_group, piecewise_proxy
from evenhand.decide.mitigate.shrink import decision_temperature, shrink
from evenhand.decide.mitigate.sum_constraint import sum_constraint

__all__ = [
    "Comparison",
    "Mitigation",
    "alpha_by_group",
    "compare",
    "cost_of_privacy",
    "decision_temperature",
    "fairness_payment",
    "linear_proxy",
    "margin",
    "move_thresholds",
    "output_perturbation",
    "piecewise_proxy",
    "plain_release",
    "share_sensitivity",
    "share_sensitivity_here",
    "shrink",
    "sum_constraint",
    "total_sensitivity",
]
