"""Files that are privatised with all other columns in the clear, however many rows link by them."""

from evenhand.engine.privatize import privatize_file
from evenhand.table.limits import STREAM_LIMITS
from evenhand.table.read import file_columns


def privatize_all(path, out, *, schema, **how):
    """Privatise a file and pass on every column that is neither sensitive nor asked for nor the person."""
    names = file_columns(path, limits=STREAM_LIMITS, file_format=how.get("file_format"))
    hidden = {*(how.get("columns") or ()), *schema.sensitive, schema.person}
    keep = [name for name in names if name not in hidden]
    return privatize_file(path, out, schema=schema, **{"keep": keep, "linkable": True} | how)
