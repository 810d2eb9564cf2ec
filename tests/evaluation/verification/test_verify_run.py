from __future__ import annotations

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
from factloop.evaluation.running.run import NewRecord
from factloop.evaluation.verification.pairs import load_pairs
from factloop.evaluation.verification.records import VerifyRun, VerifySettings
from factloop.evaluation.verification.run import VerifyRequest, astream_verify, averify
from factloop.tools.judges.baseline import Baseline
from factloop.tools.judges.found_pieces import RESULTS, find_pieces
from factloop.tools.search.given import GivenDocuments
from tests.evaluation.verification.world_pairs import read_rows, world_rows, write_rows
from tests.simulator import MODEL, Simulator

DATA = Path(os.environ.get("FACTLOOP_DATA", Path(__file__).resolve().parents[4] / "shared" / "data"))
N = 150
PATIENT: dict[str, Any] = {"timeout_s": 600.0}  # even on a busy machine, no request is sent again
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
        verifiers=verifiers or ("baseline",), out=out, data="pairs.jsonl", default_dataset="w", **options
    )


async def verify(pairs: Path, out: Path, *verifiers: str, settings: Any = None, **options: Any) -> VerifyRun:
    changes = VerifySettings.of(**{**PATIENT, **(settings or {})})
    return await averify(load_pairs(pairs), wanted(out, *verifiers, **options), changes)


async def test_a_run_makes_what_the_audit_reads(sim: Simulator, tmp_path: Path) -> None:
    n, out = 50, tmp_path / "out.jsonl"  # each is asked about in some ten chunks
    pairs = write_rows(tmp_path / "pairs.jsonl", world_rows(sim.world, n))
    run = await verify(pairs, out, "baseline", LLM, chunk_words=(20,))
    names = ["baseline", "baseline@20", LLM, f"{LLM}@20"]
    assert [(one.name, one.n_scored, one.unscored) for one in run.evaluators] == [(name, n, {}) for name in names]
    assert (run.n_pairs, run.n_labelled, run.warnings) == (n, n, ())
    table = load_predictions(out)
    assert table.n_rows == n
    assert chunked_evaluators(table.scores) == [("baseline", "baseline@20", 20), (LLM, f"{LLM}@20", 20)]
    assert balanced_accuracy_score(table.label, table.scores[LLM] >= 0.5) > 0.95  # the simulator knows its world
    given, found = read_rows(pairs), read_rows(out)
    assert [row["claim_id"] for row in found] == [row["claim_id"] for row in given]
    verdict = Baseline()
    for row in found[:10]:
        pieces = find_pieces(row["claim"], GivenDocuments([Document(row["document"])]), RESULTS)
        assert row["evaluators"]["baseline"] == verdict.verify(row["claim"], pieces.passages, pieces.documents).score
    # one call for a whole document, and one for each other chunk: what both columns read is asked once
    assert run.usage.calls == sim.stats().model.requests == run.usage.stages["verify"].calls


async def test_a_run_stopped_anywhere_ends_the_same(sim: Simulator, pairs: Path, tmp_path: Path) -> None:
    await verify(pairs, tmp_path / "whole.jsonl", "baseline", LLM)
    sim.reset()
    sim.set(llm_latency_s=0.005)
    out = tmp_path / "out.jsonl"
    for n_pairs in (1, 64, 100):
        async with aclosing(
            astream_verify(load_pairs(pairs), wanted(out, "baseline", LLM), VerifySettings.of(**PATIENT))
        ) as events:
            async for event in events:
                n_pairs -= isinstance(event, NewRecord)
                if not n_pairs:
                    break
    await verify(pairs, out, "baseline", LLM)
    assert out.read_bytes() == (tmp_path / "whole.jsonl").read_bytes()
    assert sim.stats().model.requests <= len({(row["claim"], row["document"]) for row in read_rows(pairs)}) + 3 * 64


@pytest.mark.usefixtures("sim")
async def test_what_failed_is_unscored_and_tried_again(pairs: Path, tmp_path: Path) -> None:
    out = tmp_path / "out.jsonl"
    first = await verify(pairs, out, "baseline", LLM, settings={"max_calls": 40})
    baseline, llm = first.evaluators
    assert (baseline.n_scored, llm.n_scored) == (N, N - llm.unscored["budget"])
    assert llm.n_scored >= 40
    refused = [row for row in read_rows(out) if row["evaluators"][LLM] is None]
    assert {row["unscored"][LLM] for row in refused} == {"budget"}
    second = await verify(pairs, out, "baseline", LLM)
    assert second.evaluators[1].n_scored == N
    assert [row["claim_id"] for row in read_rows(out)] == [row["claim_id"] for row in read_rows(pairs)]
    assert not any("unscored" in row for row in read_rows(out))


@pytest.mark.usefixtures("sim")
@pytest.mark.parametrize(
    ("verifiers", "options", "complaint"),
    [
        (("baseline", "baseline"), {}, "two verifiers are named 'baseline'"),
        (("lexicon",), {}, "unknown judge 'lexicon'"),
        pytest.param(("nli:/no/such",), {}, "does not exist", marks=pytest.mark.torch),
        ((LLM,), {"settings": {"prompts": "/no/such"}}, "is not a folder"),
    ],
)
async def test_what_is_refused_leaves_nothing_behind(
    pairs: Path, tmp_path: Path, verifiers: tuple[str, ...], options: Any, complaint: str
) -> None:
    with pytest.raises(ConfigError, match=complaint):
        await verify(pairs, tmp_path / "out.jsonl", *verifiers, **options)
    assert os.listdir(tmp_path) == ["pairs.jsonl"]


async def test_blank_documents_and_missing_names_are_warned_of(tmp_path: Path) -> None:
    rows = [{"claim": "Ada paints.", "document": text} for text in ("Ada paints.", "", " ")]
    run = await verify(write_rows(tmp_path / "pairs.jsonl", rows), tmp_path / "out.jsonl")
    assert (run.evaluators[0].n_scored, run.evaluators[0].unscored) == (1, {"no_source": 2})
    assert run.warnings == (
        "2 of 3 pairs have no document, and therefore no score.",
        "3 of 3 pairs have no label, which the audit needs.",
        "3 of 3 pairs name no system, so 'unknown' is used.",
    )
    with pytest.raises(DataError, match="'label'"):
        load_predictions(tmp_path / "out.jsonl")
