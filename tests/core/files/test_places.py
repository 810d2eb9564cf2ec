from __future__ import annotations

from pathlib import Path

import pytest

from factloop.core.files.places import first_taken_in


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for name in ("sources/ada.md", "sources/deep/er.md", "elsewhere/far.md", "elsewhere/linked.md"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(name)
    (tmp_path / "sources/folder").symlink_to(tmp_path / "elsewhere/below")
    (tmp_path / "elsewhere/below").mkdir()
    (tmp_path / "elsewhere/below/one.md").write_text("x")
    (tmp_path / "sources/linked.md").symlink_to(tmp_path / "elsewhere/linked.md")
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.parametrize(
    ("place", "path"),
    [
        ("sources/ada.md", "sources/ada.md"),
        ("sources", "sources"),
        ("sources", "sources/new/er/file"),
        ("sources", "elsewhere/linked.md"),
        ("sources/*.md", "sources/ada.md"),
        ("sources/*.md", "sources/new.md"),
        ("sources/*.md", "elsewhere/linked.md"),
        ("sources/a?a.[m]d", "sources/ada.md"),
        ("s*", "sources/deep/new.json"),
        ("sources/**/*.md", "sources/new.md"),
        ("sources/**/*.md", "sources/deep/new.md"),
        ("sources/**/*.jsonl", "sources/run/reports.jsonl"),
        ("sources/**", "sources/deep/new.json"),
        ("sources/.*", "sources/.hidden.md"),
    ],
)
def test_what_is_read_with_a_place_is_taken_in(folder: Path, place: str, path: str) -> None:
    assert first_taken_in(place, [folder / "other.md", folder / path]) == folder / path


@pytest.mark.parametrize(
    ("place", "path"),
    [
        ("sources/ada.md", "sources/new.md"),
        ("sources", "sources.html"),
        ("sources", "sources/.cache"),
        ("sources", "elsewhere/far.md"),
        ("sources", "elsewhere/below/new.md"),
        ("sources", "elsewhere/below/.git/x.md"),
        ("sources/*.md", "sources/new.json"),
        ("sources/*.md", "sources/deep/new.md"),
        ("sources/*.md", "new.md"),
        ("sources/**/*.md", "elsewhere/far.md"),
        ("sources/*", "sources/.hidden.md"),
        ("missing/*.md", "sources/new.md"),
        ("missing", "sources/new.md"),
    ],
)
def test_what_a_place_does_not_take_in_is_left_alone(folder: Path, place: str, path: str) -> None:
    assert first_taken_in(place, [folder / path]) is None
