from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from typing import Any

import pytest

from factloop import FactChecker
from factloop.agents.safe import judgements
from factloop.agents.safe.judgements import ASSESSED, GROUNDED, RATED, VerdictField, said, with_score
from factloop.agents.safe.jury import GroundedJury, PaperJury, joint
from factloop.agents.safe.model_stages import ModelGroundedStages, ModelPaperStages
from factloop.agents.safe.stages import WindowTask
from factloop.core.errors import ConfigError
from factloop.core.records import Judgement, JuryRule, UnscoredReason
from factloop.tools.models.wire import ReplyToken
from tests.agents.safe.model_parts import CONTEXT, TASK, Fields, asked_of, assessment, case, evidence, parts, rating
from tests.checking.simulated import simulated_checker
from tests.simulator import MODEL, Simulator

JURORS = "abc"


def vote(letter: str, juror: str) -> Judgement:
    """`+` supported, `-` contradicted, `0` no evidence, `?` disputed, `!` a failure."""
    if letter == "!":
        return Judgement(unscored_reason=UnscoredReason.TOOL_FAILURE, rationale="It is down.", judged_by=juror)
    verdict = {"+": "supported", "-": "contradicted", "0": "insufficient", "?": "disputed"}[letter]
    return said(verdict, f"{juror} says {letter}.", ("p1",), juror)


def outcome(one: Judgement) -> str:
    return str(one.unscored_reason or one.verdict) + (" contradicted" if one.contradicted else "")


@pytest.mark.parametrize(
    ("votes", "majority", "unanimous"),
    [
        ("+++", "supported", "supported"),
        ("++-", "supported", "split_jury"),
        ("+-0", "not_supported", "split_jury"),
        ("--0", "not_supported contradicted", "not_supported contradicted"),
        ("+-?", "split_jury", "split_jury"),
        ("+-", "split_jury", "split_jury"),
        ("??+", "disputed", "split_jury"),
        ("++!", "supported", "tool_failure"),
        ("+-!", "tool_failure", "tool_failure"),
        ("+!!", "tool_failure", "tool_failure"),
    ],
)
def test_a_verdict_needs_the_votes_that_its_rule_asks_for(votes: str, majority: str, unanimous: str) -> None:
    given = [vote(letter, juror) for letter, juror in zip(votes, JURORS, strict=False)]
    rules: tuple[JuryRule, ...] = ("majority", "unanimous")
    found = [joint(given, rule) for rule in rules]
    assert [outcome(one) for one in found] == [majority, unanimous]
    assert all([one.judged_by for one in judgement.votes] == list(JURORS[: len(votes)]) for judgement in found)


def test_the_score_of_a_jury_is_the_mean_where_all_have_one() -> None:
    scores = {"a": 0.9, "b": 0.8, "c": 0.7}
    given = [vote("+", juror).model_copy(update={"score": score}) for juror, score in scores.items()]
    assert joint(given, "majority").score == pytest.approx(0.8)
    assert joint([*given[:2], vote("+", "c")], "majority").score is None


def entry(verdict: str) -> dict[str, Any]:
    return {
        "passages": [1, 2] if verdict == "disputed" else [1],
        "reason": f"It is {verdict} [1].",
        "verdict": verdict,
        "wrong": "",
    }


def of_window(verdict: str) -> dict[str, Any]:
    return {"facts": [{"sentence": 1, "fact": TASK.sentence, **entry(verdict)}], "without_fact": []}


def of_claims(*verdicts: str) -> dict[str, Any]:
    return {"claims": [{"claim": n, "fact": "", **entry(one)} for n, one in enumerate(verdicts, 1)]}


async def test_jurors_judge_a_given_claim_with_the_name_that_the_first_put_in() -> None:
    told = {"claims": [{"claim": 1, "fact": "Ada sang.", **entry("supported")}]}
    chats, stages = jury("majority", [told], *[[of_claims("supported")]] * 2)
    (fact,) = await stages.judge_given(["She sang."], WindowTask((TASK,), (evidence(1),)), CONTEXT)
    assert fact.text == "Ada sang."
    assert ["Ada sang." in asked_of(chat)[0].partition("<claim")[2] for chat in chats] == [False, True, True]


def jury(rule: JuryRule, *replies: Sequence[Fields]) -> tuple[list[Any], GroundedJury]:
    chats, made = zip(*(parts(*one) for one in replies), strict=True)
    first, *others = (ModelGroundedStages(*one) for one in made)
    return list(chats), GroundedJury(**vars(first), others=others, rule=rule)


