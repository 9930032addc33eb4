"""The sixth step: do for everybody what a setting tested, once, with what it spends said before.

One number here is read from the rows: how many of them link to one person each by the columns in the clear,
if somebody names such columns.
"""

from __future__ import annotations

import json
import os
import shlex
import shutil
import subprocess
import sys
import tempfile
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from evenhand._locks import Lock
from evenhand.app.flow.command import WORK, amount_text, find_done, runs_in, write_order
from evenhand.app.flow.files import APPLIED_NOTE, read_applied
from evenhand.app.flow.opening import SCHEMA_FILE, file_label, is_of_other_data
from evenhand.app.flow.result import load_results
from evenhand.app.flow.views import Applied, ApplyView, LedgerView, SettingChoice, Tick
from evenhand.app.state.workspace import APPLIED, DATA, RUN_LOCK
from evenhand.app.tasks.answers import few_names, type_number
from evenhand.app.tasks.registry import form_of_kind
from evenhand.engine.drawing import measure_links
from evenhand.engine.promise import add_in_clear
from evenhand.errors import EvenhandError, InvalidParameterError, LedgerError, UnknownNameError
from evenhand.privacy.ledger import Ledger, find_ledger
from evenhand.privacy.rational import exact
from evenhand.study.page.wording import delta_text
from evenhand.study.tasks.shared.fields import typed_list
from evenhand.study.tasks.shared.protection import state_rows
from evenhand.table.limits import STREAM_LIMITS
from evenhand.table.read import open_batches

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from fractions import Fraction

    from evenhand.app.state.record import StudyRecord
    from evenhand.app.tasks.base import Applying
    from evenhand.engine.promise import Linkability
    from evenhand.privacy.guarantees.guarantee import Guarantee
    from evenhand.schema import Schema
    from evenhand.study.plan.cells import Setting
    from evenhand.study.plan.plan import Plan
    from evenhand.study.results.results import Results

LEDGERS = "ledgers"
"""Where ledgers of the workbench stand: beside the studies, for all of them."""

NEW = "new"
"""The choice that makes a ledger."""

FOUND = "found"
"""The choice of the ledger that the environment names, or that stands beside the data."""

TICKS = ("spends", "public")
"""The boxes that must be ticked, and ``linkable`` where the rows link to people."""

_MAIN = "from evenhand.app.flow.command import run; from evenhand.cli import main; run(main)"
_ENDING = ".db"
_LONGEST_NAME = 60
_SECONDS = 3_600
_SPENDS = "I understand that this spends {amount} for each person in the file, and that it cannot be undone."
_PUBLIC = "The values in the schema are public knowledge. They were not learnt from this file."
_INFERRED = (
    "The values of {columns} were read from this file, so this cannot be said. Go back to the page of the "
    "schema, paste public code lists or say which lists are public, and run the study again."
)
_NO_DATASET = "This is a built-in data set, so there is nobody to protect. Choose a file of your own."
_OTHER_DATA = "The file of this study was changed after its run. Run the study again, on the page of the run."
_BUSY = "This study is being run, or done for real in another tab. Wait until that has ended."
_NEW_LEDGER = "Write the name of the new ledger, and the most ε that these people may ever pay."
_LINKABLE = "I understand that {percent} of the rows link to one person each. I will not publish the file."
_WITHOUT = ("", "without a ledger")
_NAMED = (FOUND, "the ledger that this computer names")
_MAKE = (NEW, "make a new ledger")


