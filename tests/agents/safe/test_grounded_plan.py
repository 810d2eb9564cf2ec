from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass

import pytest

from factloop.agents.safe.fused import GIVEN_AT_ONCE
from factloop.agents.safe.grounded import BATCH_CLAIMS, MOST_SHOWN, GroundedPlan
from factloop.agents.safe.judgements import NO_GROUNDS
from factloop.agents.safe.passages import MOST_PASSAGES, MOST_TIMES, SHOWN_CHARACTERS
from factloop.agents.safe.sentences import GROUNDED_WINDOW
from factloop.agents.safe.stages import CheckContext, FoundFact, JudgedFact, WindowReading, WindowTask
from factloop.agents.safe.state import SentenceTask
from factloop.core.errors import BudgetExceeded, ConfigError, ModelOutputError, ToolError
from factloop.core.records import Claim, GivenFacts, Judgement, NoClaim, UnscoredReason, Verdict
from factloop.tools.search.base import SearchHit
from factloop.tools.text.queries import search_query
from tests.agents.safe.scripted import (
    GroundedScript,
    Run,
    ScriptedSearch,
    contradicted,
    fact,
    hit,
    nothing_found,
    run,
    supported,
)

SENTENCES = [f"Sentence {number} says a thing." for number in "ABCDEFGHIJKLMN"]
UNREADABLE = ModelOutputError("half of it is missing", schema="GroundedFacts", reply="{")


class FewDocuments(ScriptedSearch):
    passages: tuple[str, ...] = ("Passage one.", "Passage two.")

    def all_passages(self, most_characters: int) -> list | None:  # type: ignore[type-arg]  # noqa: ARG002
        return [hit(text) for text in self.passages]


class MoreDocuments(FewDocuments):
    """More documents than one prompt shows, so another look may show others; each search costs money."""

    def all_passages(self, most_characters: int) -> None:  # noqa: ARG002
        return None

    async def asearch(self, query: str, limit: int) -> list[SearchHit]:
        return self.answers.get(query) or [hit(text) for text in self.passages][:limit]


class FreeDocuments(MoreDocuments):
    @property
    def is_local(self) -> bool:
        return True


def judged(sentence: int, text: str, judgement: Judgement) -> JudgedFact:
    return JudgedFact(sentence, text, judgement)


def reading(*facts: JudgedFact, silent: tuple[int, ...] = ()) -> WindowReading:
    return WindowReading(facts, frozenset(silent))


def one_claim(first: Judgement, *looks: Sequence[Judgement] | Exception, claim: str = "A.") -> GroundedScript:
    return GroundedScript({}, readings={SENTENCES[0]: [reading(judged(0, claim, first))]}, looks={claim: list(looks)})


async def grounded(script: GroundedScript, response: str, *tools: ScriptedSearch, results: int = 2) -> Run:
    return await run(GroundedPlan(script, results=results), response, tools or [FewDocuments()], gates=False)


def verdicts(claims: tuple[Claim, ...]) -> list[Verdict | None]:
    return [claim.judgement.verdict for claim in claims]


async def test_a_window_is_read_in_one_call_and_what_it_supports_is_settled() -> None:
    script = GroundedScript(
        {}, readings={SENTENCES[0]: [reading(judged(0, "A.", supported("p2")), judged(1, "B.", supported("p1", "p2")))]}
    )
    result = await grounded(script, " ".join(SENTENCES[:2]))
    assert verdicts(result.claims) == [Verdict.SUPPORTED] * 2
    assert [claim.id for claim in result.claims] == ["c1.1", "c2.1"]
    assert [[item.passage for item in claim.evidence] for claim in result.claims] == [
        ["Passage two."], ["Passage one.", "Passage two."],
    ]  # fmt: skip
    assert result.claims[1].judgement.cited == ("c2.1-e1", "c2.1-e2")
    assert len(script.windows) == 1


async def test_windows_are_of_a_few_sentences_each_with_the_passages() -> None:
    half = GROUNDED_WINDOW.sentences // 2 + 1
    script = GroundedScript(
        {}, readings={one: [reading(silent=tuple(range(half)))] for one in (SENTENCES[0], SENTENCES[half])}
    )
    result = await grounded(script, " ".join(SENTENCES[: 2 * half]))
    assert [len(window.sentences) for window in script.windows] == [half, half]
    assert all(
        [item.passage for item in window.passages] == ["Passage one.", "Passage two."] for window in script.windows
    )
    assert [sentence.no_claim for sentence in result.sentences] == [NoClaim.NO_CLAIM] * 2 * half


