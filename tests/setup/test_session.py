from __future__ import annotations

import asyncio
import copy
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Annotated, Any, get_args

import pytest
from langchain_core.language_models.fake_chat_models import FakeListChatModel
from langchain_openai.chat_models.base import BaseChatOpenAI
from pydantic import TypeAdapter, ValidationError

from factloop.checking.preparing import prepare
from factloop.core.errors import BudgetExceeded, ConfigError
from factloop.core.records import Fingerprint
from factloop.prompts.registry import PromptRegistry
from factloop.setup.chat_model import NEARBY_S, build_model, reply_timeout_s
from factloop.setup.limits import Limits
from factloop.setup.marks import PER_CHECK, Mark, in_group, is_list, path_settings, text_of, type_of
from factloop.setup.pace import Pace
from factloop.setup.per_loop import PerLoop
from factloop.setup.session import Session, Store, common_to, open_session
from factloop.setup.settings import CheckSettings
from factloop.tools.calls.answers import RunAnswers
from factloop.tools.calls.cache import CallCache
from factloop.tools.calls.limiter import Limiter
from factloop.tools.calls.meter import UsageMeter
from factloop.tools.models.chat import MARGIN_S, ChatModel, build_chat_model, wrap_chat_model
from factloop.trust.settings import TrustSettings
from tests.tools.calls.virtual_time import in_virtual_time, run_in_virtual_time

PROMPTS = PromptRegistry.load()


def parrot(*said: str) -> ChatModel:
    return wrap_chat_model(FakeListChatModel(responses=list(said)))


async def ask(session: Session, chat: ChatModel, question: str = "Who?", meter: UsageMeter | None = None) -> str:
    answer = await session.model(chat).ask_freely(question, stage="ask", meter=meter or UsageMeter())
    return answer.text


async def test_answers_worth_keeping_are_there_for_the_next_session(tmp_path: Path) -> None:
    settings = CheckSettings(cache_dir=tmp_path)
    for keeps, said in ((False, "one"), (True, "two"), (True, "two"), (False, "four")):
        session = open_session(settings, PROMPTS, keeps=keeps)
        assert await ask(session, parrot(said if said != "two" or keeps else "three")) == said
        await session.aclose()


async def test_a_journal_is_the_only_place_for_answers_and_begins_the_budget(tmp_path: Path) -> None:
    settings, journal = CheckSettings(cache_dir=tmp_path / "cache", max_calls=1), tmp_path / "journal.sqlite"
    for question, meter in (("Who?", UsageMeter()), ("Who?", UsageMeter())):
        session = open_session(settings, PROMPTS, keeps=True, journal=journal)
        assert await ask(session, parrot("one"), question, meter) == "one"
        assert meter.snapshot(0.0).calls == 1  # an earlier attempt's call counts as one of this run
        await session.aclose()
    assert not (tmp_path / "cache").exists()
    session = open_session(settings, PROMPTS, keeps=True, journal=journal)
    with pytest.raises(BudgetExceeded):
        await ask(session, parrot("one"), "And who else?")
    await session.aclose()


async def test_sessions_with_one_store_share_answers_budget_and_pace(tmp_path: Path) -> None:
    common, cache = common_to(CheckSettings(max_calls=1)), CallCache(tmp_path / "answers.sqlite")
    answers = RunAnswers(cache)
    store = Store(answers, answers, common)
    one, other = (open_session(CheckSettings(cache_dir=tmp_path / "x"), PROMPTS, keeps=True, store=store) for _ in "12")
    assert set(await asyncio.gather(ask(one, parrot("one")), ask(other, parrot("two")))) == {"one"}
    with pytest.raises(BudgetExceeded):
        await ask(other, parrot("three"), "And who else?")
    assert len(common.patience) == 1
    await one.aclose()
    await other.aclose()
    assert cache.paid()[0] == 1  # who brings a store closes it
    cache.close()
    assert not (tmp_path / "x").exists()