def prepare_applying(
    folder: Path,
    record: StudyRecord,
    *,
    chosen: str = "",
    ledger: str = "",
    options: Mapping[str, Any] | None = None,
) -> ApplyView:
    """Return what doing a setting for real means and spends. It draws nothing and spends nothing.

    Parameters
    ----------
    folder : path
        Of the study.
    record : StudyRecord
    chosen : str
        The key of the setting; by default the one that the report recommends or is about.
    ledger : str
        The key of a ledger of the view, or its default.
    options : mapping, optional
        For a new ledger its ``name`` and its ``limit``, as exact text; as ``keep`` the names of columns that
        are written as they are.

    Raises
    ------
    StudyStoreError
        If there are no results.
    """
    try:
        done = _Doing.of(folder, record, chosen, (options or {}).get("keep", ()))
    except UnknownNameError as fault:
        return ApplyView(error=str(fault), field="chosen")
    what = done.what
    view: dict[str, Any] = {
        "settings": done.choices,
        "chosen": done.setting.id,
        "heading": "Do it for real",
        "sentences": what.sentences,
        "script": what.script,
        "promise": done.promise,
        "in_clear": (*what.in_clear, *done.kept),
        "keepable": what.keepable,
        "links": done.links_words,
        "is_for_publication": done.is_for_publication,
        "spends": "" if what.guarantee is None else amount_of(what.guarantee),
    }
    if what.why_not or not what.command:
        why_not = what.why_not if not what.script else ""
        return ApplyView(**view, error=why_not, field="chosen" if why_not else "")
    if record.data is None or not record.data.file:
        return ApplyView(
            **view, command=shlex.join(["evenhand", *done.words]), error=_NO_DATASET, field="data"
        )
    if done.is_of_other_data:
        return ApplyView(**view, error=_OTHER_DATA, field="data")
    keys = ledgers_of(folder)
    charged, shown, error = None, None, ""
    try:
        charged = _open_ledger(folder, ledger, options or {}, makes=False)
        shown = None if charged is None else _ledger_view(charged, what.guarantee)
    except EvenhandError as fault:
        error = str(fault)
    if shown is not None and not shown.fits:
        error = shown.sentence
    words = done.words
    words += [] if charged is None else ["--ledger", f"{Path(charged.name).stem}{_ENDING}"]
    return ApplyView(
        **view,
        command=shlex.join(["evenhand", *words]),
        ledger=shown,
        ledgers=keys,
        ticks=_ticks(view["spends"], done.schema, done.links),
        button=f"{form_of_kind(record.kind).deed} and spend {view['spends']}",
        needs=_NEW_LEDGER if ledger == NEW and charged is None and not error else "",
        error=error,
        field="ledger" if error else "",
    )


def apply(
    folder: Path,
    record: StudyRecord,
    *,
    chosen: str = "",
    ledger: str = "",
    options: Mapping[str, Any] | None = None,
    ticks: Sequence[str] = TICKS,
) -> Applied:
    """Run exactly the command line that was shown, with the secure source, and return what came of it.

    It runs as a process of its own, in the folder ``applied`` of the study. Whatever is wrong is said there,
    and nothing is written.
    """
    view = prepare_applying(folder, record, chosen=chosen, ledger=ledger, options=options)
    missing = [tick for tick in view.ticks if not tick.can_be_set or tick.name not in ticks]
    if view.error or view.needs or not view.button or missing:
        why = (
            view.error
            or view.needs
            or (missing[0].why_not or "All boxes have to be ticked." if missing else "")
        )
        return Applied(ok=False, said=(why or "There is nothing to run for this setting.",))
    lock = Lock(folder / RUN_LOCK)
    if not lock.take():
        return Applied(ok=False, said=(_BUSY,))
    try:
        return _apply_once(folder, record, chosen=chosen, ledger=ledger, options=options)
    finally:
        lock.free()


def _apply_once(
    folder: Path, record: StudyRecord, *, chosen: str, ledger: str, options: Mapping[str, Any] | None
) -> Applied:
    """Do it unless it was done before; what a process left that was killed in the middle does not count."""
    if find_done(folder) is not None:
        return Applied(ok=False, said=("It was done already: the files are in this study.",))
    done = _Doing.of(folder, record, chosen, (options or {}).get("keep", ()))
    place = folder / APPLIED
    if runs_in(place / WORK):  # of a workbench that was closed meanwhile
        return Applied(ok=False, said=(_BUSY,))
    charged = _open_ledger(folder, ledger, options or {}, makes=True)
    place.mkdir(mode=0o700, exist_ok=True)
    (folder / APPLIED_NOTE).unlink(missing_ok=True)  # of files that somebody removed
    error = _run(done, place / WORK, charged if isinstance(charged, Ledger) else None)
    return read_applied(folder) or Applied(ok=False, said=(error,))


