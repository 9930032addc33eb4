"""Time of training a private logistic regression, beside Opacus with and without its loader, in one run.

Run ``python benchmarks/bench_learn.py``; ``--no-peer`` leaves Opacus out, ``--markdown`` prints the table of
the documentation, and ``--peer-python PATH`` uses an environment that holds torch and Opacus already in place
of a temporary one. All train the same model by the same steps on the same rows: 31,744 rows, 100 features and
a constant, batches of 1,024 on average, 1,550 steps, clip 1, noise 1.5, rate 1. Times are CPU seconds on one
thread, medians of runs that take turns; compilation and accounting are measured once and shown apart. Opacus
with its loader makes a tenth of the steps, and its time is scaled by steps.

evenhand draws batches and noise from the system's secure source, exactly; Opacus, as it comes, from torch's
generator, in floats.
"""

import argparse
import contextlib
import json
import pathlib
import platform
import statistics
import subprocess
import sys
import tempfile
import time
import venv

import numpy as np
from threadpoolctl import threadpool_limits

from evenhand.learn.training.logistic import DPLogisticRegression
from evenhand.privacy.accounting import SampledGaussian, sampling_rate

ROWS, TEST_ROWS, FEATURES = 31_744, 20_000, 100
BATCH, EPOCHS, STEPS, CLIP, NOISE, RATE = 1_024, 50, 1_550, 1.0, 1.5, 1.0
LOADER_STEPS = STEPS // 10
TURNS = 5
TARGETS = {"without loader": 5, "with loader": 25}
NEEDED = (["torch==2.13.0+cpu"], ["--no-deps", "opacus==1.6.0", "opt-einsum"], ["numpy", "scipy"])
SCRIPT = pathlib.Path(__file__).with_name("_peer_opacus.py")


def made_rows(seed=0):
    """Return features of length about 1, labels that a logistic law draws, and test rows of the same kind."""
    generator = np.random.default_rng(seed)
    weights = generator.normal(0, 6, FEATURES)
    features = generator.normal(0, 1 / np.sqrt(FEATURES), (ROWS + TEST_ROWS, FEATURES))
    chances = 1 / (1 + np.exp(-(features @ weights)))
    labels = (generator.random(len(features)) < chances).astype(np.float64)
    return {
        "X": features[:ROWS],
        "y": labels[:ROWS],
        "X_test": features[ROWS:],
        "y_test": labels[ROWS:],
    }


def run_of_ours(rows, *, average=False):
    """Train once; return CPU seconds and the accuracy on test rows. Without the mean, as Opacus has none."""
    model = DPLogisticRegression(
        noise=NOISE,
        clip=CLIP,
        epochs=EPOCHS,
        batch=BATCH,
        rate=RATE,
        average=average,
        classes=[0.0, 1.0],
        rows=ROWS,
    )
    start = time.process_time()
    model.fit(rows["X"], rows["y"])
    seconds = time.process_time() - start
    if model.steps_ != STEPS:
        sys.exit(f"{model.steps_} steps were made in place of {STEPS}: the runs are not comparable.")
    return seconds, model.score(rows["X_test"], rows["y_test"])


@contextlib.contextmanager
def peer(python=None):
    """Give a function that trains with Opacus in an environment of its own, removed at the end."""
    with tempfile.TemporaryDirectory(prefix="evenhand-peer-") as folder:
        if python is None:
            venv.create(folder, with_pip=True, symlinks=sys.platform != "win32")
            python = pathlib.Path(folder, "Scripts" if sys.platform == "win32" else "bin", "python")
            for packages in NEEDED:
                command = [python, "-m", "pip", "install", "--quiet", *packages]
                done = subprocess.run(command, capture_output=True, text=True, check=False)
                if done.returncode:
                    _give_up(done.stderr)
        pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
        with subprocess.Popen([python, SCRIPT], text=True, **pipes) as process:
            yield lambda asked: _ask(process, asked)
            process.stdin.close()


