"""`python -m benchmarks.cascade`: the share of claims sent to the model against the error that is reached.

On human-labelled claims, tuned on one half of the documents and tested on the other, in both directions. The lexical
verifier reads the three passages that a check finds for the claim; for what it leaves, an oracle stands for the model:
it knows the labels. So the error shown is the cascade's own. Then the same of WiCE by whole checks, with the oracle
behind HTTP: what the checker asked and said. Data as for `benchmarks.fit_lexical`; skipped where they are absent.
"""

from __future__ import annotations

import asyncio
import os
import tempfile
from collections.abc import Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import typer
from aiohttp import web
from langchain_core.documents import Document
from numpy.typing import NDArray
from rich.console import Console
from rich.table import Table

from benchmarks.fit_lexical import data_folder
from factloop import FactChecker, Verdict
from factloop.checking.cascade.records import CascadeFile, ErrorKind
from factloop.core.files.json import to_json
from factloop.core.records import FactualityReport, GivenFacts
from factloop.evaluation.cascades.labelled import ScoredLabels, groups_of
from factloop.evaluation.cascades.thresholds import Tuning
from factloop.evaluation.cascades.tuning import LabelledRow, Tune, atune
from factloop.evaluation.datasets.labelled_claims import labelled_claims
from factloop.setup.settings import CheckSettings
from factloop.setup.sources import Sources
from factloop.tools.search.given import GivenDocuments
from factloop.tools.verifiers.lexical import LexicalVerifier
from tests.simulator import protocol
from tests.simulator.blocks import Blocks

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

DATA = (("wice", "dev", "wice_dev.jsonl"), ("factcheckgpt", "stance", "factcheckgpt_dev_stance.jsonl"))
ERRORS = (0.05, 0.1, 0.15, 0.2, 0.25, 0.3)
CHECKED_AT = 0.25
"""The stated error of the whole checks."""
AT_ONCE = 8

Half = NDArray[np.bool_]


@dataclass(frozen=True)
class Claims:
    """One data set, scored, and one half of its documents."""

    name: str
    rows: Sequence[LabelledRow]
    documents: Sequence[GivenDocuments]
    labelled: ScoredLabels
    first_half: Half

    @property
    def directions(self) -> tuple[tuple[str, Half], ...]:
        return ("first half", self.first_half), ("second half", ~self.first_half)


def main() -> None:
    """Tune, test, and print the curve."""
    console, folder = Console(width=140), data_folder()
    os.environ.setdefault("OPENAI_API_KEY", "none")  # the oracle asks for no key, its client does
    for name, part, file in DATA:
        if not (folder / file).exists():
            console.print(f"skipped: {folder / file} is absent (set FACTLOOP_DATA)")
            continue
        claims = read(name, part, folder / file)
        console.print(curve(claims))
        if len({row.claim for row in claims.rows}) == len(claims.rows):  # the oracle knows a claim by its wording
            console.print(asyncio.run(checked(claims)))


def read(name: str, part: str, place: Path) -> Claims:
    """The claims of a data set with the passages that a check would find for them, scored."""
    rows, documents = [], []
    results, verifier = CheckSettings().results_per_search, LexicalVerifier()
    for item in labelled_claims(name, part, place):
        given = GivenDocuments([Document(item.document or "")])
        passages = tuple(hit.passage for hit in given.search(item.claim, results))
        rows.append(LabelledRow(id=item.id, claim=item.claim, label=item.label, passages=passages))
        documents.append(given)
    scores = [verifier.verify(row.claim, [row.text]).score if row.text.strip() else np.nan for row in rows]
    groups = groups_of([row.text or None for row in rows], [row.claim for row in rows])
    order = np.random.default_rng(0).permutation(groups.max() + 1)
    return Claims(
        name=name,
        rows=rows,
        documents=documents,
        labelled=ScoredLabels(np.array(scores), np.array([row.label for row in rows], np.int8), groups),
        first_half=order[groups] % 2 == 0,
    )


def curve(claims: Claims) -> Table:
    """The share sent to the model and the errors at each stated error, on the half that was not tuned on."""
    title = f"{claims.name}: n = {claims.labelled.n:,}, lexical verifier, oracle for the rest, 95 % confidence"
    table = Table(title=title, title_justify="left")
    for head in ("tuned on", "n", "tested on", "stated", "accepts", "rejects", "to the model", "accepted wrong"):
        table.add_column(head, justify="right")
    table.add_column("rejected wrong", justify="right")
    table.add_column("balanced error", justify="right")
    for name, half in claims.directions:
        tuning, test = Tuning.of(claims.labelled.where(half)), claims.labelled.where(~half)
        for stated in ERRORS:
            tuned = tuning.tuned(stated, ErrorKind.BALANCED, 0.95)
            upper, lower = tuned.accepted.threshold, tuned.rejected.threshold
            accepted = test.scores >= (2.0 if upper is None else upper)
            rejected = test.scores <= (-1.0 if lower is None else lower)
            supported = test.labels == 1
            wrong = np.where(supported, rejected, accepted)
            balanced = (wrong[supported].mean() + wrong[~supported].mean()) / 2
            table.add_row(
                name, f"{tuned.n:,}", f"{test.n:,}", f"{stated:.0%}", _threshold(upper), _threshold(lower),
                f"{1 - (accepted | rejected).mean():.1%}", _wrong(accepted, ~supported), _wrong(rejected, supported),
                f"{balanced:.1%}",
            )  # fmt: skip
        table.add_section()
    return table


