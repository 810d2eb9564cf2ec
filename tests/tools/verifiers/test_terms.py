"""How text is cut into sentences and terms, and that no text takes longer than its length warrants."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from factloop.tools.verifiers.terms import MAX_SENTENCE_CHARS, TermKind, read_passage, read_sentences
from tests.work import LINEAR, growth


def keys(text: str) -> list[str]:
    return [term.key for sentence in read_sentences(text) for term in sentence.terms]


def kinds(text: str) -> dict[str, TermKind]:
    return {term.surface: term.kind for sentence in read_sentences(text) for term in sentence.terms}


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("1,200,000", "1200000"),
        ("twenty-one", "21"),
        ("3.50", "3.5"),
        ("6 million", "six million"),
        ("1.5 million", "1,500,000"),
        ("2,300 thousand", "2300000"),
        ("007", "7"),
        ("the 21st", "the twenty-first"),
        ("composers", "composer"),
        ("Einstein's", "Einstein"),
        ("the U.S. army", "the US army"),
        ("in Sept 1990", "in September 1990"),
        ("the 1970s", "the 1970"),
        ("ｆｕｌｌ", "full"),
        ("fanless", "fan"),
        ("it was fixed", "it was fix"),
    ],
)
def test_spellings_of_one_thing_give_one_key(one: str, other: str) -> None:
    assert keys(one) == keys(other)


def test_a_word_in_less_that_means_more_than_a_lack_stays_whole() -> None:
    assert keys("a priceless, wireless lamp") == ["a", "priceless", ",", "wireless", "lamp"]
    assert "less" in keys("unless it costs less")[-1:]


def test_an_iso_date_reads_as_year_month_and_day() -> None:
    assert sorted(keys("1990-03-05")) == sorted(keys("5 March 1990"))


def test_kinds() -> None:
    found = kinds("Marie Curie was not born on 7 May 1867, but won two prizes.")
    assert found["Marie"] is TermKind.NAME
    assert found["Curie"] is TermKind.NAME
    assert found["was"] is TermKind.FUNCTION
    assert found["not"] is TermKind.NEGATION
    assert (found["7"], found["May"], found["1867"]) == (TermKind.NUMBER, TermKind.MONTH, TermKind.YEAR)
    assert found["prizes"] is TermKind.WORD


def test_the_name_of_a_column_is_no_name() -> None:
    terms = read_sentences("Plan: Team; Monthly price: €79; Owner: Ada")[0].terms
    assert [term.surface for term in terms if term.kind is TermKind.NAME] == ["Team", "Ada"]


def test_may_that_opens_a_sentence_is_no_month() -> None:
    assert kinds("May I see")["May"] is TermKind.FUNCTION


def test_contractions_negate() -> None:
    assert kinds("She didn't win")["didn't"] is TermKind.NEGATION
    assert kinds("She didn’t win")["didn’t"] is TermKind.NEGATION


def test_scripts_without_spaces_yield_one_term_a_character() -> None:
    assert keys("北京大学") == ["北", "京", "大", "学"]


def test_sentences_end_at_stops_and_line_ends_but_not_inside_figures() -> None:
    texts = [sentence.text.strip() for sentence in read_sentences("It cost 3.5 euros. Nobody paid!\nWhy? 不知道。是")]
    assert texts == ["It cost 3.5 euros.", "Nobody paid!", "Why?", "不知道。", "是"]


def test_an_endless_sentence_is_cut_between_words() -> None:
    sentences = read_sentences("word " * 1000)
    assert max(len(sentence.text) for sentence in sentences) <= MAX_SENTENCE_CHARS
    assert keys("word " * 1000) == ["word"] * 1000


@pytest.mark.parametrize("text", ["", " ", "\0\0", "\n\n", "...", "\u200f\u202e", "!?"])
def test_text_without_words_has_no_sentences(text: str) -> None:
    assert read_sentences(text) == ()


@pytest.mark.large
@pytest.mark.parametrize("piece", ["a", "one ", "1,", ". "])
def test_a_long_line_is_linear_work(piece: str) -> None:
    read_sentences(piece * (500_000 // len(piece)))
    assert growth(lambda n: read_sentences(piece * n), 2_000) < LINEAR


@given(st.text(alphabet=st.characters(), max_size=300))
def test_any_text_can_be_read(text: str) -> None:
    for sentence in read_sentences(text):
        assert sentence.terms
        assert all(term.key and term.surface.isprintable() for term in sentence.terms)


@pytest.mark.parametrize(
    ("text", "sentences"),
    [
        ("It was built by J. R. Brunel in 1850. It stands.", ["It was built by J. R. Brunel in 1850.", "It stands."]),
        ("Dr. K. Ahlberg of St. Olaf opened it. She left.", ["Dr. K. Ahlberg of St. Olaf opened it.", "She left."]),
        ("In 1950 the U.S. Air Force sold it. She left.", ["In 1950 the U.S. Air Force sold it.", "She left."]),
        ("He moved to the U.S. It was cold.", ["He moved to the U.S.", "It was cold."]),
        ("The U.K. Government agreed.", ["The U.K. Government agreed."]),
        ("J.R.R. Marwen wrote it.", ["J.R.R. Marwen wrote it."]),
        ("It opens at 9 A.M. Visitors queue.", ["It opens at 9 A.M.", "Visitors queue."]),
        ("It opens at 9 a.m. Visitors queue.", ["It opens at 9 a.m.", "Visitors queue."]),
        ("It joined the U.N. in 1950. Others left.", ["It joined the U.N. in 1950.", "Others left."]),
        ("She took vitamin C. It helped.", ["She took vitamin C.", "It helped."]),
        ("It is of type B.\nAda saw it.", ["It is of type B.", "Ada saw it."]),
    ],
)
def test_initials_and_titles_end_no_sentence(text: str, sentences: list[str]) -> None:
    assert [sentence.text.strip() for sentence in read_sentences(text)] == sentences


@pytest.mark.parametrize(
    ("evidence", "sentences"),
    [
        ("1. Annual leave\nStaff get 27 days.", ["annual leave", "staff get 27 day"]),
        ("3.2 Contractors are not covered.", ["contractor be not cover"]),
        ("3.2. A week is free.", ["a week be free"]),
        ("It may be carried over. 1.3 Line managers answer.", ["it may be carry over", "line manager answer"]),
        ("Notify your manager first.\n3. Leave", ["notify your manager first", "leave"]),
        ("12) Charge it for 3 hours.", ["charge it for 3 hour"]),
        ("(2) Press it.", ["press it"]),
        ("HR › 2. Sick leave › 2.1 Notice\nTell us.", ["hr sick leave notice", "tell we"]),
        ("- 20 seats", ["20 seat"]),
        ("It ended 2.\n3. It began.", ["it end 2", "it begin"]),
    ],
)
def test_the_number_of_a_heading_item_or_clause_is_no_figure_of_a_passage(evidence: str, sentences: list[str]) -> None:
    read = [[term for term in one.terms if term.kind is not TermKind.MARK] for one in read_passage(evidence)]
    shown = [[one.key for one in terms if one.kind is TermKind.NUMBER or not one.key[0].isdigit()] for terms in read]
    assert [" ".join(keys) for keys in shown] == sentences


@pytest.mark.parametrize(
    ("evidence", "figure"),
    [
        ("9.30 Breakfast is served.", "9.3"),
        ("2.50 Coffee with milk", "2.5"),
        ("1.5 million people live there.", "1500000"),
        ("1.5 Million people live there.", "1.5"),
        ("3.5 Percent of them left.", "3.5"),
        ("27 Staff were there.", "27"),
        ("3. ", "3"),
        ("The score was 3. The rest is known.", "3"),
    ],
)
def test_a_figure_that_opens_a_line_is_one(evidence: str, figure: str) -> None:
    assert figure in [term.key for one in read_passage(evidence) for term in one.terms if term.kind is TermKind.NUMBER]


def test_a_claim_keeps_the_number_that_it_opens_with() -> None:
    assert keys("3. Liga is a league.")[0] == "3"
