from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import replace

import pytest

from factloop.agents.safe.offline import NOTHING_FOUND, OfflineFusedStages, OfflinePaperStages, VerifierRater
from factloop.agents.safe.stages import Case, FoundFact, FusedStages, PaperStages
from factloop.agents.safe.state import NextQueries, SentenceTask
from factloop.core.records import Judgement, Verdict
from factloop.tools.judges.baseline import Baseline
from factloop.tools.text.pieces import read
from factloop.tools.text.pipeline import MOST_WORDS, load_pipeline
from factloop.tools.text.sentences import split_sentences
from tests.agents.safe.model_parts import evidence
from tests.agents.safe.scripted import context_of
from tests.agents.scripted_verifier import ScriptedVerifier
from tests.work import LINEAR, growth

NLP = load_pipeline()
PROMPT = "Who was Mira Halden?"
RESPONSE = (
    "Mira Halden was a chemist. She was born in Lindel and founded the Merrow Institute. The Eiffel Tower is in Paris."
)
CONTEXT = context_of(prompt=PROMPT, response=RESPONSE)


def task(sentence: str, response: str = RESPONSE) -> SentenceTask:
    start = response.index(sentence)
    return SentenceTask(sentence, start, start + len(sentence))


def case(*, queries: Sequence[str] = (), n_evidence: int = 2, may_search: bool = True) -> Case:
    items = tuple(evidence(number) for number in range(1, n_evidence + 1))
    stated = task("Mira Halden was a chemist.")
    return Case("Mira Halden was born in Lindel in 1901.", stated, queries, items, 3 if may_search else 0)


async def facts_of(
    stages: FusedStages, item: SentenceTask, prompt: str | None = PROMPT, response: str = RESPONSE
) -> Sequence[FoundFact]:
    (facts,) = await stages.sentence_facts([item], context_of(prompt=prompt, response=response))
    assert facts is not None
    return facts


async def test_facts_are_split_resolved_and_given_a_query() -> None:
    stages: FusedStages = OfflineFusedStages(VerifierRater(ScriptedVerifier("supported"), NLP), NLP)
    sentence = "She was born in Lindel and founded the Merrow Institute."
    assert await facts_of(stages, task(sentence)) == [
        FoundFact(
            "She was born in Lindel.", "Mira Halden was born in Lindel.", "check", "Mira Halden born Lindel"
        ),
        FoundFact(
            "She founded the Merrow Institute.",
            "Mira Halden founded the Merrow Institute.",
            "check",
            "Mira Halden founded Merrow Institute",
        ),
    ]  # fmt: skip


async def test_an_item_without_a_verb_is_a_fact_about_its_lead() -> None:
    stages = OfflineFusedStages(VerifierRater(ScriptedVerifier("supported"), NLP), NLP)
    response = "- Tarn 4:\n  - two ports\n"
    under = replace(task("two ports", response), above="Tarn 4:")
    assert [fact.self_contained for fact in await facts_of(stages, under, None, response)] == ["Tarn 4: two ports"]


@pytest.mark.parametrize("abstains", [True, False])
async def test_of_a_fact_that_leaves_open_whom_it_is_about_a_judge_that_abstains_says_nothing(abstains: bool) -> None:
    verifier = ScriptedVerifier("supported", cited=(0,), abstains=abstains)
    lone = replace(case(may_search=False), claim="He won in 1901.")
    judgement = await OfflineFusedStages(VerifierRater(verifier, NLP), NLP).assess(lone, CONTEXT)
    assert isinstance(judgement, Judgement)
    assert judgement.unscored_reason == ("needs_reading" if abstains else None)
    assert judgement.cited == ("e1",)


async def test_a_part_of_the_topic_is_searched_with_its_name() -> None:
    stages = OfflineFusedStages(VerifierRater(ScriptedVerifier("supported"), NLP), NLP)
    told = "The first tower was built of oak."
    response = f"The Oss Light stands near Trenn. {told}"
    found = await facts_of(stages, task(told, response), "What is known about the Oss Light?", response)
    assert found == [FoundFact(told, told, "check", "Oss Light first tower built oak")]


async def test_a_sentence_without_claims_has_no_facts() -> None:
    stages = OfflineFusedStages(VerifierRater(ScriptedVerifier("supported"), NLP), NLP)
    assert await facts_of(stages, task("I don't know.", "I don't know."), response="I don't know.") == []


def test_work_is_linear_in_the_length_of_the_response() -> None:
    stages = OfflineFusedStages(VerifierRater(ScriptedVerifier("supported"), NLP), NLP)
    unit = "Mira Halden met Otto Berg in Arden. She founded the mill and sold its wheel, while Oss burned. "

    async def split(response: str) -> list[FoundFact]:
        context = context_of(prompt=PROMPT, response=response)
        return [
            fact
            for sentence in split_sentences(response)
            for fact in (
                await stages.sentence_facts([SentenceTask(sentence.text, sentence.start, sentence.end)], context)
            )[0]
        ]

    def split_units(number: int) -> None:
        assert len(asyncio.run(split(unit * number))) >= 2 * number

    assert growth(split_units, 10) < LINEAR


async def test_a_sentence_of_very_many_words_stays_whole_and_is_bounded_work() -> None:
    def judge(n_words: int) -> None:
        text = "Bea met Aa." + " Aa" * n_words
        Baseline().verify(f"{text} again.", [text])

    assert growth(judge, 40) < LINEAR
    stages = OfflineFusedStages(VerifierRater(ScriptedVerifier("supported"), NLP), NLP)
    odd = f"He built it {'][' * 900}"
    assert [fact.self_contained for fact in await facts_of(stages, task(odd, odd), response=odd)] == [odd]
    assert len(read(odd, NLP).doc) <= MOST_WORDS


