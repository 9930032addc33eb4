"""300 names that try to be paths: plain, encoded, absolute, of devices, and in Unicode like dots."""

from itertools import cycle, islice
from urllib.parse import quote

_STEPS = (
    "../", "..\\", "..%2f", "..%5c", "%2e%2e/", "%2e%2e%2f", "..%252f", "%252e%252e%252f", "..%c0%af",
    "..%ef%bc%8f", "....//", "..;/", "..%00/", "\u2025/", "\uff0e\uff0e\uff0f", "\u2024\u2024/",
    "..\u2215", "..\u2044", "..\u29f8", "./../", "/../", "//../", "\\..\\", "..%u2216", "..%01/",
    "%uff0e%uff0e/",
)  # fmt: skip
_TARGETS = ("secret.csv", "workbench/secret", "etc/passwd", "study.json", "windows/win.ini")
_WHOLE = (
    "/etc/passwd", "//etc/passwd", "\\\\server\\share\\secret.csv", "C:\\secret.csv", "C:secret.csv",
    "c:/secret.csv", "file:///etc/passwd", "\\\\?\\C:\\secret.csv", "\\\\.\\PhysicalDrive0",
    "~/secret.csv", "~root/.profile", "$HOME/secret.csv", "%HOME%\\secret.csv", "`id`.csv", "$(id).csv",
    "|id", "-rf", "--", "*", "?", ".", "..", "...", "", " ", "\t", "%00", "secret.csv%00.html",
    "report.html%00", "report.html/", "report.html/.", "report.html/..", "./report.html",
    "report.html::$DATA", "report.html.", "report.html ", "REPORT.HTML", "report%2ehtml%2f", "CON",
    "PRN", "AUX", "NUL", "COM1", "LPT1", "con.csv", "nul.csv", "aux.txt", "CONIN$", "CLOCK$",
    "/dev/null", "/dev/stdin", "/dev/zero", "/proc/self/environ", "/proc/self/fd/0",
    "/proc/self/cwd/secret.csv", "study.json", "study.db", "secret", "workbench.lock", "data", "study",
    "__proto__", "constructor", "all.zip/..", "\u202egpj.csv", "a\u200b.csv", "\ufeff.csv",
    "e\u0301.csv", "\u212a.csv", "\ud7ff.csv", "\U0001f600.csv", "a" * 300 + ".csv", "a/" * 200 +
    "b.csv", "\r\nSet-Cookie: a=b", "%0d%0aX: y", 'a".csv', "a'.csv", "<b>.csv",
)  # fmt: skip
COUNT = 300


def traversal_names():
    """Return the names, each another one."""
    depths = cycle((1, 2, 4, 9))
    climbs = (step * next(depths) + target for target in _TARGETS for step in _STEPS)
    ended = (f"{step * next(depths)}{target}.csv" for target in ("secret", "etc/passwd") for step in _STEPS)
    more = (step * next(depths) + "evenhand.csv.gz" for step in _STEPS for _ in range(4))
    return list(islice(dict.fromkeys((*_WHOLE, *climbs, *ended, *more)), COUNT))


def as_header(name):
    """Return a name as our page sends it in a header."""
    return quote(name, safe="")


def as_target(name):
    """Return a name as a stranger puts it into an address: what cannot stand there is encoded, no more."""
    return quote(name, safe="%/\\;:$*|`'()~!@,=+-._")