@pytest.mark.parametrize("limit", ["max_calls", "budget_usd", "price_in", "price_out", "concurrency"])
def test_zero_is_a_limit(limit: str) -> None:
    assert getattr(CheckSettings.of(None, **{limit: 0}), limit) == 0


@pytest.mark.parametrize(
    ("changes", "complaint"),
    [
        ({"k": 0}, r"k = 0: input should be greater than or equal to 1"),
        ({"k": (64, -2)}, r"k = -2"),
        ({"plan": "quick"}, r"plan = 'quick': input should be 'safe', 'paper', 'fused' or 'grounded'"),
        ({"budget_usd": -1}, r"budget_usd = -1"),
        ({"temperature": 3}, r"temperature = 3"),
        ({"timeout_s": 0}, r"timeout_s = 0"),
        ({"timeout_s": 1e7}, r"timeout_s = 10000000.0: input should be less than or equal to 1000000"),
        ({"price_out": 1e7}, r"price_out = 10000000.0"),
        ({"colour": "red"}, r"there is no setting 'colour'$"),
        ({"patience": 5}, r"there is no setting 'patience'; did you mean 'patience_s'\?$"),
    ],
)
def test_a_wrong_setting_is_named_with_what_was_given(changes: dict[str, Any], complaint: str) -> None:
    with pytest.raises(ConfigError, match=complaint):
        CheckSettings.of(**changes)


@pytest.mark.parametrize(
    ("field", "given", "expected"),
    [
        ("k", 10, (10,)),
        ("k", [10, 20], (10, 20)),
        ("search", "serper", ("serper",)),
        ("docs", Path("a"), None),
        ("docs", "a", ("a",)),
    ],
)
def test_one_of_a_list_may_stand_alone(field: str, given: object, expected: object) -> None:
    if expected is None:
        with pytest.raises(ConfigError, match="docs = "):
            CheckSettings.of(None, **{field: given})
    else:
        assert getattr(CheckSettings.of(None, **{field: given}), field) == expected


def test_changes_are_laid_over_a_base() -> None:
    base = CheckSettings(plan="paper", temperature=0.0)
    changed = CheckSettings.of(base, temperature=None)
    assert (changed.plan, changed.temperature) == ("paper", None)
    assert base.temperature == 0.0


def test_what_a_type_says() -> None:
    fields = CheckSettings.model_fields
    assert get_args(type_of(fields["plan"])) == ("safe", "paper", "fused", "grounded")
    assert type_of(fields["max_tokens"]) is int
    assert {name for name, field in fields.items() if is_list(field)} == {"search", "docs", "jury", "k"}
    assert {name for name, field in TrustSettings.model_fields.items() if is_list(field)} == {"corpus", "kb"}
    assert set(path_settings(CheckSettings)) == {"docs", "prompts", "cache_dir", "embeddings", "recording", "cascade"}


class StricterSettings(CheckSettings):
    """With two settings more that shape verdicts, and that no record knows."""

    strictness: Annotated[int, Mark(fingerprint=True)] = 0
    house_rules: Annotated[Path | None, Mark(fingerprint=True)] = None


def fingerprint_of(settings: CheckSettings) -> Fingerprint:
    return prepare(settings, ()).fingerprint


def test_fingerprints_hold_every_setting_that_shapes_a_result() -> None:
    found = fingerprint_of(StricterSettings(max_searches=2, strictness=3, house_rules=Path("rules.md")))
    assert found.max_searches == 2
    assert found.settings == {"strictness": 3, "house_rules": "rules.md"}
    assert Fingerprint.model_validate_json(found.model_dump_json()) == found
    configuration = found.configuration
    assert (configuration["max_searches"], configuration["strictness"]) == (2, 3)


def test_a_setting_at_its_default_leaves_fingerprint_and_configuration_as_they_were() -> None:
    before, after = fingerprint_of(CheckSettings()), fingerprint_of(StricterSettings())
    assert before == after
    assert before.configuration == after.configuration
    not_shared = {"factloop_version", "versions", "seed", "settings", "snapshots", "prompt_lines"}
    assert {*before.configuration} == {*Fingerprint.model_fields} - not_shared


