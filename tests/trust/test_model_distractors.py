"""TrustScores whose distractors the judge model proposes, against the simulator, and consistency by source."""

from __future__ import annotations

from factloop.agents.trustscore.records import (
    ConsistencyCheck,
    Distractor,
    Option,
    OptionKind,
    Source,
    SubstitutionLevel,
    TrustBC,
    TrustReport,
)
from factloop.trust.means import by_source
from tests.checking.simulated import simulated_scorer
from tests.simulator import MODEL, Simulator
from tests.trust.trust_items import both_answers, known_to


async def test_the_judge_proposes_once_an_answer_and_the_report_says_so(sim: Simulator) -> None:
    """The simulator spells words backwards, so that its proposals are told apart from all others."""
    items = both_answers(known_to(sim, "known", 2))
    before = dict(sim.stats().stages)
    asked = before["Substitutes"].answered if "Substitutes" in before else 0
    async with simulated_scorer(sim, judge_model=MODEL, distractors="model", max_checks=2) as scorer:
        run = await scorer.ascore_many(items)
    assert sim.stats().stages["Substitutes"].answered == asked + len(items)
    sources = {one.source for report in run.reports for one in report.trust_bc.distractors}
    assert Source.MODEL in sources
    fingerprint = run.reports[0].fingerprint
    assert fingerprint.substitutes[0] == f"model {MODEL}"
    assert "trustscore/substitutes" in fingerprint.prompts
    assert (fingerprint.judge, fingerprint.corpus) == (MODEL, None)
    of_model = next(one for one in run.summary.by_source if one.source is Source.MODEL)
    assert of_model.n_checks >= of_model.n_answers > 0
    assert all(report.usage.stages["substitutes"].calls == 1 for report in run.reports)


async def test_a_reference_answer_that_comes_with_the_question_is_not_among_the_options(sim: Simulator) -> None:
    """The same answers twice: with what the judge proposed the first time as their reference answers."""
    items = both_answers(known_to(sim, "known", 1))
    settings = {"judge_model": MODEL, "distractors": "model", "max_checks": 2}
    async with simulated_scorer(sim, **settings) as scorer:
        before = await scorer.ascore_many(items)
        proposed = map(_proposed, before.reports)
        known = [item.model_copy(update={"reference_answers": by}) for item, by in zip(items, proposed, strict=True)]
        after = await scorer.ascore_many(known)
    assert all(_proposed(report) for report in before.reports)
    assert [_proposed(report) for report in after.reports] == [()] * len(items)
    assert all(report.trust_bc.checks for report in after.reports)  # other sources gave the options


def _proposed(report: TrustReport) -> tuple[str, ...]:
    return tuple(one.by for one in report.trust_bc.distractors if one.source is Source.MODEL)


def distractor(source: Source, number: int) -> Distractor:
    return Distractor(
        text=f"{number}", replaced="x", span=(0, 1), by=f"{number}", level=SubstitutionLevel.ENTITY, source=source
    )


def check(number: int, chosen: str | None, *shown: int, counted: bool = True) -> ConsistencyCheck:
    options = [Option(letter="A", text="x", kind=OptionKind.RESPONSE)]
    options += [
        Option(letter="BCD"[place], text=f"{one}", kind=OptionKind.DISTRACTOR, distractor=one)  # type: ignore[arg-type]
        for place, one in enumerate(shown)
    ]
    return ConsistencyCheck.model_validate(
        {
            "number": number,
            "options": options,
            "chosen": chosen,
            "unscored_reason": None if chosen else "parse_failure",
            "counted": counted,
        }
    )


def test_consistency_by_source_by_hand() -> None:
    """The model's: chosen A, B (of the two that showed one); the vocabulary's: A and A. What was not counted is not."""
    made = (distractor(Source.MODEL, 0), distractor(Source.VOCABULARY, 1), distractor(Source.MODEL, 2))
    first = TrustBC(
        value=0,
        max_checks=4,
        n_planned=4,
        distractors=made,
        checks=(check(1, "A", 0, 1), check(2, "B", 2), check(3, None, 0), check(4, "A", 1, counted=False)),
    )
    second = TrustBC(value=1, max_checks=1, n_planned=1, distractors=made[1:2], checks=(check(1, "A", 0),))
    found = {one.source: (one.consistent, one.n_checks, one.n_answers) for one in by_source([first, second])}
    assert found == {Source.MODEL: (0.5, 2, 1), Source.VOCABULARY: (1.0, 2, 2)}
    assert by_source([]) == ()
