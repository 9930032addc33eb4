"""How long `import evenhand` takes, and the whole ground floor, beside numpy alone.

Each statement runs in fresh interpreters, taken in turn; medians of processor time.
"""

import statistics
import subprocess
import sys

REPEATS = 15
STATEMENTS = {
    "import numpy": "import numpy",
    "import evenhand": "import evenhand",
    "every name of evenhand": "import evenhand\nfor name in evenhand.__all__: getattr(evenhand, name)",
}


def seconds(statement):
    code = f"import time\nstart = time.process_time()\n{statement}\nprint(time.process_time() - start)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    return float(done.stdout)


def main():
    taken = {name: [] for name in STATEMENTS}
    for _ in range(REPEATS):
        for name, statement in STATEMENTS.items():
            taken[name].append(seconds(statement))
    floor = statistics.median(taken["import numpy"])
    print(f"{'':24} {'seconds':>8} {'x numpy':>8}")
    for name, each in taken.items():
        median = statistics.median(each)
        print(f"{name:24} {median:8.3f} {median / floor:8.1f}")


if __name__ == "__main__":
    main()