@pytest.mark.parametrize(
    ("between", "n_windows"),
    [
        (" ", 1),
        ("\n\n## A heading\n\n", 1),  # it is no statement: it is shown with what stands below it
        (f" {SENTENCES[2]} ", 2),
    ],
)
async def test_stretches_with_unread_sentences_between_them_share_no_window(between: str, n_windows: int) -> None:
    """A window also shows the sentences between its own, whose facts would then be listed too."""
    first, second = SENTENCES[:2]
    response = f"{first}{between}{second}"
    silent = reading(silent=(0, 1))
    script = GroundedScript({}, readings={first: [silent], second: [silent]})
    spans = [(0, len(first)), (len(response) - len(second), len(response))]
    await run(GroundedPlan(script, results=2), response, [FewDocuments()], gates=False, spans=spans)
    assert len(script.windows) == n_windows
    read = [[one.sentence for one in window.sentences] for window in script.windows]
    assert sorted(read) == ([[first, second]] if n_windows == 1 else [[first], [second]])


async def test_what_is_not_supported_is_looked_at_again_in_batches_of_like_size() -> None:
    n = BATCH_CLAIMS + 3
    size = n // 2
    first = [judged(0, f"Claim {number}.", nothing_found()) for number in range(n)]
    script = GroundedScript(
        {},
        readings={SENTENCES[0]: [reading(*first)]},
        looks={
            "Claim 0.": [[supported("p1"), contradicted("p2"), *[nothing_found()] * (size - 2)]],
            f"Claim {size}.": [[nothing_found()] * size],
        },
    )
    result = await grounded(script, SENTENCES[0], MoreDocuments())
    assert [len(claims) for claims in script.looked_at] == [size, size]
    assert verdicts(result.claims[:2]) == [Verdict.SUPPORTED, Verdict.NOT_SUPPORTED]
    assert [claim.judgement.contradicted for claim in result.claims[:3]] == [None, True, False]
    assert result.claims[1].judgement.cited == ("c1.2-e1",)
    assert result.claims[2].evidence  # what was read is shown, though none of it is cited


async def test_a_claim_that_cites_nothing_lists_the_passages_nearest_to_it() -> None:
    claims = ["Rome is old.", "Oslo is cold.", "Ulm is small."]
    script = GroundedScript(
        {},
        readings={SENTENCES[0]: [reading(*(judged(0, claim, nothing_found()) for claim in claims))]},
        looks={claims[0]: [[nothing_found()] * 3]},
    )

    class Towns(MoreDocuments):
        async def asearch(self, query: str, limit: int) -> list[SearchHit]:
            town = next((town for town in ("Rome", "Oslo", "Ulm") if town in query), "No town")
            return [hit(f"{town} has {number} gates.") for number in range(limit)]

    result = await grounded(script, SENTENCES[0], Towns(), results=3)
    assert [item.passage[:4] for item in script.windows[1].passages][:9] == ["Rome", "Oslo", "Ulm "] * 3
    of_ulm = result.claims[2].evidence
    assert [item.passage[:4] for item in of_ulm] == ["Rome", "Oslo", "Ulm ", "Ulm ", "Ulm "]
    assert len(of_ulm) == MOST_SHOWN


@pytest.mark.parametrize("first", [contradicted("p2"), nothing_found()], ids=["cited", "not cited"])
async def test_a_second_look_is_shown_what_the_first_one_had(first: Judgement) -> None:
    script = one_claim(first, [contradicted("p1")])
    await grounded(script, SENTENCES[0], MoreDocuments(answers={"A.": [hit("Found for it.")]}))
    assert {"Passage two.", "Found for it."} <= {item.passage for item in script.windows[1].passages}


@pytest.mark.parametrize(
    ("claim", "first"),
    [
        ("Nia Ros was born in 1950.", supported("p1")),
        ("A.", nothing_found().model_copy(update={"rationale": NO_GROUNDS})),
    ],
    ids=["what it names is not there", "no passage was named"],
)
async def test_what_may_come_from_memory_is_looked_at_again_though_all_was_shown(claim: str, first: Judgement) -> None:
    script = one_claim(first, [contradicted("p2")], claim=claim)
    found = (await grounded(script, SENTENCES[0])).only_claim()
    assert (len(script.looked_at), found.judgement.contradicted) == (1, True)


