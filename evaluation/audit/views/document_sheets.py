"""How predictions hang on the document: on wording that a claim shares with it, and on its being cut into chunks."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace

from factloop.evaluation.audit.chunking import Changes, ChunkingBias, LongDocumentRates
from factloop.evaluation.audit.surface import SimilarityBin, SurfaceBias
from factloop.evaluation.audit.views.scope import Scope, percent, share_column
from factloop.reports.figures import plural
from factloop.reports.sheet.table import (
    NOTHING,
    Cell,
    ColumnOf,
    Sheet,
    count_cell,
    name,
    page_only,
    sheet_of,
    value_cell,
)

_FIFTHS = ("Least alike", "2nd fifth", "3rd fifth", "4th fifth", "Most alike")
_RATES: tuple[tuple[str, Callable[[SimilarityBin], Cell]], ...] = (
    ("ROUGE-2", lambda one: _range(one.low, one.high)),
    ("TPR", lambda one: value_cell(one.tpr, percent, note=f"of {one.n_attributable:,}")),
    ("TNR", lambda one: value_cell(one.tnr, percent, note=f"of {one.n_unattributable:,}")),
)
Wording = tuple[SurfaceBias, str, Callable[[SimilarityBin], Cell]]


def wording(scope: Scope) -> Sheet:
    """Under the range of each fifth of the claims the rates in it; a dash where as many claims are equally similar."""

    def fifth(place: int) -> Callable[[Wording], Cell]:
        return lambda row: row[2](row[0].bins[place])

    columns: tuple[ColumnOf[Wording], ...] = (
        (name("Evaluator"), lambda row: f"{row[0].evaluator} {row[1]}"),
        *((share_column(head, 11), fifth(place)) for place, head in enumerate(_FIFTHS)),
        (page_only("Left out"), lambda row: _not_in_a_fifth(row[0]) if row[1] == _RATES[0][0] else Cell("")),
    )
    rows = [(one, *rate) for one in scope.of_group(scope.at.surface) for rate in _RATES]
    title = scope.unweighted("Rates by wording that the claim shares with the document, %")
    return sheet_of(title, columns, rows, of=lambda row: (row[0].evaluator,))


def _range(low: float | None, high: float | None) -> Cell:
    return Cell(NOTHING) if low is None or high is None else Cell(f"{low:.2f}-{high:.2f}")


def chunking(scope: Scope) -> Sheet:
    def changes(where: str, of: Callable[[ChunkingBias], Changes]) -> Iterator[ColumnOf[ChunkingBias]]:
        yield share_column(f"{where}: changed"), lambda one: _change(of(one), of(one).share_changed)
        yield share_column(f"{where}: lost"), lambda one: _change(of(one), of(one).share_lost)
        yield page_only(f"{where}: gained"), lambda one: _change(of(one), of(one).share_gained)

    columns: tuple[ColumnOf[ChunkingBias], ...] = (
        (name("Evaluator"), lambda one: Cell(one.chunked, basis=f"chunks of {plural(one.n_words, 'word')}")),
        *changes("One chunk has it", lambda one: one.within),
        *changes("No chunk has it", lambda one: one.across),
        (page_only("Left out"), _left_out),
    )
    title = scope.unweighted("Predictions that change when documents are cut, %")
    return sheet_of(title, columns, scope.of_group(scope.at.chunking), of=lambda one: (one.evaluator, one.chunked))


LongRow = tuple[ChunkingBias, str, LongDocumentRates]


def long_documents(scope: Scope) -> Sheet:
    """The rates on long documents, read whole and in chunks, as the paper's Table 30 has them."""
    columns: tuple[ColumnOf[LongRow], ...] = (
        (name("Evaluator"), lambda row: Cell(row[1], basis=f"documents of more than {plural(row[0].n_words, 'word')}")),
        (share_column("Balanced accuracy"), lambda row: value_cell(row[2].balanced_accuracy, percent, NO_CLASS)),
        (share_column("Predicted attributable"), _positive),
        (share_column("TPR"), lambda row: _of(row[2].tpr, row[2].n_attributable)),
        (share_column("TNR"), lambda row: _of(row[2].tnr, row[2].n_unattributable)),
    )
    rows = [
        (one, column, rates)
        for one in scope.of_group(scope.at.chunking)
        for column, rates in ((one.evaluator, one.on_whole), (one.chunked, one.on_chunks))
        if rates is not None
    ]
    title = scope.unweighted("Rates on documents longer than a chunk, %")
    return sheet_of(title, columns, rows, of=lambda row: (row[0].evaluator,))


NO_CLASS = "no claim of one class"


def _positive(row: LongRow) -> Cell:
    return _of(row[2].predicted_positive_rate, row[2].n_attributable + row[2].n_unattributable)


def _of(share: float | None, n: int) -> Cell:
    return value_cell(share, percent, "no such claim", note=f"of {n:,}")


def _change(changes: Changes, share: float | None) -> Cell:
    return value_cell(share, percent, "no such claim", note=f"of {changes.n:,}")


def _left_out(one: ChunkingBias) -> Cell:
    return _counted(
        ("short documents", one.n_short),
        ("claims without a document", one.n_no_document),
        ("claims of one word", one.n_no_similarity),
        ("unscored", one.n_unscored),
    )


def _not_in_a_fifth(one: SurfaceBias) -> Cell:
    return _counted(
        ("without a document", one.n_no_document),
        ("of one word", one.n_no_similarity),
        ("unscored", one.n_unscored),
    )


def _counted(*reasons: tuple[str, int]) -> Cell:
    """The sum, with each reason that there is."""
    why = ", ".join(f"{n:,} {reason}" for reason, n in reasons if n)
    return replace(count_cell(sum(n for _, n in reasons)), basis=why)