def ledgers_of(folder: Path) -> tuple[tuple[str, str], ...]:
    """Return the ledgers that may be charged: key and words; the last choice makes a new one."""
    own = sorted(path.stem for path in (folder.parent / LEDGERS).glob(f"*{_ENDING}"))
    usual = _NAMED if os.environ.get("EVENHAND_LEDGER") else _WITHOUT  # the command charges what is named
    return (usual, *((name, name) for name in own), _MAKE)


def amount_of(guarantee: Guarantee) -> str:
    """Return what a guarantee spends: epsilon or rho exactly, and delta never below what it is.

    >>> from evenhand.privacy import Guarantee
    >>> amount_of(Guarantee.pure("1/3", unit="one report", trust="local"))
    'ε = 1/3'
    >>> amount_of(Guarantee.pure("1/2", unit="one report", trust="local"))
    'ε = 0.5'
    """
    words = []
    if guarantee.rho is not None:
        words.append(f"ρ = {type_number(guarantee.rho)}")
    elif guarantee.epsilon is not None:
        words.append(f"ε = {type_number(guarantee.epsilon)}")
    if guarantee.delta and guarantee.rho is None:
        words.append(f"δ = {delta_text(float(guarantee.delta))}")
    return ", ".join(words)


# --- what is done -----------------------------------------------------------------------------------


class _Doing:
    """A setting of a finished study and what doing it is; of the rows it has how many link, no more."""

    def __init__(
        self, plan: Plan, schema: Schema | None, settings: Sequence[Setting], setting: Setting
    ) -> None:
        self.plan, self.schema, self.setting = plan, schema, setting
        form = form_of_kind(plan.task.kind)
        self.choices = tuple(SettingChoice(each.id, plan.task.name_setting(each)) for each in settings)
        self.label = ""
        self.data: Path | None = None
        self.is_of_other_data = False
        self.what: Applying = form.applying(setting, plan, data=_typed_data(plan))
        self.kept: tuple[str, ...] = ()
        self.links: Linkability | None = None

    @property
    def words(self) -> list[str]:
        """What is typed after ``evenhand``, but for the ledger."""
        words = [*self.what.command, *(["--keep", typed_list(self.kept)] if self.kept else [])]
        return [*words, *([] if self.is_for_publication else ["--linkable"]), *_format_words(self.plan)]

    @property
    def promise(self) -> str:
        """The guarantee in words, with what is in the clear."""
        if self.what.guarantee is None:
            return ""
        linked = () if self.links is None else self.links.in_clear
        stated = state_rows(self.what.guarantee, self.plan.notes)
        return str(add_in_clear(stated, [*few_names(self.kept), *linked]))

    @property
    def links_words(self) -> str:
        """How many rows link to one person each by the columns that are written as they are."""
        return "" if self.links is None else self.links.describe(self.kept)

    @property
    def is_for_publication(self) -> bool:
        """Whether few enough rows link."""
        return self.links is None or self.links.is_for_publication

    def keep(self, names: Sequence[str]) -> None:
        """Have columns written as they are, and measure which rows link by them."""
        self.kept = tuple(name for name in self.what.keepable if name in names)
        if self.kept and self.data is not None:
            source: Any = self.plan.data
            options: Any = {"columns": self.kept, "limits": STREAM_LIMITS, "file_format": source.file_format}
            self.links = measure_links([self.data], self.kept, partial(open_batches, **options))

    @classmethod
    def of(cls, folder: Path, record: StudyRecord, chosen: str, keep: Sequence[str] = ()) -> _Doing:
        """Return the setting that was chosen, or the one that the report would do."""
        results = load_results(folder)
        protected = [setting for setting in results.settings if setting.is_protected]
        by_key = {setting.id: setting for setting in protected}
        if chosen and chosen not in by_key:
            raise UnknownNameError("Setting", chosen, (), place="one of this study")
        setting = by_key[chosen] if chosen else _usual_setting(results, protected)
        schema = results.plan.schema or results.facts.schema
        doing = cls(results.plan, schema, protected, setting)
        if record.data is not None and record.data.file:
            doing.label, doing.data = file_label(record.data), folder / DATA / record.data.file
            doing.is_of_other_data = is_of_other_data(folder, doing.data)
        if not doing.is_of_other_data:
            doing.keep(keep)
        return doing


