"""Several systems in one scorer: each answer is put to the model behind its own system, and no other."""

from __future__ import annotations

import pytest

from factloop.core.errors import ConfigError
from factloop.trust.question_answers import OwnAnswer
from factloop.trust.scorer import TrustScorer
from factloop.trust.settings import SubjectModel
from tests.simulator import MODEL, Simulator
from tests.trust.trust_items import expected, known_to


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
        with pytest.raises(ConfigError, match="there is no subject model for 'three'"):
            await scorer.ascore_many(answers(sim, "three"))
    assert sim.stats().model.requests == 0


async def test_one_subject_for_all_and_one_for_each_do_not_go_together(sim: Simulator) -> None:
    async with scorer_of(sim, subject_model=MODEL) as scorer:
        with pytest.raises(ConfigError, match="one subject model for all answers, or one for each system"):
            await scorer.ascore_many(answers(sim, "one"))
    assert sim.stats().model.requests == 0
