"""Corrections with the simulated model: what it is told, how often it is asked, and what the text says in the end."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import pytest
from langchain_core.documents import Document

from factloop import FactualityReport, Limits
from factloop.core.findings import Finding
from factloop.core.records import Verdict
from factloop.correction.corrector import Corrector
from factloop.correction.records import ChangeKind, Correction, LeftReason, Rejection
from factloop.setup.sources import Sources
from factloop.tools.search.given import GivenDocuments
from tests.checking.simulated import simulated_checker
from tests.simulator import Response, Simulator
from tests.simulator.protocol import first_user_text

STAGE = "RewrittenSentence"


@pytest.fixture
def response(sim: Simulator) -> Response:
    return min(sim.world.responses, key=lambda response: len(response.facts))


def own_articles(sim: Simulator, response: Response) -> Sources:
    """The articles on the subject alone: what the response says of others, nothing proves."""
    pages = [one for one in sim.world.passages if one.title.startswith(response.subject)]
    documents = [Document(one.page, metadata={"source": one.url}) for one in pages]
    return Sources((GivenDocuments(documents),), "faithfulness")


def rewrites(sim: Simulator) -> Iterator[str]:
    return (first_user_text(body) for body in sim.bodies(STAGE))


def blocks(text: str, name: str) -> list[str]:
    return re.findall(rf'<{name}(?: id="\d+")?>(.*?)</{name}>', text, re.DOTALL)


def unproven(report: FactualityReport) -> set[str]:
    return {claim.self_contained for claim in report.claims if claim.judgement.contradicted is False}


async def test_what_is_contradicted_is_mended_and_what_is_unproven_is_marked(
    sim: Simulator, response: Response
) -> None:
    async with simulated_checker(sim) as checker:
        done = await Corrector(checker).acorrect(response.text, response.prompt, sources=own_articles(sim, response))
    before, after = done.before, done.report
    assert done.accepted, done.why
    assert unproven(before)
    assert unproven(after) == unproven(before)  # nothing is taken out, and nothing reworded away
    contradicted = [claim for claim in before.claims if claim.judgement.contradicted]
    assert contradicted
    assert not [claim for claim in after.claims if claim.judgement.contradicted]
    assert {change.kind for change in done.changes} == {ChangeKind.MENDED}
    assert {name for change in done.changes for name in change.claims} == {claim.id for claim in contradicted}
    assert {finding for change in done.changes for finding in change.findings} == {Finding.CONTRADICTED}
    for claim in after.claims:
        assert done.text[slice(*claim.span)] == claim.sentence
        follows = done.text[claim.span[1] :]
        assert (claim.judgement.contradicted is not False) or follows.startswith(" [unverified]")
    assert done.text.count("[unverified]") == len(done.doubts)
    assert Correction.model_validate_json(done.model_dump_json()) == done


async def test_the_rewriter_is_told_of_each_claim_what_was_found(sim: Simulator, response: Response) -> None:
    async with simulated_checker(sim) as checker:
        done = await Corrector(checker).acorrect(response.text, response.prompt, sources=own_articles(sim, response))
    by_claim = {claim.self_contained: claim for claim in done.before.claims}
    told = {name: [block for text in rewrites(sim) for block in blocks(text, name)] for name in ("kept", "unproven")}
    assert told["unproven"]
    assert {by_claim[text].judgement.contradicted for text in told["unproven"]} == {False}
    assert {by_claim[text].judgement.verdict for text in told["kept"]} == {Verdict.SUPPORTED}
    assert any(blocks(text, "contradicted") for text in rewrites(sim))
    for text in rewrites(sim):
        passages = blocks(text, "evidence")
        for block in blocks(text, "contradicted"):
            said, *lines = block.splitlines()
            assert by_claim[said].judgement.contradicted
            (by,) = [line.removeprefix("Says otherwise: evidence ") for line in lines if line.startswith("Says")]
            cited = {item.passage for item in by_claim[said].evidence if item.id in by_claim[said].judgement.cited}
            assert {passages[int(number) - 1].strip() for number in by.split(", ")} == cited
        assert not blocks(text, "remove")


@pytest.mark.parametrize("plan", ["fused", "grounded"])
async def test_unchanged_sentences_are_not_asked_again(sim: Simulator, response: Response, plan: str) -> None:
    sources = own_articles(sim, response)
    async with simulated_checker(sim, plan=plan) as checker:
        before = await checker.acheck(response.text, response.prompt, sources=sources)
        sim.reset()
        done = await Corrector(checker).acorrect(before, sources=sources)
    assert done.after is not None
    asked = " ".join(
        block
        for stage in ("SentenceFacts", "WindowFacts", "GroundedFacts")
        for body in sim.bodies(stage)
        for block in blocks(first_user_text(body), "sentence")
    )
    changed = {change.old for change in done.changes}
    untouched = {claim.sentence for claim in before.claims} - changed
    assert untouched
    assert not [sentence for sentence in untouched if sentence in asked]
    known = {claim.id: claim.judgement for claim in before.claims if claim.sentence in untouched}
    carried = {claim.id: claim.judgement for claim in done.after.claims if claim.sentence in untouched}
    assert carried.keys() == known.keys()
    assert {name: one.verdict for name, one in carried.items()} == {name: one.verdict for name, one in known.items()}


async def test_one_allowance_holds_for_the_whole_correction(sim: Simulator, response: Response) -> None:
    whole = await of_whole(sim, response)
    n_checked, n_rewritten = whole.before.usage.calls, whole.usage.stages["rewrite"].calls
    for most in (n_checked, n_checked + 1, n_checked + n_rewritten):
        done = await of_whole(sim, response, limits=Limits(max_calls=most))
        assert done.before.counts == whole.before.counts
        assert done.before.usage.calls + done.usage.calls == most
        assert not done.accepted
        assert "[contradicted]" in done.text
        details = {left.detail for left in done.left if left.reason is LeftReason.REWRITE_FAILED}
        used_up = f"budget: the budget of this correction is used up: {most} calls"
        assert details == ({used_up} if most < n_checked + n_rewritten else set())
    assert done.rejected is Rejection.NOT_CHECKED
    done = await of_whole(sim, response, max_calls_per_check=n_checked)
    assert (done.rejected, done.usage.calls) == (Rejection.NOTHING_CHANGED, 0)


async def of_whole(sim: Simulator, response: Response, limits: Limits | None = None, **settings: Any) -> Correction:
    """Checks by a checker of its own, which has asked nothing before."""
    async with simulated_checker(sim, **settings) as checker:
        return await Corrector(checker).acorrect(response.text, response.prompt, limits=limits)
