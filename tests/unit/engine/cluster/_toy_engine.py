"""A cluster in this process: partitions are Arrow tables, and any task may be run twice."""

import hashlib
import pickle

import pyarrow as pa
import pyarrow.dataset as ds

from evenhand.engine import RunKey
from evenhand.engine.cluster.run import Choices, privatize_frame
from evenhand.engine.report_blocks import ReportPlan
from evenhand.errors import ClusterError
from evenhand.schema import Column, Domain, Schema

SCHEMA = Schema(
    [
        Column("sex", Domain.categorical(["f", "m"])),
        Column("job", Domain.categorical(["clerk", "cook", "nurse"])),
    ],
    sensitive=["sex", "job"],
    protected="sex",
)


def _scramble(place):
    return int.from_bytes(hashlib.sha256(b"%d" % place).digest()[:6], "big")


def people(rows, *, start=0):
    """Return people whose id says who they are."""
    places = range(start, start + rows)
    return pa.table(
        {
            "id": pa.array([_scramble(place) for place in places], pa.int64()),
            "sex": pa.array([("f", "m", "m")[place % 3] for place in places], pa.string()),
            "job": pa.array([("clerk", "cook", "nurse", "cook")[place % 4] for place in places], pa.string()),
        }
    )


def plan_of(table, **options):
    keep = [name for name in table.column_names if name not in {"sex", "job"}]
    return ReportPlan.make(table.schema, **({"schema": SCHEMA, "epsilon": 2, "keep": keep} | options))


class ToyEngine:
    """Runs tasks one after the other, each through a pickle as on its way to a worker.

    `tries` says how often each task runs; `change` what becomes of the partitions from one pass to the next;
    `fail_on` raises as a lost cluster would, once, before the task of that class and number.
    """

    name = "Toy"

    def __init__(self, partitions, *, is_reproducible=True, tries=1, change=None, fail_on=None):
        self.partitions = list(partitions)
        self.is_reproducible, self.tries, self.change, self.fail_on = is_reproducible, tries, change, fail_on
        self.passes = []
        self.sent = []

    def map_partitions(self, task):
        if self.change is not None and self.passes:
            self.partitions = self.change(self.partitions)
        return self._map(task, [(number, part.to_batches()) for number, part in enumerate(self.partitions)])

    def map_numbers(self, task, numbers):
        return self._map(task, [(number, None) for number in numbers])

    def _map(self, task, inputs):
        self.passes.append(type(task).__name__)
        self.sent.append(pickle.dumps(task))
        notes = []
        for number, batches in inputs:
            if self.fail_on == (type(task).__name__, number):
                self.fail_on = None
                raise ClusterError("Toy stopped.")
            for _ in range(self.tries):
                note = pickle.loads(self.sent[-1]).run(number, batches)
            notes.append(note)
        return notes


def run(engine, out, **options):
    """Report the partitions of a toy engine into `out`."""
    asked = dict.fromkeys(["materialize", "ledger", "purpose", "sign"])
    asked |= {"keep_order": False, "overwrite": False, "linkable": True}  # ids are unique
    chosen = {name: options.pop(name, default) for name, default in asked.items()}
    plan = plan_of(engine.partitions[0], **options)
    return privatize_frame(engine, plan, Choices(out=out, owner="toy.privatize", **chosen))


def names_in(folder):
    """Return the names of all that stands in a folder."""
    return sorted(path.name for path in folder.iterdir())


def read(out):
    """Return all rows of the output."""
    return ds.dataset(out).to_table()


def fixed_key():
    return RunKey(bytes(range(32)))
