from __future__ import annotations

from typing import Literal

from factloop.core.records import FactualityReport, Fingerprint, Record, Usage
from factloop.evaluation.experiments.items import Item
from factloop.evaluation.experiments.records import JudgedClaim, JudgedText, Name, Repeat
from factloop.evaluation.experiments.splitting import SplitQuality
from factloop.evaluation.running.log import LogFormat, no_passing_failure
from factloop.evaluation.runs.reading import parse_record

CellKey = tuple[str, int, str, str]
"""Variant, repeat, item, and a hash of everything that affects the result."""


class Cell(Record):
    """The result of one variant on one item in one repeat: a line of `cells.jsonl`."""

    schema_version: Literal["1.0", "1.1", "1.2"] = "1.2"
    made_of: str = ""
    """A hash of the item and of everything that affects the variant's results."""
    variant: Name
    repeat: Repeat
    item: str
    claims: tuple[JudgedClaim, ...]
    response: JudgedText | None = None
    fingerprint: Fingerprint
    """The prompt hashes and settings behind the result, and the documents that the item was judged against."""

    @property
    def key(self) -> CellKey:
        return self.variant, self.repeat, self.item, self.made_of


CELL_LOG = LogFormat[Cell, CellKey](
    name="the cells",
    key=lambda cell: cell.key,
    dump=lambda cell: cell.model_dump_json(ensure_ascii=True).encode() + b"\n",
    parse=lambda line, path, number: parse_record(line, Cell, path, number, "remove the line and start again"),
    is_final=lambda cell: (
        no_passing_failure(claim.judgement for claim in cell.claims)
        and (cell.response is None or cell.response.quality is None or cell.response.quality.is_whole)
    ),
)


def cell_of(
    key: CellKey, item: Item, report: FactualityReport, *, is_claim: bool, quality: SplitQuality | None = None
) -> Cell:
    """Converts the report on a claim, or on a response with all of its claims. Latency is the time spent waiting for
    answers. Elapsed time would favour variants whose answers are already stored."""
    variant, repeat, _, made_of = key
    waited_s = sum(stage.wall_s for stage in report.usage.stages.values())
    usage = report.usage.model_copy(update={"wall_s": waited_s})
    given = item.run.facts is not None
    gold = item.gold if given else (None,) * len(report.claims)
    claims = tuple(
        JudgedClaim(
            variant=variant, repeat=repeat, claim_id=item.run.id if is_claim else f"{item.run.id}/{claim.id}",
            group=item.group, claim=claim.text if given else claim.self_contained, gold=label,
            judgement=claim.judgement, evidence=claim.evidence, queries=claim.queries,
            usage=usage if is_claim else Usage(),
        )
        for claim, label in zip(report.claims, gold, strict=True)
    )  # fmt: skip
    text = JudgedText(
        variant=variant, repeat=repeat, response_id=item.run.id, system=item.run.system, prompt_id=item.run.prompt_id,
        counts=report.counts, quality=quality, usage=usage,
    )  # fmt: skip
    return Cell(
        made_of=made_of, variant=variant, repeat=repeat, item=item.run.id, claims=claims,
        response=None if is_claim else text, fingerprint=report.fingerprint,
    )  # fmt: skip
