"""A throw-away environment for the peers, which need other versions than evenhand does."""

import contextlib
import json
import pathlib
import subprocess
import sys
import tempfile
import venv

PEERS = {"M": "multi-freq-ldpy 0.2.5", "P": "pure-ldp 1.2.0"}
NEEDED = [
    "multi-freq-ldpy==0.2.5",
    "pure-ldp==1.2.0",
    "scikit-learn",  # pure-ldp needs this and the next, and declares neither
    "statsmodels",
    "xxhash<4",  # later ones refuse the texts that both peers hash
]
SCRIPT = pathlib.Path(__file__).with_name("_peer_rates.py")


@contextlib.contextmanager
def peers_in_their_own_environment():
    """Install the peers in a temporary folder, and give a function that measures the faster one.

    The function takes protocol, side, k and seconds per measurement, and returns the letter and the rate of
    the faster peer. The folder is removed at the end.
    """
    with tempfile.TemporaryDirectory(prefix="evenhand-peers-") as folder:
        windows = sys.platform == "win32"
        venv.create(folder, with_pip=True, symlinks=not windows)
        python = pathlib.Path(folder, "Scripts" if windows else "bin", "python")
        command = [python, "-m", "pip", "install", "--quiet", *NEEDED]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode:
            _give_up(done.stderr)
        pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
        with subprocess.Popen([python, SCRIPT], text=True, **pipes) as process:
            yield lambda **asked: _ask(process, asked)
            process.stdin.close()


def _ask(process, asked):
    process.stdin.write(json.dumps(asked) + "\n")
    process.stdin.flush()
    line = process.stdout.readline()
    if not line:
        _give_up(process.stderr.read())
    return max(json.loads(line).items(), key=lambda found: found[1])


def _give_up(told):
    lines = told.strip().splitlines()
    sys.exit(
        f"The peers could not be measured: {lines[-1] if lines else 'no reason was given'}\n"
        "Hint: --no-peers measures evenhand and its floors alone."
    )
