from __future__ import annotations

import io

import pytest
from rich.console import Console
from rich.text import Text

from factloop.reports.terminal_parts import print_section


def lines(title: str, width: int) -> list[str]:
    file = io.StringIO()
    print_section(Console(file=file, width=width), title, Text("body"))
    return file.getvalue().splitlines()


@pytest.mark.parametrize(("title", "shown"), [("x" * 10, ["x" * 10 + " ─"]), ("x" * 11, ["x" * 11, "─" * 12])])
def test_a_title_that_leaves_no_room_for_the_rule_stands_above_it(title: str, shown: list[str]) -> None:
    assert lines(title, 12)[: len(shown)] == shown


def test_a_title_longer_than_a_line_is_broken_and_never_cut() -> None:
    assert lines("all systems: 9 responses", 12)[:3] == ["all systems:", "9 responses", "─" * 12]
