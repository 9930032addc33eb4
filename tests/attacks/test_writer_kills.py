"""Whenever a writer is killed, no table stands beside a guarantee that does not speak of it."""

import os
from types import SimpleNamespace

import numpy as np
import pyarrow as pa
import pytest

from attacks._writer_kills import faults, files, kill_everywhere
from evenhand.cli.commands.estimate import _write as write_estimates
from evenhand.collect import GRR
from evenhand.engine.privatize import privatize_file
from evenhand.errors import UnreadableFileError
from evenhand.learn.parity.key import PersonKey
from evenhand.papers.reproduction import Reproduction
from evenhand.papers.trials import Trials
from evenhand.release import Histogram, KAnonymity, Laplace
from evenhand.report import Chart, Page, Section
from evenhand.report.html import write as write_page
from evenhand.schema import Column, Domain, Schema
from evenhand.study.plan.plan import Plan
from evenhand.table.write import replacing, write_csv, write_parquet

pytestmark = [pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork"), pytest.mark.figures]

SCHEMA = Schema(
    [Column("sex", Domain.categorical(["f", "m"])), Column("job", Domain.categorical(["a", "b"]))],
    sensitive=["sex"],
    quasi_identifiers=["job"],
)
PEOPLE = {"sex": ["f", "m", "m", "f", "m"] * 4, "job": ["a", "b", "b", "b", "a"] * 4}
PICTURE = '<svg width="340"><rect width="4" height="4"/></svg>'


def _chart(name, number):
    return Chart(name=name, wide=PICTURE, narrow=PICTURE, alt="", caption="", data={"a": [number]})


# Each returns a writer of the version 1 or 2 of a set; what is drawn is drawn once, so its bytes are known.


def _laplace(_, version):
    release = Laplace(version, unit="replace one").release(Histogram.count(pa.table(PEOPLE), SCHEMA))
    return lambda folder: release.write(folder / "table.csv")


def _k_anonymity(ending):
    def writer(_, version):
        release = KAnonymity(version).release(Histogram.count(pa.table(PEOPLE), SCHEMA))
        return lambda folder: release.write(folder / f"table{ending}")

    return writer


def _privatize(name):
    def writer(folder, version):
        source = folder / "people.csv"
        write_csv(pa.table(PEOPLE), source)
        columns = ["sex", "job"][:version]
        how = {"columns": columns, "keep": (), "epsilon": version, "simulate": 1, "overwrite": True}
        return lambda place: privatize_file(source, place / name, schema=SCHEMA, **how)

    return writer


def _estimates(name, *, rates):
    def writer(_, version):
        table = pa.table({"share": [version]})
        found = SimpleNamespace(shares=True, rates=rates, table=lambda: table, rates_table=lambda: table)
        return lambda folder: write_estimates(found, folder / name)

    return writer


def _page(_, version):
    charts = [_chart(name, version) for name in ("first", "second")]
    page = Page(question=f"Who pays {version}?", answers=(), sections=(Section("A", charts=charts),))
    return lambda folder: write_page(page, folder / "report.html")


def _reproduction(_, version):
    words = {"name": "p", "title": "t", "citation": f"{version}", "designs": {"quick": "q"}}
    paper = SimpleNamespace(**words, studies=lambda _: (), trials=lambda _: ())
    tables = {"rates": {"epsilon": [version]}}
    whole = Reproduction(paper=paper, design="quick", studies={}, claims=(), tables=tables)
    return whole.write


def _reports(_, version):
    drawn = GRR(SCHEMA["sex"].domain.size, epsilon=version).privatize(np.zeros(9, np.uint8), rng=1)
    how = {"simulated": "allow", "keep_order": True}  # the same bytes at every write
    return lambda folder: drawn.write_parquet(folder / "reports.parquet", **how)


def _trials(_, version):
    trials = Trials("squares", 1, lambda _: {"square": version})
    return lambda folder: trials._write(folder, 0, {"square": version})


SETS = {
    "a release": (_laplace, "table.csv"),
    "a release with classes": (_k_anonymity(".parquet"), "table.parquet"),
    "reports in CSV": (_privatize("reports.csv"), "reports.csv"),
    "reports in Parquet": (_privatize("reports.parquet"), "reports.parquet"),
    "estimates": (_estimates("shares.csv", rates=True), "shares.csv"),
    "a page": (_page, "report.html"),
    "a reproduction": (_reproduction, "claims.md"),
}
SINGLE = {
    "a schema": (lambda _, v: lambda at: SCHEMA.select(["sex", "job"][:v]).save(at / "s.toml"), "s.toml"),
    "a plan": (lambda _, v: lambda at: Plan(repeats=v).save(at / "p.toml"), "p.toml"),
    "reports of a protocol": (_reports, "reports.parquet"),
    "a CSV table": (lambda _, v: lambda at: write_csv(pa.table({"a": [v]}), at / "a.csv"), "a.csv"),
    "a Parquet table": (lambda _, v: lambda at: write_parquet(pa.table({"a": [v]}), at / "a.pq"), "a.pq"),
    "a trial": (_trials, "00.json"),
}
WRITERS = SETS | SINGLE
EVERY_CHANGE = {("a release", "an old set")}
"""What the quick tests try; the others take a minute or two."""

CASES = [
    pytest.param(name, over, marks=() if (name, over) in EVERY_CHANGE else pytest.mark.figures)
    for name in WRITERS
    for over in ("no files", "an old set")
]


@pytest.mark.parametrize(("name", "over"), CASES)
def test_a_kill_at_any_change_of_a_file_leaves_old_files_or_new_ones_never_both(tmp_path, name, over):
    """A table at epsilon 10 beside a note that says 1/10 promises what nobody gets."""
    build, first = WRITERS[name]
    old = build(tmp_path, 1) if over == "an old set" else None
    number, wrong = kill_everywhere(tmp_path / "kills", old, build(tmp_path, 2), first=first)

    assert number >= 4
    assert wrong == {}


REPORTS, RATES = _privatize("table.csv"), _estimates("table.csv", rates=True)
MIXED = {
    "reports over a release": (_laplace, REPORTS),
    "a release over reports": (REPORTS, _laplace),
    "a release without classes over one with them": (_k_anonymity(".csv"), _laplace),
    "reports over a release with classes": (_k_anonymity(".csv"), REPORTS),
    "a release with classes over estimates": (RATES, _k_anonymity(".csv")),
    "reports over estimates": (RATES, REPORTS),
    "shares without rates over ones with them": (RATES, _estimates("table.csv", rates=False)),
}
"""The writer of the old set and that of the new one, where the old one has files that the new one lacks."""


MIXED_CASES = [
    pytest.param(name, marks=() if name == "a release over reports" else pytest.mark.figures)
    for name in MIXED
]


@pytest.mark.parametrize("table", ["there", "lost"])
@pytest.mark.parametrize("name", MIXED_CASES)
def test_a_set_of_another_kind_is_replaced_whole_at_every_kill(tmp_path, name, table):
    """What the new set does not contain is gone before the new table is there."""
    old, new = MIXED[name]

    def write_old(folder):
        old(tmp_path, 1)(folder)
        if table == "lost":
            (folder / "table.csv").unlink()

    number, wrong = kill_everywhere(tmp_path / "kills", write_old, new(tmp_path, 2), first="table.csv")

    assert number >= 4
    assert wrong == {}


@pytest.mark.figures
@pytest.mark.parametrize("name", SETS)
def test_a_set_over_half_an_old_one_is_never_mixed(tmp_path, name):
    """A killed run may have left companions without their file."""
    build, first = SETS[name]

    def companions_alone(folder):
        build(tmp_path, 1)(folder)
        (folder / first).unlink()

    _, wrong = kill_everywhere(tmp_path / "kills", companions_alone, build(tmp_path, 2), first=first)
    assert wrong == {}


def test_writing_file_after_file_is_caught(tmp_path):
    """The twin: the order that a release once had leaves a new table beside an old note."""

    def writer(version):
        def write(folder):
            for name in ("table.csv", "table.csv.json"):
                with replacing(folder / name) as file:
                    file.write(b"%d" % version)

        return write

    _, wrong = kill_everywhere(tmp_path, writer(1), writer(2), first="table.csv")

    assert {fault for each in wrong.values() for fault in each} == {
        "old and new stand side by side: {'table.csv': 'new', 'table.csv.json': 'old'}"
    }


def test_what_others_may_read_and_what_is_lost_is_caught(tmp_path):
    """The twin of the other two checks."""
    part = tmp_path / ".a.csv.abcdefgh.evenhand.part"
    part.write_bytes(b"rows")
    part.chmod(0o644)

    assert faults(tmp_path, {"a.csv": b"old"}, {}, first="a.csv") == [
        "a.csv is lost",
        f"others may read {[part.name]}",
    ]


def test_a_key_that_was_cut_off_is_refused(tmp_path):
    """A key is written in its place, for it is never replaced; half of it must not be taken for a key."""
    PersonKey.generate().save(tmp_path / "key")
    whole = files(tmp_path)["key"]
    for length in range(len(whole) - 1):
        (tmp_path / "key").write_bytes(whole[:length])
        with pytest.raises(UnreadableFileError, match="was not read"):
            PersonKey.load(tmp_path / "key")