async def test_the_first_juror_reads_a_window_and_all_judge_its_facts() -> None:
    chats, stages = jury("majority", [of_window("supported")], *[[of_claims("contradicted")]] * 2)
    reading = await stages.read(WindowTask((TASK,), (evidence(1),)), CONTEXT)
    (fact,) = reading.facts
    assert outcome(fact.judgement) == "not_supported contradicted"
    assert [one.rationale for one in fact.judgement.votes] == ["It is supported [1].", *["It is contradicted [1]."] * 2]
    assert [len(chat.asked) for chat in chats] == [1, 1, 1]


async def test_the_first_that_is_sure_decides_and_others_are_asked_only_for_the_rest() -> None:
    window = WindowTask((TASK,), (evidence(1), evidence(2)))
    chats, stages = jury(
        "first_sure", [of_claims("supported", "disputed")], [of_claims("disputed")], [of_claims("contradicted")]
    )
    found = await stages.look_again(["Ada sang.", "Ada danced."], window, CONTEXT)
    assert [outcome(one) for one in found] == ["supported", "not_supported contradicted"]
    assert [len(one.votes) for one in found] == [1, 3]
    assert [re.findall("Ada (?:sang|danced)", asked_of(chat)[0]) for chat in chats[1:]] == [["Ada danced"]] * 2


async def test_a_juror_that_cannot_be_read_costs_its_vote_alone() -> None:
    unreadable: list[Fields] = [{"nothing": "of it"}] * 3
    _, stages = jury("majority", [assessment("supported", [1])], [assessment("supported", [1])], unreadable)
    judgement = await stages.assess(case(evidence(1), left=0), CONTEXT)
    assert isinstance(judgement, Judgement)
    assert outcome(judgement) == "supported"
    assert [one.unscored_reason for one in judgement.votes] == [None, None, UnscoredReason.PARSE_FAILURE]


async def test_a_juror_that_cannot_judge_several_claims_at_once_is_asked_for_each() -> None:
    three_times: list[Fields] = [{"nothing": "of it"}] * 3
    _, stages = jury(
        "majority", [of_claims("supported", "supported")], [*three_times, of_claims("supported"), of_claims("disputed")]
    )
    window = WindowTask((TASK,), (evidence(1), evidence(2)))
    found = await stages.look_again(["Ada sang.", "Ada danced."], window, CONTEXT)
    assert [outcome(one) for one in found] == ["supported", "split_jury"]


async def test_the_jury_of_the_paper_rates() -> None:
    raters = [ModelPaperStages(*parts(rating(word, [1]))[1]) for word in ("supported", "supported", "contradicted")]
    stages = PaperJury(**vars(raters[0]), others=raters[1:])
    assert outcome(await stages.rate(case(evidence(1)), CONTEXT)) == "supported"


@pytest.mark.parametrize("plan", ["grounded", "fused", "paper"])
async def test_a_check_by_a_jury_has_the_votes_of_all_and_says_what_it_costs(sim: Simulator, plan: str) -> None:
    response = sim.world.twenty_responses[0]
    text = " ".join(response.text.split(". ")[:3]) + "."
    sim.set(models=["sim", "gpt-4o"])
    async with (
        simulated_checker(sim, plan=plan) as alone,
        simulated_checker(sim, plan=plan, jury=["openai:gpt-4o"], jury_rule="unanimous") as checker,
    ):
        one, two = await alone.acheck(text, response.prompt), await checker.acheck(text, response.prompt)
    assert [claim.judgement.verdict for claim in two.claims] == [claim.judgement.verdict for claim in one.claims]
    judged = [claim.judgement for claim in two.claims if claim.judgement.votes]
    assert judged
    assert {tuple(vote.judged_by for vote in judgement.votes) for judgement in judged} == {(MODEL, "openai:gpt-4o")}
    assert two.usage.calls > one.usage.calls
    assert two.fingerprint.settings["jury"] == ["openai:gpt-4o"]


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"jury": "openai:a"}, "a jury needs a main model"),
        ({"model": "openai:gpt-4o-mini", "jury": ("openai:b", "gpt-4o-mini")}, "each model once"),
    ],
)
def test_a_jury_has_a_first_and_no_model_twice(
    settings: dict[str, Any], message: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "none")
    with pytest.raises(ConfigError, match=message):
        FactChecker(**settings, docs="README.md").check("Rome is in Italy.")


