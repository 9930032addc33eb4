"""Run in the peer's own environment: k-anonymise a CSV file with anonypy, and say how long it took.

The arguments are the file, k, the name of the other column and the names of the quasi-identifiers.
"""

import json
import sys
import time

import anonypy
import pandas as pd

path, k, other, *columns = sys.argv[1:]
frame = pd.read_csv(path, dtype="category")
start = time.process_time()
rows = anonypy.Preserver(frame, columns, other).anonymize_k_anonymity(int(k))
made = pd.DataFrame(rows)
seconds = time.process_time() - start
classes = len(made[columns].astype(str).drop_duplicates())
print(json.dumps({"seconds": seconds, "rows": len(made), "classes": classes, "pandas": pd.__version__}))
