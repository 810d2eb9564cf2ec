from __future__ import annotations

import asyncio
from collections.abc import Sequence

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from factloop.core.errors import ConfigError, DataError, ToolTimeout
from factloop.tools.calls.meter import UsageMeter
from factloop.tools.judges.chunks import cut_by_words, whole_sentences, word_ends
from factloop.tools.judges.pairs import Judge, PairScore, SharedReads, VerifierPair, rate, score_pairs


class Table(Judge):
    """The score of a chunk is its text; "fail" is a failure and "-0.9" a contradiction. Records each batch."""

    name = "table"
    identity: dict[str, object] = {}  # noqa: RUF012 - as the base has it

    def __init__(self, *, by_sentence: bool = False, alone: bool = False) -> None:
        self.batches: list[list[VerifierPair]] = []
        self.reads_passages_alone = alone
        self._by_sentence = by_sentence

    @property
    def asked(self) -> list[VerifierPair]:
        return [pair for batch in self.batches for pair in batch]

    def parts(self, claim: str) -> Sequence[str]:
        return claim.split("|") if self._by_sentence else (claim,)

    def chunks(self, claim: str, document: str, n_words: int | None) -> list[str]:  # noqa: ARG002 - all claims fit
        return cut_by_words(document, n_words or 3)

    async def read(self, pairs: Sequence[VerifierPair], *, meter: UsageMeter) -> list[PairScore]:  # noqa: ARG002
        self.batches.append(list(pairs))
        await asyncio.sleep(0.01)
        return [_read(pair) for pair in pairs]


def _read(pair: VerifierPair) -> PairScore:
    if "fail" in pair.document:
        return PairScore(None, ToolTimeout(tool="table", timeout_s=1.0))
    factor = 0.5 if pair.claim == "half" else 1.0
    if pair.document == "broken":
        raise ConfigError("no such weights")
    degrees = [float(word) for word in pair.document.split()]
    return PairScore(factor * max(0.0, *degrees), against=max(0.0, *(-one for one in degrees)))


async def scores(
    reader: Table, *pairs: VerifierPair, sizes: Sequence[int | None] = (None,)
) -> list[list[float | None]]:
    found = await score_pairs(reader, pairs, sizes, meter=UsageMeter())
    return [[one.score for one in of_size] for of_size in found]


async def test_parts_of_a_claim_are_averaged() -> None:
    # best of "a" over both chunks is 0.8, of "half" 0.4: their mean is 0.6
    assert await scores(Table(by_sentence=True), VerifierPair("a|half", "0.1 0.1 0.1 0.8")) == [[pytest.approx(0.6)]]
    assert await scores(Table(by_sentence=True), VerifierPair("a| |half", "0.8")) == [[pytest.approx(0.6)]]


async def test_a_failed_chunk_leaves_the_pair_without_a_score() -> None:
    """It may be the best chunk, whatever the others score."""
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


@pytest.mark.parametrize("alone", [False, True])
@pytest.mark.parametrize(
    ("passages", "label", "score", "cited"),
    [
        (["0.1", "0.9", "0.6"], "supported", 0.9, (1, 2)),
        (["0.1", " ", "0.5"], "supported", 0.5, (2,)),
        (["0.1", "-0.8", "0.4"], "contradicted", 0.4, (1,)),
        (["0.7", "-0.8"], "supported", 0.7, (0,)),  # what bears it out counts before what denies it
        (["0.1", "-0.4"], "insufficient", 0.1, ()),
        ([" ", ""], "insufficient", 0.0, ()),
        ([], "insufficient", 0.0, ()),
    ],
)
async def test_a_claim_is_rated_by_its_passages(
    passages: list[str], label: str, score: float, cited: tuple[int, ...], alone: bool
) -> None:
    """Together or separately; passages that decide by themselves are cited, the strongest first."""
    table = Table(alone=alone)
    found = await rate(table, "a", passages, meter=UsageMeter())
    assert (found.label, found.cited) == (label, cited)
    assert found.score == pytest.approx(score)
    n_whole = len([one for one in passages if one.strip()]) if alone else bool("".join(passages).strip())
    assert len(table.batches[0] if table.batches else []) == n_whole
    assert len(table.batches) == (2 if cited and not alone and len(passages) > 1 else bool(n_whole))


