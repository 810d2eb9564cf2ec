"""Generates prompts like those of LongFact, on its topics or on topics from a file."""

from __future__ import annotations

import time
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from langchain_core.language_models import BaseChatModel

from factloop.agents.longfact.distinct import PromptSelection, spelling
from factloop.agents.longfact.graph import as_kept, build_prompts_graph, step_limit
from factloop.agents.longfact.writer import PROMPT_OF, ModelWriter
from factloop.core.errors import ConfigError, DataError
from factloop.core.files.lines import place_name, read_lines
from factloop.core.given_text import check_given
from factloop.evaluation.generation.records import GeneratedBy, GeneratedPrompt, Kind, PromptsReport, TopicReport
from factloop.evaluation.generation.settings import PromptSettings
from factloop.evaluation.running.journals import JOURNAL
from factloop.evaluation.running.run import claimed_folder
from factloop.prompts.registry import PromptRegistry
from factloop.setup.session import GATEWAY_PROMPTS, open_session
from factloop.tools.calls.meter import UsageMeter
from factloop.tools.calls.together import together
from factloop.tools.models.chat import ChatModel

Result = Mapping[str, Any]

LONGFACT = "longfact"
LONGFACT_TOPICS = (
    "20th century events", "US foreign policy", "accounting", "architecture", "astronomy", "biology",
    "business ethics", "celebrities", "chemistry", "clinical knowledge", "computer science", "computer security",
    "economics", "electrical engineering", "gaming", "geography", "global facts", "history", "immigration law",
    "international law", "jurisprudence", "machine learning", "management", "marketing", "mathematics", "medicine",
    "moral disputes", "movies", "music", "philosophy", "physics", "prehistory", "psychology", "public relations",
    "sociology", "sports", "virology", "world religions",
)  # fmt: skip
"""The 38 topics of LongFact (Wei et al. 2024, section 2), as named in its files: `longfact-objects_TOPIC.jsonl` in
google-deepmind/long-form-factuality."""


def load_topics(place: str | Path) -> tuple[str, ...]:
    """Returns LongFact's topics for `longfact`. Otherwise, reads a file with one topic per line and skips empty lines.
    Raises DataError if the file cannot be read or contains no topics."""
    if str(place) == LONGFACT:
        return LONGFACT_TOPICS
    topics = tuple(line.strip() for _, line in read_lines(place) if line.strip())
    if not topics:
        raise DataError("the file contains no topics; write one per line", path=place_name(place))
    return topics


LONGEST_TOPIC = 200
"""Maximum length of a topic, in characters."""


@dataclass(frozen=True)
class PromptsRequest:
    topics: Sequence[str]
    n: int
    """Prompts per topic. The paper has 30."""
    kind: Kind
    out: str

    def __post_init__(self) -> None:
        """Raises ConfigError if a topic is blank, too long or repeated."""
        ids: dict[str, str] = {}
        for topic in self.topics:
            check_given("topic", topic)
            if len(topic) > LONGEST_TOPIC:
                raise ConfigError(f"topic {topic[:40]!r}... is longer than {LONGEST_TOPIC} characters; shorten it")
            if _as_id(topic) in ids:
                raise ConfigError(f"topics {ids[_as_id(topic)]!r} and {topic!r} are the same; remove one of them")
            ids[_as_id(topic)] = topic
        if not ids:
            raise ConfigError("set at least one topic with --topic")


async def generate_prompts(
    asked: PromptsRequest,
    settings: PromptSettings,
    *,
    run_dir: Path | None = None,
    model: BaseChatModel | None = None,
    note: Callable[[], None] = lambda: None,
) -> tuple[list[GeneratedPrompt], PromptsReport]:
    """Returns the prompts for each topic, in the given order, and a report on them. Costs money.

    There may be fewer prompts than requested: the report says how many and why. With `run_dir`, an interrupted run can
    be resumed by calling again with the same arguments, and only calls that were in flight are paid for twice. `note`
    is called once per topic, after its first prompts have been collected. Raises ConfigError or DataError.
    """
    chat = settings.writer(model)
    try:
        registry = PromptRegistry.load(settings.prompts)
        with claimed_folder(run_dir, _configuration(asked, settings, chat, registry)) as folder:
            journal = None if folder is None else folder / JOURNAL
            return await _generate(asked, settings, chat, registry, journal, note)
    finally:
        await chat.aclose()


