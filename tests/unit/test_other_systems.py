"""Nothing asks for what only Unix has: the same commands run where that is taken away.

The libraries below evenhand are imported first, for they have code of their own for each system, and the
Python that runs the test is one for Linux. All steps of a system run in one process, which is slow to start.
"""

import json
import os
import subprocess
import sys

import pytest

from evenhand.schema import Column, Domain, Schema

PRELUDE = """
import json, os, signal, sys
import asyncio, concurrent.futures, ctypes, multiprocessing.shared_memory, shutil, sqlite3, subprocess
import altair, cryptography.hazmat.primitives.serialization, highspy, jinja2, joblib, loky, narwhals, numba
import numpy.random, platformdirs, pyarrow.csv, pyarrow.parquet, requests, rich.console, rich.progress
import scipy.optimize, scipy.stats, sklearn.ensemble, sklearn.linear_model, sklearn.pipeline, typer.testing
import loky.backend.popen_loky_posix, loky.backend.resource_tracker, loky.process_executor, vl_convert

class Missing:
    def find_spec(self, name, path=None, target=None):
        if name in GONE["modules"]:
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)

GONE = json.loads(sys.argv[2])
for name in GONE["modules"]:
    sys.modules.pop(name, None)
sys.meta_path.insert(0, Missing())
for module in (os, signal):
    for name in GONE[module.__name__]:
        if hasattr(module, name):
            delattr(module, name)
sys.platform = sys.argv[1]

import evenhand, evenhand._shared_folders
evenhand._shared_folders.MEMORY = evenhand._shared_folders.Path("no-such-place")  # as on these systems
for name in evenhand.__all__:
    getattr(evenhand, name)
import evenhand.learn.parity.key, evenhand.privacy.signing.keys, evenhand.engine.cluster.unfinished
from evenhand.cli.app import app

with evenhand.engine.cluster.unfinished.Unfinished("cluster.parquet") as unfinished:
    unfinished._write_private("key", b"a\\n")
    assert (unfinished.folder / "key").read_bytes() == b"a\\n"
    unfinished.discard()
person = evenhand.learn.parity.key.PersonKey.generate()
person.save("person.key")
evenhand.learn.parity.key.PersonKey.load("person.key")
runner = typer.testing.CliRunner()
for words in json.loads(sys.argv[3]):
    done = runner.invoke(app, words, prog_name="evenhand")
    error = repr(done.exception) if done.exit_code not in (0, 1, 2) or done.exit_code == 1 else ""
    print(json.dumps([done.exit_code, done.output[-2000:], error]))
"""
COMMON = {
    "modules": [],
    "os": ["sched_getaffinity", "posix_fadvise", "pipe2"],
    "signal": ["SIGPWR", "SIGSTKFLT", "sigtimedwait", "sigwaitinfo"],
}
SYSTEMS = {
    "darwin": COMMON,
    "win32": {
        "modules": ["fcntl", "resource", "pwd", "grp", "termios", "tty"],
        "os": [*COMMON["os"], "getuid", "geteuid", "getgid", "killpg", "setsid", "sysconf", "statvfs", "nice",
               "register_at_fork", "fork", "fchmod", "getloadavg", "uname", "pread", "chown", "mkfifo",
               "O_NOFOLLOW", "O_DIRECTORY", "O_CLOEXEC", "O_NONBLOCK"],
        "signal": [*COMMON["signal"], "SIGKILL", "SIGHUP", "SIGUSR1", "SIGPIPE", "pthread_sigmask", "alarm",
                   "setitimer"],
    },
}  # fmt: skip
ROLES = ["--target", "hired", "--positive", "yes", "--protected", "sex", "--privileged", "m"]
STEPS = {
    "help": ["--help"],
    "doctor": ["doctor", "--json"],
    "privatize": ["privatize", "people.csv", "reports.parquet", "--schema", "schema.toml", "--epsilon", "2",
                  "--only-reports"],
    "resumable": ["privatize", "people.csv", "again.csv", "--schema", "schema.toml", "--epsilon", "2",
                  "--only-reports", "--resume"],
    "estimate": ["estimate", "reports.parquet"],
    "ledger": ["ledger", "init", "budget.db", "--epsilon", "1"],
    "key": ["keys", "new", "office.key"],
    "release": ["release", "people.csv", "--columns", "sex", "--schema", "schema.toml", "--mechanism",
                "laplace", "--epsilon", "1/2", "--ledger", "budget.db", "--sign", "office.key",
                "--out", "table.csv"],
    "spent": ["ledger", "show", "budget.db"],
    "verify": ["verify", "table.csv", "--key", "office.key.pub", "--ledger", "budget.db"],
    "audit": ["audit", "people.csv", *ROLES, "--sensitive", "sex", "--epsilon", "1", "--protocol", "grr",
              "--model", "logistic", "--repeats", "2", "--workers", "1", "--anyway", "--out", "study"],
    "measure": ["measure", "people.csv", "--prediction", "hired", "--positive", "yes", "--protected", "sex",
                "--out", "measure.json"],
}  # fmt: skip


@pytest.mark.figures
@pytest.mark.parametrize("system", SYSTEMS)
def test_everything_is_imported_and_every_command_runs(system, tmp_path):
    """A user of Windows could not even see the help."""
    rows = "".join(f"{['f', 'm'][row % 2]},{['yes', 'no'][row % 3 == 0]}\n" for row in range(60))
    (tmp_path / "people.csv").write_text(f"sex,hired\n{rows}", encoding="utf-8")
    values = {"sex": ["f", "m"], "hired": ["no", "yes"]}
    columns = [Column(name, Domain.categorical(known)) for name, known in values.items()]
    Schema(columns, sensitive="sex").save(tmp_path / "schema.toml")
    kept = {name: value for name, value in os.environ.items() if name != "EVENHAND_LEDGER"}
    (tmp_path / "temporary").mkdir()
    kept["TMPDIR"] = str(tmp_path / "temporary")  # or it would sweep away the folders of living studies
    words = [json.dumps(SYSTEMS[system]), json.dumps(list(STEPS.values()))]
    done = subprocess.run(
        [sys.executable, "-c", PRELUDE, system, *words],
        cwd=tmp_path,
        env=kept,
        capture_output=True,
        text=True,
        check=False,
    )
    ended = [json.loads(line) for line in done.stdout.splitlines() if line.startswith("[")]

    assert done.returncode == 0, done.stderr
    assert dict(zip(STEPS, ended, strict=True)) == {
        step: [0, said, ""] for step, (_, said, _) in zip(STEPS, ended, strict=True)
    }
    assert (tmp_path / "study" / "report.html").is_file()
    assert [path.name for path in tmp_path.iterdir() if path.name.endswith((".part", ".unfinished"))] == []
