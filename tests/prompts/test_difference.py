"""`diff`: what it compares, what it says, and that it calls nothing equal that differs."""

from __future__ import annotations

from pathlib import Path

import pytest

from factloop.core.errors import ConfigError
from factloop.prompts.difference import PromptDifference, PromptSide, compare_sides, in_words
from factloop.prompts.registry import Prompt, packaged_prompts

OURS = packaged_prompts()["safe/rating"]
RAW = OURS.path.read_text(encoding="utf-8")
QUERY = packaged_prompts()["safe/search_query"]


def put(path: Path, text: str) -> str:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8", newline="")
    return str(path)


def as_version(prompt: Prompt, version: int) -> str:
    """The packaged file but for its version."""
    return prompt.path.read_text(encoding="utf-8").replace(f"version: {prompt.version}\n", f"version: {version}\n", 1)


def only(a: str, b: str) -> PromptDifference:
    (pair,) = compare_sides(PromptSide.of(a), PromptSide.of(b)).pairs
    return pair


def test_one_file_is_one_prompt(tmp_path: Path) -> None:
    pair = only("safe/rating", put(tmp_path / "mine.md", RAW))
    assert (pair.fields, pair.text, pair.n_added, pair.n_removed) == ((), (), 0, 0)
    assert (pair.a.path, pair.b.path) == (None, tmp_path / "mine.md")
    assert in_words(pair) == ["The same file, byte for byte: to a run they are one prompt."]


def test_what_changes_the_hash_alone_is_said(tmp_path: Path) -> None:
    pair = only("safe/rating", put(tmp_path / "mine.md", RAW.replace("\n", "\r\n")))
    assert (pair.fields, pair.text) == ((), ())
    first, *rest = in_words(pair)
    assert first == f"Two prompts to a run, which records their hashes: {pair.a.sha256[:16]} and {pair.b.sha256[:16]}."
    assert rest == [
        "A model is sent the same text.",
        "They differ only in line ends, blank lines or how the front matter is written.",
    ]


def test_text_and_fields_are_compared(tmp_path: Path) -> None:
    first = OURS.system.splitlines()[0]
    listed, turned = ", ".join(OURS.variables), ", ".join(reversed(OURS.variables))
    changed = RAW.replace(first, f"{first} Take your time.\nGuess nothing.").replace(f"[{listed}]", f"[{turned}]")
    pair = only("safe/rating", put(tmp_path / "mine.md", changed))
    assert [(one.field, one.a, one.b) for one in pair.fields] == [("variables", OURS.variables, OURS.variables[::-1])]
    assert (pair.n_removed, pair.n_added) == (1, 2)
    assert pair.text[:2] == ("--- a: safe/rating, packaged", f"+++ b: {tmp_path}/mine.md")
    assert "+Guess nothing." in pair.text
    assert in_words(pair)[1:] == [
        "The text differs: 1 of its lines removed, 2 added.",
        f"Both say that they are version {OURS.version}: give one of them another.",
    ]


def test_a_folder_answers_for_the_prompt_of_the_other_side(tmp_path: Path) -> None:
    put(tmp_path / "f" / "mine.md", as_version(OURS, 77))
    folder = str(tmp_path / "f")
    forth, back = only("safe/rating", folder), only(folder, "safe/rating")
    assert [(one.field, one.a, one.b) for one in forth.fields] == [("version", OURS.version, 77)]
    assert [(one.field, one.a, one.b) for one in back.fields] == [("version", 77, OURS.version)]
    assert only("safe/relevance", folder).b.path is None  # it replaces another one


def test_of_two_folders_all_is_compared_that_either_replaces(tmp_path: Path) -> None:
    put(tmp_path / "a" / "r.md", as_version(OURS, 77))
    put(tmp_path / "b" / "q.md", as_version(QUERY, 78))
    pairs = compare_sides(PromptSide.of(str(tmp_path / "a")), PromptSide.of(str(tmp_path / "b"))).pairs
    assert [(pair.a.name, pair.a.version, pair.b.version) for pair in pairs] == [
        ("safe/rating", 77, OURS.version),
        ("safe/search_query", QUERY.version, 78),
    ]


def test_two_prompts_of_other_names_can_be_compared() -> None:
    fields = {one.field: (one.a, one.b) for one in only("safe/rating", "safe/search_query").fields}
    assert fields["name"] == ("safe/rating", "safe/search_query")


def test_what_cannot_be_compared_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="nowhere: no packaged prompt has this name"):
        PromptSide.of("nowhere")
    with pytest.raises(ConfigError, match="holds no prompt"):
        PromptSide.of(str(tmp_path))
    with pytest.raises(ConfigError, match="front matter"):
        PromptSide.of(put(tmp_path / "x.txt", "no prompt"))
    put(tmp_path / "f" / "mine.md", RAW)
    stranger = put(tmp_path / "stranger.md", RAW.replace("safe/rating", "safe/other"))
    with pytest.raises(ConfigError, match="no prompt of the folder is named 'safe/other'"):
        compare_sides(PromptSide.of(stranger), PromptSide.of(str(tmp_path / "f")))
