from __future__ import annotations

import json
from pathlib import Path

import pytest

from factloop.setup.caching.abilities import KEPT_S, abilities_of
from factloop.setup.caching.clearing import clear
from factloop.setup.settings import CheckSettings
from factloop.tools.models.abilities import Abilities
from factloop.tools.models.chat import ChatModel, build_chat_model
from factloop.tools.models.wire import Mode, Reply
from tests.rights import open_to_others

IN_WORDS = Reply("I would look.", (), None, cut_off=False, prompt_tokens=None, completion_tokens=None)
EVERY_MODE = list(Mode)


@pytest.fixture
def settings(tmp_path: Path) -> CheckSettings:
    return CheckSettings(cache_dir=tmp_path / "cache")


@pytest.fixture
def chat() -> ChatModel:
    return build_chat_model("openai:small", base_url="http://127.0.0.1:9/v1")


def folder(settings: CheckSettings) -> Path:
    assert settings.cache_dir is not None
    return settings.cache_dir


def tried(abilities: Abilities) -> list[Mode]:
    return [mode for mode in Mode if abilities.offers(mode)]


def test_the_next_run_knows_what_this_one_learnt(settings: CheckSettings, chat: ChatModel) -> None:
    learning = abilities_of(settings, chat)
    learning.note_unreadable(Mode.TOOLS, IN_WORDS)
    learning.gives_logprobs = False
    assert tried(abilities_of(settings, chat)) == EVERY_MODE[1:]
    assert abilities_of(settings, chat).gives_logprobs is False
    assert open_to_others(folder(settings)) == []


def test_each_server_and_model_has_its_own(settings: CheckSettings, chat: ChatModel) -> None:
    abilities_of(settings, chat).note_unreadable(Mode.TOOLS, IN_WORDS)
    elsewhere = build_chat_model("openai:small", base_url="http://127.0.0.1:10/v1")
    other = build_chat_model("openai:large", base_url="http://127.0.0.1:9/v1")
    assert tried(abilities_of(settings, elsewhere)) == tried(abilities_of(settings, other)) == EVERY_MODE
    abilities_of(settings, other).note_refused([Mode.JSON_SCHEMA])
    assert tried(abilities_of(settings, chat)) == EVERY_MODE[1:]


def test_a_mode_that_was_heeded_stays_for_later_runs(settings: CheckSettings, chat: ChatModel) -> None:
    abilities_of(settings, chat).note_readable(Mode.TOOLS)
    later = abilities_of(settings, chat)
    later.note_unreadable(Mode.TOOLS, IN_WORDS)
    assert tried(later) == EVERY_MODE


def test_after_a_week_every_mode_is_tried_again(settings: CheckSettings, chat: ChatModel) -> None:
    abilities_of(settings, chat).note_unreadable(Mode.TOOLS, IN_WORDS)
    path = folder(settings) / "servers.json"
    kept = json.loads(path.read_text())
    for entry in kept["servers"].values():
        entry["learnt_at"] -= KEPT_S
    path.write_text(json.dumps(kept))
    assert tried(abilities_of(settings, chat)) == EVERY_MODE


@pytest.mark.parametrize("damaged", ["", "{", "[]", '{"version": 1, "servers": {"x": 1}}', "\x00"])
def test_a_damaged_file_is_as_good_as_none(settings: CheckSettings, chat: ChatModel, damaged: str) -> None:
    folder(settings).mkdir()
    (folder(settings) / "servers.json").write_text(damaged)
    assert tried(abilities_of(settings, chat)) == EVERY_MODE


def test_without_a_cache_nothing_is_kept(tmp_path: Path, chat: ChatModel) -> None:
    settings = CheckSettings(cache=False, cache_dir=tmp_path / "cache")
    abilities_of(settings, chat).note_unreadable(Mode.TOOLS, IN_WORDS)
    assert tried(abilities_of(settings, chat)) == EVERY_MODE
    assert not (tmp_path / "cache").exists()


def test_clearing_the_answers_forgets_it(settings: CheckSettings, chat: ChatModel) -> None:
    abilities_of(settings, chat).note_unreadable(Mode.TOOLS, IN_WORDS)
    clear(folder(settings), answers=True, indexes=False)
    assert tried(abilities_of(settings, chat)) == EVERY_MODE


async def test_what_is_learnt_within_an_event_loop_is_known_to_the_next_run(
    settings: CheckSettings, chat: ChatModel
) -> None:
    learning = abilities_of(settings, chat)
    learning.note_unreadable(Mode.TOOLS, IN_WORDS)
    learning.note_refused([Mode.JSON_SCHEMA])
    assert tried(abilities_of(settings, chat)) == EVERY_MODE[2:]