def test_limits_of_a_request_are_those_of_the_settings() -> None:
    assert {name.removesuffix("_per_check") for name in in_group(CheckSettings, PER_CHECK)} == {*Limits.model_fields}
    schema = Limits.model_json_schema()["properties"]["max_calls"]
    assert schema["anyOf"][0] == {"minimum": 0, "type": "integer"}
    assert schema["description"] == text_of(CheckSettings.model_fields["max_calls_per_check"])
    settings = CheckSettings(deadline_s=3.0, max_calls_per_check=4)
    assert Limits.per_check(settings) == Limits(deadline_s=3.0, max_calls=4)


@pytest.mark.parametrize(
    ("values", "said"),
    [
        ({"max_calls": -1}, "limits: max_calls = -1: input should be greater than or equal to 0"),
        ({"deadline_s": 0}, "limits: deadline_s = 0: input should be greater than 0"),
        ({"deadline": 5}, "limits: there is no setting 'deadline'; did you mean 'deadline_s'?"),
    ],
)
def test_wrong_limits_are_named_in_one_line(values: dict[str, Any], said: str) -> None:
    with pytest.raises(ConfigError) as refused:
        Limits(**values)
    assert str(refused.value) == said
    with pytest.raises(ValidationError) as of_request:
        TypeAdapter(dict[str, Limits]).validate_python({"limits": values})
    assert of_request.value.errors()[0]["loc"] == ("limits", next(iter(values)))


def test_limits_are_copied_and_read_as_ever() -> None:
    limits = Limits(deadline_s=3.0)
    assert limits == Limits.model_validate({"deadline_s": 3}) == copy.deepcopy(limits) == limits.within(Limits())
    assert limits.model_copy(update={"max_calls": 2}).max_calls == 2


NEARBY, FAR = "http://127.0.0.1:8080/v1", "https://api.example.com/v1"


@pytest.mark.parametrize(
    ("address", "given", "seconds"),
    [
        (NEARBY, {}, NEARBY_S),
        (FAR, {}, 60.0),
        (None, {}, 60.0),
        (NEARBY, {"timeout_s": 5.0}, 5.0),
        (FAR, {"timeout_s": 900.0}, 900.0),
    ],
)
def test_a_model_nearby_may_be_slow_unless_told(address: str | None, given: dict[str, Any], seconds: float) -> None:
    assert reply_timeout_s(CheckSettings.of(**given), address) == seconds