def _usual_setting(results: Results, protected: Sequence[Setting]) -> Setting:
    """Return the setting that is recommended, else the one that the page is about."""
    view = results.view()
    by_name = {str(setting): setting for setting in protected}
    return by_name.get(view.recommended) or by_name.get(view.page) or protected[0]


def _typed_data(plan: Plan) -> str:
    return "data.csv" if plan.data is None else plan.data.label


def _format_words(plan: Plan) -> list[str]:
    return [] if plan.data is None else plan.data.format_options


def _ticks(spends: str, schema: Schema | None, links: Linkability | None = None) -> tuple[Tick, ...]:
    inferred = () if schema is None else schema.inferred
    names = ", ".join(f"'{name}'" for name in inferred[:5]) + (" and others" if len(inferred) > 5 else "")
    why_not = _INFERRED.format(columns=names) if inferred else ""
    spends_tick = Tick("spends", _SPENDS.format(amount=spends or "no epsilon that means anything"))
    public_tick = Tick("public", _PUBLIC, can_be_set=not inferred, why_not=why_not)
    if links is None or links.is_for_publication:
        return spends_tick, public_tick
    return spends_tick, public_tick, Tick("linkable", _LINKABLE.format(percent=links.percent))


# --- ledgers ----------------------------------------------------------------------------------------


def _open_ledger(
    folder: Path, key: str, options: Mapping[str, Any], *, makes: bool
) -> Ledger | _Planned | None:
    """Return the ledger that is meant; a new one is made only when it is to be charged."""
    if key in {"", FOUND}:
        return find_ledger(None) if key == FOUND or os.environ.get("EVENHAND_LEDGER") else None
    if key == NEW:
        name, limit = str(options.get("name", "")).strip(), str(options.get("limit", "")).strip()
        if not name or not limit:
            return None
        amount = exact(limit, name="limit", owner="the ledger", above=0)
        place = _new_place(folder, name)
        delta = str(options.get("delta", "") or "0")
        return Ledger(place, epsilon=amount, delta=delta) if makes else _Planned(name, amount, delta)
    known = dict(ledgers_of(folder))
    if key not in known:
        raise UnknownNameError("Ledger", key, (), place="one of the workbench")
    return Ledger(folder.parent / LEDGERS / f"{key}{_ENDING}")


@dataclass(frozen=True)
class _Planned:
    """A ledger that is not there yet: its name and its limits."""

    name: str
    limit: Fraction
    delta: str


def _new_place(folder: Path, name: str) -> Path:
    """Return where a new ledger stands; its name is one plain word or a few, never a path."""
    plain = name.strip()
    if not plain or len(plain) > _LONGEST_NAME or not all(each.isalnum() or each in " -_" for each in plain):
        must_be = f"letters, digits, blanks and hyphens, at most {_LONGEST_NAME}"
        raise InvalidParameterError("name", owner="the ledger", must_be=must_be, got=plain[:_LONGEST_NAME])
    place = folder.parent / LEDGERS
    place.mkdir(mode=0o700, exist_ok=True)
    if (place / f"{plain}{_ENDING}").exists():
        must_be = "one that no other ledger has"
        raise InvalidParameterError("name", owner="the ledger", must_be=must_be, got=plain)
    return place / f"{plain}{_ENDING}"