async def test_other_checks_go_on_between_two_claims() -> None:
    verifier, seen = ScriptedVerifier("supported"), set[int]()

    async def other() -> None:
        while True:
            seen.add(len(verifier.asked))
            await asyncio.sleep(0)

    going_on, rater, context = asyncio.create_task(other()), VerifierRater(verifier, NLP), context_of()
    await asyncio.gather(*(rater.judge(case(), context) for _ in range(9)))
    going_on.cancel()
    assert seen >= set(range(9))


async def test_support_settles_a_claim_at_once_and_cites_by_id() -> None:
    verifier = ScriptedVerifier("supported", cited=(1, 0))
    judgement = await OfflineFusedStages(VerifierRater(verifier, NLP), NLP).assess(case(), CONTEXT)
    assert judgement == Judgement(
        verdict=Verdict.SUPPORTED, rationale="names agree", cited=("e2", "e1"), score=0.75, judged_by="scripted"
    )
    assert verifier.asked == [("Mira Halden was born in Lindel in 1901.", ["Passage 1.", "Passage 2."])]


@pytest.mark.parametrize(("brings", "asked"), [(True, 3), (False, 2)])
async def test_insufficient_evidence_asks_for_more_while_it_comes(brings: bool, asked: int) -> None:
    stages = OfflineFusedStages(VerifierRater(ScriptedVerifier("insufficient"), NLP), NLP)
    now = case()
    step = await stages.assess(now, CONTEXT)
    while isinstance(step, NextQueries):
        assert not set(step.queries) & set(now.queries)
        fresh = evidence(1).model_copy(update={"query": step.queries[0] if brings else "q"})
        now = replace(now, queries=(*now.queries, *step.queries), evidence=(fresh,))
        assert len(now.queries) < 20
        step = await stages.assess(now, CONTEXT)
    assert len(now.queries) >= asked
    assert (len(now.queries) == asked) or brings
    assert (step.verdict, step.contradicted) == (Verdict.NOT_SUPPORTED, False)
    assert isinstance(await stages.assess(case(may_search=False), CONTEXT), Judgement)


async def test_a_heading_is_no_part_of_the_sentence_that_is_quoted() -> None:
    sentence = "The second tower was the work of John Rudyerd."
    passage = f"Rudyerd's tower\n{sentence} It was lit in 1708."
    held = evidence(1).model_copy(update={"title": "Towers", "passage": passage})
    asked = replace(case(may_search=False), claim="The second tower was designed by John Rudyerd.", evidence=(held,))
    settled = await OfflineFusedStages(VerifierRater(Baseline(), NLP), NLP).assess(asked, CONTEXT)
    assert isinstance(settled, Judgement)
    assert settled.quote == sentence


@pytest.mark.parametrize("is_contradicted", [True, False])
async def test_a_contradiction_settles_a_claim_at_once_and_no_evidence_says_so(is_contradicted: bool) -> None:
    verifier = ScriptedVerifier("contradicted", cited=(0,)) if is_contradicted else ScriptedVerifier("insufficient")
    given = case() if is_contradicted else case(n_evidence=0, may_search=False)
    judgement = await OfflineFusedStages(VerifierRater(verifier, NLP), NLP).assess(given, CONTEXT)
    assert isinstance(judgement, Judgement)
    assert (judgement.verdict, judgement.contradicted) == (Verdict.NOT_SUPPORTED, is_contradicted)
    assert is_contradicted or (judgement.rationale, judgement.cited) == (NOTHING_FOUND, ())


async def test_the_paper_plan_by_the_same_rules() -> None:
    stages: PaperStages = OfflinePaperStages(VerifierRater(ScriptedVerifier("supported", cited=(0,)), NLP), NLP)
    sentence = task("She was born in Lindel and founded the Merrow Institute.")
    assert (await stages.split(sentence, CONTEXT)).facts == [
        "She was born in Lindel.",
        "She founded the Merrow Institute.",
    ]
    assert await stages.revise("She was born in Lindel.", sentence, CONTEXT) == "Mira Halden was born in Lindel."
    assert await stages.relevance("Mira Halden was born in Lindel.", sentence, CONTEXT)
    first = await stages.next_query(case(), CONTEXT)
    assert first == NextQueries(("Mira Halden born Lindel 1901",))
    assert (await stages.next_query(case(queries=first.queries), CONTEXT)).queries != first.queries
    judgement = await stages.rate(case(), CONTEXT)
    assert (judgement.verdict, judgement.cited, judgement.judged_by) == (Verdict.SUPPORTED, ("e1",), "scripted")


async def test_the_paper_plan_always_has_a_query() -> None:
    stages = OfflinePaperStages(VerifierRater(ScriptedVerifier("insufficient"), NLP), NLP)
    queries: tuple[str, ...] = ()
    for _ in range(12):
        queries = (*queries, *(await stages.next_query(case(queries=queries), CONTEXT)).queries)
    assert all(queries)
    assert queries[-1] == queries[0]


@pytest.mark.parametrize("stages", [OfflineFusedStages, OfflinePaperStages])
def test_the_judge_is_named_after_the_verifier(stages: type[OfflineFusedStages] | type[OfflinePaperStages]) -> None:
    assert stages(VerifierRater(ScriptedVerifier("supported"), NLP), NLP).name == "scripted"
