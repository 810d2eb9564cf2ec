"""Readings of chunks put together as scores of pairs."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from factloop.core.errors import DataError, ToolTimeout
from factloop.tools.calls.meter import UsageMeter
from factloop.tools.verifiers.chunks import cut_by_words
from factloop.tools.verifiers.pairs import PairScore, VerifierPair, score_pairs


class Table:
    """Reads from a table: the score of a chunk is what is written in it, "fail" a failure. Notes what it is asked."""

    def __init__(self, *, by_sentence: bool = False) -> None:
        self.name = "table"
        self.identity: dict[str, object] = {}
        self.asked: list[VerifierPair] = []
        self._by_sentence = by_sentence

    def parts(self, claim: str) -> Sequence[str]:
        return claim.split("|") if self._by_sentence else (claim,)

    def chunks(self, claim: str, document: str, n_words: int | None) -> list[str]:  # noqa: ARG002 - all claims fit
        return cut_by_words(document, n_words or 3)

    async def read(self, pairs: Sequence[VerifierPair], *, meter: UsageMeter) -> list[PairScore]:  # noqa: ARG002
        self.asked.extend(pairs)
        return [_read(pair) for pair in pairs]


def _read(pair: VerifierPair) -> PairScore:
    if "fail" in pair.document:
        return PairScore(None, ToolTimeout(tool="table", timeout_s=1.0))
    factor = 0.5 if pair.claim == "half" else 1.0
    return PairScore(factor * max(float(word) for word in pair.document.split()))


async def scores(
    reader: Table, *pairs: VerifierPair, sizes: Sequence[int | None] = (None,)
) -> list[list[float | None]]:
    found = await score_pairs(reader, pairs, sizes, meter=UsageMeter())
    return [[one.score for one in of_size] for of_size in found]


async def test_the_best_chunk_counts() -> None:
    assert await scores(Table(), VerifierPair("a", "0.1 0.2 0.3 0.9 0.1"), VerifierPair("b", "0.4")) == [[0.9, 0.4]]


async def test_parts_of_a_claim_are_averaged() -> None:
    # best of "a" over both chunks is 0.8, of "half" 0.4: their mean is 0.6
    assert await scores(Table(by_sentence=True), VerifierPair("a|half", "0.1 0.1 0.1 0.8")) == [[pytest.approx(0.6)]]
    assert await scores(Table(by_sentence=True), VerifierPair("a| |half", "0.8")) == [[pytest.approx(0.6)]]


async def test_a_failed_chunk_leaves_the_pair_without_a_score() -> None:
    """The best chunk may be that one, whatever the others say."""
    (found,) = await score_pairs(
        Table(), [VerifierPair("a", "0.9 0.9 0.9 fail"), VerifierPair("a", "0.2")], meter=UsageMeter()
    )
    assert [one.score for one in found] == [None, 0.2]
    assert isinstance(found[0].error, ToolTimeout)


@pytest.mark.parametrize(("pair", "said"), [(VerifierPair("a", " \n"), "document"), (VerifierPair("", "0.5"), "claim")])
async def test_what_is_blank_is_not_read(pair: VerifierPair, said: str) -> None:
    reader = Table()
    ((found,),) = await score_pairs(reader, [pair], meter=UsageMeter())
    assert found.score is None
    assert isinstance(found.error, DataError)
    assert said in str(found.error)
    assert not reader.asked


async def test_what_sizes_and_pairs_share_is_read_once() -> None:
    reader = Table()
    pairs = (VerifierPair("a", "0.1 0.2"), VerifierPair("a", "0.1 0.2"), VerifierPair("a", "0.3 0.4 0.5"))
    assert await scores(reader, *pairs, sizes=(None, 2)) == [[0.2, 0.2, 0.5], [0.2, 0.2, 0.5]]
    assert [pair.document for pair in reader.asked] == ["0.1 0.2", "0.3 0.4 0.5", "0.3 0.4", "0.5"]


async def test_no_pairs() -> None:
    assert await scores(Table(), sizes=(None, 5)) == [[], []]


@pytest.mark.parametrize(("score", "error"), [(None, None), (0.5, DataError("x"))])
def test_a_score_or_an_error(score: float | None, error: DataError | None) -> None:
    with pytest.raises(ValueError, match="scored"):
        PairScore(score, error)
