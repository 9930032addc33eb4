"""Small files as people have them: of another country, from a spreadsheet, broken, and hostile."""

import random

import pyarrow as pa
import pyarrow.parquet as pq

SENTINELS = ("Zebulonia", "Quux-Sentinel")
"""Values that occur in a private file and nowhere else."""

HOSTILE = (
    "<script>window.ran = 1</script>",
    "<img src=x onerror='window.ran = 1'>",
    "<svg onload='window.ran = 1'><rect/></svg>",
    "</td></table><h1 id=planted>x</h1>",
    '"><iframe src="javascript:window.ran=1"></iframe>',
    "{{7*7}}${7*7}<%= 7*7 %>",
    "javascript:window.ran=1",
    "'; window.ran = 1; //",
)
"""What would run or add an element where text is taken for HTML."""


def people(rows=400, *, seed=7):
    """Return columns of made-up people: two groups whose outcomes differ, and what goes with it."""
    draw = random.Random(seed)
    sex = [draw.choice(("female", "male")) for _ in range(rows)]
    region = [draw.choice(("north", "south", "west")) for _ in range(rows)]
    school = [draw.choice(("none", "school", "college")) for _ in range(rows)]
    pay = [round(draw.uniform(900, 4000), 2) for _ in range(rows)]
    chance = [
        0.2 + 0.3 * (person == "male") + 0.2 * (level == "college")
        for person, level in zip(sex, school, strict=True)
    ]
    hired = ["yes" if draw.random() < each else "no" for each in chance]
    return {"sex": sex, "region": region, "school": school, "pay": pay, "hired": hired}


def write_csv(path, columns, *, separator=",", decimal="."):
    """Write columns as text."""
    lines = [separator.join(map(_quoted, columns))]
    for row in zip(*columns.values(), strict=True):
        cells = [
            str(cell).replace(".", decimal) if isinstance(cell, float) else _quoted(str(cell)) for cell in row
        ]
        lines.append(separator.join(cells))
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path


def _quoted(text):
    is_plain = text.replace("_", "").replace("-", "").isalnum()
    return text if is_plain else '"' + text.replace('"', '""') + '"'


def write_excel(path, columns):
    """Write columns as the only sheet of an Excel file."""
    from openpyxl import Workbook

    book = Workbook()
    book.active.append(list(columns))
    for row in zip(*columns.values(), strict=True):
        book.active.append(list(row))
    book.save(path)
    return path


def write_parquet(path, columns):
    """Write columns as Parquet."""
    pq.write_table(pa.table(columns), path)
    return path


def hostile_people(rows=300):
    """Return people whose columns and categories are attacks."""
    plain = people(rows)
    draw = random.Random(1)
    return {
        "sex": plain["sex"],
        HOSTILE[0]: [draw.choice(HOSTILE[:4]) for _ in range(rows)],
        HOSTILE[1]: [draw.choice(HOSTILE[4:]) for _ in range(rows)],
        "hired": plain["hired"],
    }
