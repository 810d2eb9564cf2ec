from __future__ import annotations

from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from factloop.core.errors import ConfigError
from factloop.core.records import UnscoredReason
from factloop.evaluation.datasets.longfact import POSTAMBLE, AnyPrompt, with_postamble
from factloop.evaluation.datasets.responses import load_responses
from factloop.evaluation.generation.records import GeneratedBy, GeneratedResponse, ResponsesReport
from factloop.evaluation.generation.response_file import Outcome, open_responses, read_responses
from factloop.evaluation.generation.responses import astream_responses
from factloop.evaluation.generation.settings import ResponseSettings
from factloop.evaluation.running.log import Log
from factloop.evaluation.running.run import Events, NewRecord, RunStarted, summary_of
from tests.simulator import MODEL, Faults, Simulator


async def generate(sim: Simulator, out: Path, *, n: int = 6, postamble: bool = True, **changes: Any) -> ResponsesReport:
    return await summary_of(stream(sim, out, n=n, postamble=postamble, **changes))


def stream(
    sim: Simulator, out: Path, *, n: int = 6, postamble: bool = True, **changes: Any
) -> Events[Outcome, ResponsesReport]:
    system = changes.pop("system", None)
    settings = ResponseSettings.of(
        None, **{"model": MODEL, "base_url": sim.base_url, "cache": False, "price_in": 1, "price_out": 2, **changes}
    )
    prompts = [AnyPrompt(id=f"w/{place}", prompt=one.prompt) for place, one in enumerate(sim.world.responses[:n])]
    asked = [with_postamble(one) for one in prompts] if postamble else prompts
    return astream_responses(asked, settings, out, data="the world", system=system)


def rows_of(out: Path) -> dict[str, GeneratedResponse]:
    return read_responses(out)


async def test_each_prompt_is_asked_by_itself_and_answered_in_a_row(sim: Simulator, tmp_path: Path) -> None:
    started, *new, report = [event async for event in stream(sim, tmp_path / "out.jsonl")]
    assert started == RunStarted(6, 0)
    assert isinstance(report, ResponsesReport)
    spent = [event.usage for event in new if isinstance(event, NewRecord)]
    rows = rows_of(tmp_path / "out.jsonl")
    for place, response in enumerate(sim.world.responses[:6]):
        row = rows[f"w/{place}"]
        assert (row.response, row.prompt) == (response.text, f"{response.prompt} {POSTAMBLE}")
        assert (row.id, row.system, row.cut_off) == (f"w/{place}/{MODEL}", MODEL, False)
    assert {body["messages"][0]["content"] for body in sim.bodies()} == {row.prompt for row in rows.values()}
    assert all(len(body["messages"]) == 1 and "response_format" not in body for body in sim.bodies())
    assert {(body["temperature"], body["max_completion_tokens"]) for body in sim.bodies()} == {(0.5, 4096)}
    assert (report.n_prompts, report.n_answered, report.n_earlier, report.unanswered) == (6, 6, 0, ())
    assert (report.usage.calls, len(spent)) == (6, 6)
    assert report.usage.cost_usd == pytest.approx(sum(one.cost_usd or 0.0 for one in spent))


@pytest.mark.parametrize(
    ("change", "named"),
    [
        ({"n": 3}, r"a different draw of prompts \(--data, --part, --n, --seed\), starting at prompt 'w/3'"),
        ({"postamble": False}, r"a different wording \(--postamble\)"),
        ({"system": "other"}, r"a different name \(--system\)"),
        ({"temperature": 0.0}, "a different model or sampling"),
    ],
)
async def test_another_run_is_refused_before_anything_is_spent(
    sim: Simulator, tmp_path: Path, change: dict[str, Any], named: str
) -> None:
    out = tmp_path / "out.jsonl"
    await generate(sim, out, n=4)
    sim.reset()
    before = out.read_bytes() + b'{"id":"torn'
    out.write_bytes(before)
    with pytest.raises(ConfigError, match=f"contains responses from a different run, with {named}"):
        await generate(sim, out, **{"n": 5, **change})
    assert (sim.stats().stages, out.read_bytes()) == ({}, before)


