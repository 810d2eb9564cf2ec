from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from factloop.tools.text.abstentions import is_abstention
from factloop.tools.text.language import is_english_at
from factloop.tools.text.markup import plain_text
from factloop.tools.text.outline import Part, PartKind
from factloop.tools.text.pieces import read
from factloop.tools.text.pipeline import load_pipeline
from factloop.tools.text.queries import next_query, search_query
from factloop.tools.text.referents import N_BEFORE, ReadClaim, read_claims
from factloop.tools.text.silence import silence_of, states_nothing
from factloop.tools.text.statements import states_something
from tests.tools.text.cases import rows, wrong

NLP = load_pipeline()
CASES = rows("statements")


def test_what_states_something_is_kept() -> None:
    """What counts as stating nothing is never checked, so not one may be lost."""
    kept = [row for row in CASES if row["states"]]
    assert not wrong(kept, lambda row: states_something(row["text"], NLP), lambda _: True)
    assert not wrong(kept, lambda row: is_abstention(row["text"]), lambda _: False)


def test_what_states_nothing_is_mostly_told() -> None:
    silent = [row for row in CASES if not row["states"]]
    found = wrong(silent, lambda row: states_something(row["text"], NLP), lambda _: False)
    assert len(found) <= 0.1 * len(silent), "\n".join(found)


def test_abstentions_are_told_from_other_silence() -> None:
    silent = [row for row in CASES if not row["states"]]
    assert not wrong(silent, lambda row: is_abstention(row["text"]), lambda row: row["kind"] == "abstentions")


@pytest.mark.parametrize("row", rows("markup"), ids=lambda row: row["text"])
def test_citations_go_and_content_stays(row: dict[str, str]) -> None:
    assert plain_text(row["text"]) == row["plain"]
    assert plain_text(row["plain"]) == row["plain"]


@pytest.mark.large
@pytest.mark.parametrize(
    "unit", ["(Smith ", "[doc_", "(see ", "the documents ", "&amp", " https://", "(A, B & ", "1, p. "]
)
def test_hostile_marks_are_no_trouble(unit: str) -> None:
    """Quadratic work would exceed the test's time limit."""
    text = (unit * 1_000_000)[:1_000_000]
    assert isinstance(plain_text(text), str)
    assert is_abstention(text[:100_000]) is False


