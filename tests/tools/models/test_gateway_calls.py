"""Calls: their cost, their time limits, and how often they are made."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from factloop.agents.safe.schemas import Assessment
from factloop.core.errors import BudgetExceeded, ConfigError, FactloopError, ModelOutputError, ToolError, ToolTimeout
from factloop.tools.calls.allowance import Allowance
from factloop.tools.calls.memory_answers import MemoryAnswers
from factloop.tools.calls.retry import RetryPolicy
from factloop.tools.models.offers import ToolChoice
from factloop.tools.models.prices import Price
from tests.tools.models.chat_server import KEY, ChatServer, Reply, called, failure, said
from tests.tools.models.questions import CHOICE, OPEN, STAGE, WISH, YES, YES_SAID, ask, assess
from tests.tools.models.talk import Connect

DOLLAR_A_TOKEN = Price(1e6, 1e6)
HANGS = Reply(delay_s=3600.0)


async def test_usage_is_what_the_server_reports(server: ChatServer, connect: Connect) -> None:
    server.will(said(YES_SAID, usage=(123, 45)))
    talk = await connect(price=Price(2.0, 10.0))
    await ask(talk)
    usage = talk.meter.snapshot(0.0)
    assert (usage.calls, usage.prompt_tokens, usage.completion_tokens) == (1, 123, 45)
    assert usage.cost_usd == pytest.approx((123 * 2.0 + 45 * 10.0) / 1e6)
    assert not usage.approximate_tokens
    assert usage.stages[STAGE].wall_s > 0.0


@pytest.mark.parametrize("usage", [None, (0, 0)])
async def test_without_a_report_tokens_are_estimated_and_marked(
    server: ChatServer, connect: Connect, usage: tuple[int, int] | None
) -> None:
    server.will(said('{"reason":"x","relevant":true}', usage=usage))
    talk = await connect()
    await ask(talk)
    counted = talk.meter.snapshot(0.0)
    assert counted.approximate_tokens
    assert counted.completion_tokens == 8  # 30 characters, four a token, rounded up
    assert counted.prompt_tokens == 15  # 32 characters of system and 28 of user: 8 + 7


async def test_the_same_is_asked_once(server: ChatServer, connect: Connect) -> None:
    server.will(Reply(body=said(YES_SAID).body, delay_s=0.05))
    talk = await connect()
    assert await asyncio.gather(*(ask(talk) for _ in range(20))) == [YES] * 20
    assert await ask(talk) == YES
    usage = talk.meter.snapshot(0.0)
    assert (usage.calls, usage.cache_hits, len(server.bodies)) == (1, 20, 1)


async def test_a_choice_is_kept_as_well(server: ChatServer, connect: Connect) -> None:
    server.will(called(("web", WISH)))
    talk = await connect()
    assert [await assess(talk), await assess(talk)] == [ToolChoice("web", CHOICE)] * 2


async def test_another_question_schema_tool_or_setting_is_another_call(server: ChatServer, connect: Connect) -> None:
    server.follow(lambda body: called(("web", WISH)) if body.get("tools") else said({**YES_SAID, **WISH}))
    cache = MemoryAnswers()
    talk, warmer = await connect(cache=cache), await connect(cache=cache, temperature=0.9)
    await ask(talk, "one")
    await ask(talk, "two")
    await ask(warmer, "one")
    await assess(talk, "web", text="one")
    await assess(talk, "web", "documents", text="one")
    assert len(server.bodies) == 5
    await ask(talk, "one")
    assert len(server.bodies) == 5


async def test_a_kept_answer_costs_nothing_in_another_run(server: ChatServer, connect: Connect, tmp_path: Path) -> None:
    path = tmp_path / "calls.sqlite"
    server.will(said(YES_SAID))
    await ask(await connect(cache=path))
    again = await connect(cache=path, max_calls=0)
    assert await ask(again) == YES
    usage = again.meter.snapshot(0.0)
    assert (usage.calls, usage.cache_hits, usage.cost_usd) == (0, 1, 0.0)


async def test_tokens_cached_by_the_server_cost_as_much_as_others(server: ChatServer, connect: Connect) -> None:
    """As an estimate and a budget count them, which cannot know what the server still has: cost is an upper bound."""
    server.will(said(YES_SAID, usage=(1_000, 20), cached=900))
    talk = await connect(price=Price(2.0, 10.0))
    await ask(talk)
    usage = talk.meter.snapshot(0.0)
    assert usage.prompt_tokens == 1_000
    assert usage.cost_usd == pytest.approx((1_000 * 2.0 + 20 * 10.0) / 1e6)


async def test_a_journal_counts_earlier_answers_as_paid_once(
    server: ChatServer, connect: Connect, tmp_path: Path
) -> None:
    path = tmp_path / "journal.sqlite"
    server.will(said("no"), said(YES_SAID))  # two calls: an answer and its repair
    first = await connect(cache=path, price=Price(2.0, 10.0))
    await ask(first)
    resumed = await connect(cache=path, journal=True, price=Price(2.0, 10.0), max_calls=2)
    assert [await ask(resumed), await ask(resumed)] == [YES, YES]
    paid, counted = first.meter.snapshot(0.0), resumed.meter.snapshot(0.0)
    assert (counted.calls, counted.cache_hits) == (2, 2)
    assert (counted.prompt_tokens, counted.cost_usd) == (paid.prompt_tokens, paid.cost_usd)
    with pytest.raises(BudgetExceeded, match="2 calls"):
        await ask(resumed, "something new")


async def test_no_key_is_kept(server: ChatServer, connect: Connect, tmp_path: Path) -> None:
    server.will(said(YES_SAID))
    talk = await connect(cache=tmp_path / "calls.sqlite")
    await ask(talk)
    talk.cache.close()
    assert server.keys == [f"Bearer {KEY}"]
    assert not any(KEY.encode() in content for content in _contents(tmp_path))


async def test_a_hanging_server_is_left_within_the_timeout_and_asked_again(
    server: ChatServer, connect: Connect
) -> None:
    server.will(HANGS, said(YES_SAID))
    talk = await connect(timeout_s=2.0)
    assert await ask(talk) == YES
    usage = talk.meter.snapshot(0.0)
    assert (usage.calls, usage.failed_calls) == (1, 1)


async def test_a_server_that_hangs_for_ever_is_given_up(server: ChatServer, connect: Connect) -> None:
    server.will(HANGS, HANGS)
    talk = await connect(timeout_s=0.1, retry=RetryPolicy(base_s=0.001, timeout_attempts=2))
    with pytest.raises(ToolTimeout, match=r"openai:scripted: no answer within 0\.1 s") as caught:
        await ask(talk)
    assert caught.value.timeout_s == 0.1


async def test_a_server_that_drips_is_left_within_the_timeout(server: ChatServer, connect: Connect) -> None:
    server.will(Reply(body=said(YES_SAID).body, drip_s=0.05), said(YES_SAID))
    assert await ask(await connect(timeout_s=2.0)) == YES


async def test_concurrency_is_bounded(server: ChatServer, connect: Connect) -> None:
    server.follow(lambda _: Reply(body=said(YES_SAID).body, delay_s=0.02))
    talk = await connect(concurrency=3)
    await asyncio.gather(*(ask(talk, str(number)) for number in range(12)))
    assert server.most_in_flight == 3


async def test_errors_of_the_server_are_retried_and_counted(server: ChatServer, connect: Connect) -> None:
    server.will(failure(500), failure(429, retry_after_ms="10"), Reply(body=b"{", cut_at=1), said(YES_SAID))
    talk = await connect()
    assert await ask(talk) == YES
    usage = talk.meter.snapshot(0.0)
    assert (usage.calls, usage.failed_calls) == (1, 3)


async def test_a_refusal_for_rate_pauses_everybody(server: ChatServer, connect: Connect, slept: list[float]) -> None:
    server.will(failure(429, retry_after_ms="500"), said(YES_SAID), said(YES_SAID))
    talk = await connect()
    first = asyncio.create_task(ask(talk, "one"))
    while not any(seconds >= 0.5 for seconds in slept):  # noqa: ASYNC110 -- its pause is not an event of ours
        await asyncio.sleep(0.01)
    n_pauses = sum(seconds > 0.1 for seconds in slept)
    await ask(talk, "two")
    assert sum(seconds > 0.1 for seconds in slept) > n_pauses
    assert await first == YES


async def test_max_calls_stops_cleanly(server: ChatServer, connect: Connect) -> None:
    server.follow(lambda _: said(YES_SAID))
    talk = await connect(max_calls=5)
    outcomes = await asyncio.gather(*(ask(talk, str(number)) for number in range(20)), return_exceptions=True)
    assert [outcome for outcome in outcomes if outcome == YES] == [YES] * 5
    assert sum(isinstance(outcome, BudgetExceeded) for outcome in outcomes) == 15
    assert len(server.bodies) == 5


async def test_a_refused_budget_does_not_wait_for_a_paused_server(
    server: ChatServer, connect: Connect, slept: list[float]
) -> None:
    server.will(failure(429, Retry_After="100"))
    talk = await connect(max_calls=1)
    waiting = asyncio.create_task(ask(talk, "one"))
    while not any(seconds >= 100 for seconds in slept):  # noqa: ASYNC110 -- its pause is not an event of ours
        await asyncio.sleep(0.01)
    with pytest.raises(BudgetExceeded):
        await ask(talk, "two")
    waiting.cancel()
    await asyncio.gather(waiting, return_exceptions=True)


async def test_dollars_are_never_overshot(server: ChatServer, connect: Connect) -> None:
    # A call costs 120 dollars; at worst it may cost the bytes of its prompt and schema and 1,024 tokens of answer.
    server.follow(lambda _: said(YES_SAID, usage=(100, 20)))
    talk = await connect(price=DOLLAR_A_TOKEN, max_usd=2_000.0)
    outcomes = await asyncio.gather(*(ask(talk, str(number)) for number in range(30)), return_exceptions=True)
    cost_usd = talk.meter.snapshot(0.0).cost_usd
    assert cost_usd is not None
    # It goes on while the worst case, at most 1,400 dollars, still fits.
    assert 2_000.0 - 1_400.0 - 120.0 <= cost_usd <= 2_000.0
    assert all(outcome == YES or isinstance(outcome, BudgetExceeded) for outcome in outcomes)


@pytest.mark.parametrize("cut_off_by", ["timeout", "deadline", "cancel"])
async def test_a_call_that_was_sent_and_given_up_keeps_what_it_set_aside(
    server: ChatServer, connect: Connect, cut_off_by: str
) -> None:
    # A call sets aside the bytes of its prompt and schema and 1,024 tokens of answer: more than half of 2,000 dollars.
    server.follow(lambda _: HANGS)
    talk = await connect(price=DOLLAR_A_TOKEN, max_usd=2_000.0, timeout_s=0.2 if cut_off_by == "timeout" else 60.0)
    if cut_off_by == "deadline":
        talk.meter.allowance = Allowance(deadline_s=0.3)
    asked = asyncio.create_task(ask(talk, "one"))
    await server.asked.wait()
    if cut_off_by == "cancel":
        asked.cancel()
    await asyncio.gather(asked, return_exceptions=True)
    talk.meter.allowance = Allowance()
    with pytest.raises(BudgetExceeded, match="2000 USD"):
        await ask(talk, "two")
    usage = talk.meter.snapshot(0.0)
    assert (len(server.bodies), usage.calls, usage.failed_calls) == (1, 0, 1)
    assert usage.cost_usd is not None
    assert 1_024.0 < usage.cost_usd <= 1_400.0
    assert (usage.completion_tokens, usage.approximate_tokens) == (1_024, True)


async def test_what_a_call_given_up_cost_is_unknown_without_a_price(server: ChatServer, connect: Connect) -> None:
    server.will(HANGS)
    talk = await connect(timeout_s=0.1, retry=RetryPolicy(base_s=0.001, timeout_attempts=1))
    with pytest.raises(ToolTimeout):
        await ask(talk)
    usage = talk.meter.snapshot(0.0)
    assert (usage.failed_calls, usage.cost_usd) == (1, None)


async def test_a_call_that_waits_for_its_turn_costs_nothing(server: ChatServer, connect: Connect) -> None:
    server.follow(lambda _: HANGS)
    talk = await connect(price=DOLLAR_A_TOKEN, concurrency=1)
    first, second = (asyncio.create_task(ask(talk, text)) for text in ("one", "two"))
    await server.asked.wait()
    second.cancel()
    await asyncio.gather(second, return_exceptions=True)
    assert talk.meter.snapshot(0.0).failed_calls == 0
    first.cancel()
    await asyncio.gather(first, return_exceptions=True)
    assert talk.meter.snapshot(0.0).failed_calls == 1


async def test_text_of_many_tokens_a_character_does_not_overshoot(server: ChatServer, connect: Connect) -> None:
    text = "\u4e2d" * 600  # 1,800 bytes, and as many tokens at worst, where four characters a token would say 150
    server.follow(lambda _: said(YES_SAID, usage=(1_800, 20)))
    talk = await connect(price=DOLLAR_A_TOKEN, max_usd=2_000.0)
    with pytest.raises(BudgetExceeded):
        await ask(talk, text)
    assert not server.bodies


async def test_a_budget_in_dollars_needs_a_price(connect: Connect) -> None:
    with pytest.raises(ConfigError, match="the price of openai:scripted is unknown"):
        await connect(max_usd=1.0)


@pytest.mark.parametrize(
    ("reply", "advice"),
    [
        (failure(401, f"Incorrect API key provided: {KEY}"), "check the key"),
        (failure(403), "check the key"),
        (failure(404, "The model does not exist"), "check the key, the name and the base URL"),
        (failure(429, code="insufficient_quota"), "check the key"),
        (Reply(body=b"<html>", content_type="text/html"), "is the server running, and its URL right"),
    ],
)
async def test_before_the_first_answer_the_set_up_is_to_blame(
    server: ChatServer, connect: Connect, reply: Reply, advice: str
) -> None:
    server.follow(lambda _: reply)
    with pytest.raises(ConfigError, match=advice) as caught:
        await ask(await connect())
    assert KEY not in _everything(caught.value)[0]
    cause = caught.value.__cause__
    assert isinstance(cause, ToolError)
    assert cause.__cause__ is not None
    assert type(cause.__cause__).__module__.split(".")[0] != "factloop"


async def test_an_unreachable_server_is_a_wrong_set_up(connect: Connect) -> None:
    with pytest.raises(ConfigError, match="is the server running, and its URL right"):
        await ask(await connect(base_url="http://127.0.0.1:9/v1"))


@pytest.mark.parametrize("reply", [failure(401), failure(404), failure(403)])
async def test_after_it_the_server_has_failed(server: ChatServer, connect: Connect, reply: Reply) -> None:
    server.will(said(YES_SAID), reply)
    talk = await connect()
    await ask(talk, "one")
    with pytest.raises(ToolError) as caught:
        await ask(talk, "two")
    assert caught.value.status == reply.status
    assert type(caught.value.__cause__).__module__.startswith("langchain_openai")


async def test_no_error_of_a_library_escapes(server: ChatServer, connect: Connect) -> None:
    bodies = [b"", b"{", b"[]", b"null", b'{"choices": [{}]}', b'{"choices": [{"message": null}]}', b"\xff\xfe"]
    for body in bodies:
        server.follow(lambda _, body=body: Reply(body=body))  # type: ignore[misc]
        with pytest.raises(FactloopError):
            await ask(await connect())


async def test_a_failed_call_can_be_asked_again(server: ChatServer, connect: Connect) -> None:
    server.will(*[said("no")] * 3, said(YES_SAID))
    talk = await connect()
    with pytest.raises(ModelOutputError):
        await ask(talk)
    assert await ask(talk) == YES


async def test_answers_are_of_the_class_asked_for(server: ChatServer, connect: Connect) -> None:
    server.will(said(OPEN))
    talk = await connect(use_tools=False)
    for _ in range(2):  # fresh, then kept
        assert type(await assess(talk)) is Assessment


def _contents(folder: Path) -> list[bytes]:
    return [file.read_bytes() for file in folder.iterdir()]


def _everything(error: BaseException | None) -> tuple[str, ...]:
    return () if error is None else (str(error), *_everything(error.__cause__))


async def test_a_server_that_heeds_no_schema_is_shown_it_and_then_asked_plainly(
    server: ChatServer, connect: Connect
) -> None:
    """It takes `response_format` without a word, and answers in prose unless the prompt itself gives the schema."""
    server.follow(lambda body: said(YES_SAID if "JSON Schema" in str(body["messages"]) else "It is relevant, I think."))
    talk = await connect()
    for number in range(6):
        assert await ask(talk, f"question {number}") == YES
    formats = [body.get("response_format", {}).get("type") for body in server.bodies]
    assert formats == ["json_schema"] + ["json_object"] * 6  # the first question's repair goes one mode down
