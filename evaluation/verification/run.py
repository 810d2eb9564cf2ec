"""Scores the pairs in a file with several verifiers.

summary = await averify(rows, ["baseline", "llm:openai:gpt-4o-mini"], out=Path("predictions.jsonl"), ...)

The `OUT.run` folder next to the output contains the models' answers and the configuration of the run. Repeating the
call resumes the run, but a different configuration is rejected. To add a verifier to existing scores, pass the file
with the scores as the input and write to another file, which will contain all scores.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import AsyncGenerator, Container, Iterable, Iterator, Sequence
from contextlib import AsyncExitStack, aclosing
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial
from itertools import islice
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from factloop.agents.reasons import reason_of
from factloop.core.errors import ConfigError, DataError, FactloopError
from factloop.core.reasons import MENDABLE
from factloop.core.records import UnscoredReason, Usage
from factloop.core.report_warnings import share_of
from factloop.evaluation.datasets.mapping import UNKNOWN_SYSTEM
from factloop.evaluation.running.log import Log, LogFormat
from factloop.evaluation.running.run import BATCHED_AT_ONCE, Events, Increments, Run, summary_of
from factloop.evaluation.verification.pairs import PairSpool, PlacedRow, key_of, to_line
from factloop.evaluation.verification.records import Prediction, SpanFigures, VerifierSummary, VerifyRun, VerifySettings
from factloop.prompts.registry import PromptRegistry
from factloop.setup.chat_model import build_model
from factloop.setup.run_directory import RunDirectory
from factloop.setup.session import Session, open_session
from factloop.tools.calls.meter import UsageMeter
from factloop.tools.calls.together import as_they_come, together
from factloop.tools.judges.build import BESPOKE, CallingKind, JudgeSpec, build_judge, parse_spec
from factloop.tools.judges.pairs import Judge, PairScore, VerifierPair, score_pairs
from factloop.tools.judges.served import MAX_TOKENS
from factloop.tools.models.chat import ChatModel
from factloop.tools.models.gateway import ModelGateway


class Bench:
    """Builds and closes the verifiers. A bench is bound to one event loop."""

    def __init__(self, settings: VerifySettings, *, allow_download: bool) -> None:
        """Raises ConfigError if the prompts folder is invalid."""
        self._settings, self._allow_download = settings, allow_download
        self._prompts = PromptRegistry.load(settings.prompts)
        self._chats: dict[tuple[CallingKind, str], ChatModel] = {}
        self._readers: dict[JudgeSpec, Judge] = {}
        self._session: Session | None = None

    def prepare(self, specs: Sequence[JudgeSpec]) -> list[Judge]:
        """Loads the weights, which are part of a verifier's identity. Sends no requests. Raises ConfigError."""
        unasked = self._settings.model_copy(update={"batch": False})
        self._session = open_session(unasked, self._prompts, keeps=False)  # in memory, since no calls are made yet
        self._readers = {spec: self._build(spec) for spec in specs}
        for reader in self._readers.values():
            _ = reader.identity  # reads the weights
        return [self._readers[spec] for spec in specs]

    async def open(self, specs: Sequence[JudgeSpec], journal: Path) -> list[Judge]:
        """Returns the prepared verifiers, ready for use. Saves models' answers in `journal`. Raises ConfigError."""
        await self._close_session()
        self._session = open_session(self._settings, self._prompts, keeps=False, journal=journal)
        return [self._build(spec) if spec.calls is not None else self._readers[spec] for spec in specs]

    async def aclose(self) -> None:
        await self._close_session()
        for chat in self._chats.values():
            await chat.aclose()

    async def _close_session(self) -> None:
        if self._session is not None:
            await self._session.aclose()

    def _build(self, spec: JudgeSpec) -> Judge:
        return build_judge(
            spec,
            open_gateway=self._gateway,
            prompts=self._prompts,
            logprobs=self._settings.logprobs,
            allow_download=self._allow_download,
        )

    def _gateway(self, kind: CallingKind, model: str) -> ModelGateway:
        assert self._session is not None
        if (kind, model) not in self._chats:
            self._chats[kind, model] = self._chat(kind, model)
        return self._session.model(self._chats[kind, model])

    def _chat(self, kind: CallingKind, model: str) -> ChatModel:
        settings, name = self._settings, model
        if kind == BESPOKE:
            settings, name = settings.model_copy(update={"max_tokens": MAX_TOKENS}), f"openai:{model}"
        return build_model(settings, name, base_url=settings.base_url, temperature=settings.temperature)


THRESHOLD = 0.5