async def _generate(
    asked: PromptsRequest,
    settings: PromptSettings,
    chat: ChatModel,
    registry: PromptRegistry,
    journal: Path | None,
    note: Callable[[], None],
) -> tuple[list[GeneratedPrompt], PromptsReport]:
    started, meter = time.perf_counter(), UsageMeter()
    session = open_session(settings, registry, keeps=chat.persistent, seed=settings.seed, journal=journal)
    try:
        writer = ModelWriter(session.model(chat), registry, asked.kind, meter)
        results = await _all_topics(asked, writer, settings.seed, note)
    finally:
        await session.aclose()
    generated_by = GeneratedBy.of(chat)
    rows = [row for topic, new in results for row in _rows(topic.topic, new, asked.kind, generated_by)]
    report = PromptsReport(
        out=asked.out,
        kind=asked.kind,
        seed=settings.seed,
        generated_by=generated_by,
        topics=tuple(topic for topic, _ in results),
        prompts=registry.hashes(_used(asked.kind)),
        usage=meter.snapshot(time.perf_counter() - started),
        created_at=datetime.now(UTC),
    )
    return rows, report


async def _all_topics(
    asked: PromptsRequest, writer: ModelWriter, seed: int, note: Callable[[], None]
) -> list[tuple[TopicReport, list[str]]]:
    graph = build_prompts_graph(writer, seed=seed)

    async def collect(topic: str, wanted: int, earlier: Result) -> Result:
        given: Any = {**earlier, "topic": topic, "wanted": wanted}
        result: Result = await graph.ainvoke(given, {"recursion_limit": step_limit(wanted)})
        return result

    async def collect_first(topic: str) -> Result:
        result = await collect(topic, asked.n, {})
        note()
        return result

    results = await together(map(collect_first, asked.topics))
    return await _without_repeats(asked, results, collect)


async def _without_repeats(
    asked: PromptsRequest, results: Sequence[Result], collect: Callable[[str, int, Result], Awaitable[Result]]
) -> list[tuple[TopicReport, list[str]]]:
    """Replaces prompts that occur in an earlier topic. Topics run concurrently, so they may repeat each other's
    prompts."""
    topics: list[tuple[TopicReport, list[str]]] = []
    seen: set[str] = set()
    for topic, result in zip(asked.topics, results, strict=True):
        wanted = asked.n
        while True:
            kept = as_kept(result["kept"])
            new = [prompt for prompt in kept.prompts if spelling(prompt) not in seen]
            if len(new) >= asked.n or len(kept.prompts) < wanted:  # either there are enough, or no more were found
                break
            wanted = len(kept.prompts) + asked.n - len(new)
            result = await collect(topic, wanted, result)
        seen |= {spelling(prompt) for prompt in new}
        topics.append((_report(topic, asked.n, kept, len(new), result), new))
    return topics


def _report(topic: str, wanted: int, kept: PromptSelection, n_new: int, result: Result) -> TopicReport:
    return TopicReport(
        topic=topic.strip(),
        n_wanted=wanted,
        n_kept=n_new,
        n_repeated=kept.n_repeated + len(kept.prompts) - n_new,
        n_alike=kept.n_alike,
        n_unusable=kept.n_unusable,
        n_rounds=result["n_rounds"],
        failures=tuple(result["failures"]),
    )


def _rows(topic: str, prompts: Sequence[str], kind: Kind, generated_by: GeneratedBy) -> Iterator[GeneratedPrompt]:
    for number, prompt in enumerate(prompts):
        identity = f"generated-{kind}/{_as_id(topic)}/{number:03}"
        yield GeneratedPrompt(id=identity, topic=topic, prompt=prompt, kind=kind, generated_by=generated_by)


def _as_id(topic: str) -> str:
    return "-".join(topic.casefold().split())


def _used(kind: Kind) -> tuple[str, ...]:
    return (PROMPT_OF[kind], *GATEWAY_PROMPTS)


def _configuration(
    asked: PromptsRequest, settings: PromptSettings, chat: ChatModel, registry: PromptRegistry
) -> dict[str, Any]:
    """The result must not change between attempts at the same run."""
    return {
        "topics": list(asked.topics),
        "n": asked.n,
        "kind": asked.kind,
        "seed": settings.seed,
        "generated_by": GeneratedBy.of(chat).model_dump(mode="json"),
        "prompts": registry.hashes(_used(asked.kind)),
    }