@pytest.mark.process
def test_abstentions_and_markup_need_no_spacy() -> None:
    code = (
        "import factloop.tools.text.markup, factloop.tools.text.referents, sys; "
        "sys.exit(bool({'spacy', 'torch'} & set(sys.modules)))"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


REFERENTS = rows("references")
SHARE_RIGHT = 0.85


def claims_of(row: dict[str, Any]) -> list[ReadClaim]:
    return read_claims(row["sentence"], row["before"], row["prompt"], NLP)


def test_references_are_read_as_labelled() -> None:
    found = wrong(
        REFERENTS,
        lambda row: ([one.self_contained for one in claims_of(row)], any(one.is_open for one in claims_of(row))),
        lambda row: (row["self_contained"], row["is_open"]),
    )
    assert len(found) <= (1 - SHARE_RIGHT) * len(REFERENTS), "\n".join(found)


@pytest.mark.parametrize("row", [row for row in REFERENTS if row["is_open"]], ids=lambda row: row["sentence"])
def test_what_is_uncertain_stays_as_written_and_is_open(row: dict[str, Any]) -> None:
    """None may be wrong: a misplaced name makes a true sentence false."""
    assert [(one.self_contained, one.is_open) for one in claims_of(row)] == [(row["sentence"], True)]


@pytest.mark.parametrize("row", REFERENTS, ids=lambda row: row["sentence"])
def test_names_come_from_what_was_read(row: dict[str, Any]) -> None:
    read_words = set(" ".join([row["sentence"], *row["before"], row["prompt"] or ""]).replace("?", " ").split())
    for claim in claims_of(row):
        added = set(claim.self_contained.split()) - set(claim.text.split())
        assert {word.removesuffix("'s").removesuffix("'").strip(".").lower() for word in added} <= {
            *(word.strip(".,").lower() for word in read_words),
            "is",
            "has",
        }


def test_of_a_long_text_the_first_and_the_last_few_sentences_are_read() -> None:
    read.cache_clear()
    before = ["Otto Berg was a miller.", *(f"He owned {n} mills." for n in range(2, 60))]
    claims = read_claims("He died in 1950.", before, None, NLP)
    assert [claim.self_contained for claim in claims] == ["Otto Berg died in 1950."]
    assert read.cache_info().misses == N_BEFORE + 2


TEXTS = [json.loads(line) for line in Path(__file__).with_name("languages.jsonl").read_text("utf-8").splitlines()]
"""Texts in twelve languages, and English ones full of foreign names."""


@pytest.mark.parametrize("row", TEXTS, ids=lambda row: f"{row['language']} {row['text'][:20]}")
def test_english_is_told_from_other_languages(row: dict[str, str]) -> None:
    text = row["text"]
    assert is_english_at(text, 0, len(text)) == (row["language"] == "en")


GERMAN = "Der Turm wurde 1896 errichtet und diente bis in die fünfziger Jahre als Lager. Er ist hoch."
ENGLISH = "The tower was built in 1896 and served as a store until the fifties. It is tall."


@pytest.mark.parametrize(("text", "expected"), [(GERMAN, False), (ENGLISH, True)])
def test_a_short_sentence_is_in_the_language_of_its_paragraph(text: str, expected: bool) -> None:
    start = text.index(". ") + 2
    assert is_english_at(text, start, len(text)) is expected


def test_paragraphs_of_one_response_may_be_in_two_languages() -> None:
    response = f"{ENGLISH}\n\n{GERMAN}"
    assert is_english_at(response, 0, 10)
    assert not is_english_at(response, len(ENGLISH) + 2, len(response))


@pytest.mark.parametrize(
    "text",
    [
        "", "40 m", "NASA", "E = mc²", "Marie Curie", "Düsseldorf", "Die Zeit is a weekly.", "Das Boot won awards.",
        "La Traviata premiered in 1853.", "Der Spiegel, 1947.", "Han Solo vlogs.", "Die casting needs zinc.",
    ],
)  # fmt: skip
def test_text_without_words_or_with_a_foreign_name_counts_as_english(text: str) -> None:
    assert is_english_at(text, 0, len(text))


CLAIM = "Mira Halden was born in **Lindel** on 14 March 1879.[1]"


def test_keywords_in_order_without_function_words() -> None:
    assert search_query(CLAIM) == "Mira Halden born Lindel 14 March 1879"
    assert search_query('"Blue Rain" is Otto Berg\'s film.') == "Blue Rain Otto Berg film"


TOPIC = "Oss Light"


def test_a_part_without_a_name_is_searched_with_its_topic() -> None:
    query = search_query("The first tower was lit in 1698.", TOPIC)
    assert query == "Oss Light first tower lit 1698"
    further = next_query("The first tower was lit in 1698.", [query])
    assert further is not None
    assert further.startswith("Oss Light ")


def test_each_further_query_is_new_until_ideas_run_out() -> None:
    asked = [search_query(CLAIM)]
    while (query := next_query(CLAIM, asked)) is not None:
        asked.append(query)
    assert 3 <= len(asked) <= 10
    assert len({frozenset(query.lower().split()) for query in asked}) == len(asked)
    assert all("Halden" in query or "Lindel" in query for query in asked)


@pytest.mark.parametrize("claim", ["", "It is.", "\0", "?" * 5000, "word " * 5000])
def test_odd_claims_give_bounded_queries(claim: str) -> None:
    assert len(search_query(claim)) <= 300
    assert next_query(claim, [search_query(claim)]) is None or claim


def test_another_script_is_searched_as_it_stands() -> None:
    assert search_query("洛铁于1901年被发现。") == "洛铁于1901年被发现。"


SILENT = [
    "Sure!", "Here is what is known about Ada:", "Hi there!", "Here’s a short summary.", "I hope this helps!",
    "Let me know if you need more details about metformin.", "Feel free to ask.", "You’re welcome!",
    "If you have any further questions, feel free to reach out.", "Thank you for your order.", "Dear Sir or Madam,",
    "I'm sorry to hear that.", "Best regards,", "Kind regards, Ada Brown", "Hope this helps!", "Good luck!",
    "Would you like me to explain further?", "Who was she?", "When was she born?", "What are the main side effects?",
    "Is there anything else I can help you with?", "How do I cancel?", "Is aspirin safe in pregnancy?",
    "Here are the main side effects:", "Side effects:", "I'd be happy to help with other questions about bridges.",
    "Let me look that up.", "I’ll check the handbook for you.", "I will look into it.",
]  # fmt: skip
TELLING = [
    "She was born in Ulm.", "I recommend stopping it 48 hours before a CT scan.", "Yes.", "You can cancel at any time.",
    "If you have kidney disease, you should not take metformin.", "Thanks to Ada, the tower stands in Lindel.",
    "Hi Sam, your order shipped on Monday.", "Here is the catch: Python 3.8 is not supported.", "Wait two hours.",
    "Let me know by 5 May if you want the refund.", "Thanks for writing to Velmo Ferries, which sank.",
    "Did you know that Ada Lovelace killed her husband in 1999?", "Aspirin cures cancer, doesn't it?",
    "Ada was born in 1999, right?", "Is it true that aspirin cures cancer?", "Born 1999", "Lethal in children.",
    "Did you know aspirin cures cancer?", "Ada | 1999", "Take aspirin with warfarin.", "Safe in pregnancy!",
    "You should double the dose before surgery.", "Isn't aspirin lethal?", "It costs 9 €:", "Es war schön.", "他很好。",
    "Let me check: aspirin cures cancer.", "I'll find you the drug that cures cancer.",
]  # fmt: skip


def silence(text: str, kind: PartKind = "prose") -> str | None:
    return silence_of(Part(text, 0, len(text), kind))


def test_talk_and_questions_are_mostly_told_and_statements_never_taken_for_them() -> None:
    assert [text for text in TELLING if silence(text) is not None or states_nothing(text)] == []
    assert sum(silence(text) is not None for text in SILENT) >= 0.9 * len(SILENT)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("What a life!", True),
        ("I find this remarkable.", True),
        ("In my opinion it is lovely.", True),
        ("It was beautiful!", True),
        ("I met Ada in 1840.", False),
        ("Ada is lovely.", False),
        ("It is safe in pregnancy.", False),
        ("What a man Otto was!", False),
    ],
)
def test_where_no_claim_was_found_an_opinion_is_told_from_what_may_state_something(text: str, expected: bool) -> None:
    assert states_nothing(text) is expected


@pytest.mark.parametrize(
    ("heading", "expected"),
    [
        ("Early life", "heading"),
        ("3.2 The early years", "heading"),
        ("Chapter 3", "heading"),
        ("Step 5: Fold", "heading"),
        ("Section 2.1", "heading"),
        ("Chapter 3 – Founding", "heading"),
        ("Return within 90 days", None),
        ("How do I cancel?", "question"),
        ("The bridge was opened in 1826", None),
        ("It is lethal.", None),
        ("Opened 1826", None),
    ],
)
def test_a_heading_is_read_where_it_has_a_verb_a_figure_or_a_full_stop(heading: str, expected: str | None) -> None:
    assert silence(heading, "heading") == expected


def test_the_head_of_a_table_is_silent_and_code_and_rows_are_not() -> None:
    assert silence("Plan | Price", "head") == "heading"
    assert silence("x = 1", "code") is None
    assert silence("Team | 9 €", "row") is None
