"""Advice: the smallest epsilon whose setting keeps limits, from a small study."""

from evenhand.study.advise.advice import Advice, advise
from evenhand.study.advise.trial_plan import advice_plan

__all__ = ["Advice", "advice_plan", "advise"]
