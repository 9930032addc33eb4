"""Stop with one clear line where Python is too old. Runs on any Python, also Python 2."""

import sys

if sys.version_info < (3, 11):
    sys.exit(
        "evenhand needs Python 3.11 or later and this is Python %d.%d. "
        "Hint: make PYTHON=python3.12 demo" % sys.version_info[:2]
    )
