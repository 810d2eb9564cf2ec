"""Judges the responses of a run: by one engine with one journal in this process, or by workers on Ray."""

from __future__ import annotations

from collections.abc import AsyncGenerator, AsyncIterator, Iterable
from contextlib import AbstractAsyncContextManager, aclosing, asynccontextmanager
from pathlib import Path

from factloop.checking.checker import FactChecker
from factloop.core.records import FactualityReport
from factloop.evaluation.datasets.factscore import FactLabel
from factloop.evaluation.running.on_ray import judged_on_ray
from factloop.evaluation.running.run import AT_ONCE, Judge
from factloop.evaluation.runs.items import RunItem
from factloop.evaluation.runs.records import JudgedResponse
from factloop.setup.settings import CheckSettings
from factloop.setup.sources import Sources
from factloop.tools.calls.together import as_they_come
from factloop.tools.search.given import GivenIndexes


async def sources_of(item: RunItem, indexes: GivenIndexes) -> Sources | None:
    """The item's own documents, by which alone it is judged; None where it names none."""
    if item.documents is None:
        return None
    tool = await indexes.of([one.as_document() for one in item.documents])
    return Sources(() if tool is None else (tool,))


@asynccontextmanager
async def open_judge(
    checker: FactChecker, *, journal: Path | None = None
) -> AsyncIterator[Judge[RunItem, JudgedResponse]]:
    """A judge of responses, any number at a time. Answers paid for are kept in `journal`, and not paid for again."""
    indexes = GivenIndexes(AT_ONCE)
    async with checker.opened(journal=journal, alone=False) as check:

        async def judge(item: RunItem) -> JudgedResponse:
            sources = await sources_of(item, indexes)
            report = await check(item.response, item.prompt, item.facts, sources=sources)
            return JudgedResponse(
                id=item.id, system=item.system, prompt_id=item.prompt_id, report=report, labels=_labels(item, report)
            )

        yield judge


async def judge_here(
    checker: FactChecker, items: Iterable[RunItem], *, journal: Path | None, at_once: int = AT_ONCE
) -> AsyncGenerator[JudgedResponse, None]:
    """The judged responses as they come; `items` is read no further than `at_once` ahead of them.

    Raises ConfigError, DataError. A caller that stops before the end closes it.
    """
    async with (
        open_judge(checker, journal=journal) as judge,
        aclosing(as_they_come(items, judge, at_once=at_once)) as judging,
    ):
        async for judged in judging:
            yield judged


def judge_on_ray(
    settings: CheckSettings,
    items: Iterable[RunItem],
    *,
    directory: Path | None,
    workers: int,
    address: str | None = None,
) -> AsyncGenerator[JudgedResponse, None]:
    """The judged responses as they come, from so many workers on Ray; all else as `on_ray.judged_on_ray`."""
    return judged_on_ray(
        items,
        open_judge_with,
        settings,
        describe=lambda item: f"the response {item.id!r}",
        directory=directory,
        workers=workers,
        address=address,
    )


def open_judge_with(
    settings: CheckSettings, journal: Path | None
) -> AbstractAsyncContextManager[Judge[RunItem, JudgedResponse]]:
    return open_judge(FactChecker(settings=settings), journal=journal)


def _labels(item: RunItem, report: FactualityReport) -> dict[str, FactLabel]:
    """The labels by claim id: every given fact is a claim of the report, in the same order."""
    labels = [label for of_sentence in item.labels for label in of_sentence]
    return {claim.id: label for claim, label in zip(report.claims, labels, strict=True)} if labels else {}