async def test_a_search_that_fails_beside_another_leaves_a_second_look() -> None:
    class Broken(FreeDocuments):
        name: str = "broken"

        async def asearch(self, query: str, limit: int) -> list[SearchHit]:  # noqa: ARG002
            raise ToolError("broken: no index", tool="broken")

    script = one_claim(nothing_found(), [nothing_found()])
    found = (await grounded(script, SENTENCES[0], FreeDocuments(), Broken())).only_claim()
    assert found.judgement.unscored_reason is UnscoredReason.TOOL_FAILURE


async def test_a_claim_on_which_all_sources_disagree_is_left_so() -> None:
    disputed = Judgement(unscored_reason=UnscoredReason.DISPUTED, cited=("p1", "p2"), judged_by="script")
    script = one_claim(disputed)
    claim = (await grounded(script, SENTENCES[0])).only_claim()
    assert (script.looked_at, claim.judgement.unscored_reason) == ([], UnscoredReason.DISPUTED)
    assert [item.passage for item in claim.evidence] == ["Passage one.", "Passage two."]


@pytest.mark.parametrize(("found", "n_looks"), [("Passage one.", 0), ("Found for it.", 1)])
async def test_there_is_no_second_look_without_a_passage_that_the_first_did_not_show(found: str, n_looks: int) -> None:
    script = one_claim(nothing_found(), [supported("p1")])
    result = await grounded(script, SENTENCES[0], FreeDocuments(answers={"A.": [hit(found)]}))
    assert len(script.looked_at) == n_looks
    assert verdicts(result.claims) == [Verdict.SUPPORTED if n_looks else Verdict.NOT_SUPPORTED]


@pytest.mark.parametrize(
    ("found", "n_looks"),
    [
        ("The handbook grants sixteen weeks of parental leave, paid in full.", 0),
        ("The FAQ grants twelve weeks of parental leave.", 1),
        ("The FAQ is for employees in Lyon.", 0),
    ],
)
async def test_a_supported_claim_is_looked_at_beside_a_passage_that_may_give_another_value(
    found: str, n_looks: int
) -> None:
    claim, said = "Parental leave is sixteen weeks.", "The company grants sixteen weeks of parental leave."
    script = one_claim(supported("p1"), [contradicted("p2")], claim=claim)
    await grounded(script, SENTENCES[0], FreeDocuments(passages=(said,), answers={search_query(claim): [hit(found)]}))
    assert len(script.looked_at) == n_looks


async def test_sentences_that_a_reply_passes_over_are_asked_again_then_alone() -> None:
    script = GroundedScript(
        facts={SENTENCES[2]: [fact("C.", query="C")]},
        assessments={"C.": [supported("c3.1-e1")]},
        readings={
            SENTENCES[0]: [reading(judged(0, "A.", supported("p1")))],
            SENTENCES[1]: [reading(judged(0, "B.", supported("p2")))],
        },
    )
    result = await grounded(script, " ".join(SENTENCES[:3]))
    assert verdicts(result.claims) == [Verdict.SUPPORTED] * 3
    assert [len(window.sentences) for window in script.windows] == [3, 2]
    assert [claim.id for claim in result.claims] == ["c1.1", "c2.1", "c3.1"]


async def test_facts_that_were_read_stand_where_the_rest_of_the_window_cannot_be_asked_again() -> None:
    script = GroundedScript(
        {},
        readings={
            SENTENCES[0]: [reading(judged(0, "A.", supported("p1")))],
            SENTENCES[1]: [ToolError("x: status 500", tool="x", status=500)],
        },
    )
    result = await grounded(script, " ".join(SENTENCES[:2]))
    assert verdicts(result.claims) == [Verdict.SUPPORTED, None]
    assert [claim.text for claim in result.claims] == ["A.", SENTENCES[1]]
    assert result.claims[1].judgement.unscored_reason is UnscoredReason.TOOL_FAILURE