def reply(*pieces: str | tuple[str, Mapping[str, float]]) -> list[ReplyToken]:
    given = (piece if isinstance(piece, tuple) else (piece, {piece: 1.0}) for piece in pieces)
    return [ReplyToken(text, {one: math.log(share) for one, share in shares.items()}) for text, shares in given]


@pytest.mark.parametrize(
    ("field", "said", "shares", "score"),
    [
        # 0.6 / (0.6 + 0.3)
        (ASSESSED, "supported", {"supported": 0.6, "contradicted": 0.3}, 2 / 3),
        # 0.1 / (0.1 + 0.7 + 0.1); a capital letter is no verdict
        (ASSESSED, "contradicted", {"contradicted": 0.7, "supported": 0.1, "ins": 0.1, "Supported": 0.1}, 1 / 9),
        # "ambiguous" leaves a claim unscored, and is no verdict beside the others: 0.5 / (0.5 + 0.1)
        (ASSESSED, "supported", {"supported": 0.5, "insufficient": 0.1, "amb": 0.4}, 5 / 6),
        # 0.02 / (0.02 + 0.9)
        (RATED, "not_supported", {"not": 0.0, "not_supported": 0.9, "supported": 0.02}, 0.02 / 0.92),
        (RATED, "supported", {"supported": 0.8, "not": 0.2}, 0.8),
        # below five likeliest, so as good as 0
        (GROUNDED, "insufficient", {"insufficient": 1.0}, 0.0),
        (GROUNDED, "supported", {"supported": 1.0}, 1.0),
        # half of the probability must be on what the field may say
        (GROUNDED, "supported", {"supported": 0.4, "contradicted": 0.11, "yes": 0.49}, 0.4 / 0.51),
        (GROUNDED, "supported", {"supported": 0.4, "contradicted": 0.09, "yes": 0.51}, None),
        (ASSESSED, "ambiguous", {"ambiguous": 1.0}, None),
    ],
)
def test_it_is_the_share_of_supported_among_the_verdicts(
    field: VerdictField, said: str, shares: dict[str, float], score: float | None
) -> None:
    shares = {text: share for text, share in shares.items() if share}
    tokens = reply('{"', "reasoning", '":"', "So.", '","', field.name, '":"', (said, shares), '"}')
    assert field.scores(tokens, [said]) == [None if score is None else pytest.approx(score)]


TWO = reply(
    '{"facts":[{"verdict', '":"', ("supp", {"supp": 0.9, "contr": 0.1}), "orted", '","reason":""},{"', "verdict",
    '": "', ("contr", {"contr": 0.75, "supp": 0.25}), "adicted", '"}]}',
)  # fmt: skip
LIKELY = ("supported", {"supported": 0.8, "contradicted": 0.2})
QUOTING = r'{"rationale":"It says \"verdict\": \"contradicted\", or \"verdict\":\"supported\".","verdict":"'
AROUND = reply("<think>", "Hm.", "</think>", "```json\n", '{ "verdict" : "', LIKELY, '" }', "\n```", "<|im_end|>")


@pytest.mark.parametrize(
    ("field", "tokens", "said", "scores"),
    [
        (GROUNDED, TWO, ["supported", "contradicted"], [0.9, 0.25]),
        (GROUNDED, TWO, ["supported"], [None]),
        (GROUNDED, TWO, ["contradicted", "supported"], [None, None]),
        (GROUNDED, TWO, [], []),
        (ASSESSED, reply(*QUOTING, LIKELY, '"}'), ["supported"], [0.8]),
        (ASSESSED, reply('{"verdict":"', LIKELY, '"}</think>{"verdict":"', LIKELY, '"}'), ["supported"], [None]),
        (ASSESSED, AROUND, ["supported"], [0.8]),
        (RATED, [], ["supported"], [None]),
        (RATED, reply("supported"), ["supported"], [None]),
    ],
    ids=["two", "one of two", "others", "none", "in a text", "a draft as well", "around it", "no tokens", "no field"],
)
def test_each_verdict_has_its_own_where_it_is_known_which_it_is(
    field: VerdictField, tokens: Sequence[ReplyToken], said: list[str], scores: list[float | None]
) -> None:
    assert field.scores(tokens, said) == [None if one is None else pytest.approx(one) for one in scores]


def test_only_a_verdict_has_a_score() -> None:
    judged = judgements.supported("", (), "m")
    assert with_score(judged, 0.0).score == 0.0
    assert with_score(judged, None) == judged
    unscored = Judgement(unscored_reason=UnscoredReason.AMBIGUOUS)
    assert with_score(unscored, 0.5) == unscored