def summaries(predictions: Iterable[Prediction], columns: Sequence[str]) -> tuple[VerifierSummary, ...]:
    scored, supported = Counter[str](), Counter[str]()
    reasons: dict[str, Counter[str]] = {name: Counter() for name in columns}
    spans: dict[str, tuple[int, ...]] = {}
    """By column, the numbers of predicted, marked and shared characters."""
    for found in predictions:
        for name in columns:
            score = found.evaluators[name]
            if score is None:
                reasons[name][found.unscored[name]] += 1
            else:
                scored[name] += 1
                supported[name] += score >= THRESHOLD
                if found.marked is not None:
                    length, is_predicted = len(found.claim), score < THRESHOLD
                    marked = len({at for start, end in found.marked for at in range(start, min(end, length))})
                    now = length * is_predicted, marked, marked * is_predicted
                    spans[name] = tuple(map(sum, zip(spans.get(name, (0, 0, 0)), now, strict=True)))
    return tuple(
        VerifierSummary(
            name=name,
            n_scored=scored[name],
            unscored=dict(reasons[name].most_common()),
            share_supported=supported[name] / scored[name] if scored[name] else None,
            spans=SpanFigures.of(*spans[name]) if name in spans else None,
        )
        for name in columns
    )


def open_log(
    path: Path, columns: Sequence[str], keys: Container[bytes], left_out: Container[bytes] = ()
) -> Log[Prediction, bytes]:
    """Opens the predictions at `path`, dropping rows in which one of `columns` failed for a temporary reason.

    Raises ConfigError if the file cannot be used, or if it contains predictions for claims that are now in `left_out`.
    Raises DataError if a line lacks one of `columns`, or if its claim is not in `keys`.
    """

    def parse(line: bytes, name: str, number: int | None) -> Prediction:
        try:
            found = Prediction.model_validate_json(line)
        except ValidationError as error:
            raise DataError("`factloop research verify` did not write this line", path=name, line=number) from error
        for column in columns:
            if (found.evaluators.get(column) is None) != (column in found.unscored):
                raise DataError(f"{column!r} needs a score or a reason", path=name, line=number, field="evaluators")
        return found

    def refuse_stranger(found: Prediction, number: int) -> None:
        if key_of(found) in left_out:
            raise ConfigError(
                f"{path}: the claim on line {number} is beyond --limit; use the same limit as before or a higher one"
            )
        if key_of(found) not in keys:
            raise DataError("the claim on this line is not in the input; remove the line", path=str(path), line=number)

    form = LogFormat[Prediction, bytes](
        name="the predictions",
        key=key_of,
        dump=to_line,
        parse=parse,
        is_final=lambda found: not any(found.unscored.get(column) in MENDABLE for column in columns),
        private=False,
    )
    return Log(path, form, check=refuse_stranger)


BATCH = 64
BATCHES_AT_ONCE = 4
"""With batched model calls, `BATCHED_AT_ONCE` pairs are in progress instead."""


@dataclass(frozen=True)
class VerifyRequest:
    verifiers: tuple[str, ...]
    """Specifications as read by `build.parse_spec`."""
    out: Path
    data: str
    default_dataset: str
    """The data set assumed for rows that do not specify one."""
    chunk_words: tuple[int, ...] = ()
    """Chunk sizes in words. Each size N adds a column `NAME@N` per verifier."""
    limit: int | None = None
    allow_download: bool = False

    @property
    def folder(self) -> Path:
        return self.out.with_name(f"{self.out.name}.run")


async def astream_verify(
    rows: Iterable[PlacedRow], wanted: VerifyRequest, settings: VerifySettings
) -> Events[Prediction, VerifyRun]:
    """Yields the start of the run, the pairs as they are written, and finally the summary.

    All rows are read and validated, and all weights are loaded, before any money is spent. Costs money if a model on a
    server is used. Raises ConfigError and DataError. A caller that stops early must close the generator
    (`contextlib.aclosing`).
    """
    started = time.perf_counter()
    specs = [parse_spec(text) for text in wanted.verifiers]
    sizes = (None, *sorted(set(wanted.chunk_words)))
    folder = wanted.folder
    if wanted.out.exists() and not folder.is_dir():
        raise ConfigError(f"{wanted.out} exists, but verify cannot resume from it; use another file for --out")
    async with AsyncExitStack() as stack:
        spool = stack.enter_context(
            PairSpool(rows, path=wanted.data, default_dataset=wanted.default_dataset, limit=wanted.limit)
        )
        bench = Bench(settings, allow_download=wanted.allow_download)
        stack.push_async_callback(bench.aclose)
        prepared = bench.prepare(specs)
        columns = _columns(prepared, sizes)
        spool.refuse_scored(columns)
        directory = stack.enter_context(RunDirectory(folder, flag="--out"))
        directory.claim(
            {"pairs": spool.digest, "chunk_words": sizes[1:], "verifiers": [reader.identity for reader in prepared]}
        )
        readers = await bench.open(specs, directory.journal)
        log = stack.enter_context(open_log(wanted.out, columns, {key_of(pair) for pair in spool}, spool.left_out))
        meter = UsageMeter()
        at_once = BATCHED_AT_ONCE // BATCH if settings.batch else BATCHES_AT_ONCE

        def spent() -> Usage:
            return meter.snapshot(time.perf_counter() - started)

        def summed_up(predictions: Iterator[Prediction]) -> VerifyRun:
            log.put_in_order(map(key_of, spool))
            return VerifyRun(
                data=wanted.data,
                n_pairs=spool.n,
                n_labelled=spool.n_labelled,
                evaluators=summaries(predictions, columns),
                usage=spent(),
                created_at=datetime.now(UTC),
                warnings=tuple(_warnings(spool)),
            )

        run = Run(
            items=spool,
            key=key_of,
            log=log,
            engine=partial(_scores, readers=readers, sizes=sizes, meter=meter, at_once=at_once),
            usage=Increments(spent),
            summarise=summed_up,
        )
        async with aclosing(run.stream()) as events:
            async for event in events:
                yield event