def _ledger_view(ledger: Any, guarantee: Guarantee | None) -> LedgerView:
    """Return what a charge does to a ledger, in exact amounts; both stand in a refusal."""
    if isinstance(ledger, _Planned):
        return _planned_view(ledger, guarantee)
    total = ledger.total()
    limit, spent = ledger.budget.amount, total.spent
    if guarantee is None:
        raise LedgerError("Nothing is promised, so nothing can be charged. Hint: choose another setting.")
    preview = ledger.preview(guarantee)
    this = preview.charge
    left = preview.remaining if this is None or not preview.fits else preview.remaining.minus(this)
    fits = preview.fits
    cost = "no amount that means anything" if this is None else f"{this}"
    sentence = (
        f"{amount_text(limit)} in all; {amount_text(spent)} is spent, this costs {amount_text(cost)}, and "
    )
    sentence += f"{amount_text(left)} is left after it."
    if not fits:
        rest, whole = amount_text(preview.remaining), amount_text(limit)
        sentence = (
            f"Ledger '{Path(ledger.name).stem}' has {rest} left of {whole}, and this costs "
            f"{amount_text(cost)}. Choose a smaller epsilon, or another ledger."
        )
    amounts = (limit.epsilon, spent.epsilon, None if this is None else this.epsilon, left.epsilon)
    limits, gone, cost, rest = ("unbounded" if amount is None else type_number(amount) for amount in amounts)
    return LedgerView(Path(ledger.name).stem, limits, gone, cost, rest, fits, sentence)


def _planned_view(ledger: _Planned, guarantee: Guarantee | None) -> LedgerView:
    """Return what a charge would do to a new ledger, asked of one that is made and thrown away."""
    with tempfile.TemporaryDirectory() as place:
        trial = Ledger(Path(place) / f"{ledger.name}{_ENDING}", epsilon=ledger.limit, delta=ledger.delta)
        return _ledger_view(trial, guarantee)


# --- the command line -------------------------------------------------------------------------------


def _run(done: _Doing, work: Path, ledger: Ledger | None) -> str:
    """Run the command that was shown, where the data has the name that it has there; return its error."""
    shutil.rmtree(work, ignore_errors=True)
    work.mkdir(mode=0o700)
    try:
        data = Path(str(done.data))
        _put(data, work / done.label)
        if done.schema is not None:
            done.schema.save(work / SCHEMA_FILE)
        said: dict[str, object] = {"promise": done.promise, "links": done.links_words}
        said |= {"is_for_publication": done.is_for_publication}
        write_order(work, inputs=(done.label, SCHEMA_FILE), said=said, ledger=ledger)
        words = done.words
        words += [] if ledger is None else ["--ledger", str(ledger.path)]
        # into files: a pipe that nobody reads any more would end the command when the workbench is closed
        errors, output = work / ".errors", work / ".output"
        with errors.open("wb") as to_errors, output.open("wb") as to_output:
            subprocess.run(  # noqa: S603 - evenhand itself, with words that were checked, without a shell
                [sys.executable, "-c", _MAIN, *words, "--json"],
                cwd=work,
                stdout=to_output,
                stderr=to_errors,
                timeout=_SECONDS,
                check=False,
                stdin=subprocess.DEVNULL,
            )
        complaint, answer = (file.read_text("utf-8", errors="replace") for file in (errors, output))
    except subprocess.TimeoutExpired:
        return "The command took longer than an hour and was stopped."
    finally:
        shutil.rmtree(work, ignore_errors=True)
    study = work.parent.parent
    return _error_of(complaint, answer, [work, work.parent, data.parent, study.parent / LEDGERS])


def _put(data: Path, place: Path) -> None:
    """Put the data where it has its own name: a link, or a copy where there are no links."""
    try:
        place.symlink_to(data.resolve())
    except OSError:
        shutil.copyfile(data, place)


def _error_of(errors: str, output: str, private: Sequence[Path]) -> str:
    """Return the command's own sentence, without any folder of this computer."""
    text = next((line for line in errors.strip().splitlines() if line.strip()), "")
    with suppress(ValueError, AttributeError):
        text = str(json.loads(output).get("error", text)) if output.strip() else text
    for folder in (*private, Path(sys.executable).parent):
        text = text.replace(f"{folder}{os.sep}", "").replace(str(folder), "")
    return text or "The command did not finish."
