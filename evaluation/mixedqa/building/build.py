"""Builds a data set like MixedQA from the files of its sources and the models behind its systems."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from factloop.agents.trustscore.subject import CLOSED_BOOK, ModelSubject
from factloop.core.errors import ConfigError
from factloop.evaluation.generation.records import GeneratedBy
from factloop.evaluation.mixedqa.building.asking import Outcome, as_built, ask_until
from factloop.evaluation.mixedqa.building.drawing import Draw
from factloop.evaluation.mixedqa.building.records import BuildReport, BuildSystem, BuiltQuestion, SourceReport
from factloop.evaluation.mixedqa.building.settings import BuildSettings
from factloop.evaluation.running.folders import claimed_folder
from factloop.evaluation.running.journals import JOURNAL
from factloop.prompts.registry import PromptRegistry
from factloop.setup.chat_model import build_model
from factloop.setup.session import GATEWAY_PROMPTS, open_session
from factloop.tools.calls.meter import UsageMeter
from factloop.tools.calls.together import together
from factloop.tools.models.chat import ChatModel
from factloop.trust.settings import SubjectModel


@dataclass(frozen=True)
class BuildRequest:
    """What is to be built."""

    draws: Sequence[Draw]
    """The sources in their order."""
    data: Mapping[str, str]
    """Source to the name of its file, with its hash."""
    systems: Mapping[str, SubjectModel]
    """System to the model behind it; none leaves the questions unasked."""
    n: int
    out: str
    """The file that the rows will stand in: named in the report."""

    def __post_init__(self) -> None:
        """Raises ConfigError for no source."""
        if not self.draws:
            raise ConfigError("name a source (--source NAME=FILE)")


async def build_mixedqa(
    asked: BuildRequest,
    settings: BuildSettings,
    *,
    run_dir: Path | None = None,
    note: Callable[[], None] = lambda: None,
) -> tuple[list[BuiltQuestion], BuildReport]:
    """The questions by source, and a report on them. Costs a call a question of each system; without systems nothing.

    There may be fewer than wanted: the report says why. `run_dir` makes the run resumable. `note` is called for each
    question that was decided. Raises ConfigError.
    """
    prompts = PromptRegistry.load(settings.prompts)
    chats: dict[str, ChatModel] = {}
    try:
        for system, one in asked.systems.items():
            url = one.base_url or settings.base_url
            chats[system] = build_model(settings, one.model, base_url=url, temperature=settings.temperature)
        with claimed_folder(run_dir, _configuration(asked, settings, chats, prompts)) as folder:
            journal = None if folder is None else folder / JOURNAL
            return await _build(asked, settings, chats, prompts, journal, note)
    finally:
        for chat in chats.values():
            await chat.aclose()


async def _build(
    asked: BuildRequest,
    settings: BuildSettings,
    chats: Mapping[str, ChatModel],
    prompts: PromptRegistry,
    journal: Path | None,
    note: Callable[[], None],
) -> tuple[list[BuiltQuestion], BuildReport]:
    started, meter = time.perf_counter(), UsageMeter()
    if chats:
        keeps = all(chat.persistent for chat in chats.values())
        session = open_session(settings, prompts, keeps=keeps, seed=settings.seed, journal=journal)
        try:
            subjects = {name: ModelSubject(session.model(chat), prompts, False) for name, chat in chats.items()}
            outcomes = await together(
                ask_until(draw, asked.n, subjects, meter=meter, note=note) for draw in asked.draws
            )
        finally:
            await session.aclose()
    else:
        outcomes = [Outcome(kept=[as_built(one) for one in draw.questions[: asked.n]]) for draw in asked.draws]
    failures = {system: said for one in outcomes for system, said in one.failures.items()}
    report = BuildReport(
        out=asked.out,
        n_wanted=asked.n,
        seed=settings.seed,
        systems=tuple(_system(name, chat) for name, chat in chats.items()),
        sources=tuple(
            _source(draw, outcome, asked.data[draw.source]) for draw, outcome in zip(asked.draws, outcomes, strict=True)
        ),
        failures=tuple(f"{system}: {said}" for system, said in failures.items()),
        prompts=prompts.hashes(_used(chats)),
        usage=meter.snapshot(time.perf_counter() - started),
        created_at=datetime.now(UTC),
    )
    return [row for outcome in outcomes for row in outcome.kept], report


def _source(draw: Draw, outcome: Outcome, data: str) -> SourceReport:
    return SourceReport(
        source=draw.source,
        data=data,
        n_read=draw.n_read,
        n_repeated=draw.n_repeated,
        n_not_open=dict(draw.not_open),
        n_asked=outcome.n_asked,
        n_unanswered={system: dict(reasons) for system, reasons in outcome.unanswered.items()},
        n_failed=outcome.n_failed,
        n_kept=len(outcome.kept),
    )


def _system(name: str, chat: ChatModel) -> BuildSystem:
    by = GeneratedBy.of(chat)
    return BuildSystem(system=name, model=by.model, base_url=by.base_url, sampling=by.sampling)


def _used(chats: Mapping[str, ChatModel]) -> tuple[str, ...]:
    return (CLOSED_BOOK, *GATEWAY_PROMPTS) if chats else ()


def _configuration(
    asked: BuildRequest, settings: BuildSettings, chats: Mapping[str, ChatModel], prompts: PromptRegistry
) -> dict[str, Any]:
    """The configuration, which must not change between the attempts at one run."""
    return {
        "data": dict(asked.data),
        "n": asked.n,
        "seed": settings.seed,
        "systems": [_system(name, chat).model_dump(mode="json") for name, chat in chats.items()],
        "prompts": prompts.hashes(_used(chats)),
    }
