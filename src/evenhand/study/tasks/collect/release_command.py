"""The command line that does for everybody what one setting of a study tested."""

from __future__ import annotations

import shlex
from pathlib import PurePath
from typing import TYPE_CHECKING

from evenhand.privacy.rational import as_text
from evenhand.study.plan.cells import UNPROTECTED
from evenhand.study.tasks.shared.fields import typed_list
from evenhand.study.tasks.shared.report_settings import NAME, protocol_parameters

if TYPE_CHECKING:
    from evenhand.schema import Schema
    from evenhand.study.plan.cells import Setting


def privatize_command(setting: Setting, schema: Schema, *, data: str, file: str, outcomes: str = "") -> str:
    """Return ``evenhand privatize`` with the protocol, split, columns and domains of a setting.

    Parameters
    ----------
    setting : Setting
    schema : Schema
        Of the study; it stands in `file`.
    data, file : str
        The rows and the schema, as they are typed.
    outcomes : str
        For the optimal protocol: the file of public shares and outcome rates of the groups, as it is typed.

    Returns
    -------
    str
        Empty for what the command cannot do: the optimal protocol without such a file, and protocols as they
        were printed.

    Examples
    --------
    >>> from fractions import Fraction
    >>> import evenhand as eh
    >>> from evenhand.study.tasks.shared.report_settings import report_setting
    >>> schema = eh.datasets.load("causal", n=10).schema
    >>> setting = report_setting("auto", Fraction(1, 2), "optimal", "independent")
    >>> print(privatize_command(setting, schema, data="people.csv", file="schema.toml"))
    evenhand privatize people.csv reports.csv --schema schema.toml ... --protocol auto --split optimal
    """
    is_optimal = setting.mechanism == NAME
    if setting.epsilon is None or (not outcomes if is_optimal else protocol_parameters(setting)):
        return ""
    strategy, split = str(setting.option("strategy")), str(setting.option("split"))
    columns = (str(schema.protected),) if strategy == "single" else schema.sensitive
    names = typed_list(columns)
    out = "reports.csv" if PurePath(data).name != "reports.csv" else "private-reports.csv"
    words = ["evenhand", "privatize", data, out, "--schema", file]
    words += ["--columns", names, "--epsilon", as_text(setting.epsilon), "--protocol", setting.mechanism]
    words += ["--outcomes", outcomes] if is_optimal else []
    words += ["--split", split] if split != UNPROTECTED else []
    words += ["--strategy", strategy] if strategy != "independent" else []
    return shlex.join(words)
