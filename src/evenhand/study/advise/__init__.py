"""Advice: what to expect of protection, whether it came true, and which setting to use under limits."""

from evenhand.study.advise.advice import (
    Advice,
    advice_plan,
    advise,
)

__all__ = ["Advice", "advice_plan", "advise"]
