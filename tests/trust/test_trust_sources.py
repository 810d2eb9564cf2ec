from __future__ import annotations

import asyncio
import itertools
import json
import random
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from langchain_core.language_models import FakeListChatModel
from langchain_openai import ChatOpenAI
from pydantic import SecretStr

from factloop import TrustReport, TrustScorer, UnscoredReason
from factloop.agents.trustscore.records import Relation
from factloop.core.errors import ConfigError, DataError
from factloop.setup.sources import Sources
from factloop.tools.search.adapter import as_search_tool
from tests.checking.simulated import simulated_scorer
from tests.checking.test_sources import PASSAGE, OneDocument, look_up
from tests.simulator import MODEL, QaPair, Simulator
from tests.tools.judges.tiny_models import save_biased
from tests.trust.trust_items import known_to

QUESTION, RESPONSE = "Who built Rome?", "Romulus built Rome in 1848."


@pytest.fixture
def corpus(sim: Simulator, tmp_path: Path) -> Path:
    """The simulated articles in the format of wiki-dpr."""
    path = tmp_path / "passages.tsv"
    rows = (f"{number}\t{passage.text}\t{passage.title}" for number, passage in enumerate(sim.world.passages[:2000], 1))
    path.write_text("id\ttext\ttitle\n" + "\n".join(rows) + "\n", encoding="utf-8")
    return path


@pytest.fixture
def pair(sim: Simulator, corpus: Path) -> QaPair:
    """A question that the subject knows and that the corpus covers."""
    text = corpus.read_text(encoding="utf-8")
    return next(pair for pair in known_to(sim, "known", 50) if pair.topic.article_sentence in text)


def row(report: TrustReport) -> tuple[int | None, Relation | None, float | None]:
    return report.trust_bc.value, report.trust_fc.relation, report.trust_ov.value


async def test_a_corpus_and_a_judge_model(sim: Simulator, corpus: Path, pair: QaPair, tmp_path: Path) -> None:
    settings: dict[str, Any] = {"judge_model": MODEL, "corpus": corpus, "cache_dir": tmp_path / "cache"}
    async with simulated_scorer(sim, **settings) as scorer:
        true = await scorer.ascore(pair.question, pair.answer)
        false = await scorer.ascore(pair.question, pair.wrong(random.Random(1)))
    assert row(true) == (1, "support", 1.0)
    assert row(false) == (0, "contradict", 0.0)
    for report in (true, false):
        fc = report.trust_fc
        assert len(fc.passages) == 10
        assert set(fc.cited) <= {passage.id for passage in fc.passages}
        assert fc.cited
        assert (fc.judged_by, fc.query) == (
            "openai:sim",
            f'"{report.response}" correctly answers the question of "{pair.question}"',
        )
        assert report.usage.stages["entailment"].calls == 1
        assert report.warnings == ()


async def test_a_corpus_without_a_subject_gives_what_documents_say(corpus: Path, pair: QaPair, tmp_path: Path) -> None:
    async with TrustScorer(corpus=corpus, cache_dir=tmp_path / "cache") as scorer:
        report = await scorer.ascore(pair.question, pair.topic.article_sentence)
    assert report.trust_bc.unscored_reason is UnscoredReason.NO_SOURCE
    assert report.trust_fc.relation is not None
    assert (report.trust_ov.value, report.trust_ov.missing) == (None, "TrustBC (No subject model was given.)")


@pytest.mark.parametrize("source", [OneDocument(), look_up], ids=["retriever", "langchain tool"])
async def test_a_search_of_ones_own(source: Any) -> None:
    async with TrustScorer(corpus=source, cache=False) as scorer:
        report = await scorer.ascore(QUESTION, RESPONSE)
    assert [passage.passage for passage in report.trust_fc.passages] == [PASSAGE]
    assert report.fingerprint.corpus