async def test_a_failed_call_is_no_response_and_is_made_again(sim: Simulator, tmp_path: Path) -> None:
    out = tmp_path / "out.jsonl"
    sim.set(stage_faults={"chat": Faults(refusal=0.5)})
    first = await generate(sim, out, n=20, cache=True, cache_dir=tmp_path / "cache", concurrency=1)
    missing = {one.prompt_id for one in first.unanswered}
    assert 0 < len(missing) < 20
    assert {one.reason for one in first.unanswered} == {UnscoredReason.REFUSAL}
    assert missing.isdisjoint(rows_of(out))
    assert first.n_answered + len(missing) == first.n_prompts == 20
    sim.set(stage_faults={})
    second = await generate(sim, out, n=20, cache=True, cache_dir=tmp_path / "cache")
    assert (second.usage.calls, second.n_answered, second.unanswered) == (len(missing), 20, ())


async def test_a_response_at_the_limit_is_kept_and_marked(sim: Simulator, tmp_path: Path) -> None:
    report = await generate(sim, tmp_path / "out.jsonl", n=2, max_tokens=64)
    rows = rows_of(tmp_path / "out.jsonl")
    assert report.n_cut_off == 2
    assert all(row.cut_off and len(row.response) <= 4 * 64 for row in rows.values())
    again = await generate(sim, tmp_path / "out.jsonl", n=2, max_tokens=64)
    assert (again.n_cut_off, again.usage.calls) == (2, 0)


async def test_at_the_end_of_the_budget_the_rest_is_unanswered(sim: Simulator, tmp_path: Path) -> None:
    report = await generate(sim, tmp_path / "out.jsonl", max_calls=2)
    assert (report.n_answered, len(report.unanswered)) == (2, 4)
    assert {one.reason for one in report.unanswered} == {UnscoredReason.BUDGET}
    more = await generate(sim, tmp_path / "out.jsonl", max_calls=4)  # a limit is of each start
    assert (more.n_answered, more.usage.calls) == (6, 4)


BY = GeneratedBy(model="openai:sim", sampling={"temperature": 0.5, "max_tokens": 4096})


def row(prompt_id: str, response: str = "Ja.\r\n\u2028 „Ö“ 🍄 \x85 \u202e \x1b[2J", **fields: Any) -> GeneratedResponse:
    named = {"id": f"{prompt_id}/sim", "system": "sim", "prompt_id": prompt_id, "topic": None, "prompt": "Who?"}
    return GeneratedResponse.model_validate({**named, "response": response, "generated_by": BY, **fields})


class Every(dict[str, AnyPrompt]):
    def get(self, key: str, default: Any = None) -> Any:  # noqa: ARG002 - as dict has it
        return AnyPrompt(id=key, prompt="Who?")


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
        ('{"id":"p","prompt":"x"}\n', ":1: field 'system': must be set"),
        ('{"id":"p","prompt":"x"}', ":1: field 'system': must be set"),
        ("[1]\n", ":1: each line must be a JSON object"),
    ],
)
def test_a_file_of_another_kind_is_left_as_it_is(tmp_path: Path, text: str, said: str) -> None:
    path = tmp_path / "notes.txt"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(ConfigError, match="use another") as caught, opened(path):
        pass
    assert said in str(caught.value)
    assert path.read_text(encoding="utf-8") == text


def test_a_file_is_held_by_one_at_a_time(tmp_path: Path) -> None:
    path, link = tmp_path / "out.jsonl", tmp_path / "link.jsonl"
    link.symlink_to(path)
    for name in (path, link):
        with opened(path), pytest.raises(ConfigError, match="another process is using"), opened(name):
            pass
    write(path, row("p/1"))
