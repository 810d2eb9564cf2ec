"""Every entry by its id, in the order of the papers."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache

from factloop.core.errors import ConfigError
from factloop.evaluation.reproduction.records import Entry


@dataclass(frozen=True)
class Paper:
    """One of the papers."""

    key: str
    """What the ids of its entries begin with."""
    title: str
    citation: str


PAPERS = (
    Paper(
        "safe",
        "Long-form factuality in large language models",
        "Wei et al. 2024, arXiv 2403.18802: SAFE, LongFact and F1@K",
    ),
    Paper(
        "trustscore",
        "TrustScore: Reference-Free Evaluation of LLM Response Trustworthiness",
        "Zheng et al. 2024, arXiv 2402.12545",
    ),
    Paper(
        "vwc", "Verify with Caution: The Pitfalls of Relying on Imperfect Factuality Metrics", "Godbole and Jia 2025"
    ),
)
_KINDS = ("table", "figure", "section")
_PLACE = re.compile(r"(?P<kind>[a-z]+)-(?P<number>[\d.]+)")


def all_entries() -> tuple[Entry, ...]:
    """All entries: by paper, its tables, its figures, then statements of its text, each by number."""
    return tuple(_by_id().values())


def find_entry(name: str) -> Entry:
    """The entry of this id. Raises ConfigError, with those of its paper."""
    known = _by_id()
    if name not in known:
        paper = name.partition(":")[0]
        near = [one for one in known if one.startswith(f"{paper}:")] or [f"{one.key}:..." for one in PAPERS]
        raise ConfigError(f"there is nothing named {name!r} to reproduce; there are {', '.join(near)}")
    return known[name]


@cache
def _by_id() -> Mapping[str, Entry]:
    from factloop.evaluation.reproduction.families import (
        adjustments,
        chunking,
        consistency,
        datasets,
        rankings,
        rates,
        safe,
        safe_runs,
        system_errors,
        trustscore,
    )

    families = (
        safe,
        safe_runs,
        trustscore,
        datasets,
        rates,
        rankings,
        system_errors,
        chunking,
        consistency,
        adjustments,
    )
    entries = [entry for family in families for entry in family.ENTRIES]
    return {entry.id: entry for entry in sorted(entries, key=_order)}


def _order(entry: Entry) -> tuple[int, int, tuple[int, ...]]:
    """Entries that are not named by a number stand in the order of their family."""
    paper = [one.key for one in PAPERS].index(entry.paper)
    found = _PLACE.fullmatch(entry.id.partition(":")[2])
    if found is None or found["kind"] not in _KINDS:
        return paper, 0, ()
    return paper, _KINDS.index(found["kind"]), tuple(int(part) for part in found["number"].split("."))