async def test_sources_that_come_with_an_answer_stand_in_the_place_of_the_corpus() -> None:
    async with TrustScorer(corpus=OneDocument(), cache=False) as scorer:
        given = await scorer.ascore(QUESTION, RESPONSE, sources=Sources((as_search_tool(look_up),)))
        none = await scorer.ascore(QUESTION, RESPONSE, sources=Sources())
        own = await scorer.ascore(QUESTION, RESPONSE)
    assert [passage.source for passage in given.trust_fc.passages] == ["look_up"]
    assert [passage.source for passage in own.trust_fc.passages] == ["https://example.org/ada"]
    assert (none.trust_fc.unscored_reason, none.trust_fc.passages) == (UnscoredReason.NO_SOURCE, ())
    corpora, judges = ([getattr(one.fingerprint, name) for one in (given, own, none)] for name in ("corpus", "judge"))
    assert len(set(corpora)) == 3
    assert corpora[-1] is None
    assert judges == ["baseline", "baseline", None]
    assert [bool(one.warnings) for one in (given, own, none)] == [True, True, False]


async def test_sources_need_no_corpus_and_share_budget_and_model(sim: Simulator, pair: QaPair) -> None:
    given = Sources((as_search_tool(OneDocument()),))
    async with simulated_scorer(sim, judge_model=MODEL, max_checks=1, max_calls=3) as scorer:
        reports = [await scorer.ascore(pair.question, pair.answer, sources=given) for _ in range(3)]
    assert reports[0].trust_fc.judged_by == "openai:sim"
    assert sim.stats().model.requests == 2, "the second and third are the first, in one session"
    assert {report.trust_ov.value for report in reports} == {reports[0].trust_ov.value}


@pytest.mark.parametrize("sources", [Sources((as_search_tool(look_up),) * 2), Sources((), "factuality")])
async def test_sources_of_a_score_are_one_search(sources: Sources) -> None:
    async with TrustScorer(cache=False) as scorer:
        with pytest.raises(ConfigError, match="TrustFC searches only one corpus"):
            await scorer.ascore(QUESTION, RESPONSE, sources=sources)


async def test_chat_models_of_ones_own(sim: Simulator, pair: QaPair) -> None:
    model = ChatOpenAI(model="sim", base_url=sim.base_url, api_key=SecretStr("own-secret"), temperature=0)
    async with TrustScorer(model, judge_model=model, corpus=OneDocument(), cache=False) as scorer:
        report = await scorer.ascore(pair.question, pair.answer)
    assert report.trust_bc.value == 1
    assert report.trust_fc.judged_by == report.fingerprint.subject_model == "sim"
    assert "own-secret" not in report.model_dump_json()


async def test_a_chat_model_that_knows_nothing_of_schemas() -> None:
    async with TrustScorer(FakeListChatModel(responses=["Answer: B."]), cache=False) as scorer:
        report = await scorer.ascore(QUESTION, RESPONSE)
    checks = report.trust_bc.checks
    assert {check.chosen for check in checks} == {"B"}
    expected = list(itertools.takewhile(lambda check: check.response_letter == "B", checks))
    assert report.trust_bc.value == 0  # the response's letter goes round
    assert report.trust_bc.n_consistent == len(expected)


@pytest.mark.parametrize(
    ("given", "complaint"),
    [
        ({"subject_model": 3}, "`subject_model` must be a name or a LangChain chat model, not int"),
        ({"subject_model": FakeListChatModel(responses=["A"]) | str}, "a LangChain chat model, not RunnableSequence"),
        ({"corpus": [3]}, "cannot search with an object of type list"),
        ({"max_checks": 0}, "max_checks = 0"),
    ],
)
def test_wrong_settings_are_named(given: dict[str, Any], complaint: str) -> None:
    with pytest.raises(ConfigError, match=complaint):
        TrustScorer(**given)


