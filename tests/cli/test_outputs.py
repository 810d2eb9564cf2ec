"""No output of a command falls on what it reads, nor among the documents that the next run would read."""

from __future__ import annotations

import os
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from factloop.cli.outputs import Terminal
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
        ("research", "experiment", "plan.yaml", "--html", "sources/ada.md"),
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


@pytest.mark.parametrize(
    "arguments",
    [
        ("check", "answer.md", "--json"),
        ("check", "answer.md", "--html"),
        ("correct", "answer.md", "--out"),
        ("eval", "responses.jsonl", "--json"),
    ],
)
@pytest.mark.parametrize("output", ["sources/ada.md", "sources/new.md", "linked/new.md"])
def test_a_glob_protects_what_it_takes_in(
    factloop: Command, folder: Path, arguments: tuple[str, ...], output: str
) -> None:
    (folder / "linked").symlink_to("sources")
    result = factloop(*arguments, output, "--docs", "sources/*.md")
    said = f"{output}: would be among sources/*.md, which is to be read; name another place"
    assert (result.code, said in result.complaint) == (2, True), result.complaint
    assert {name: (folder / name).read_text(encoding="utf-8") for name in FILES} == FILES


def test_a_glob_of_a_corpus_protects_what_it_takes_in(factloop: Command, folder: Path) -> None:
    result = factloop("trust", "pairs.jsonl", "--corpus", "**/*.md", "--json", "sources/deep/er.md")
    assert (result.code, "would be among **/*.md" in result.complaint) == (2, True), result.complaint
    result = factloop(*CHECK[:2], "--docs", "sources/**/*.jsonl", "--run-dir", "sources/run")
    assert (result.code, "sources/run: would be among sources/**/*.jsonl" in result.complaint) == (2, True)
    assert not (folder / "sources/run").exists()


def test_a_report_beside_what_a_glob_takes_in_is_written(factloop: Command, folder: Path) -> None:
    result = factloop("check", "answer.md", "--docs", "sources/*.md", "--json", "sources/report.json", "--quiet")
    assert (result.code, (folder / "sources/report.json").is_file()) == (0, True), result.complaint


RUN_COMMANDS = (
    CHECK,
    CORRECT,
    EVAL,
    TRUST,
    ("research", "experiment", "plan.yaml"),
    ("eval", "mixedqa", "--data", "pairs.jsonl", "--corpus", "sources"),
    ("eval", "factscore", "--data", "responses.jsonl", "--docs", "sources"),
    ("research", "generate", "prompts", "--topic", "chess", "--out", "prompts.jsonl"),
)


@pytest.mark.parametrize("arguments", RUN_COMMANDS, ids=lambda one: " ".join(one[:2]))
def test_no_output_lies_in_the_run_directory(factloop: Command, folder: Path, arguments: tuple[str, ...]) -> None:
    (folder / "kept").mkdir()
    (folder / "kept/journal.sqlite").write_text("paid for")
    result = factloop(*arguments, "--run-dir", "kept", "--json", "kept/journal.sqlite")
    said = "kept/journal.sqlite: lies in the run directory kept; name a place outside it"
    assert (result.code, said in result.complaint) == (2, True), result.complaint
    assert (folder / "kept/journal.sqlite").read_text() == "paid for"


@pytest.mark.parametrize("arguments", RUN_COMMANDS[:5], ids=lambda one: one[0])
def test_the_cache_is_not_kept_among_the_documents(
    factloop: Command, folder: Path, monkeypatch: pytest.MonkeyPatch, arguments: tuple[str, ...]
) -> None:
    monkeypatch.setenv("FACTLOOP_CACHE_DIR", "sources/cache")
    result = factloop(*arguments)
    assert (result.code, "sources/cache: lies in sources, whose" in result.complaint) == (2, True), result.complaint
    assert not (folder / "sources/cache").exists()


def test_a_hidden_cache_is_no_document(factloop: Command, folder: Path) -> None:
    result = factloop(*CHECK, "--set", "cache_dir=sources/.cache", "--quiet")
    assert (result.code, (folder / "sources/.cache").is_dir()) == (0, True), result.complaint


@pytest.mark.parametrize(
    "arguments",
    [
        (*CHECK, "--json", "factloop.toml"),
        (*CHECK, "--run-dir", "kept", "--html", "./factloop.toml"),
        (*CORRECT, "--out", "factloop.toml"),
        (*EVAL, "--json", "factloop.toml"),
        (*TRUST, "--json", "factloop.toml"),
        ("research", "experiment", "plan.yaml", "--html", "factloop.toml"),
        ("research", "distractors", "--question", "Who?", "--response", "Ada", "--json", "factloop.toml"),
        ("doctor", "--json", "factloop.toml"),
        ("cache", "show", "--json", "factloop.toml"),
        ("prompts", "list", "--json", "factloop.toml"),
        ("research", "data", "list", "--json", "factloop.toml"),
    ],
    ids=lambda one: one[0],
)
def test_the_settings_are_not_written_over(factloop: Command, folder: Path, arguments: tuple[str, ...]) -> None:
    (folder / "factloop.toml").write_text("k = 3\n", encoding="utf-8")
    result = factloop(*arguments)
    assert (result.code, "would overwrite factloop.toml" in result.complaint) == (2, True), result.complaint
    assert (folder / "factloop.toml").read_text(encoding="utf-8") == "k = 3\n"


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("doctor", "--docs", "sources", "--json", "sources/ada.md"), "lies in sources"),
        (("doctor", "--corpus", "sources/*.md", "--json", "sources/ada.md"), "would be among sources/*.md"),
        (("prompts", "list", "--prompts", "variant", "--json", "variant/safe/rating.md"), "lies in variant"),
        (
            (
                "research",
                "verify",
                "pairs.jsonl",
                "--verifier",
                "baseline",
                "--out",
                "o.jsonl",
                "--json",
                "o.jsonl.run/run.json",
            ),
            "the run directory",
        ),
    ],
)
def test_commands_that_only_look_overwrite_nothing(
    factloop: Command, folder: Path, arguments: tuple[str, ...], said: str
) -> None:
    (folder / "o.jsonl.run").mkdir()
    result = factloop(*arguments)
    assert (result.code, said in result.complaint) == (2, True), result.complaint
    assert (folder / "sources/ada.md").read_text(encoding="utf-8") == FILES["sources/ada.md"]


def test_a_report_beside_the_documents_is_written(factloop: Command, folder: Path) -> None:
    assert factloop(*CHECK, "--html", "sources.html", "--quiet").code == 0
    assert (folder / "sources.html").is_file()


@pytest.mark.skipif(not Path("/dev/fd").exists(), reason="needs /dev/fd")
@pytest.mark.usefixtures("folder")
@pytest.mark.parametrize("flag", ["--json", "--html"])
def test_an_open_pipe_takes_a_report(factloop: Command, flag: str) -> None:
    reading, writing = os.pipe()
    with open(reading, "rb") as pipe, ThreadPoolExecutor() as reader:
        taken = reader.submit(pipe.read)
        result = factloop(*CHECK, flag, f"/dev/fd/{writing}", "--quiet")
        os.close(writing)
    assert (result.code, result.err) == (0, "")
    assert len(taken.result()) > 1000


def test_blanks_within_a_line_stay_and_are_linear_work(capsys: pytest.CaptureFixture[str]) -> None:
    """Their square would outlast the time limit of a test."""
    Terminal().print(f"{' ' * 400_000}x  ", soft_wrap=True)
    assert capsys.readouterr().out == f"{' ' * 400_000}x\n"