def _ask(process, asked):
    process.stdin.write(json.dumps(asked) + "\n")
    process.stdin.flush()
    line = process.stdout.readline()
    if not line:
        _give_up(process.stderr.read())
    return json.loads(line)


def _give_up(told):
    lines = told.strip().splitlines()
    sys.exit(
        f"Opacus could not be measured: {lines[-1] if lines else 'no reason was given'}\n"
        "Hint: --peer-python names an environment that has torch and opacus; --no-peer leaves it out."
    )


def measured(rows, ask, turns):
    """Return the runs of each way, taken in turns, and what the peer is."""
    runs, versions = {"evenhand": []}, ""
    with tempfile.TemporaryDirectory(prefix="evenhand-rows-") as folder:
        path = str(pathlib.Path(folder, "rows.npz"))
        np.savez(path, **rows)
        asked = {"path": path, "batch": BATCH, "clip": CLIP, "noise": NOISE, "rate": RATE}
        for turn in range(turns):
            runs["evenhand"].append(run_of_ours(rows))
            if ask is None:
                continue
            for name, loader, steps in (
                ("without loader", False, STEPS),
                ("with loader", True, LOADER_STEPS),
            ):
                found = ask(asked | {"loader": loader, "steps": steps, "seed": turn})
                versions = found["versions"]
                runs.setdefault(name, []).append((found["seconds"] * STEPS / steps, found["accuracy"]))
    return runs, versions


def shown(runs, versions, once, *, markdown):
    """Print the table: CPU seconds, times ours, accuracy."""
    ours = [seconds for seconds, _ in runs["evenhand"]]
    lines = [("", "CPU s", "times evenhand", "least to greatest", "aim", "accuracy")]
    for name, found in runs.items():
        seconds = statistics.median(each for each, _ in found)
        ratios = [each / base for (each, _), base in zip(found, ours, strict=True)]
        accuracy = "" if name == "with loader" else f"{statistics.mean(right for _, right in found):.4f}"
        title = name if name == "evenhand" else f"Opacus {name}"
        between = "" if name == "evenhand" else f"{min(ratios):.1f} to {max(ratios):.1f}"
        aim = f"{TARGETS[name]}" if name in TARGETS else ""
        lines.append((title, f"{seconds:.3f}", f"{statistics.median(ratios):.1f}", between, aim, accuracy))
    if markdown:
        lines.insert(1, tuple("---" for _ in lines[0]))
        print("\n".join(f"| {' | '.join(line)} |" for line in lines))
    else:
        widths = [max(len(line[i]) for line in lines) for i in range(len(lines[0]))]
        print(
            "\n".join(
                "  ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True))
                for line in lines
            )
        )
    peers = versions or "Opacus was not measured"
    print(f"\n{once}\n{peers}; {platform.machine()}, Python {platform.python_version()}")


def main():
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--no-peer", action="store_true", help="leave Opacus out")
    parser.add_argument("--peer-python", help="the Python of an environment that has torch and opacus")
    parser.add_argument("--turns", type=int, default=TURNS)
    parser.add_argument("--markdown", action="store_true")
    chosen = parser.parse_args()
    with threadpool_limits(1):
        compare(chosen)


def compare(chosen):
    """Measure all ways on one thread."""
    rows = made_rows()
    start = time.process_time()
    epsilon = SampledGaussian(NOISE, sampling_rate(BATCH, ROWS), STEPS).epsilon(
        1e-5, unit="add or remove one"
    )
    accounting = time.process_time() - start
    first, _ = run_of_ours(rows)  # compiles, or loads what was compiled before
    _, averaged = run_of_ours(rows, average=True)
    once = (
        f"Once: accounting {accounting:.2f} s (epsilon {float(epsilon):.4f} at delta 1e-5), first fit "
        f"{first:.2f} s; accuracy of the mean over the last half of the steps {averaged:.4f}."
    )
    with contextlib.nullcontext() if chosen.no_peer else peer(chosen.peer_python) as ask:
        runs, versions = measured(rows, ask, chosen.turns)
    shown(runs, versions, once, markdown=chosen.markdown)


if __name__ == "__main__":
    main()
