from __future__ import annotations

import asyncio
from typing import Any

import pytest

from factloop import TrustReport, TrustRun, UnscoredReason
from factloop.agents.trustscore.records import (
    ConsistencyCheck,
    Distractor,
    Option,
    OptionKind,
    Source,
    SubstitutionLevel,
    TrustBC,
)
from factloop.core.errors import ConfigError
from factloop.trust.means import by_source
from factloop.trust.question_answers import OwnAnswer
from factloop.trust.scorer import TrustScorer
from factloop.trust.settings import SubjectModel
from tests.checking.simulated import simulated_scorer
from tests.simulator import MODEL, Faults, Simulator
from tests.trust.trust_items import both_answers, expected, known_to, timeless, values

N_PAIRS = 2


async def score(sim: Simulator, n: int = N_PAIRS, **settings: Any) -> TrustRun:
    """Scores a true and a false answer to `n` questions that the subject knows, and to `n` that it does not."""
    items = both_answers(known_to(sim, "known", n) + known_to(sim, "unknown", n))
    async with simulated_scorer(sim, **settings) as scorer:
        return await scorer.ascore_many(items)


def truth(sim: Simulator, run: TrustRun) -> list[int | None]:
    n = len(run.reports) // 4
    return expected(sim, both_answers(known_to(sim, "known", n) + known_to(sim, "unknown", n)))


@pytest.mark.parametrize("letter_bias", [None, "A", "B", "C", "D", "E"])
async def test_it_is_what_the_subject_knows_whatever_its_letter_bias(sim: Simulator, letter_bias: str | None) -> None:
    sim.set(letter_bias=letter_bias)
    run = await score(sim, window=4)
    assert values(run) == truth(sim, run)
    assert {1, 0} == set(values(run))


MODES: list[dict[str, Any]] = [
    {"plain_letters": True},
    {"supports_logprobs": False},
    {"supports_json_schema": False},
    {"supports_json_schema": False, "supports_json_object": False},
    {"supports_json_schema": False, "supports_json_object": False, "supports_tools": False},
    {"supports_temperature": False},
    {"plain_letters": True, "supports_logprobs": False, "supports_json_schema": False},
]


@pytest.mark.parametrize("mode", MODES, ids=lambda mode: " ".join(mode))
async def test_it_does_not_depend_on_what_the_server_can(sim: Simulator, mode: dict[str, Any]) -> None:
    sim.set(**mode)
    run = await score(sim, n=1)
    assert values(run) == truth(sim, run)
    graded = [report.trust_bc.graded for report in run.reports]
    assert (None in graded) == (not mode.get("supports_logprobs", True))


async def test_one_seed_gives_one_report(sim: Simulator) -> None:
    first, again, other = [await score(sim, n=1, seed=seed, concurrency=c) for seed, c in ((5, 0), (5, 3), (6, 0))]
    assert timeless(again) == timeless(first)
    assert timeless(other) != timeless(first)
    asked = [[check.options for check in run.reports[0].trust_bc.checks] for run in (first, other)]
    assert asked[0] != asked[1]


async def test_no_failure_becomes_an_inconsistency(sim: Simulator) -> None:
    sim.set(faults=Faults(error_500=0.1, malformed=0.05, truncated=0.05, refusal=0.05))
    run = await score(sim, n=6, window=3)
    assert sim.stats().model.failed > 0
    for report, wanted in zip(run.reports, truth(sim, run), strict=True):
        bc = report.trust_bc
        if bc.value is None:
            assert bc.unscored_reason in {
                UnscoredReason.PARSE_FAILURE, UnscoredReason.REFUSAL, UnscoredReason.TOO_FEW_DISTRACTORS
            }  # fmt: skip
            assert bc.n_inconsistent == 0
        else:
            assert bc.value == wanted
    assert sum(value is not None for value in values(run)) > len(values(run)) / 2


@pytest.mark.parametrize("max_calls", [0, 1, 12])
async def test_a_budget_is_never_passed_and_leaves_the_rest_unscored(sim: Simulator, max_calls: int) -> None:
    run = await score(sim, n=1, max_calls=max_calls)
    assert sim.stats().model.requests == run.usage.calls == max_calls
    assert UnscoredReason.BUDGET in {report.trust_bc.unscored_reason for report in run.reports}
    for report, wanted in zip(run.reports, truth(sim, run), strict=True):
        assert report.trust_bc.value in (wanted, None)


async def test_concurrent_calls_share_what_they_ask(sim: Simulator) -> None:
    (pair,) = known_to(sim, "known", 1)
    async with simulated_scorer(sim) as scorer:
        reports = await asyncio.gather(*(scorer.ascore(pair.question, pair.answer) for _ in range(4)))
    assert [report.trust_bc.value for report in reports] == [1] * 4
    assert all(report.trust_bc == reports[0].trust_bc for report in reports)
    assert sim.stats().model.requests == 10


def answers(sim: Simulator, subject: str) -> list[OwnAnswer]:
    return [
        OwnAnswer(id=f"{number} {subject}", question=pair.question, response=pair.answer, subject=subject)
        for number, pair in enumerate(known_to(sim, "known", 2))
    ]


def scorer_of(sim: Simulator, **changes: object) -> TrustScorer:
    own = {
        "one": SubjectModel(MODEL),
        "two": SubjectModel("openai:sim-b", base_url=sim.base_url.replace("127.0.0.1", "localhost")),
    }
    return TrustScorer(**{"subjects": own, "base_url": sim.base_url, "cache": False, "max_checks": 2, **changes})  # type: ignore[arg-type]  # as named


async def test_each_answer_goes_to_its_own_model_and_server(sim: Simulator) -> None:
    sim.set(models=("sim", "sim-b"))
    items = [*answers(sim, "one"), *answers(sim, "two")]
    async with scorer_of(sim) as scorer:
        run = await scorer.ascore_many(items)
    by = [(report.fingerprint.subject_model, report.fingerprint.subject_base_url) for report in run.reports]
    assert [model for model, _ in by] == [MODEL, MODEL, "openai:sim-b", "openai:sim-b"]
    assert [str(url).startswith("http://localhost") for _, url in by] == [False, False, True, True]
    assert {body["model"] for body in sim.bodies()} == {"sim", "sim-b"}
    assert [report.trust_bc.value for report in run.reports] == expected(sim, items)


async def test_an_answer_of_an_unknown_system_is_refused_before_anything_is_spent(sim: Simulator) -> None:
    async with scorer_of(sim) as scorer:
        with pytest.raises(ConfigError, match="no subject model is set for 'three'"):
            await scorer.ascore_many(answers(sim, "three"))
    assert sim.stats().model.requests == 0


async def test_one_subject_for_all_and_one_for_each_do_not_go_together(sim: Simulator) -> None:
    async with scorer_of(sim, subject_model=MODEL) as scorer:
        with pytest.raises(ConfigError, match="one subject model for all answers, or one for each system"):
            await scorer.ascore_many(answers(sim, "one"))
    assert sim.stats().model.requests == 0


async def test_the_judge_proposes_once_an_answer_and_the_report_says_so(sim: Simulator) -> None:
    """The simulator spells words backwards, which tells its proposals from all others."""
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
    """The second run uses the judge's first proposals as reference answers."""
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
