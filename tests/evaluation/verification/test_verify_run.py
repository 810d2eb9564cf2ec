"""Runs of several verifiers over pairs: what they write, how they go on, and what they refuse."""

from __future__ import annotations

import asyncio
import os
from contextlib import aclosing
from pathlib import Path
from typing import Any

import pytest
from langchain_core.documents import Document
from sklearn.metrics import balanced_accuracy_score  # type: ignore[import-untyped]  # ships no type hints

from factloop.core.errors import ConfigError, DataError
from factloop.evaluation.audit.chunking import chunked_evaluators
from factloop.evaluation.audit.rows import load_predictions
from factloop.evaluation.running.run import NewRecord, RunStarted
from factloop.evaluation.verification.records import VerifyRun
from factloop.evaluation.verification.rows import load_dataset_pairs, load_pairs
from factloop.evaluation.verification.run import VerifyRequest, astream_verify, averify
from factloop.evaluation.verification.settings import VerifySettings
from factloop.tools.search.given import GivenDocuments
from factloop.tools.verifiers.found_pieces import find_pieces
from factloop.tools.verifiers.lexical import LexicalVerifier
from factloop.tools.verifiers.lexical_reader import RESULTS
from tests.evaluation.verification.world_pairs import read_rows, world_rows, write_rows
from tests.simulator import MODEL, Faults, Simulator

DATA = Path(os.environ.get("FACTLOOP_DATA", Path(__file__).resolve().parents[4] / "shared" / "data"))
N = 150
LLM = f"llm:{MODEL}"


@pytest.fixture
def sim(sim: Simulator, monkeypatch: pytest.MonkeyPatch) -> Simulator:
    monkeypatch.setenv("OPENAI_BASE_URL", sim.base_url)
    return sim


@pytest.fixture
def pairs(sim: Simulator, tmp_path: Path) -> Path:
    return write_rows(tmp_path / "pairs.jsonl", world_rows(sim.world, N))


def wanted(out: Path, *verifiers: str, **options: Any) -> VerifyRequest:
    return VerifyRequest(
        verifiers=verifiers or ("lexical",), out=out, data="pairs.jsonl", default_dataset="w", **options
    )


async def verify(pairs: Path, out: Path, *verifiers: str, settings: Any = None, **options: Any) -> VerifyRun:
    changes = VerifySettings.of(**(settings or {}))
    return await averify(load_pairs(pairs), wanted(out, *verifiers, **options), changes)


async def test_a_run_makes_what_the_audit_reads(sim: Simulator, tmp_path: Path) -> None:
    n, out = 50, tmp_path / "out.jsonl"  # each is asked about in some ten chunks
    pairs = write_rows(tmp_path / "pairs.jsonl", world_rows(sim.world, n))
    run = await verify(pairs, out, "lexical", LLM, chunk_words=(20,))
    names = ["lexical", "lexical@20", LLM, f"{LLM}@20"]
    assert [(one.name, one.n_scored, one.unscored) for one in run.evaluators] == [(name, n, {}) for name in names]
    assert (run.n_pairs, run.n_labelled, run.warnings) == (n, n, ())
    table = load_predictions(out)
    assert table.n_rows == n
    assert chunked_evaluators(table.scores) == [("lexical", "lexical@20", 20), (LLM, f"{LLM}@20", 20)]
    assert balanced_accuracy_score(table.label, table.scores[LLM] >= 0.5) > 0.95  # the simulator knows its world
    given, found = read_rows(pairs), read_rows(out)
    assert [row["claim_id"] for row in found] == [row["claim_id"] for row in given]
    verdict = LexicalVerifier()
    for row in found[:10]:
        pieces = find_pieces(row["claim"], GivenDocuments([Document(row["document"])]), RESULTS)
        assert row["evaluators"]["lexical"] == verdict.verify(row["claim"], pieces.passages, pieces.documents).score
    # one call for a whole document, and one for each other chunk: what both columns read is asked once
    assert run.usage.calls == sim.stats().model.requests == run.usage.stages["verify"].calls