async def test_a_passage_that_cannot_be_read_rates_nothing() -> None:
    with pytest.raises(ToolTimeout):
        await rate(Table(alone=True), "a", ["0.9", "fail"], meter=UsageMeter())


async def test_claims_that_wait_at_the_same_time_are_one_batch() -> None:
    table = Table()
    shared = SharedReads(table).read
    claims = [f"claim {number}" for number in range(40)]
    found = await asyncio.gather(*(rate(table, claim, ["0.9"], meter=UsageMeter(), read=shared) for claim in claims))
    assert {one.label for one in found} == {"supported"}
    assert len(table.asked) == 40
    assert len(table.batches) <= 3
    await rate(table, claims[0], ["0.9"], meter=UsageMeter(), read=shared)
    assert len(table.asked) == 40


async def test_of_those_who_wait_one_may_go() -> None:
    table = Table()
    shared = SharedReads(table).read
    first, second = (asyncio.create_task(rate(table, "a", ["0.9"], meter=UsageMeter(), read=shared)) for _ in range(2))
    await asyncio.sleep(0.008)
    first.cancel()
    assert (await second).label == "supported"
    assert len(table.asked) == 1


async def test_a_judge_that_cannot_work_fails_all_who_wait_and_keeps_nothing() -> None:
    shared = SharedReads(Table()).read
    for _ in range(2):
        failed = await asyncio.gather(
            *(rate(Table(), claim, ["broken"], meter=UsageMeter(), read=shared) for claim in "ab"),
            return_exceptions=True,
        )
        assert [type(one) for one in failed] == [ConfigError, ConfigError]
    assert (await rate(Table(), "a", ["0.9"], meter=UsageMeter(), read=shared)).label == "supported"


LISTED = "# Bridges\n\nAda paints. She likes red (mostly)!\n\n- one item\n- two items\n```\ncode here\n```\nend"

TEXT = st.lists(
    st.sampled_from(
        ["Ada paints bridges.", "Red!", "\n", "- x", "...", "3.5 m", "“Oh.”", "漢字。", "\t", "a" * 90, "\0"]
    ),
    max_size=30,
).map(" ".join)


@pytest.mark.parametrize(
    ("document", "n_words", "chunks"),
    [
        # 3 + 2 words fit into 5; the next sentence of 4 does not, and the last of 1 fits beside it
        ("Ada paints bridges. Red ones. They stand in Paris. Indeed.", 5,
         ["Ada paints bridges. Red ones.", "They stand in Paris. Indeed."]),
        ("one two three four five six seven. Eight nine. Ten.", 3,
         ["one two three", "four five six", "seven. Eight nine.", "Ten."]),
        (LISTED, 4, ["# Bridges\n\nAda paints.", "She likes red (mostly)!", "- one item", "- two items\n```",
                     "code here\n```\nend"]),
    ],
    ids=["filled with whole sentences", "a longer sentence", "headings, items and code"],
)  # fmt: skip
def test_chunks_by_hand(document: str, n_words: int, chunks: list[str]) -> None:
    assert "".join(whole_sentences(document)) == document
    assert cut_by_words(document, n_words) == chunks


@given(TEXT, st.integers(1, 12))
@example(LISTED, 1)
def test_nothing_is_lost_and_nothing_is_too_long(document: str, n_words: int) -> None:
    chunks = cut_by_words(document, n_words)
    assert "".join("".join(chunks).split()) == "".join(document.split())
    assert all(1 <= len(ends) <= n_words for ends in word_ends(chunks))
