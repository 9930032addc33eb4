"""Run the examples of the README and the documentation as tests."""

import doctest

from sybil import Sybil
from sybil.parsers.myst import PythonCodeBlockParser, SkipParser

collect_ignore = ["docs/conf.py"]

pytest_collect_file = Sybil(
    parsers=[
        PythonCodeBlockParser(doctest_optionflags=doctest.NORMALIZE_WHITESPACE | doctest.ELLIPSIS),
        SkipParser(),
    ],
    patterns=["README.md", "docs/*.md", "docs/*/*.md", "docs/*/*/*.md"],
).pytest()
