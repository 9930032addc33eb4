"""Advice: what to expect of protection, whether it came true, and which setting to use under limits."""

from evenhand.study.advise.advice import Advice, advise
from evenhand.study.advise.trial_plan import advice_plan

__all__ = ["Advice", "advice_plan", "advise"]
