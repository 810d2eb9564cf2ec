"""Sources given with one check: told in its report, and part of what a run directory holds."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

import pytest
from langchain_core.documents import Document

from factloop import FactChecker, Verdict
from factloop.core.errors import ConfigError
from factloop.core.events import CheckFinished
from factloop.setup.sources import Sources
from factloop.tools.search.given import GivenDocuments
from tests.modes import FACTUALITY, FAITHFULNESS

TEXT = "Ada Lovelace was born in London."
KNOWS = GivenDocuments([Document("Ada Lovelace was born in London in 1815.")])
KNOWS_NOT = GivenDocuments([Document("Rome is the capital of Italy.")])


async def test_only_the_check_that_it_was_given_to_has_it() -> None:
    async with FactChecker(search=KNOWS_NOT, cache=False) as checker:
        given = await checker.acheck(TEXT, sources=Sources((KNOWS,)))
        both = await checker.acheck(TEXT, sources=Sources((KNOWS,), "factuality"))
        plain = await checker.acheck(TEXT)
        (finished,) = [
            event
            async for event in checker.astream(TEXT, sources=Sources((KNOWS,)))
            if isinstance(event, CheckFinished)
        ]
    verdicts = [report.claims[0].judgement.verdict for report in (given, both, plain, finished.report)]
    assert verdicts == [Verdict.SUPPORTED, Verdict.SUPPORTED, Verdict.NOT_SUPPORTED, Verdict.SUPPORTED]
    assert given.fingerprint == finished.report.fingerprint
    assert given.fingerprint.search_tools == (KNOWS.identity,)
    assert both.fingerprint.search_tools == (KNOWS.identity, KNOWS_NOT.identity)
    assert plain.fingerprint.search_tools == (KNOWS_NOT.identity,)
    assert FAITHFULNESS in given.warnings
    assert FAITHFULNESS in finished.report.warnings
    assert FACTUALITY in both.warnings
    assert not {FAITHFULNESS, FACTUALITY} & set(plain.warnings)


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
        ([*BAKERY, "The Holt bakery in York has four ovens."], 1),
        ([*BAKERY, *[f"Loaf {n} is of rye." for n in range(40)], "Two bakeries stand in York."], 1),
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
    assert (report.counts.supported, report.counts.unscored) == (n_supported, 0)
    supported = [claim for claim in report.claims if claim.judgement.verdict is Verdict.SUPPORTED]
    assert all(claim.judgement.quote in " ".join(documents) for claim in supported)