@pytest.mark.parametrize(
    ("given", "complaint"),
    [
        ({"corpus": "nowhere.tsv"}, "nowhere.tsv"),
        ({"kb": "nowhere.kb"}, "no entity table at nowhere.kb"),
        pytest.param({"nli": "nowhere", "corpus": OneDocument()}, "nowhere", marks=pytest.mark.torch),
        pytest.param({"embeddings": "nowhere"}, "nowhere", marks=pytest.mark.torch),
        ({"nli": "x", "judge_model": MODEL, "corpus": OneDocument()}, "either --judge-model or --nli"),
        ({"budget_usd": 1.0}, "price_in"),
        ({"subject_model": "nobody:x"}, "nobody"),
    ],
)
async def test_a_set_up_that_cannot_be_opened_is_named_and_costs_nothing(
    sim: Simulator, given: dict[str, Any], complaint: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    async with simulated_scorer(sim, **given) as scorer:
        with pytest.raises((ConfigError, DataError), match=complaint):
            await scorer.ascore(QUESTION, RESPONSE)
    assert sim.stats().model.requests == 0


def test_it_works_plainly_in_a_running_loop_and_in_two_loops(sim: Simulator, pair: QaPair) -> None:
    scorer = simulated_scorer(sim, max_checks=2)

    async def inside() -> TrustReport:
        return scorer.score(pair.question, pair.answer)

    async def own() -> TrustReport:
        async with scorer:
            return await scorer.ascore(pair.question, pair.answer)

    reports = [asyncio.run(inside()), asyncio.run(own()), asyncio.run(own()), scorer.score(pair.question, pair.answer)]
    assert [report.trust_bc.value for report in reports] == [1] * 4


async def test_answers_are_kept_between_scorers(sim: Simulator, pair: QaPair, tmp_path: Path) -> None:
    for kept in (False, True):
        async with simulated_scorer(sim, cache=True, cache_dir=tmp_path) as scorer:
            report = await scorer.ascore(pair.question, pair.answer)
        assert (report.usage.calls, report.usage.cache_hits) == ((0, 10) if kept else (10, 0))
        assert report.trust_bc.graded == pytest.approx(0.92, abs=0.01)
    assert sim.stats().model.requests == 10


CORPUS = Path(__file__).parents[2] / "examples" / "lighthouse" / "sources"
LARGE_FILE = 100_000

# In a process of its own: the tables are read once a process.
FIRST_ANSWER = """
import asyncio, json, os, sys, threading
from factloop import TrustScorer

read = {"by the loop": [], "beside it": []}

def note(event, arguments):
    if event == "open" and isinstance(arguments[0], str) and os.path.isfile(arguments[0]):
        by_loop = threading.current_thread() is threading.main_thread()
        read["by the loop" if by_loop else "beside it"].append((arguments[0], os.path.getsize(arguments[0])))

async def main(corpus, folder):
    async with TrustScorer(corpus=corpus, cache=False) as scorer:
        await scorer.ascore("Who built it?", "John Smeaton built it.", run_dir=folder)

sys.addaudithook(note)
asyncio.run(main(*sys.argv[1:]))
print(json.dumps(read))
"""


@pytest.mark.process
def test_the_first_answer_leaves_the_loop_to_others(tmp_path: Path) -> None:
    found = subprocess.run(
        [sys.executable, "-c", FIRST_ANSWER, str(CORPUS), str(tmp_path / "run")],
        capture_output=True,
        text=True,
        check=True,
        timeout=120,
    )
    read = json.loads(found.stdout)
    assert [path for path, size in read["by the loop"] if size > LARGE_FILE] == []
    assert [path for path, size in read["beside it"] if size > LARGE_FILE]


NLI = {0: "CONTRADICTION", 1: "NEUTRAL", 2: "ENTAILMENT"}
PASSAGES = "id\ttext\ttitle\n1\tThe Tiber rises in the Apennines and flows through Rome to the sea.\tTiber\n"


@pytest.mark.torch
async def test_its_labels_are_the_relations(tmp_path: Path) -> None:
    corpus = tmp_path / "passages.tsv"
    corpus.write_text(PASSAGES, encoding="utf-8")
    model = save_biased(tmp_path / "nli", NLI, [9.0, 0.0, 0.0])
    async with TrustScorer(corpus=corpus, nli=str(model), cache_dir=tmp_path / "cache") as scorer:
        report = await scorer.ascore("Which city does the Tiber flow through?", "The Tiber flows through Rome.")
    assert (report.trust_fc.relation, report.trust_fc.value) == ("contradict", 0.0)
    assert [passage.title for passage in report.trust_fc.passages] == ["Tiber"]
    assert str(model) in report.trust_fc.judged_by or model.name in report.trust_fc.judged_by
    assert report.warnings == ()