def _threshold(value: float | None) -> str:
    return "–" if value is None else f"{value:g}"


def _wrong(settled: Half, wrong: Half) -> str:
    n = int(settled.sum())
    return "–" if not n else f"{int((settled & wrong).sum())} of {n} ({(settled & wrong).sum() / n:.1%})"


async def checked(claims: Claims) -> Table:
    """Whole checks of the half that was not tuned on: calls counted where they arrive, verdicts against labels."""
    table = Table(title=f"{claims.name}: whole checks at a stated {CHECKED_AT:.0%}", title_justify="left")
    for head in ("tuned on", "n", "settled cheaply", "asked of the model", "balanced error", "unscored"):
        table.add_column(head, justify="right")
    oracle = Oracle({row.claim: row.label == 1 for row in claims.rows})
    async with oracle.serving() as base_url:
        for name, half in claims.directions:
            rows = [row for row, chosen in zip(claims.rows, half, strict=True) if chosen]
            cascade = await atune(rows, Tune("lexical", CHECKED_AT), data=claims.name)
            oracle.assessed = 0
            reports = await _reports(claims, ~half, cascade, base_url)
            table.add_row(name, f"{len(reports):,}", *_outcome(reports, claims.labelled.labels[~half], oracle))
    return table


async def _reports(claims: Claims, half: Half, cascade: CascadeFile, base_url: str) -> list[FactualityReport]:
    places, at_once = np.flatnonzero(half).tolist(), asyncio.Semaphore(AT_ONCE)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "cascade.json"
        path.write_text(to_json(cascade), encoding="utf-8")
        settings = CheckSettings(
            model="openai:oracle", base_url=base_url, cache=False, tool_calling=False, cascade=path, max_searches=1
        )
        async with FactChecker(settings=settings) as checker:

            async def check(place: int) -> FactualityReport:
                claim = claims.rows[place].claim
                async with at_once:
                    facts = [GivenFacts(sentence=claim, facts=(claim,))]
                    return await checker.acheck(claim, facts=facts, sources=Sources((claims.documents[place],)))

            return await asyncio.gather(*(check(place) for place in places))


def _outcome(reports: Sequence[FactualityReport], labels: NDArray[np.int8], oracle: Oracle) -> tuple[str, ...]:
    judgements = [report.claims[0].judgement for report in reports]
    cheap = sum(judgement.stage == "cheap" for judgement in judgements)
    said = np.array([judgement.verdict is Verdict.SUPPORTED for judgement in judgements])
    scored = np.array([judgement.verdict is not None for judgement in judgements])
    wrong, supported = (said != (labels == 1)) & scored, labels == 1
    balanced = (wrong[supported & scored].mean() + wrong[~supported & scored].mean()) / 2
    n = len(reports)
    return f"{cheap:,} ({cheap / n:.1%})", f"{oracle.assessed:,}", f"{balanced:.1%}", f"{int((~scored).sum())}"


class Oracle:
    """A chat server on loopback that judges a claim as people did."""

    def __init__(self, labels: Mapping[str, bool]) -> None:
        self._labels = {_one_line(claim): label for claim, label in labels.items()}
        self.assessed = 0
        """Claims whose assessment was asked for."""

    @asynccontextmanager
    async def serving(self) -> AsyncIterator[str]:
        """The address for OpenAI's clients."""
        app = web.Application(client_max_size=2**26)
        app.add_routes([web.post("/v1/chat/completions", self._chat)])
        runner = web.AppRunner(app)
        await runner.setup()
        try:
            site = web.TCPSite(runner, "127.0.0.1", 0)
            await site.start()
            yield f"http://127.0.0.1:{runner.addresses[0][1]}/v1"
        finally:
            await runner.cleanup()

    async def _chat(self, request: web.Request) -> web.Response:
        body = await request.json()
        blocks = Blocks(protocol.first_user_text(body))
        told = {"Assessment": self._assessment, "Assessments": self._assessments}.get(
            protocol.title_of(body), self._facts
        )
        answer = told(blocks)
        message = protocol.Message(content=protocol.compact(answer))
        usage = {"prompt_tokens": 0, "completion_tokens": 0, "total_tokens": 0}
        return web.json_response(protocol.completion(1, body["model"], message, usage))

    def _facts(self, blocks: Blocks) -> dict[str, Any]:
        """The facts given, each as it stands and as its own query."""
        facts = [_one_line(block.text) for block in blocks.all("fact")]
        return {"facts": [{"fact": fact, "status": "check", "query": fact} for fact in facts]}

    def _assessment(self, blocks: Blocks) -> dict[str, Any]:
        return self._judged(blocks.one("claim"), blocks)

    def _assessments(self, blocks: Blocks) -> dict[str, Any]:
        claims = enumerate(blocks.all("claim"), 1)
        return {"claims": [{"claim": number, **self._judged(block.text, blocks)} for number, block in claims]}

    def _judged(self, claim: str, blocks: Blocks) -> dict[str, Any]:
        self.assessed += 1
        supported = self._labels[_one_line(claim)] and bool(blocks.all("evidence"))
        verdict = "supported" if supported else "insufficient"
        return {"rationale": "People said so.", "cited": [1] if supported else [], "wrong": "", "verdict": verdict,
                "missing": "", "queries": []}  # fmt: skip


def _one_line(text: str) -> str:
    return " ".join(text.split())


if __name__ == "__main__":
    typer.run(main)
