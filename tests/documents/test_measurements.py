"""Figures in pages equal those of `benchmarks/measurements.toml`, and none is older than the code it measures."""

from __future__ import annotations

from pathlib import Path

import pytest

from benchmarks import measurements
from benchmarks.measurements import FILE, pages, problems, renewed

TABLE = """[not-measured]
versions = ['Python 3\\.\\d+']
[speed]
command = "unknown"
data = "unknown"
looked_at = "no"
date = 2026-11-29
commit = "abc"
machine = "any"
figures = ["takes 2.5 s on average", "| 12 |"]
of."prompt.py:ASKED" = "old"
"""
PAGE = "It takes 2.5 s\non average with Python 3.11, `f(0.5)`.\n\n| a | 40% | 12 | 7 |\n\n    top 7.5\n"


def test_pages_show_the_figures_that_were_measured() -> None:
    assert list(problems(FILE.read_text(encoding="utf-8"), pages())) == []


def test_figures_are_measured_shown_and_not_older_than_what_they_measure(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(measurements, "ROOT", tmp_path)
    page, prompt = tmp_path / "README.md", tmp_path / "prompt.py"
    page.write_text(PAGE, encoding="utf-8")
    prompt.write_text('ASKED = "Is it so?"\n', encoding="utf-8")
    older, of_page, of_row = problems(TABLE, pages())
    assert "prompt.py:ASKED has changed" in older
    assert "README.md: 40 is not in measurements.toml" in of_page
    assert "README.md: 7 is not in measurements.toml" in of_row
    file = renewed(TABLE, "speed", 'Only "so" is new.')
    prompt.write_text('"""Prompts."""\n\nASKED = "Is it so?"  # a comment\n', encoding="utf-8")
    page.write_text(PAGE.replace("40%", "few").replace("12", "few"), encoding="utf-8")
    (unseen,) = problems(file, pages())
    assert "speed: no page shows" in unseen