async def test_a_window_that_cannot_be_read_is_read_sentence_by_sentence() -> None:
    script = GroundedScript(
        facts={SENTENCES[0]: [fact("A.", query="A")], SENTENCES[1]: UNREADABLE},
        assessments={"A.": [contradicted("c1.1-e1")]},
        readings={SENTENCES[0]: [UNREADABLE]},
    )
    result = await grounded(script, " ".join(SENTENCES[:2]))
    assert verdicts(result.claims) == [Verdict.NOT_SUPPORTED, None]
    assert result.claims[1].judgement.unscored_reason is UnscoredReason.PARSE_FAILURE


async def test_a_batch_that_cannot_be_read_is_judged_claim_by_claim() -> None:
    script = GroundedScript(
        {},
        assessments={"A.": [supported("c1.1-e1")], "B.": [nothing_found()]},
        readings={SENTENCES[0]: [reading(judged(0, "A.", nothing_found()), judged(0, "B.", nothing_found()))]},
        looks={"A.": [UNREADABLE]},
    )
    result = await grounded(script, SENTENCES[0], MoreDocuments())
    assert verdicts(result.claims) == [Verdict.SUPPORTED, Verdict.NOT_SUPPORTED]
    assert len(script.cases) == 2


@pytest.mark.parametrize(
    ("error", "reason"),
    [
        (BudgetExceeded("9 calls"), UnscoredReason.BUDGET),
        (ToolError("x: status 500", tool="x", status=500), UnscoredReason.TOOL_FAILURE),
    ],
)
async def test_a_second_look_that_fails_leaves_what_the_first_found_and_no_verdict_where_it_found_nothing(
    error: Exception, reason: UnscoredReason
) -> None:
    first = [judged(0, "A.", contradicted("p1")), judged(0, "B.", nothing_found())]
    script = GroundedScript({}, readings={SENTENCES[0]: [reading(*first)]}, looks={"A.": [error]})
    contrary, silent = (await grounded(script, SENTENCES[0], MoreDocuments())).claims
    assert (contrary.judgement.contradicted, contrary.judgement.cited) == (True, ("c1.1-e1",))
    assert (silent.judgement.verdict, silent.judgement.unscored_reason) == (None, reason)


@dataclass
class Meeting(GroundedScript):
    """Answers no call before `n` have started, and then answers the first one last."""

    n: int = 2

    def __post_init__(self) -> None:
        self._all_there, self._n_asked = asyncio.Barrier(self.n), 0

    async def _meet(self) -> None:
        number, self._n_asked = self._n_asked, self._n_asked + 1
        async with asyncio.timeout(60):
            await self._all_there.wait()
        for _ in range(self.n - number):
            await asyncio.sleep(0)

    async def sentence_facts(
        self, tasks: Sequence[SentenceTask], context: CheckContext
    ) -> Sequence[Sequence[FoundFact] | None]:
        await self._meet()
        return await super().sentence_facts(tasks, context)

    async def look_again(self, claims: Sequence[str], window: WindowTask, context: CheckContext) -> Sequence[Judgement]:
        await self._meet()
        return await super().look_again(claims, window, context)


async def test_sentences_that_are_read_alone_are_read_at_the_same_time() -> None:
    letters, found = "ABC", {}
    for sentence, letter in zip(SENTENCES, letters, strict=False):
        found[sentence] = [fact(f"{letter}.", query=letter)]
    script = Meeting(
        facts=found,
        assessments={f"{letter}.": [supported(f"c{n}.1-e1")] for n, letter in enumerate(letters, 1)},
        readings={SENTENCES[0]: [UNREADABLE]},
        n=len(letters),
    )
    result = await grounded(script, " ".join(SENTENCES[: len(letters)]))
    assert [claim.text for claim in result.claims] == ["A.", "B.", "C."]
    assert verdicts(result.claims) == [Verdict.SUPPORTED] * 3


async def test_a_wrong_set_up_stops_those_that_are_read_alone() -> None:
    script = Meeting(
        facts={SENTENCES[0]: ConfigError("no such model"), SENTENCES[1]: [fact("B.")]},
        readings={SENTENCES[0]: [UNREADABLE]},
    )
    with pytest.raises(ConfigError, match="no such model"):
        await grounded(script, " ".join(SENTENCES[:2]))