@pytest.mark.parametrize(
    ("model", "variable", "seconds"),
    [
        ("openai:x", "OPENAI_BASE_URL", NEARBY_S),
        ("openai:x", "OPENAI_API_BASE", NEARBY_S),
        ("azure_openai:x", "OPENAI_BASE_URL", 60.0),
    ],
)
async def test_an_address_in_the_environment_is_that_of_its_provider_alone(
    model: str, variable: str, seconds: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Azure uses its own address, even if the environment names another server."""
    monkeypatch.delenv("OPENAI_BASE_URL", raising=False)
    for name in ("OPENAI_API_KEY", "AZURE_OPENAI_API_KEY", "OPENAI_API_VERSION"):
        monkeypatch.setenv(name, "2026-01-01")
    monkeypatch.setenv("AZURE_OPENAI_ENDPOINT", FAR)
    monkeypatch.setenv(variable, NEARBY)
    chat = build_model(CheckSettings(), model, base_url=None, temperature=None)
    await chat.aclose()
    assert isinstance(chat.model, BaseChatOpenAI)
    assert chat.model.request_timeout == seconds + MARGIN_S


def chat(name: str = "small", port: int = 9) -> ChatModel:
    return build_chat_model(f"openai:{name}", base_url=f"http://127.0.0.1:{port}/v1")


async def seconds_for(limiter: Limiter, n_calls: int) -> float:
    begun = asyncio.get_running_loop().time()
    for _ in range(n_calls):
        async with limiter.slot():
            pass
    return asyncio.get_running_loop().time() - begun


async def test_models_of_one_server_share_a_limiter_in_one_event_loop() -> None:
    pace, first, same, other = Pace(CheckSettings()), chat(), chat("large"), chat(port=10)
    found = [pace.limiter(one) for one in (first, same, other)]
    elsewhere = await asyncio.to_thread(asyncio.run, _limiter(pace, first))
    assert found[0] is found[1] is pace.limiter(first)
    assert found[0] is not found[2]
    assert elsewhere is not found[0]
    for one in (first, same, other):
        await one.aclose()


@in_virtual_time
async def test_draining_stops_all_servers_at_once() -> None:
    """A slow call to one server must not let calls to others continue."""
    pace, models, left = Pace(CheckSettings()), (chat(), chat(port=10)), list[float]()
    limiters = [pace.limiter(one) for one in models]

    async def call(limiter: Limiter, begins_s: float, takes_s: float) -> None:
        await asyncio.sleep(begins_s)
        async with limiter.slot() as ticket:
            left.append(ticket.sent_at)
            await asyncio.sleep(takes_s)

    calls = [asyncio.create_task(call(*one)) for one in ((limiters[0], 0, 9), (limiters[1], 0, 1), (limiters[1], 5, 1))]
    await asyncio.sleep(0.5)
    await pace.drain()
    assert asyncio.get_running_loop().time() == 9.0
    calls[2].cancel()
    await asyncio.gather(*calls, *(one.aclose() for one in models), return_exceptions=True)
    assert left == [0.0, 0.0]


async def _limiter(pace: Pace, of: ChatModel) -> Limiter:
    return pace.limiter(of)


@pytest.mark.parametrize("made_before", [True, False])
def test_the_ceiling_is_divided_for_limiters_made_before_and_later(made_before: bool) -> None:
    async def measured() -> float:
        pace, model = Pace(CheckSettings(requests_per_second=10)), chat()
        if made_before:
            pace.limiter(model)
        pace.share(5)
        taken = await seconds_for(pace.limiter(model), 21)
        await model.aclose()
        return taken

    assert run_in_virtual_time(measured()) == pytest.approx(20 / 2, abs=0.6)


class Connection:
    def __init__(self) -> None:
        self.n_closed = 0

    async def aclose(self) -> None:
        self.n_closed += 1
        await asyncio.sleep(0)


async def test_what_is_in_use_is_closed_at_the_end_of_its_last_use() -> None:
    connections: PerLoop[Connection] = PerLoop()
    async with connections.used(Connection) as first:
        async with connections.used(Connection) as same:
            assert same is first
            await connections.aclose()
        assert first.n_closed == 0
    assert first.n_closed == 1


async def test_after_it_was_closed_there_is_another() -> None:
    connections: PerLoop[Connection] = PerLoop()
    async with connections.used(Connection) as first:
        await connections.aclose()
        async with connections.used(Connection) as second:
            assert second is not first
    assert (first.n_closed, second.n_closed) == (1, 0), "the end of the first leaves the second open"
    assert await connections.open(Connection) is second
    await connections.aclose()
    await connections.aclose()
    assert second.n_closed == 1


def test_what_was_left_open_is_closed_at_the_end_of_its_loop() -> None:
    connections: PerLoop[Connection] = PerLoop()
    use = connections.used(Connection)

    async def leave_one_in_use() -> tuple[Connection, Connection]:
        in_use = await use.__aenter__()
        await connections.aclose()
        return in_use, await connections.open(Connection)

    in_use, left = asyncio.run(leave_one_in_use())
    assert (in_use.n_closed, left.n_closed) == (1, 1)


def test_a_reader_that_leaves_a_stream_without_closing_it_leaves_nothing_open() -> None:
    connections: PerLoop[Connection] = PerLoop()
    seen: list[Connection] = []

    async def numbers() -> AsyncIterator[int]:
        async with connections.used(Connection) as one:
            seen.append(one)
            yield 1

    async def read() -> None:
        async for _ in numbers():
            break
        await connections.aclose()

    asyncio.run(read())
    assert [one.n_closed for one in seen] == [1]
