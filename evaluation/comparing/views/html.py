"""A comparison as one self-contained HTML page: differences, the pairs behind them, and the claims that flipped."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from factloop.core.files.json import to_json
from factloop.core.records import Verdict
from factloop.evaluation.comparing import words as comparison_words
from factloop.evaluation.comparing.pictures import draw_differences, draw_pairs
from factloop.evaluation.comparing.records import Comparison, Flip, Pair, PairedDifference
from factloop.evaluation.comparing.views import figures as comparison_figures
from factloop.evaluation.comparing.views import sheets
from factloop.evaluation.runs.longform_records import AbstentionPolicy
from factloop.evaluation.runs.measures import F1, PRECISION
from factloop.evaluation.runs.records import ResponseLine
from factloop.evaluation.runs.views import words as run_words
from factloop.reports.downloads import Cell, DownloadLink, csv_download, json_download
from factloop.reports.page import render_page
from factloop.reports.page_parts import Filter

MOST_ROWS = 5000
"""Pairs listed on the page; the table to download has all."""
MOST_FLIPS = 2000
"""Flipped claims with their rationales on the page; the JSON has all."""
_WORDS = {verdict: verdict.replace("_", " ") for verdict in Verdict}


@dataclass(frozen=True)
class PairRow:
    """One pair in the list."""

    pair: Pair
    first: float | None
    second: float | None
    group: str

    @property
    def difference(self) -> float | None:
        return None if self.first is None or self.second is None else self.second - self.first


def render_comparison_html(comparison: Comparison) -> str:
    """The page. Equal comparisons give equal pages. Takes time linear in the number of pairs and flips."""
    shown = _shown(comparison.differences)
    rows = sorted((_row(pair, shown, comparison.abstention) for pair in comparison.pairs), key=_farthest_first)
    values = [(one.first, one.second) for one in rows if one.first is not None and one.second is not None]
    flips = comparison.flips[:MOST_FLIPS]
    return render_page(
        "comparison.html.j2",
        room="factloop.evaluation.comparing.views",
        styles=("list.css", "pictures.css", "run.css"),
        scripts=("rows.js", "list.js"),
        comparison=comparison,
        title=comparison_figures.title_of(comparison),
        sides=(("A", comparison.first), ("B", comparison.second)),
        unpaired=list(comparison_figures.unpaired_rows(comparison)),
        policy=run_words.policy_words(comparison.abstention),
        picture=draw_differences(comparison.differences, alpha=comparison.alpha),
        scatter=draw_pairs(values, comparison_words.name_of(shown)) if shown is not None else None,
        shown=None if shown is None else comparison_words.name_of(shown),
        rows=rows[:MOST_ROWS],
        flips=[(flip, _key(flip)) for flip in flips],
        filters=_filters(flips),
        tones=comparison_figures.VERDICT_STATUS,
        words=_WORDS,
        said_of=sheets,
        downloads=list(_downloads(comparison)),
        said=run_words,
        compared=comparison_words,
        told=comparison_figures,
    )


def _shown(differences: Sequence[PairedDifference]) -> PairedDifference | None:
    """What single pairs are shown by: F1 at the first K."""
    return next((one for one in differences if one.quantity is F1.quantity), None)


def _row(pair: Pair, shown: PairedDifference | None, abstention: AbstentionPolicy) -> PairRow:
    k = None if shown is None else shown.k
    measure = PRECISION if shown is None else F1
    first, second = (measure.value(line, k, abstention) for line in (pair.first, pair.second))
    if first is None or second is None:
        return PairRow(pair, first, second, "none")
    apart = second - first
    return PairRow(pair, first, second, "equal" if abs(apart) <= 1e-12 else "second" if apart > 0 else "first")


def _farthest_first(row: PairRow) -> tuple[bool, float, str, str]:
    return row.difference is None, -abs(row.difference or 0.0), row.pair.first.prompt_id, row.pair.first.system


def _key(flip: Flip) -> str:
    return f"{flip.first}-{flip.second}"


def _filters(flips: Sequence[Flip]) -> list[Filter]:
    """A button for each way to flip, most frequent first."""
    ways = Counter((flip.first, flip.second) for flip in flips)
    return [
        Filter(
            f"{one}-{other}", f"{_WORDS[one]} → {_WORDS[other]}", "", comparison_figures.VERDICT_STATUS[other].value, n
        )
        for (one, other), n in sorted(ways.items(), key=lambda item: (-item[1], item[0]))
    ]


_DIFFERENCES = (
    "quantity", "k", "a", "b", "difference", "low", "high", "level", "n_pairs", "n_prompts", "n_left_out",
    "a_higher", "equal", "b_higher", "p", "p_corrected",
)  # fmt: skip
_LINE = ("id", "system", "supported", "not_supported", "irrelevant", "unscored")
_PAIRS = ("prompt_id", *(f"{side}_{name}" for side in "ab" for name in _LINE))
_FLIPS = ("system", "prompt_id", "response_id", "a_claim_id", "b_claim_id", "claim", "a", "b", "label")


def _downloads(comparison: Comparison) -> Iterator[DownloadLink]:
    yield json_download("The whole comparison (JSON)", "comparison.json", to_json(comparison))
    yield csv_download("Differences (CSV)", "differences.csv", _DIFFERENCES, map(_cells, comparison.differences))
    yield csv_download("Pairs (CSV)", "pairs.csv", _PAIRS, map(_pair_cells, comparison.pairs))
    if comparison.flips:
        yield csv_download("Flipped claims (CSV)", "flips.csv", _FLIPS, map(_flip_cells, comparison.flips))


def _cells(one: PairedDifference) -> tuple[Cell, ...]:
    found = (one.quantity, one.k, one.first, one.second, one.difference, one.low, one.high, one.level)
    basis = (one.n_pairs, one.n_prompts, one.n_left_out, one.first_higher, one.equal, one.second_higher)
    return (*found, *basis, one.p, one.p_corrected)


def _pair_cells(pair: Pair) -> tuple[Cell, ...]:
    return (pair.first.prompt_id, *_line_cells(pair.first), *_line_cells(pair.second))


def _line_cells(line: ResponseLine) -> tuple[Cell, ...]:
    counts = line.counts
    return line.id, line.system, counts.supported, counts.not_supported, counts.irrelevant, counts.unscored


def _flip_cells(flip: Flip) -> tuple[Cell, ...]:
    ids = (flip.system, flip.prompt_id, flip.response_id, flip.first_claim_id, flip.second_claim_id)
    return (*ids, flip.claim, flip.first, flip.second, flip.label)