async def test_the_same_again_goes_on_from_what_is_there(sim: Simulator, pairs: Path, tmp_path: Path) -> None:
    out = tmp_path / "out.jsonl"
    first = await verify(pairs, out, "lexical", LLM)
    whole, asked = out.read_bytes(), sim.stats().model.requests
    out.write_bytes(whole[: len(whole) // 2])
    second = await verify(pairs, out, "lexical", LLM)
    assert out.read_bytes() == whole
    assert sim.stats().model.requests == asked  # the answers were in the journal
    assert second.evaluators == first.evaluators
    third = await verify(pairs, out, "lexical", LLM)
    assert (third.usage.calls, third.evaluators) == (0, first.evaluators)


async def test_a_run_stopped_anywhere_ends_the_same(sim: Simulator, pairs: Path, tmp_path: Path) -> None:
    await verify(pairs, tmp_path / "whole.jsonl", "lexical", LLM)
    sim.reset()
    sim.set(llm_latency_s=0.005)
    out = tmp_path / "out.jsonl"
    for n_pairs in (1, 64, 100):
        async with aclosing(astream_verify(load_pairs(pairs), wanted(out, "lexical", LLM), VerifySettings())) as events:
            async for event in events:
                n_pairs -= isinstance(event, NewRecord)
                if not n_pairs:
                    break
    await verify(pairs, out, "lexical", LLM)
    assert out.read_bytes() == (tmp_path / "whole.jsonl").read_bytes()
    assert sim.stats().model.requests <= len({(row["claim"], row["document"]) for row in read_rows(pairs)}) + 3 * 64


@pytest.mark.usefixtures("sim")
async def test_what_failed_is_unscored_and_tried_again(pairs: Path, tmp_path: Path) -> None:
    out = tmp_path / "out.jsonl"
    first = await verify(pairs, out, "lexical", LLM, settings={"max_calls": 40})
    lexical, llm = first.evaluators
    assert (lexical.n_scored, llm.n_scored) == (N, N - llm.unscored["budget"])
    assert llm.n_scored >= 40
    refused = [row for row in read_rows(out) if row["evaluators"][LLM] is None]
    assert {row["unscored"][LLM] for row in refused} == {"budget"}
    second = await verify(pairs, out, "lexical", LLM)
    assert second.evaluators[1].n_scored == N
    assert [row["claim_id"] for row in read_rows(out)] == [row["claim_id"] for row in read_rows(pairs)]
    assert not any("unscored" in row for row in read_rows(out))


async def test_a_model_that_refuses_gives_no_score(sim: Simulator, pairs: Path, tmp_path: Path) -> None:
    sim.set(stage_faults={"Attribution": vars(Faults(refusal=1.0))})
    run = await verify(pairs, tmp_path / "out.jsonl", LLM, limit=5)
    assert (run.evaluators[0].n_scored, run.evaluators[0].unscored) == (0, {"refusal": 5})
    assert run.evaluators[0].share_supported is None


@pytest.mark.usefixtures("sim")
async def test_another_configuration_is_refused(pairs: Path, tmp_path: Path) -> None:
    out = tmp_path / "out.jsonl"
    await verify(pairs, out, "lexical", limit=3)
    before = out.read_bytes()
    others: list[tuple[tuple[str, ...], dict[str, Any], str]] = [
        (("lexical",), {"limit": 3, "chunk_words": (9,)}, "chunk_words"),
        (("lexical", LLM), {"limit": 3}, "verifiers"),
        ((LLM,), {"limit": 3}, "verifiers"),
    ]
    for verifiers, options, named in others:
        with pytest.raises(ConfigError, match=rf"another configuration \({named} differ\).*another --out"):
            await verify(pairs, out, *verifiers, **options)
    assert out.read_bytes() == before


async def test_a_higher_limit_goes_on_with_the_same_run(sim: Simulator, pairs: Path, tmp_path: Path) -> None:
    out = tmp_path / "out.jsonl"
    await verify(pairs, out, LLM, limit=2)
    run = await verify(pairs, out, LLM, limit=5)
    assert (run.n_pairs, run.evaluators[0].n_scored, sim.stats().model.requests) == (5, 5, 5)
    before = out.read_bytes()
    with pytest.raises(ConfigError, match="line 4 is on a claim beyond --limit: give as high a limit as before, or"):
        await verify(pairs, out, LLM, limit=3)
    assert out.read_bytes() == before
    assert (await verify(pairs, out, LLM)).n_pairs == N
    assert sim.stats().repeated == 0
    assert [row["claim_id"] for row in read_rows(out)] == [row["claim_id"] for row in read_rows(pairs)]


@pytest.mark.usefixtures("sim")
async def test_settings_of_a_model_are_part_of_it(pairs: Path, tmp_path: Path) -> None:
    out = tmp_path / "out.jsonl"
    await verify(pairs, out, LLM, limit=2)
    for settings in ({"temperature": 1.0}, {"logprobs": False}):
        with pytest.raises(ConfigError, match="verifiers differ"):
            await verify(pairs, out, LLM, limit=2, settings=settings)
    await verify(pairs, out, LLM, limit=2, settings={"max_calls": 7, "timeout_s": 5.0})


@pytest.mark.usefixtures("sim")
async def test_a_verifier_is_added_by_a_second_file(pairs: Path, tmp_path: Path) -> None:
    await verify(pairs, tmp_path / "one.jsonl", "lexical", limit=3)
    await verify(tmp_path / "one.jsonl", tmp_path / "two.jsonl", LLM)
    assert [sorted(row["evaluators"]) for row in read_rows(tmp_path / "two.jsonl")] == [["lexical", LLM]] * 3
    with pytest.raises(DataError, match="a score of 'lexical' already"):
        await verify(tmp_path / "two.jsonl", tmp_path / "three.jsonl", "lexical")


@pytest.mark.usefixtures("sim")
@pytest.mark.parametrize(
    ("verifiers", "options", "complaint"),
    [
        (("lexical", "lexical"), {}, "two verifiers would be called 'lexical'"),
        (("lexicon",), {}, "there is no verifier 'lexicon'"),
        pytest.param(("nli:/no/such",), {}, "no usable model", marks=pytest.mark.torch),
        ((LLM,), {"settings": {"prompts": "/no/such"}}, "not a folder of prompts"),
    ],
)
async def test_what_is_refused_leaves_nothing_behind(
    pairs: Path, tmp_path: Path, verifiers: tuple[str, ...], options: Any, complaint: str
) -> None:
    with pytest.raises(ConfigError, match=complaint):
        await verify(pairs, tmp_path / "out.jsonl", *verifiers, **options)
    assert os.listdir(tmp_path) == ["pairs.jsonl"]


async def test_a_file_that_is_no_run_s_is_left_alone(pairs: Path, tmp_path: Path) -> None:
    out = tmp_path / "mine.jsonl"
    out.write_text("precious")
    with pytest.raises(ConfigError, match="no run of verify can go on from it"):
        await verify(pairs, out)
    assert out.read_text() == "precious"


async def test_a_wrong_key_stops_the_run(sim: Simulator, pairs: Path, tmp_path: Path) -> None:
    sim.set(api_key="another")
    with pytest.raises(ConfigError, match="check the key"):
        await verify(pairs, tmp_path / "out.jsonl", LLM)


async def test_blank_documents_and_missing_names_are_warned_of(tmp_path: Path) -> None:
    rows = [{"claim": "Ada paints.", "document": text} for text in ("Ada paints.", "", " ")]
    run = await verify(write_rows(tmp_path / "pairs.jsonl", rows), tmp_path / "out.jsonl")
    assert (run.evaluators[0].n_scored, run.evaluators[0].unscored) == (1, {"no_source": 2})
    assert run.warnings == (
        "2 of 3 pairs have no document and no score.",
        "3 of 3 pairs have no label; the audit needs one in every row.",
        "3 of 3 pairs name no system; they stand under 'unknown'.",
    )
    with pytest.raises(DataError, match="'label'"):
        load_predictions(tmp_path / "out.jsonl")


async def test_one_run_at_a_time(pairs: Path, tmp_path: Path) -> None:
    out = tmp_path / "out.jsonl"
    async with aclosing(astream_verify(load_pairs(pairs), wanted(out), VerifySettings())) as events:
        assert await anext(events) == RunStarted(N, 0)
        with pytest.raises(ConfigError, match="another process is at work"):
            await verify(pairs, out)
        async for event in events:
            await asyncio.sleep(0)
            last = event
    assert isinstance(last, VerifyRun)


@pytest.mark.statistical
@pytest.mark.skipif(not (DATA / "wice_dev.jsonl").is_file(), reason="wice_dev.jsonl is not in FACTLOOP_DATA")
async def test_the_lexical_baseline_on_wice(tmp_path: Path) -> None:
    """Among the data it was fitted on, so that this is no measure of what it does elsewhere."""
    out = tmp_path / "out.jsonl"
    rows = load_dataset_pairs("wice", "dev", DATA / "wice_dev.jsonl")
    run = await averify(rows, wanted(out, "lexical", chunk_words=(350,), limit=100))
    assert run.n_pairs == 100
    table = load_predictions(out)
    accuracy = {name: balanced_accuracy_score(table.label, scores >= 0.5) for name, scores in table.scores.items()}
    assert accuracy == {"lexical": pytest.approx(0.673, abs=0.001), "lexical@350": pytest.approx(0.689, abs=0.001)}
