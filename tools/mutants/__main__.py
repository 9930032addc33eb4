"""Break the code on purpose, one small change at a time, and count the changes that the tests notice.

Run by ``make mutants``. A change is called a mutant. The steps: draw a sample of mutants by a stated seed
and write it down; measure once which tests run which lines; plant each mutant in a private copy of the
project and run the tests that can see it, the most direct first, until one fails; ask a wider circle of
tests about those that are left; run every test that noticed a mutant once more without it, so that no test
is believed that fails by itself. A run that was stopped goes on where it was.

Why a planter of our own: cosmic-ray runs one fixed command, so the whole suite, for each mutant, and starts
a process that imports everything again. mutmut 3 puts a function that chooses among mutants in place of
each function, which numba cannot compile, and leaves alone what stands outside of functions. Neither knows
that numba keeps compiled kernels on the disk. With twenty thousand tests a sample of three hundred mutants
would take more than a day.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import pathlib
import queue
import subprocess
import sys
import tempfile
import threading
import time
from dataclasses import asdict
from typing import TYPE_CHECKING, Any, Self

from draw import Scope, draw_sample, find_again, read_sample
from report import latest_results, print_report, read_judged
from sight import Sight, file_of, measure
from trees import copy_compiled, copy_tree

if TYPE_CHECKING:
    from sites import Mutant

HERE = pathlib.Path(__file__).resolve().parent
SECONDS_OF_STAGES = {1: 45.0, 2: 240.0}
"""How long the tests of a mutant may take without it, at each stage."""
PATIENCE_COMPILING = 120.0


def main() -> None:
    """Read the options, and do or go on with the run."""
    options = _options()
    scope = Scope.read(options.scope)
    options.folder.mkdir(parents=True, exist_ok=True)
    sample = options.folder / f"sample-{options.seed}-{options.count}.jsonl"
    if not sample.exists():
        draw_sample(options.root, scope, seed=options.seed, count=options.count, target=sample)
    head, drawn = read_sample(sample)
    results = options.folder / f"results-{options.seed}-{options.count}.jsonl"
    if not options.report:
        _Run(options, scope, drawn, results).go()
    if print_report(head, drawn, results, scope) < scope.floor:
        sys.exit(f"The tests catch fewer than {scope.floor:g} % of the mutants that are not equivalent.")


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="mutants", description=__doc__.splitlines()[0])
    parser.add_argument("--seed", type=int, default=2026, help="of the draw")
    parser.add_argument("--count", type=int, default=320, help="how many changes are drawn")
    parser.add_argument("--workers", type=int, default=2, help="how many are tested at a time")
    parser.add_argument("--only", default="", help="those whose name, file or package begins so")
    parser.add_argument("--again", action="store_true", help="ask once more about those that survived")
    parser.add_argument("--report", action="store_true", help="show the results and run nothing")
    parser.add_argument("--root", type=pathlib.Path, default=HERE.parent.parent, help="the project")
    parser.add_argument("--scope", type=pathlib.Path, default=HERE / "scope.toml", help="what is broken")
    parser.add_argument("--folder", type=pathlib.Path, help="where the sample and the results are kept")
    parser.add_argument("--copies", type=pathlib.Path, help="where the private copies are made")
    options = parser.parse_args()
    options.root = options.root.resolve()
    digest = hashlib.sha256(str(options.root).encode()).hexdigest()[:8]
    options.folder = options.folder or options.root / ".mutants"
    options.copies = options.copies or pathlib.Path(tempfile.gettempdir()) / f"mutants-{digest}"
    return options


class _Run:
    def __init__(
        self, options: argparse.Namespace, scope: Scope, drawn: list[Mutant], results: pathlib.Path
    ) -> None:
        self.options, self.scope, self.drawn, self.results = options, scope, drawn, results
        self.lock = threading.Lock()
        self.started = time.monotonic()
        self.finished = 0

    def go(self) -> None:
        """Measure, ask in two stages, and check the tests that noticed something."""
        options = self.options
        copies = options.copies
        measure(
            options.root, self.scope, options.folder / "seen", copies / "measured", workers=options.workers
        )
        for number in range(options.workers):
            copy_tree(options.root, copies / f"worker-{number}")
            copy_compiled(copies / "measured", copies / f"worker-{number}")
        self.sight = Sight(options.root, self.scope, options.folder / "seen")
        self.places = find_again(options.root, self.drawn)
        unsound = options.folder / "unsound.json"
        left_out = set(json.loads(unsound.read_text(encoding="utf-8"))) if unsound.exists() else set()
        self._leave_out(left_out)
        self._write_gone()
        known, equivalent = latest_results(self.results), read_judged()
        again = {name for name, result in known.items() if result["outcome"] == "survived"}
        self.again = again - equivalent.keys() if options.again else set()
        while True:
            for stage in (1, 2):
                self._ask(self._waiting(stage), stage)
            failing = self._find_unsound()
            if not failing:
                return
            left_out |= failing
            unsound.write_text(json.dumps(sorted(left_out)), encoding="utf-8")
            self._leave_out(left_out)

    def _leave_out(self, tests: set[str]) -> None:
        for test in tests:
            if self.sight.seconds.pop(test, None) is not None:
                self.sight.by_file[file_of(test)].remove(test)

    def _write(self, name: str, **words: Any) -> None:
        with self.lock, self.results.open("a", encoding="utf-8") as file:
            file.write(json.dumps({"name": name, **words}) + "\n")

    def _write_gone(self) -> None:
        known = latest_results(self.results)
        for mutant in self.drawn:
            if self.places[mutant.name] is None and mutant.name not in known:
                self._write(mutant.name, outcome="gone", by="", stage=2)

    def _waiting(self, stage: int) -> list[Mutant]:
        known, equivalent = latest_results(self.results), read_judged()
        waiting = []
        for mutant in self.drawn:
            place, result = self.places[mutant.name], known.get(mutant.name)
            wanted = mutant.name, mutant.path, mutant.path.removeprefix(f"{self.scope.source}/")
            if place is None or not any(word.startswith(self.options.only) for word in wanted):
                continue
            first = result is None or result["outcome"] == "undecided" or mutant.name in self.again
            second = result is not None and result["outcome"] == "survived" and result["stage"] < 2
            second = second and mutant.name not in equivalent
            if first if stage == 1 else second:
                waiting.append(place)
        if stage == 1:
            self.again = set()
        return waiting

    # --- asking ---

    def _ask(self, mutants: list[Mutant], stage: int) -> None:
        if not mutants:
            return
        print(f"Stage {stage}: {len(mutants)} mutants", flush=True)
        self.started, self.finished, self.total = time.monotonic(), 0, len(mutants)
        waiting: queue.SimpleQueue[Mutant] = queue.SimpleQueue()
        for mutant in mutants:
            waiting.put(mutant)
        self._in_threads(lambda server: self._ask_all(server, waiting, stage))

    def _in_threads(self, work: Any) -> None:
        def start(number: int) -> None:
            with _Server(self.options.copies / f"worker-{number}", self.scope) as server:
                work(server)

        threads = [threading.Thread(target=start, args=(number,)) for number in range(self.options.workers)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()

    def _ask_all(self, server: _Server, waiting: queue.SimpleQueue[Mutant], stage: int) -> None:
        while True:
            try:
                mutant = waiting.get_nowait()
            except queue.Empty:
                return
            with self.lock:
                tests = self.sight.choose(mutant, stage=stage, limit=SECONDS_OF_STAGES[stage])
                compiled = self.sight.is_compiled(mutant.path)
            answer = self._ask_about(server, mutant, tests, PATIENCE_COMPILING if compiled else 0.0)
            self._note(mutant, tests, answer, stage)

    def _ask_about(
        self, server: _Server, mutant: Mutant, tests: list[str], patience: float
    ) -> dict[str, Any]:
        """Ask until a test fails that fails alone as well, and not because of those that ran before it."""
        words = ["-x", *self.scope.options]
        while True:
            answer = server.ask(self._job(mutant, tests, patience, words))
            failed = next(iter(answer["failed"]), "")
            if failed not in self.sight.seconds or file_of(failed) == file_of(tests[0]):
                return answer
            alone = self.sight.with_its_page(failed)
            if server.ask(self._job(mutant, alone, patience, words))["failed"]:
                return answer
            tests = [test for test in tests if test not in alone]

    def _job(
        self, mutant: Mutant | None, tests: list[str], patience: float, words: list[str]
    ) -> dict[str, Any]:
        return {
            "mutant": asdict(mutant) if mutant else None,
            "tests": tests,
            "seconds": {test: self.sight.seconds[test] for test in tests},
            "patience": patience,
            "options": words,
        }

    def _note(self, mutant: Mutant, tests: list[str], answer: dict[str, Any], stage: int) -> None:
        by = answer["timeout"] or (answer["failed"] or [""])[0]
        if answer["timeout"]:
            outcome = "timeout"
        elif answer["failed"]:
            outcome = "killed"
        else:
            outcome = "survived" if answer["code"] == 0 and answer["collected"] else "undecided"
        why = answer["why"] or answer["error"]
        words = {"outcome": outcome, "by": by, "why": why, "stage": stage, "seconds": answer["seconds"]}
        self._write(mutant.name, **words, tests=len(tests), collected=answer["collected"])
        with self.lock:
            self.finished += 1
            left = (time.monotonic() - self.started) / self.finished * (self.total - self.finished)
            place = f"{mutant.path.removeprefix(self.scope.source)}:{mutant.line} {mutant.kind}"
            change = f"{mutant.before[:40]} -> {mutant.after[:40]}"
            progress = f"[{self.finished}/{self.total}, {left / 60:.0f} min left]"
            print(
                f"{progress} {outcome:8} {place}: {change}  {by[:70]} {answer['seconds']:.0f} s", flush=True
            )

    # --- checking ---

    def _find_unsound(self) -> set[str]:
        """Run each test that noticed a mutant without one, and return those that fail by themselves."""
        killers = {
            name: result["by"]
            for name, result in latest_results(self.results).items()
            if result["outcome"] in ("killed", "timeout") and not result.get("checked")
        }
        tests = sorted({test for test in killers.values() if test in self.sight.seconds})
        if not killers:
            return set()
        print(f"Checking {len(tests)} tests that noticed something", flush=True)
        waiting: queue.SimpleQueue[list[str]] = queue.SimpleQueue()
        pages = {name: self.sight.by_file[name] for name in {file_of(test) for test in tests}}
        for name, every in pages.items():
            waiting.put([test for test in every if test in tests or not name.endswith(".py")])
        failing: set[str] = set()

        def check(server: _Server) -> None:
            while True:
                try:
                    chosen = waiting.get_nowait()
                except queue.Empty:
                    return
                answer = server.ask(self._job(None, chosen, PATIENCE_COMPILING, self.scope.options))
                failing.update(answer["failed"], [answer["timeout"]] if answer["timeout"] else [])

        self._in_threads(check)
        for name, test in killers.items():
            last = latest_results(self.results)[name]
            if test in failing:
                self._write(name, outcome="undecided", by="", stage=1)
            else:
                self._write(
                    name, **{key: value for key, value in last.items() if key != "name"}, checked=True
                )
        if failing:
            print(f"These fail without any mutant and are not asked again: {sorted(failing)}", flush=True)
        return failing


class _Server:
    """A worker process with a private copy of the project."""

    def __init__(self, tree: pathlib.Path, scope: Scope) -> None:
        self.tree, self.scope = tree, scope

    def __enter__(self) -> Self:
        words = json.dumps({"preload": self.scope.preload, "marks": self.scope.marks})
        environment = os.environ | {"PYTHONPATH": str(self.tree / "src")}
        environment.pop("PYTHONDONTWRITEBYTECODE", None)
        command = [sys.executable, str(HERE / "server.py"), str(self.tree), words]
        self.process = subprocess.Popen(  # noqa: S603 - fixed words
            command, cwd=self.tree, env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )
        return self

    def ask(self, job: dict[str, Any]) -> dict[str, Any]:
        """Send a job and wait for its answer."""
        self.process.stdin.write(json.dumps(job) + "\n")
        self.process.stdin.flush()
        return json.loads(self.process.stdout.readline())

    def __exit__(self, *error: object) -> None:
        self.process.stdin.close()
        self.process.wait()


if __name__ == "__main__":
    main()
