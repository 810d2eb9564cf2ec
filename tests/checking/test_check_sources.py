"""Sources given with one check: told in its report, and part of what a run directory holds."""

from __future__ import annotations

from pathlib import Path

import pytest
from langchain_core.documents import Document

from factloop import FactChecker, Verdict
from factloop.core.errors import ConfigError
from factloop.core.events import CheckFinished
from factloop.setup.sources import FACTUALITY, FAITHFULNESS, Sources
from factloop.tools.search.given import GivenDocuments

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
