from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import sys
import time
from contextlib import aclosing
from pathlib import Path
from typing import Any

import pytest
from langchain_core.documents import Document

from factloop import FactChecker, TrustScorer
from factloop.core.errors import ConfigError, RecordingMissing
from factloop.core.files.json import to_json
from factloop.core.records import FactualityReport, UnscoredReason
from factloop.setup.recording import REPLAYED, Recording
from factloop.setup.sources import Sources
from factloop.tools.search.given import GivenDocuments
from tests.integrations.ada import ADA, Shelf
from tests.simulator import MODEL, Faults, Simulator

PASSAGES = "examples/trust/passages.tsv"
TIBER = ("Which city does the Tiber flow through?", "The Tiber flows through Rome.")


@pytest.fixture(autouse=True)
def _no_settings_of_this_machine(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    for name in os.environ:
        if name.startswith(("FACTLOOP_", "OPENAI_", "SERPER_")):
            monkeypatch.delenv(name)
    monkeypatch.setenv("FACTLOOP_CACHE_DIR", str(tmp_path / "cache"))


@pytest.fixture
def live(sim: Simulator, monkeypatch: pytest.MonkeyPatch) -> Simulator:
    for name, value in sim.environment.items():
        monkeypatch.setenv(name, value)
    return sim


def gone(sim: Simulator, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in sim.environment:
        monkeypatch.delenv(name)


def some_text(sim: Simulator, words: int = 60) -> str:
    return " ".join(sim.world.responses[0].text.split()[:words])


def record(sim: Simulator, path: Path, text: str, **settings: Any) -> FactualityReport:
    defaults: dict[str, Any] = {"search": "serper", "base_url": sim.base_url, "recording_mode": "record"}
    return FactChecker(MODEL, recording=path, **{**defaults, **settings}).check(text)


def replay(path: Path, text: str, **settings: Any) -> FactualityReport:
    return FactChecker(MODEL, recording=path, **{"search": "serper", **settings}).check(text)


def timeless(report: FactualityReport) -> str:
    """The report as JSON, without its creation time and durations."""
    usage = report.usage
    stages = {name: stage.model_copy(update={"wall_s": 0.0}) for name, stage in usage.stages.items()}
    still = usage.model_copy(update={"wall_s": 0.0, "stages": stages})
    return to_json(report.model_copy(update={"usage": still, "created_at": report.claims[0].evidence[0].retrieved_at}))


@pytest.mark.parametrize("plan", ["fused", "paper"])
def test_a_recorded_check_replays_byte_for_byte_without_server_or_key(
    live: Simulator, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, plan: str
) -> None:
    path, text = tmp_path / "x.jsonl", some_text(live)
    recorded = record(live, path, text, plan=plan)
    file, calls = path.read_bytes(), live.stats().model.requests
    gone(live, monkeypatch)
    first, second = replay(path, text, plan=plan), replay(path, text, plan=plan)
    assert timeless(first) == timeless(second)
    assert first.claims == recorded.claims  # evidence was retrieved when it was recorded
    assert (first.usage.calls, first.usage.searches, first.usage.cost_usd) == (0, 0, 0.0)
    assert REPLAYED in first.warnings
    assert REPLAYED not in recorded.warnings
    assert path.read_bytes() == file
    assert live.stats().model.requests == calls
    assert not (tmp_path / "cache" / "calls.sqlite").exists()


def test_recording_again_gives_the_same_file_but_for_times(live: Simulator, tmp_path: Path) -> None:
    text = some_text(live)
    files = []
    for name in ("a", "b"):
        record(live, tmp_path / name, text)
        lines = (tmp_path / name).read_text().splitlines()
        files.append([line.partition('"retrieved_at"')[0] for line in lines])
    assert files[0] == files[1]


def test_neither_key_nor_header_is_in_the_file(
    live: Simulator, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sesame-open-12345")
    path = tmp_path / "x.jsonl"
    text = "The key sesame-open-12345 was found in Rome."
    monkeypatch.setenv("FACTLOOP_SERPER_URL", live.serper_url.replace("//", "//me:hunter2@"))
    record(live, path, text)
    file = path.read_text()
    assert "[secret]" in file
    for secret in ("sesame-open", "hunter2", "Bearer", "Authorization", "X-API-KEY", "127.0.0.1"):
        assert secret not in file
    gone(live, monkeypatch)
    assert replay(path, text).claims


@pytest.mark.parametrize(
    ("stage", "faults", "reason"),
    [
        ("Assessment", Faults(refusal=1.0), UnscoredReason.REFUSAL),
        ("Assessment", Faults(hang=1.0, hang_s=3.0), UnscoredReason.TIMEOUT),
        ("WindowFacts", Faults(truncated=1.0), UnscoredReason.PARSE_FAILURE),
    ],
)
def test_a_claim_that_failed_is_unscored_for_the_same_reason_again(
    live: Simulator, tmp_path: Path, stage: str, faults: Faults, reason: UnscoredReason
) -> None:
    path, text = tmp_path / "x.jsonl", some_text(live, 60)
    live.set(stage_faults={stage: faults})
    recorded = record(live, path, text, timeout_s=0.3)
    assert reason in {claim.judgement.unscored_reason for claim in recorded.claims}
    live.set(stage_faults={})
    again = replay(path, text, timeout_s=0.3)
    assert [claim.judgement for claim in again.claims] == [claim.judgement for claim in recorded.claims]


def test_a_missing_answer_ends_the_check_and_is_no_reason_for_a_claim(live: Simulator, tmp_path: Path) -> None:
    path, text = tmp_path / "x.jsonl", some_text(live)
    record(live, path, text)
    calls = live.stats().model.requests
    with pytest.raises(RecordingMissing, match=r"recording_mode='new' \(--recording-mode new\)"):
        replay(path, text + " Rome lies on the Tiber.", base_url=live.base_url)
    assert live.stats().model.requests == calls
    with pytest.raises(RecordingMissing, match="differs in sampling"):
        replay(path, text, temperature=0.7)


def test_only_what_is_missing_is_asked_when_new_answers_are_recorded(live: Simulator, tmp_path: Path) -> None:
    """Sentences are read in context, so a longer answer's are read again; only its new claim is judged."""
    path, text = tmp_path / "x.jsonl", " ".join(live.world.responses[0].sentences[:2])
    record(live, path, text)
    before, judged = set(path.read_text().splitlines()), live.stats().stages["Assessment"].requests
    live.reset()
    longer = f"{text} Rome lies on the Tiber."
    record(live, path, longer, recording_mode="new")
    assert before < set(path.read_text().splitlines())
    asked = live.stats().stages
    assert {name: one.requests for name, one in asked.items() if name.endswith("Facts")} == {"WindowFacts": 3}
    assert 0 < asked["Assessment"].requests < judged
    assert replay(path, longer).claims
    assert replay(path, text).claims


def test_retrievers_are_replayed_and_documents_are_searched_anew(live: Simulator, tmp_path: Path) -> None:
    class Failing(Shelf):
        documents: list[Document] = []  # noqa: RUF012 - a pydantic field

        def _get_relevant_documents(self, query: str, *, run_manager: Any) -> list[Document]:  # noqa: ARG002 - as above
            raise AssertionError("a replay asked the retriever")

    path, text = tmp_path / "x.jsonl", "Ada Lovelace was born in London."
    Failing.__qualname__, Failing.__module__ = Shelf.__qualname__, Shelf.__module__
    sources = Sources((GivenDocuments([ADA]),), "factuality")
    settings: dict[str, Any] = {"base_url": live.base_url, "recording": path}
    shelf = FactChecker(MODEL, search=Shelf(name="Shelf", documents=[ADA]), recording_mode="record", **settings)
    recorded = shelf.check(text, sources=sources)
    again = FactChecker(MODEL, search=Failing(name="Shelf"), **settings).check(text, sources=sources)
    assert [claim.judgement for claim in again.claims] == [claim.judgement for claim in recorded.claims]
    assert '"tool": "given_documents"' not in path.read_text()


def test_many_checks_at_once_share_one_recording(live: Simulator, tmp_path: Path) -> None:
    path = tmp_path / "x.jsonl"
    texts = [" ".join(response.text.split()[:30]) for response in live.world.responses[:6]]

    async def check_all(**settings: Any) -> list[FactualityReport]:
        async with FactChecker(MODEL, search="serper", recording=path, **settings) as checker:
            return await asyncio.gather(*(checker.acheck(text) for text in texts))

    recorded = asyncio.run(check_all(base_url=live.base_url, recording_mode="record"))
    again = asyncio.run(check_all())
    assert [report.claims for report in again] == [report.claims for report in recorded]


def test_trust_scores_are_replayed(live: Simulator, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "x.jsonl"
    models: dict[str, Any] = {"subject_model": MODEL, "judge_model": MODEL, "corpus": PASSAGES, "recording": path}
    recorded = TrustScorer(**models, base_url=live.base_url, recording_mode="record").score(*TIBER)
    gone(live, monkeypatch)
    again = TrustScorer(**models).score(*TIBER)
    assert recorded.trust_bc.n_asked > 0
    assert (again.trust_bc, again.trust_ov) == (recorded.trust_bc, recorded.trust_ov)
    assert again.trust_fc.relation == recorded.trust_fc.relation
    assert REPLAYED in again.warnings
    with pytest.raises(RecordingMissing):
        TrustScorer(**models).score(TIBER[0], "The Tiber flows through Paris.")


def test_what_a_user_shares_between_checkers_the_user_writes(live: Simulator, tmp_path: Path) -> None:
    recording = Recording(tmp_path / "x.jsonl", "record")
    FactChecker(MODEL, search="serper", base_url=live.base_url, recording=recording).check("Rome lies on the Tiber.")
    TrustScorer(MODEL, base_url=live.base_url, recording=recording).score(*TIBER)
    assert not recording.path.exists()
    assert recording.save()
    assert not recording.save()  # nothing new
    shared = Recording(recording.path)
    FactChecker(MODEL, search="serper", recording=shared).check("Rome lies on the Tiber.")
    TrustScorer(MODEL, recording=shared).score(*TIBER)


def test_the_offline_engine_needs_no_recording_and_writes_none(tmp_path: Path) -> None:
    path = tmp_path / "folder" / "x.jsonl"
    for mode in ("replay", "record", "new"):
        checker = FactChecker(docs="examples/lighthouse/sources", recording=path, recording_mode=mode)
        assert checker.check("John Smeaton built the third Eddystone tower.").claims
    assert not path.parent.exists()


def test_a_run_directory_and_a_recording_do_not_go_together(tmp_path: Path) -> None:
    checker = FactChecker(docs="examples/lighthouse/sources", recording=tmp_path / "x.jsonl")
    with pytest.raises(ConfigError, match="a run directory or a recording, not both"):
        checker.check("Rome lies on the Tiber.", run_dir=tmp_path / "run")


@pytest.mark.usefixtures("brisk")
def test_a_check_that_fails_or_is_left_early_writes_nothing(live: Simulator, tmp_path: Path) -> None:
    path = tmp_path / "x.jsonl"
    with pytest.raises(ConfigError, match="is the server running"):
        record(live, path, some_text(live), base_url="http://127.0.0.1:9/v1")

    async def leave() -> None:
        checker = FactChecker(MODEL, search="serper", base_url=live.base_url, recording=path, recording_mode="record")
        async with checker, aclosing(checker.astream(some_text(live))) as events:
            async for event in events:
                if event.type == "claim_judged":
                    return

    asyncio.run(leave())
    assert not path.exists()


@pytest.mark.process
def test_a_recording_that_is_killed_leaves_the_old_file(live: Simulator, tmp_path: Path) -> None:
    path, text = tmp_path / "x.jsonl", some_text(live)
    record(live, path, text)
    before = path.read_bytes()
    live.set(llm_latency_s=0.3)
    code = (
        f"from factloop import FactChecker; FactChecker({MODEL!r}, search='serper', base_url={live.base_url!r},"
        f" recording={str(path)!r}, recording_mode='record').check({text!r})"
    )
    calls = live.stats().model.requests
    with subprocess.Popen([sys.executable, "-c", code]) as process:
        while live.stats().model.requests == calls and process.poll() is None:
            time.sleep(0.05)
        process.send_signal(signal.SIGKILL)
    assert path.read_bytes() == before
    assert [file.name for file in tmp_path.iterdir() if file.is_file()] == ["x.jsonl"]
