from __future__ import annotations

import runpy
from pathlib import Path

import pytest

EXAMPLES = Path(__file__).parents[2] / "examples"
FOLDER = EXAMPLES / "evaluation"
COPIES = {
    **{f"sources/{path.name}": path for path in (EXAMPLES / "lighthouse" / "sources").iterdir()},
    "labelled.jsonl": EXAMPLES / "trust" / "labelled.jsonl",
    "downloads/longfact_objects.jsonl": FOLDER / "prompts.jsonl",
}


@pytest.mark.parametrize("copy", COPIES)
def test_copies_are_what_they_were_copied_from(copy: str) -> None:
    assert (FOLDER / copy).read_bytes() == COPIES[copy].read_bytes()


def test_the_two_systems_are_what_the_script_makes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = EXAMPLES / "two-systems"
    monkeypatch.chdir(tmp_path)
    runpy.run_path(str(folder / "make_answers.py"), run_name="__main__")
    for file in ("sources/bridges.md", "responses.jsonl", "labelled.jsonl"):
        assert (tmp_path / file).read_bytes() == (folder / file).read_bytes()
    page = " ".join((EXAMPLES.parent / "docs" / "two-systems.md").read_text(encoding="utf-8").split())
    shares = [line.split()[1] for line in capsys.readouterr().out.splitlines()]
    assert f"{shares[0]} of its facts are right. `thorough` states seven, and {shares[1]} are right" in page