async def averify(
    rows: Iterable[PlacedRow], wanted: VerifyRequest, settings: VerifySettings | None = None
) -> VerifyRun:
    """Completes a run of `astream_verify` and returns its summary."""
    return await summary_of(astream_verify(rows, wanted, settings or VerifySettings()))


def _columns(readers: Sequence[Judge], sizes: Sequence[int | None]) -> list[str]:
    columns = [_column(reader, size) for reader in readers for size in sizes]
    repeated = next((name for place, name in enumerate(columns) if name in columns[:place]), None)
    if repeated is not None:
        raise ConfigError(f"two verifiers are named {repeated!r}; remove one of them, or rename the folder of one")
    return columns


def _column(reader: Judge, size: int | None) -> str:
    return reader.name if size is None else f"{reader.name}@{size}"


async def _scores(
    pairs: Iterable[Prediction],
    *,
    readers: Sequence[Judge],
    sizes: Sequence[int | None],
    meter: UsageMeter,
    at_once: int,
) -> AsyncGenerator[Prediction, None]:
    """Scores in batches, because many pairs take little longer than one."""
    score = partial(_scored, readers=readers, sizes=sizes, meter=meter)
    async with aclosing(as_they_come(_batches(iter(pairs)), score, at_once=at_once)) as scoring:
        async for batch in scoring:
            for prediction in batch:
                yield prediction


def _batches(pairs: Iterator[Prediction]) -> Iterator[list[Prediction]]:
    while batch := list(islice(pairs, BATCH)):
        yield batch


async def _scored(
    batch: Sequence[Prediction], *, readers: Sequence[Judge], sizes: Sequence[int | None], meter: UsageMeter
) -> list[Prediction]:
    pairs = [VerifierPair(one.claim, one.document) for one in batch]
    found: list[dict[str, PairScore]] = [{} for _ in batch]
    of_readers = await together([score_pairs(reader, pairs, sizes, meter=meter) for reader in readers])
    for reader, by_size in zip(readers, of_readers, strict=True):
        for size, column in zip(sizes, by_size, strict=True):
            for of_pair, scored in zip(found, column, strict=True):
                of_pair[_column(reader, size)] = scored
    return [_with_scores(one, of_pair) for one, of_pair in zip(batch, found, strict=True)]


def _with_scores(pair: Prediction, found: dict[str, PairScore]) -> Prediction:
    changes: dict[str, Any] = {
        "evaluators": {**pair.evaluators, **{name: scored.score for name, scored in found.items()}},
        "unscored": {
            **pair.unscored,
            **{name: _reason(scored.error) for name, scored in found.items() if scored.error is not None},
        },
    }
    return pair.model_copy(update=changes)


def _reason(error: FactloopError) -> str:
    return (UnscoredReason.NO_SOURCE if isinstance(error, DataError) else reason_of(error)).value


def _warnings(spool: PairSpool) -> Iterator[str]:
    if spool.n_blank:
        yield f"{share_of(spool.n_blank, spool.n, 'pair', 'has', 'have')} no document, and therefore no score."
    if spool.n_labelled < spool.n:
        yield f"{share_of(spool.n - spool.n_labelled, spool.n, 'pair', 'has', 'have')} no label, which the audit needs."
    if spool.n_unnamed:
        yield f"{share_of(spool.n_unnamed, spool.n, 'pair', 'names', 'name')} no system, so {UNKNOWN_SYSTEM!r} is used."
