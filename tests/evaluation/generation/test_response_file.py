"""The file of responses: continued where a kill left it, and held by one process."""

from __future__ import annotations

from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from factloop.core.errors import ConfigError
from factloop.core.files.json import to_json_line
from factloop.evaluation.datasets.responses import load_responses
from factloop.evaluation.generation.records import GeneratedBy, GeneratedResponse
from factloop.evaluation.generation.response_file import ModelPrompt, Outcome, open_responses, read_responses
from factloop.evaluation.running.log import Log

BY = GeneratedBy(model="openai:sim", sampling={"temperature": 0.5, "max_tokens": 4096})


def row(prompt_id: str, response: str = "Ja.\r\n\u2028 „Ö“ 🍄 \x85 \u202e \x1b[2J", **fields: Any) -> GeneratedResponse:
    named = {"id": f"{prompt_id}/sim", "system": "sim", "prompt_id": prompt_id, "topic": None, "prompt": "Who?"}
    return GeneratedResponse.model_validate({**named, "response": response, "generated_by": BY, **fields})


class Every(dict[str, ModelPrompt]):
    """All prompts that the rows above answer."""

    def get(self, key: str, default: Any = None) -> Any:  # noqa: ARG002 - as dict has it
        return ModelPrompt(key, None, "Who?")


def opened(path: Path) -> AbstractContextManager[Log[Outcome, str]]:
    return open_responses(path, Every(), system="sim", generated_by=BY)


def write(path: Path, *rows: GeneratedResponse) -> bytes:
    with opened(path) as file:
        for one in rows:
            file.append(one)
    return path.read_bytes()


def test_rows_are_read_as_they_were_written_here_and_by_eval(tmp_path: Path) -> None:
    path, rows = tmp_path / "out.jsonl", [row("p/1"), row("p/2", "I cannot say."), row("p/3", cut_off=True)]
    write(path, *rows[:2])
    write(path, *rows[2:])
    assert list(read_responses(path).values()) == rows
    assert [len(text.splitlines()) for text in path.read_text(encoding="utf-8").split("\n")] == [1, 1, 1, 0]
    assert "„Ö“ 🍄" in path.read_text(encoding="utf-8")
    loaded = [(one.id, one.system, one.prompt_id, one.prompt, one.response) for one in load_responses(path)]
    assert loaded == [(one.id, one.system, one.prompt_id, one.prompt, one.response) for one in rows]


@given(share=st.floats(min_value=0.0, max_value=1.0))
def test_a_kill_at_any_byte_costs_the_last_line_at_most(tmp_path_factory: pytest.TempPathFactory, share: float) -> None:
    path = tmp_path_factory.mktemp("cut") / "out.jsonl"
    rows = [row(f"p/{place}") for place in range(3)]
    whole = write(path, *rows)
    cut = whole[: round(share * len(whole))]
    path.write_bytes(cut)
    found = read_responses(path)
    # Whole is a line that says all it has to say, even where only its line end is missing.
    n_whole = sum(cut.startswith(b"".join(whole.splitlines(keepends=True)[:n]).rstrip(b"\n")) for n in (1, 2, 3))
    assert list(found.values()) == rows[:n_whole]
    write(path, *rows[n_whole:])
    assert path.read_bytes() == whole


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("my notes", ":1: this line is not JSON"),
        ("my notes\n", ":1: this line is not JSON"),
        ('{"id":"p","prompt":"x"}\n', ":1: field 'system': it is missing"),
        ('{"id":"p","prompt":"x"}', ":1: field 'system': it is missing"),
        ("[1]\n", ":1: each line must be a JSON object"),
        ("\n", ":1: this line is not JSON"),
    ],
)
def test_a_file_of_another_kind_is_left_as_it_is(tmp_path: Path, text: str, said: str) -> None:
    path = tmp_path / "notes.txt"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(ConfigError, match="name another") as caught, opened(path):
        pass
    assert said in str(caught.value)
    assert path.read_text(encoding="utf-8") == text


ASKED = {"p/1": ModelPrompt("p/1", None, "Who?")}


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"prompt_id": "p/9"}, "another draw of prompts (--data, --part, --n, --seed), first at prompt 'p/9'"),
        ({"prompt": "Who? More!"}, "another wording (--postamble)"),
        ({"system": "other"}, "another name (--system)"),
        ({"generated_by": GeneratedBy(model="openai:sim", sampling={"temperature": 1.0})}, "another model or sampling"),
    ],
)
def test_a_file_of_another_run_is_refused(tmp_path: Path, change: dict[str, Any], said: str) -> None:
    path = tmp_path / "out.jsonl"
    whole = to_json_line(row("p/1").model_copy(update=change)).encode() + b'{"id":"torn'
    path.write_bytes(whole)
    with (
        pytest.raises(ConfigError) as caught,
        open_responses(path, ASKED, system="sim", generated_by=BY),
    ):
        pass
    assert said in str(caught.value)
    assert path.read_bytes() == whole


def test_a_file_is_held_by_one_at_a_time(tmp_path: Path) -> None:
    path, link = tmp_path / "out.jsonl", tmp_path / "link.jsonl"
    link.symlink_to(path)
    for name in (path, link):
        with opened(path), pytest.raises(ConfigError, match="another process is at work"), opened(name):
            pass
    write(path, row("p/1"))