async def test_given_facts_are_judged_in_batches_at_the_same_time() -> None:
    facts = [f"Claim {number}." for number in range(GIVEN_AT_ONCE + 2)]
    script = Meeting(
        {},
        looks={
            facts[0]: [[supported("p1")] * GIVEN_AT_ONCE],
            facts[GIVEN_AT_ONCE]: [ToolError("x: status 500", tool="x", status=500)],
        },
    )
    given = [GivenFacts(sentence=SENTENCES[0], facts=tuple(facts))]
    result = await run(GroundedPlan(script, results=2), SENTENCES[0], [MoreDocuments()], facts=given)
    assert [claim.text for claim in result.claims] == facts
    assert verdicts(result.claims) == [Verdict.SUPPORTED] * GIVEN_AT_ONCE + [None] * 2


async def test_a_window_that_fails_leaves_each_sentence_unscored() -> None:
    script = GroundedScript({}, readings={SENTENCES[0]: [BudgetExceeded("9 calls")]})
    result = await grounded(script, " ".join(SENTENCES[:2]))
    assert [claim.text for claim in result.claims] == SENTENCES[:2]
    assert {claim.judgement.unscored_reason for claim in result.claims} == {UnscoredReason.BUDGET}


async def test_without_documents_claims_are_found_and_have_no_source() -> None:
    script = GroundedScript({SENTENCES[0]: [fact("A."), fact("B.", status="irrelevant")]})
    result = await run(GroundedPlan(script, results=2), SENTENCES[0], [])
    assert {claim.judgement.unscored_reason for claim in result.claims} == {UnscoredReason.NO_SOURCE}


async def test_an_irrelevant_claim_is_judged_and_labelled() -> None:
    beside = JudgedFact(0, "A.", nothing_found(), relevant=False)
    script = GroundedScript({}, readings={SENTENCES[0]: [reading(beside)]})
    claim = (await grounded(script, SENTENCES[0])).only_claim()
    assert (claim.judgement.verdict, claim.relevant) == (Verdict.NOT_SUPPORTED, False)


async def test_a_claim_said_twice_is_judged_once() -> None:
    facts = [judged(0, "A.", nothing_found()), judged(1, "a.", nothing_found()), judged(1, "B.", supported("p1"))]
    again = [judged(0, "B.", supported("p1"))]
    script = GroundedScript(
        {},
        readings={SENTENCES[0]: [reading(*facts, silent=(2, 3))], SENTENCES[4]: [reading(*again)]},
        looks={"A.": [[contradicted("p1")]]},
    )
    result = await grounded(script, " ".join(SENTENCES[:5]), MoreDocuments())
    assert script.looked_at == [("A.",)]
    assert [claim.duplicate_of for claim in result.claims] == [None, "c1.1", None, "c2.2"]
    assert verdicts(result.claims) == [Verdict.NOT_SUPPORTED] * 2 + [Verdict.SUPPORTED] * 2


@pytest.mark.parametrize(("characters", "shown"), [(100, 30), (1_200, MOST_PASSAGES), (4_000, 3), (20_000, 1)])
async def test_a_window_is_shown_the_best_passages_of_larger_documents(characters: int, shown: int) -> None:
    class Shelf(ScriptedSearch):
        async def asearch(self, query: str, limit: int) -> list[SearchHit]:  # noqa: ARG002 - it has three
            hits = [f"{query} {n}" for n in range(3)]
            return [SearchHit(source=hit, passage=hit.ljust(characters, "x")) for hit in hits]

    read = reading(judged(0, "A.", supported("p1")), silent=tuple(range(1, GROUNDED_WINDOW.sentences)))
    script = GroundedScript({}, readings={SENTENCES[0]: [read]})
    await grounded(script, " ".join(SENTENCES[: GROUNDED_WINDOW.sentences]), Shelf(), results=3)
    assert len(script.windows[0].passages) == shown
    assert shown == 1 or sum(len(one.passage) for one in script.windows[0].passages) <= MOST_TIMES * SHOWN_CHARACTERS


async def test_larger_documents_are_searched_for_each_sentence() -> None:
    tool = ScriptedSearch()
    script = GroundedScript({}, readings={SENTENCES[0]: [reading(judged(0, "A.", supported("p1")), silent=(1,))]})
    result = await grounded(script, " ".join(SENTENCES[:2]), tool)
    assert len(tool.asked) == 2
    assert len(script.windows[0].passages) == 2
    assert result.claims[0].evidence[0].query == tool.asked[0]
