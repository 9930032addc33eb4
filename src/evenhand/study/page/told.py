"""The answer on a setting for those who read sentences and pages, and no view."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from evenhand.answer.case import Command
from evenhand.answer.compose import compose
from evenhand.answer.page import build_page
from evenhand.answer.words import words_in
from evenhand.report.page import Answer

if TYPE_CHECKING:
    from collections.abc import Mapping

    from evenhand.answer.case import Name
    from evenhand.answer.view import View
    from evenhand.report.page import KeyNumber, Page
    from evenhand.study.plan.cells import Setting
    from evenhand.study.results.base import ResultData


@dataclass(frozen=True)
class Told:
    """What is told of results.

    Parameters
    ----------
    view : View
    chosen, recommended : Setting
        The setting that it is about, and the one to use.
    names : mapping of str to Name
        Of the groups.
    """

    view: View
    chosen: Setting
    recommended: Setting
    names: Mapping[str, Name]

    @classmethod
    def of(cls, results: ResultData, *, chosen: object = None, language: str = "en") -> Told:
        """Return what is told about the setting that is asked for, or about the one that the plan fixes."""
        asked = None if chosen is None else results.setting(chosen)
        case = results.plan.task.case(results, page=asked, language=language)
        view = compose(case)
        settings = {str(setting): setting for setting in results.settings}
        return cls(view, settings[view.page], settings[view.recommended or view.page], case.groups)

    def named(self, group: str) -> str:
        """Return a group as it stands alone."""
        return self.names[group].label if group in self.names else group

    def answers(self) -> tuple[Answer, Answer, Answer]:
        """Return the three sentences."""
        who, how_much, what_to_do = (
            Answer(said.text, " ".join(said.details))
            for said in (self.view.who, self.view.how_much, self.view.what_to_do)
        )
        return who, how_much, what_to_do

    def page(self, *, command: str = "") -> Page:
        """Return the page; `command` is what makes it again."""
        again = [Command(words_in(self.view.language).say("default.again"), "", command)] if command else []
        return build_page(replace(self.view, commands=(*self.view.commands, *again)))

    def key_numbers(self) -> tuple[KeyNumber, ...]:
        """Return no numbers: the sentences have them."""
        return ()

    def setting_to_use(self, *, asked: bool) -> Setting:
        """Return the setting whose command a page ends with; `asked`: somebody named the page's setting."""
        return self.chosen if asked else self.recommended
