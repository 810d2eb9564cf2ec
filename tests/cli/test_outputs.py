"""No output of a command falls on what it reads, nor among the documents that the next run would read."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli.command import Command

CHECK = ("check", "answer.md", "--docs", "sources")
CORRECT = ("correct", "answer.md", "--docs", "sources")
EVAL = ("eval", "responses.jsonl", "--docs", "sources")
TRUST = ("trust", "pairs.jsonl", "--corpus", "sources")
FILES = {
    "answer.md": "Ada Lovelace was born in London.",
    "sources/ada.md": "Ada Lovelace was born in London.",
    "sources/deep/er.md": "She died in 1852.",
    "responses.jsonl": '{"prompt": "Who?", "response": "Ada Lovelace was born in London."}\n',
    "pairs.jsonl": '{"id": "1", "question": "Who?", "response": "Ada Lovelace"}\n',
    "plan.yaml": "name: p\ndata: responses.jsonl\nbaseline: a\n"
    "settings: {docs: [sources]}\nvariants: {a: {}, b: {max_searches: 1}}\n",
    "variant/safe/rating.md": "",
}


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for name, text in FILES.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text, encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("FACTLOOP_CACHE_DIR", str(tmp_path / "cache"))
    return tmp_path


@pytest.mark.parametrize(
    "arguments",
    [
        (*CHECK, "--html", "sources/ada.md"),
        (*CHECK, "--json", "sources/deep/er.md"),
        (*CHECK, "--json", "sources/new.json"),
        (*CHECK, "--run-dir", "sources/run"),
        (*CHECK, "--recording", "sources/answers.jsonl", "--recording-mode", "record"),
        (*CHECK, "--html", "linked/ada.md"),
        (*CORRECT, "--out", "sources/ada.md"),
        (*CORRECT, "--out", "sources/deep/../new.md"),
        (*EVAL, "--html", "sources/ada.md"),
        (*EVAL, "--json", "sources/new.json"),
        (*TRUST, "--json", "sources/ada.md"),
        ("experiment", "plan.yaml", "--html", "sources/ada.md"),
    ],
)
def test_outputs_among_the_documents_are_refused(factloop: Command, folder: Path, arguments: tuple[str, ...]) -> None:
    (folder / "linked").symlink_to("sources")
    result = factloop(*arguments)
    assert result.code == 2
    assert "lies in " in result.complaint
    assert "sources, whose files are read; name a place outside it" in result.complaint
    assert {name: (folder / name).read_text(encoding="utf-8") for name in FILES} == FILES


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ((*CHECK, "--prompts", "variant", "--json", "variant/safe/rating.md"), "lies in variant"),
        ((*CHECK, "--json", "a.json", "--html", "./a.json"), "./a.json: two outputs would be written there"),
        ((*CHECK, "--json", "-", "--html", "-"), "two outputs go to standard output"),
        ((*CHECK, "--json", "run", "--run-dir", "run"), "run: two outputs would be written there"),
        ((*CHECK, "--docs", "answer.txt", "--json", "answer.txt"), "answer.txt: would overwrite answer.txt"),
    ],
)
def test_outputs_are_kept_apart(factloop: Command, folder: Path, arguments: tuple[str, ...], said: str) -> None:
    (folder / "answer.txt").write_text("x", encoding="utf-8")
    result = factloop(*arguments)
    assert (result.code, said in result.complaint) == (2, True), result.complaint


def test_a_report_beside_the_documents_is_written(factloop: Command, folder: Path) -> None:
    assert factloop(*CHECK, "--html", "sources.html", "--quiet").code == 0
    assert (folder / "sources.html").is_file()
