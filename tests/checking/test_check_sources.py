"""Sources given with one check: told in its report, and part of what a run directory holds."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

import pytest
from langchain_core.documents import Document

from factloop import FactChecker, Verdict
from factloop.core.errors import ConfigError
from factloop.setup.sources import Sources
from factloop.tools.search.given import GivenDocuments

TEXT = "Ada Lovelace was born in London."
KNOWS = GivenDocuments([Document("Ada Lovelace was born in London in 1815.")])
KNOWS_NOT = GivenDocuments([Document("Rome is the capital of Italy.")])


def test_a_run_directory_belongs_to_what_was_given(tmp_path: Path) -> None:
    checker = FactChecker(cache=False)
    first = checker.check(TEXT, sources=Sources((KNOWS,)), run_dir=tmp_path)
    again = checker.check(TEXT, sources=Sources((KNOWS,)), run_dir=tmp_path)
    assert first.claims == again.claims
    assert first.counts.supported == 1
    with pytest.raises(ConfigError):
        checker.check(TEXT, sources=Sources((KNOWS_NOT,)), run_dir=tmp_path)


BAKERY = ["The Bramley bakery opened in 1921 in Leeds.", "The bakery employs 42 people.", "The bakery has three ovens."]


@pytest.mark.parametrize(
    ("documents", "n_supported"),
    [
        (BAKERY, 3),
        ([" ".join(BAKERY)], 3),
        ([BAKERY[0], "The bakery employs 50 people.", BAKERY[2]], 2),
        ([BAKERY[0], BAKERY[1], "The mill has three ovens. The bakery is small."], 2),
        ([BAKERY[0], "The bakery never employed 42 people.", "The bakery has no ovens."], 1),
    ],
)
@pytest.mark.parametrize("plan", ["fused", "paper"])
async def test_a_named_thing_is_found_by_its_noun_where_documents_are_short(
    documents: list[str], n_supported: int, plan: Literal["fused", "paper"]
) -> None:
    answer = "The Bramley bakery opened in 1921. It employs 42 people. It has three ovens."
    given = GivenDocuments([Document(text) for text in documents])
    async with FactChecker(plan=plan, cache=False) as checker:
        report = await checker.acheck(answer, sources=Sources((given,)))
    assert [claim.self_contained.split()[1] for claim in report.claims] == ["Bramley"] * 3
    assert report.counts.supported == n_supported
    supported = [claim for claim in report.claims if claim.judgement.verdict is Verdict.SUPPORTED]
    assert all(claim.judgement.quote in " ".join(documents) for claim in supported)
