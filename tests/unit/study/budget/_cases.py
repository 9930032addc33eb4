"""Ledgers in memory: entries with any amounts, purposes and times one likes."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from fractions import Fraction

from evenhand.privacy import Guarantee
from evenhand.privacy.ledger import Budget
from evenhand.privacy.ledger.chain import Chain
from evenhand.study.budget.reading import BudgetReading

START = datetime(2026, 1, 31, 12, tzinfo=UTC)


def time_after(hours):
    return (START + timedelta(hours=hours)).strftime("%Y-%m-%dT%H:%M:%SZ")


def spend(epsilon, purpose="county by race", *, delta=0, hours=1.0, people=""):
    """Return the terms of a charge; an epsilon of None is unbounded."""
    kept = 1 if epsilon is None else min(Fraction(epsilon), Fraction(1))  # a larger one warns
    guarantee = Guarantee.pure(kept, unit="replace one", trust="central").to_dict()
    amounts = {"epsilon": None, "delta": None}
    if epsilon is not None:
        amounts = {"epsilon": str(Fraction(epsilon)), "delta": str(Fraction(delta))}
    told = {"kind": "spend", "purpose": purpose, "people": people, "guarantee": guarantee, "invariants": []}
    return {**told, **amounts, "hours": hours}


def retire(number, purpose="rows deleted", *, hours=1.0):
    return {"kind": "retire", "entry": number, "purpose": purpose, "hours": hours}


def reading(*terms, period="", now="", name="ledger.db", **budget):
    """Return what a page reads of a ledger with these entries; `hours` count from the entry before."""
    given = {"epsilon": 1, "delta": "1e-6", "unit": "replace one", "people": "", "period": period} | budget
    made = replace(Budget.checked(**(given | {"people": ""})), people=given["people"])
    first = {"kind": "open", "ledger": "0" * 32, "format": 1, **made.to_terms(), "time": time_after(0)}
    entries, chain, passed = [Chain().next_entry(first)], None, 0.0
    for term in terms:
        passed += term["hours"]
        chain = Chain((entries[-1],))
        text = {key: value for key, value in term.items() if key != "hours"} | {"time": time_after(passed)}
        entry = chain.next_entry(text)
        entries.append(type(entry)(len(entries) + 1, entry.text, entry.hash))
    return BudgetReading(name, made, tuple(entries), now or made.period_of(entries[-1].time))
