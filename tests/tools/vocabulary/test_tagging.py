"""Tokens stand where they say, in any text, and carry the tags that a reader would give them."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import pytest
from hypothesis import given
from hypothesis import strategies as st

from factloop.tools.vocabulary.tagging import tag_tokens


def tagged(text: str) -> str:
    return " ".join(f"{token.text}/{token.tag}" for token in tag_tokens(text))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("King Solomon built the first temple.", "King/NNP Solomon/NNP built/VBD the/DT first/JJ temple/NN ./."),
        ("florida was returned to spain", "florida/NNP was/VBD returned/VBN to/TO spain/NNP"),
        (
            "the last time wisconsin missed the ncaa tournament",
            "the/DT last/JJ time/NN wisconsin/NNP missed/VBD the/DT ncaa/NNP tournament/NN",
        ),
        ("FLORIDA WAS BUILT", "FLORIDA/NNP WAS/VBD BUILT/VBN"),
        ("They run. It takes 24 hours.", "They/PRP run/VBP ./. It/PRP takes/VBZ 24/CD hours/NNS ./."),
        ("the 19th of June, 1997–98: 50%", "the/DT 19th/CD of/IN June/NNP ,/, 1997–98/CD :/: 50/CD %/SYM"),
        ("“She isn’t Mike's wife”", "“/`` She/PRP is/VBZ n’t/RB Mike/NNP 's/POS wife/NN ”/''"),
        ("Dr. O'Neill saw a well-known U.S. film", "Dr./NNP O'Neill/NNP saw/VBD a/DT well-known/JJ U.S./NNP film/NN"),
        ("日本は हिन्दी में Москва", "日本は/FW हिन्दी/FW में/FW Москва/NNP"),
        ("Darren McGavin played John A. Shewhart", "Darren/NNP McGavin/NNP played/VBD John/NNP A./NNP Shewhart/NNP"),
        ("The price is right", "The/DT price/NN is/VBZ right/NN"),
        ("2017", "2017/CD"),
        ("$5 or £6", "$/$ 5/CD or/CC £/$ 6/CD"),
        ("¿?¡… ★", "¿/SYM ?/. ¡/SYM …/: ★/SYM"),
        ("", ""),
        (" \n\t ", ""),
    ],
)  # fmt: skip
def test_tags_of_known_sentences(text: str, expected: str) -> None:
    assert tagged(text) == expected


def test_a_sentence_has_the_tags_that_it_has_alone() -> None:
    alone = tagged("Then he ran home.")
    assert tagged("She sang. Then he ran home.").endswith(alone)


@given(st.text(max_size=80) | st.text("aZ.'’-19 ñ\u0301नि日§", max_size=40))
def test_tokens_hold_all_but_white_space_and_stand_where_they_say(text: str) -> None:
    tokens = tag_tokens(text)
    assert all(text[token.start : token.end] == token.text and token.tag for token in tokens)
    assert [token.start for token in tokens] == sorted({token.start for token in tokens})
    assert "".join(token.text for token in tokens) == "".join(text.split())


@pytest.mark.parametrize("text", ["a" * 50_000, "'" * 5_000, "n't" * 5_000, "1-" * 9_000, "a." * 9_000, "ab-" * 9_000])
@pytest.mark.timeout(10)
def test_hostile_texts_take_no_longer_than_others(text: str) -> None:
    assert "".join(token.text for token in tag_tokens(text)) == text


def test_threads_see_the_whole_lexicon() -> None:
    texts = [f"florida was returned to spain in {year}" for year in range(1800, 1816)]
    with ThreadPoolExecutor(8) as threads:
        found = list(threads.map(tag_tokens, texts))
    assert {tuple(token.tag for token in tokens) for tokens in found} == {
        ("NNP", "VBD", "VBN", "TO", "NNP", "IN", "CD"),
    }
