"""Reproduce a paper: run its plans, check its claims, keep tables and figures."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from evenhand._validate import one_of
from evenhand.errors import DataSetNotFoundError, InvalidParameterError, StudyStoreError, UnwritableFileError
from evenhand.papers import packed as packing
from evenhand.papers.claims import Evidence, count_verdicts, judge_claims, summarize_counts
from evenhand.papers.paper import DESIGNS, paper_named
from evenhand.papers.tables import claims_columns, markdown, write_table
from evenhand.papers.trials import FOLDER, load_records, pack_records, records_path
from evenhand.report.svg_file import svg_file
from evenhand.study.plan.cells import Cell, canonical
from evenhand.study.plan.spec import Spec
from evenhand.study.results.results import Results
from evenhand.study.run.events import Cancel, Cancelled, Finished, Started, listening
from evenhand.study.run.prepare import prepare
from evenhand.study.run.whole import run
from evenhand.study.store.file import FILE
from evenhand.study.store.store import Store
from evenhand.table.write import replacing_together

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from os import PathLike

    from evenhand.papers.claims import ClaimRow, Verdict
    from evenhand.papers.packed import FinishedPart
    from evenhand.papers.paper import Paper, Study
    from evenhand.papers.trials import Records, Trials
    from evenhand.report.page import Chart
    from evenhand.study.plan.plan import Plan
    from evenhand.study.run.events import Event
    from evenhand.study.store.outcome import Outcome


SUMMARY_START, SUMMARY_END = "<!-- summary -->", "<!-- end of summary -->"
RUN_START, RUN_END = "<!-- run -->", "<!-- end of run -->"
"""What stands around the summary and what was run in ``claims.md``, so that other pages can include them."""


@dataclass(frozen=True, eq=False)
class Reproduction:
    """What came of a reproduction of a paper by a design.

    Parameters
    ----------
    paper : Paper
    design : str
    studies, trials : mapping of str to Results or to records
        What was run, and what was computed besides.
    claims : tuple of ClaimRow
    tables, figures : mapping of str to columns, sequence of Chart
    missing : mapping of str to str
        Studies that could not be run, each with the reason.
    """

    paper: Paper
    design: str
    studies: Mapping[str, Results] = field(repr=False)
    claims: tuple[ClaimRow, ...] = field(repr=False)
    tables: Mapping[str, dict[str, list[Any]]] = field(repr=False)
    figures: Sequence[Chart] = field(default=(), repr=False)
    missing: Mapping[str, str] = field(default_factory=dict, repr=False)
    trials: Mapping[str, Records] = field(default_factory=dict, repr=False)

    @property
    def counts(self) -> dict[Verdict, int]:
        """How many claims have each verdict."""
        return count_verdicts(self.claims)

    @property
    def summary(self) -> str:
        """How many claims agree, are contradicted and so on, in a sentence."""
        return summarize_counts(self.counts)

    def write(self, folder: str | PathLike[str]) -> None:
        """Write :meth:`report` and :meth:`gallery` as Markdown, claims and tables as CSV, figures as SVG."""
        place = Path(folder)
        try:
            place.mkdir(parents=True, exist_ok=True)
        except OSError:
            message = f"{place.name} was not made: there is no such place, or you may not write there."
            raise UnwritableFileError(message) from None
        tables = {f"{name}.csv": columns for name, columns in self.tables.items()}
        tables["claims.csv"] = claims_columns(self.claims)
        pictures = {}
        if self.figures:
            pictures = {f"{chart.name}.svg": svg_file(chart) for chart in self.figures}
            pictures["figures.md"] = self.gallery()
        texts = {"claims.md": self.report(), **pictures}
        with replacing_together(*(place / name for name in (*texts, *tables))) as files:
            for name, file in zip((*texts, *tables), files, strict=True):
                if name in texts:
                    file.write(texts[name].encode())
                else:
                    write_table(tables[name], file)

    def report(self) -> str:
        """Return what was run, what came of it and every claim, as a page of Markdown."""
        lines = [f"# {self.paper.name}: claims", "", SUMMARY_START, f"**{self.summary}**", SUMMARY_END, ""]
        lines += [f"*{self.paper.title}.* {self.paper.citation}.", ""]
        lines += [
            f"Design '{self.design}': {self.paper.designs[self.design]}",
            "What was run:",
            "",
            RUN_START,
        ]
        for name, results in self.studies.items():
            failed = f", {len(results.failures)} failed" if results.failures else ""
            absent = f", {len(results.missing):,} not run: " if results.missing else ""
            repeats = _tell_repeats(results) if absent else ""
            lines.append(f"- {name}: {len(results):,} cells{failed}{absent}{repeats}")
        planned = {part.name: part.number for part in self.paper.trials(self.design)}
        for name, records in self.trials.items():
            left = planned.get(name, 0) - len(records)
            lines.append(f"- {name}: {len(records):,} trials{f', {left:,} not run' if left > 0 else ''}")
        lines += ["- nothing"] if not self.studies and not self.trials else []
        known = (*self.studies, *self.trials, *self.missing)
        names = (*(study.name for study in self.paper.studies(self.design)), *planned)
        lines += [f"- {name}: not run" for name in names if name not in known]
        lines += [f"- {name}: not run. {why}" for name, why in self.missing.items()]
        lines.append(RUN_END)
        return "\n".join([*lines, "", markdown(self.claims)])

    def gallery(self) -> str:
        """Return every figure with its caption, as a page of Markdown beside the pictures."""
        parts = [f"# {self.paper.name}: figures"]
        parts += [f"![{chart.alt}]({chart.name}.svg)\n\n{chart.caption}" for chart in self.figures]
        return "\n\n".join(parts) + "\n"

    def __str__(self) -> str:
        return f"{self.paper.name}, {self.design} design. {self.summary}"


def reproduce(
    name: str,
    *,
    full: bool = False,
    design: str | None = None,
    out: str | PathLike[str] | None = None,
    workers: int | None = None,
    progress: Any = None,
    resume: bool = True,
    search: bool | int = False,
    only: str | Sequence[str] | None = None,
    cancel: Cancel | None = None,
) -> Reproduction:
    """Run a paper's plans and set its claims beside our numbers.

    Parameters
    ----------
    name : str
        One of :data:`PAPERS`.
    full : bool, default False
        Short for the design ``"full"``.
    design : {"quick", "reduced", "full"}, optional
        By default ``"quick"``. Each design contains the cells of the one before, so that they are not run
        again in the same folder.
    out : str or path, optional
        A folder; each study has a folder of its own in it. Without it nothing is kept.
    workers : int, optional
        As in :func:`evenhand.study.run.whole.run`.
    progress : bool or callable, optional
        As there; counts are over all studies.
    resume : bool, default True
        Go on with what is in the folder.
    search : bool or int, default False
        Search hyper-parameters on validation rows instead of using the published ones, where the paper has a
        search; a number is how many are tried.
    only : str or list of str, optional
        Run these studies and trials of the design and no others.
    cancel : Cancel, optional

    Raises
    ------
    UnknownNameError
        If there is no such paper.
    StudyStoreError
        If the folder holds other studies, or finished cells and `resume` is False.
    """
    paper = paper_named(name)
    chosen = _check_design(design, full=full)
    studies, trials = _choose_studies(paper.studies(chosen, search=search), paper.trials(chosen), only)
    token = cancel or Cancel()
    found: dict[str, Results] = {}
    records: dict[str, dict[int, dict[str, Any]]] = {}
    missing: dict[str, str] = {}
    total = sum(study.cells for study in studies) + sum(part.number for part in trials)
    with listening(progress) as listener:
        tell = _Together(listener, total)
        for study in studies:
            if token.requested:
                break
            try:
                found[study.name] = _run_study(study, out, workers, tell, resume=resume, cancel=token)
            except DataSetNotFoundError as error:
                missing[study.name] = str(error)
        for part in trials:
            try:
                records[part.name] = _run_trials(part, out, tell, cancel=token)
            except DataSetNotFoundError as error:
                missing[part.name] = str(error)
        tell.end(cancelled=token.requested)
    return build_reproduction(paper, chosen, found, missing=missing, trials=records)


def examine(name: str, out: str | PathLike[str], *, design: str = "reduced") -> Reproduction:
    """Judge what is finished in the folder of a reproduction, also while it runs, and run nothing.

    Cells count that are in the stores of the studies, or in the folder ``cells`` that :func:`reproduce`
    leaves there.

    Parameters
    ----------
    name : str
        One of :data:`PAPERS`.
    out : str or path
        The folder that was given to :func:`reproduce`.
    design : {"quick", "reduced", "full"}
        What the folder is taken to be; cells beyond it are left out.
    """
    paper = paper_named(name)
    chosen = _check_design(design, full=False)
    studies = {study.name: _load_results(study, Path(out) / study.name) for study in paper.studies(chosen)}
    found = {study: results for study, results in studies.items() if results is not None}
    trials = {part.name: _load_trials(part, Path(out)) for part in paper.trials(chosen)}
    return build_reproduction(paper, chosen, found, trials=trials)


def _tell_repeats(results: Results) -> str:
    """Return how many repeats are finished at which epsilons, in a part of a sentence."""
    epsilons: dict[str, list[int]] = {}
    for setting, done in zip(results.settings, results.arrays.done.sum(axis=1), strict=True):
        if setting.epsilon is not None:
            epsilons.setdefault(f"{float(setting.epsilon):g}", []).append(int(done))
    by_number: dict[str, list[str]] = {}
    for text, numbers in epsilons.items():
        number = " to ".join(map(str, sorted({min(numbers), max(numbers)})))
        words = {"0": "none", "1": "1 repeat"}.get(number, f"{number} repeats")
        by_number.setdefault(words, []).append(text)
    return "; ".join(f"{words} at epsilon {', '.join(texts)}" for words, texts in by_number.items())


def _load_results(study: Study, folder: Path) -> Results | None:
    """Return the finished cells of a study, or None if there are none."""
    wanted = {cell.id: cell for cell in study.plan.cells()}
    packed = packing.load_cells(cells_path(folder.parent, study.name))
    outcomes: dict[str, Outcome] = {}
    facts = None
    for number, place in _part_folders(study, folder).items():
        loaded = Results.load(place) if (place / FILE).is_file() else None
        sources = [source for source in (packed.get(number), loaded) if source is not None]
        facts = facts or (sources[-1].facts if sources else None)
        for outcome in (outcome for source in sources for outcome in source.outcomes):
            repeat = outcome.cell.repeat if study.parts is None else number
            cell = wanted.get(Cell(outcome.cell.setting, repeat).id)
            if cell is not None:
                outcomes[cell.id] = replace(outcome, cell=cell)
    return None if facts is None else Results(study.plan, facts, outcomes.values())


def cells_path(folder: Path, study: str) -> Path:
    """Return the file of a study in the folder of a reproduction."""
    return folder / FOLDER / f"{study}.parquet"


def _load_trials(trials: Trials, out: Path) -> dict[int, dict[str, Any]]:
    """Return the records of trials that are finished, of those that a design has."""
    packed = load_records(records_path(out, trials.name), trials.name)
    wanted = {number: record for number, record in packed.items() if number < trials.number}
    return dict(sorted({**wanted, **trials.load_records(out / trials.name)}.items()))


def _part_folders(study: Study, folder: Path) -> dict[int, Path]:
    """Return the folder of each part of a study; a study of one plan is its only part."""
    if study.parts is None:
        return {0: folder}
    return {number: folder / f"{number:02d}" for number in range(study.plan.repeats)}


def build_reproduction(
    paper: Paper,
    design: str,
    studies: Mapping[str, Results],
    *,
    missing: Mapping[str, str] | None = None,
    trials: Mapping[str, Records] | None = None,
) -> Reproduction:
    """Return the reproduction that follows from results, without running anything."""
    studies = {name: results for name, results in studies.items() if len(results)}
    records = {name: found for name, found in (trials or {}).items() if found}
    evidence = Evidence(studies, paper.published(), records)
    return Reproduction(
        paper=paper,
        design=design,
        studies=studies,
        claims=judge_claims(paper.claims, evidence),
        tables=paper.tables(evidence),
        figures=tuple(paper.figures(evidence)),
        missing=missing or {},
        trials=records,
    )


def _check_design(design: str | None, *, full: bool) -> str:
    if design is None:
        return "full" if full else "quick"
    if full and design != "full":
        must_be = "'full', or not given, with full=True"
        raise InvalidParameterError("design", owner="reproduce", must_be=must_be, got=design)
    return one_of("design", design, DESIGNS, owner="reproduce")


def _choose_studies(
    studies: tuple[Study, ...], trials: tuple[Trials, ...], only: str | Sequence[str] | None
) -> tuple[tuple[Study, ...], tuple[Trials, ...]]:
    if only is None:
        return studies, trials
    known = [study.name for study in studies] + [part.name for part in trials]
    named = [only] if isinstance(only, str) else list(only)
    wanted = {one_of("only", name, known, owner="reproduce") for name in named}
    return (
        tuple(study for study in studies if study.name in wanted),
        tuple(part for part in trials if part.name in wanted),
    )


# --- running --------------------------------------------------------------------------------------


def _run_study(
    study: Study,
    out: str | PathLike[str] | None,
    workers: int | None,
    tell: _Together,
    *,
    resume: bool,
    cancel: Cancel,
) -> Results:
    """Return the results of a study, its parts put together."""
    folder = None if out is None else Path(out) / study.name
    file = None if out is None else cells_path(Path(out), study.name)
    packed = {} if file is None or not resume else packing.load_cells(file)
    folders = {} if folder is None else _part_folders(study, folder)

    def run_part(number: int, plan: Plan) -> Results:
        whole, frame = (plan, None) if study.completed is None else study.completed(plan)
        place = folders.get(number)
        if place is not None and number in packed:
            adopt_cells(packed[number], whole, frame, place)
        return run(
            whole,
            frame=frame,
            out=place,
            workers=workers,
            resume=resume and place is not None,
            progress=tell.next(),
            cancel=cancel,
        )

    try:
        if study.parts is None:
            return run_part(0, study.plan)
        outcomes, facts = [], None
        for number, part in enumerate(study.parts()):
            found = run_part(number, part)
            facts = facts or found.facts
            outcomes += [
                replace(outcome, cell=Cell(outcome.cell.setting, number)) for outcome in found.outcomes
            ]
            if cancel.requested:
                break
    finally:
        if file is not None:
            packing.pack_cells(file, folders)
    if facts is None:
        raise InvalidParameterError("parts", owner="Study", must_be="at least one plan", got="none")
    return Results(study.plan, facts, outcomes)


def adopt_cells(kept: FinishedPart, plan: Plan, frame: Any, folder: Path) -> None:
    """Write into the store of a folder the finished cells that it does not have.

    Cells of other data, or of another schema, task or seed, are a StudyStoreError.
    """
    stored = set()
    if Store.count_results(folder):
        with Store.open(folder) as store:
            stored = {record.outcome.cell.id for record in store.records() if record.outcome.failure is None}
    missing = [pair for name, pair in kept.cells.items() if name not in stored]
    if not missing:
        return
    facts = prepare(plan, frame=frame).facts
    names = kept.spec.differences(Spec.of(plan, facts))
    if names:
        message = f"The finished cells for '{folder.name}' are of another study: {', '.join(names)} differ."
        raise StudyStoreError(f"{message} Hint: name another folder, or one without a folder '{FOLDER}'.")
    with Store.reserve(folder, resume=True) as store:
        store.start(plan, facts)
        for versions in {canonical(versions): versions for _, versions in missing}.values():
            outcomes = [outcome for outcome, computed_with in missing if computed_with == versions]
            store.write(*outcomes, computed_with=versions)


def _run_trials(
    trials: Trials, out: str | PathLike[str] | None, tell: _Together, *, cancel: Cancel
) -> dict[int, dict[str, Any]]:
    """Return the records of trials, those of earlier runs among them."""
    if out is None:
        return trials.run(None, tell=tell.next(), cancel=cancel)
    file = records_path(Path(out), trials.name)
    earlier = load_records(file, trials.name)
    found = trials.run(Path(out) / trials.name, known=earlier, tell=tell.next(), cancel=cancel)
    pack_records(file, trials.name, found)
    return found


class _Together:
    """Tells the events of several runs as those of one."""

    def __init__(self, tell: Callable[[Event], Any], total: int) -> None:
        self._tell, self._total = tell, total
        self._before, self._now = Counter[str](), Counter[str]()
        self._started = False

    def next(self) -> Callable[[Event], None]:
        """Return who listens to the next run."""
        self._before, self._now = self._before + self._now, Counter()
        return self._hear

    def _hear(self, event: Event) -> None:
        self._now = Counter(done=event.done, failed=event.failed)
        first = isinstance(event, Started) and not self._started
        if first or not isinstance(event, Started | Finished | Cancelled):
            self._started = True
            self._tell(replace(event, **self._numbers()))

    def end(self, *, cancelled: bool) -> None:
        """Tell that everything is done, or was stopped."""
        self._tell((Cancelled if cancelled else Finished)(**self._numbers()))

    def _numbers(self) -> dict[str, int]:
        whole = self._before + self._now
        return {"done": whole["done"], "failed": whole["failed"], "total": self._total}
