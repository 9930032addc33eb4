"""Tasks whose grid holds the remedies too, so that a study of both can be run or made up."""

from evenhand.study.tasks.effects.options import page_setting
from unit.study._page_studies import facts_of


def with_settings(task, settings):
    """Return a task that tries these settings after its own."""

    class Wider(type(task)):
        def settings(self):
            yield from task.settings()
            yield from settings

    Wider.__module__ = type(task).__module__  # where its other modules are looked for
    wider = object.__new__(Wider)
    wider.__dict__.update(vars(task))
    return wider


def remedies_of(task, schema, page=None, **facts):
    """Return the remedies of a page's setting, by default of the rule's."""
    page = page_setting(list(task.settings())) if page is None else page
    groups = facts.pop("groups", tuple(schema.group_column.labels))
    return task.remedies(page, facts_of(schema, groups, **facts))
