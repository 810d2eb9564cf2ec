"""The lexical verifier: what it calls plain cases, what it says of them, and that no text breaks it."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from factloop.tools.verifiers.base import Label, Verifier
from factloop.tools.verifiers.lexical import THRESHOLD, LexicalVerifier, agreement, compare_texts
from tests.work import LINEAR, growth, lines_run

CURIE = (
    "Marie Curie was born in Warsaw on 7 November 1867. She shared the 1903 Nobel Prize in Physics with her husband "
    "Pierre. She never held a post in Berlin."
)
BRIDGE = "The Vecchio bridge was opened in 1345. It has three arches and does not carry cars."
RADIUM = "Curie isolated a gram of radium. She received two Nobel Prizes, in 1903 and in 1911."
SHIELD = (
    "The sunshield of the Webb telescope has five layers of Kapton. Its coldest instrument works at 7 K. In May 2022 "
    "a micrometeoroid hit one mirror of the Webb telescope."
)
OLD_TOWER = "The tower at Marn was made of oak and burnt down in 1703. A second tower was built there and still stands."
OTHER_TOWER = "The lighthouse of Perro is made of granite."


@pytest.fixture(scope="module")
def verifier() -> Verifier:
    return LexicalVerifier()


@pytest.mark.parametrize(
    ("claim", "passages", "label"),
    [
        ("Marie Curie was born in Warsaw.", [CURIE], "supported"),
        ("Today Vecchio bridge has three arches.", [BRIDGE], "supported"),
        ("Marie Curie was born on November 7, 1867.", [BRIDGE, CURIE], "supported"),
        ("The Vecchio bridge has three arches.", [BRIDGE], "supported"),
        ("The Vecchio bridge has 3 arches.", [BRIDGE], "supported"),
        ("Marie Curie never held a post in Berlin.", [CURIE], "supported"),
        ("Marie Curie was born on 7 November 1868.", [CURIE], "contradicted"),
        ("Marie Curie was born in Warsaw in October 1867.", [CURIE], "contradicted"),
        ("The Vecchio bridge was opened in 1545.", [BRIDGE], "contradicted"),
        ("The Vecchio bridge was not opened in 1345.", [BRIDGE], "contradicted"),
        ("The Vecchio bridge was opened in 1345.", ["The Vecchio bridge was never opened in 1345."], "contradicted"),
        ("Marie Curie was born in Vienna.", [CURIE], "contradicted"),
        ("Marie Curie was a dentist.", [CURIE], "insufficient"),
        ("Marie Curie shared the Nobel Prize in Chemistry with Pierre.", [CURIE], "insufficient"),
        ("Einstein won the Nobel Prize in 1921.", [CURIE], "insufficient"),
        ("Marie Curie was a dentist in a small village.", [CURIE], "insufficient"),
        ("The Webb telescope has a sunshield of Kapton.", [SHIELD], "supported"),
        ("The sunshield of the Webb telescope has five layers.", [SHIELD], "supported"),
        ("The sunshield of the Webb telescope has seven layers.", [SHIELD], "contradicted"),
        ("Curie isolated two grams of radium.", [RADIUM], "insufficient"),
        ("Curie received two Nobel Prizes.", [RADIUM], "supported"),
        ("The second tower at Marn was made of granite.", [OLD_TOWER, OTHER_TOWER], "insufficient"),
        ("The second tower at Marn was built of granite.", [OLD_TOWER, OTHER_TOWER], "insufficient"),
        ("Chess is played on 64 squares.", [CURIE, BRIDGE], "insufficient"),
        ("More than 12,000 people signed it.", ["In May 12,300 people signed it."], "supported"),
        ("Fewer than 90 people signed it.", ["In May 86 people signed it."], "supported"),
        ("More than 12,000 people signed it.", ["In May 11,300 people signed it."], "contradicted"),
        ("More than 12,000 people signed it.", ["In May 42,300 people signed it."], "insufficient"),
        ("Tickets cost 12 euros.", ["The price of a ticket is 21 euros."], "contradicted"),
        ("A ticket costs 21 euros.", ["The price of a ticket is 21 euros."], "supported"),
        ("The hub takes up to 64 devices.", ["The hub takes up to 32 devices."], "contradicted"),
        ("The lift holds at most 12 people.", ["The lift holds at most 8 people."], "contradicted"),
        ("Luggage must not exceed 30 kg.", ["Luggage must not exceed 23 kg."], "contradicted"),
        ("The hub takes no more than 64 devices.", ["The hub takes no more than 48 devices."], "contradicted"),
        ("The lift holds at most 12 people.", ["The lift held 8 people."], "insufficient"),
        ("Fewer than 64 devices are in use.", ["Fewer than 32 devices are in use."], "insufficient"),
        ("Nearly 64 devices are in use.", ["Up to 32 devices are in use."], "insufficient"),
        ("Up to 64 devices are in use.", ["32 devices are in use."], "insufficient"),
        ("Three people did not finish it.", ["Thirty-nine people finished it."], "insufficient"),
        ("Anything at all.", [], "insufficient"),
        ("", [CURIE], "insufficient"),
    ],
)
def test_plain_cases(verifier: Verifier, claim: str, passages: list[str], label: Label) -> None:
    found = verifier.verify(claim, passages)
    assert found.label == label
    assert (found.score >= THRESHOLD) == (label == "supported")


def test_a_denial_that_may_be_of_another_is_told_by_the_nearest_sentence(verifier: Verifier) -> None:
    found = verifier.verify("Marie Curie never shared a Nobel Prize.", [CURIE])
    assert found.label == "insufficient"
    assert found.rationale.startswith("No sentence of the sources says this. The nearest says: “She shared")


@pytest.mark.parametrize(
    ("claim", "passage", "says"),
    [
        ("Marie Curie was not born in Warsaw.", CURIE, "not"),
        ("Marie Curie wasn't born in Warsaw.", CURIE, "wasn't"),
        ("Marie Curie never won a Nobel Prize.", "Marie Curie won a Nobel Prize. She never held a post.", "never"),
        ("The Webb telescope has never been hit by a micrometeoroid.", SHIELD, "never"),
        ("No bridge was opened in Vecchio in 1345.", BRIDGE, "No"),
        ("The Webb telescope has no sunshield.", SHIELD, "no"),
    ],
)
def test_what_only_the_claim_denies_never_passes(verifier: Verifier, claim: str, passage: str, says: str) -> None:
    found = verifier.verify(claim, [passage])
    assert found.label != "supported"
    assert f'he claim denies ("{says}") what the source says: “' in found.rationale


@pytest.mark.parametrize(
    ("claim", "passage", "says"),
    [
        ("Einstein won the Nobel Prize.", "Einstein did not win the Nobel Prize.", "not"),
        ("Einstein won the Nobel Prize.", "In the end Einstein never won the Nobel Prize.", "never"),
        ("The Vecchio bridge carries cars.", "The Vecchio bridge carries no cars.", "no"),
    ],
)
def test_what_only_the_evidence_denies_never_passes(verifier: Verifier, claim: str, passage: str, says: str) -> None:
    found = verifier.verify(claim, [passage])
    assert found.label == "contradicted"
    assert found.rationale == f'The source denies this ("{says}"): “{passage}”'


@pytest.mark.parametrize(
    ("claim", "passage"),
    [
        ("Einstein did not win the Nobel Prize.", "Einstein never won the Nobel Prize."),
        ("Lund was a physicist and a singer.", "Lund was not only a physicist but also a singer."),
        ("Lund crossed the Atlantic in 1927.", "In 1927 Lund crossed the Atlantic without a stop."),
        ("The Vecchio bridge has three arches.", "The Vecchio bridge has three arches and does not carry cars."),
        ("Lund received the medal in 1922.", "Lund did not receive the medal until 1922."),
        ("Lund won the cup.", "Lund did not win the cup at first. Lund won the cup."),
        ("The song came out in 1983.", "The song came out in 1983 on the album Can't Slow Down."),
    ],
)
def test_a_negation_that_denies_nothing_of_the_claim_is_no_doubt(verifier: Verifier, claim: str, passage: str) -> None:
    assert verifier.verify(claim, [passage]).label == "supported"


def test_a_decade_holds_its_years(verifier: Verifier) -> None:
    assert verifier.verify(
        "The Arno bridge was opened in the 1930s.", ["The Arno bridge was opened in 1932."]
    ).label == ("supported")
    for claimed, said in (("the early 1930s", "1932"), ("1932", "the 1930s"), ("1832", "the 1800s")):
        found = verifier.verify(f"The Arno bridge was opened in {claimed}.", [f"The Arno bridge was opened in {said}."])
        assert found.label != "contradicted"
    found = verifier.verify("The Arno bridge was opened in the 1930s.", ["The Arno bridge was opened in 1945."])
    assert found.label == "contradicted"


def test_a_count_is_quoted_as_it_is_written(verifier: Verifier) -> None:
    found = verifier.verify("The sunshield of the Webb telescope has seven layers.", [SHIELD])
    assert (found.wrong, found.instead) == ("seven", "five")
    assert found.quote == "The sunshield of the Webb telescope has five layers of Kapton."


def test_a_negation_in_another_clause_is_no_contradiction(verifier: Verifier) -> None:
    passage = "There is no charge on the whole molecule, but the hydrogen atoms have a positive charge."
    assert verifier.verify("Hydrogen atoms have a positive charge.", [passage]).label == "supported"


def test_cites_the_passage_that_bears_on_the_claim(verifier: Verifier) -> None:
    assert verifier.verify("Marie Curie was born in Warsaw.", [BRIDGE, CURIE, ""]).cited == (1,)


def test_a_contradiction_says_in_words_what_differs(verifier: Verifier) -> None:
    found = verifier.verify("Marie Curie\nwas born in Warsaw in 1868.", [CURIE])
    quote = "Marie Curie was born in Warsaw on 7 November 1867."
    assert found.rationale == f'The source says "1867", the claim "1868": “{quote}”'
    assert (found.wrong, found.instead, found.quote) == ("1868", "1867", quote)


def test_support_quotes_the_sentence_that_decides(verifier: Verifier) -> None:
    found = verifier.verify("The Vecchio bridge has three arches.", [BRIDGE])
    assert found.rationale == "Borne out by: “It has three arches and does not carry cars.”"
    assert found.quote == "It has three arches and does not carry cars."


TOWERS = (
    "The second tower was a cone of timber. It was to make the reef safe. A fire destroyed it in December 1755. "
    "The tower of today was lit in 1882."
)


@pytest.mark.parametrize(
    ("claim", "quote"),
    [
        ("The second tower burned down in 1755.", "A fire destroyed it in December 1755."),
        ("The second tower was made of timber.", "The second tower was a cone of timber."),
        ("The present tower was first lit in 1882.", "The tower of today was lit in 1882."),
    ],
)
def test_what_is_said_of_the_subject_decides_and_not_its_name(verifier: Verifier, claim: str, quote: str) -> None:
    assert verifier.verify(claim, [TOWERS]).quote == quote


def test_of_windows_that_hold_as_much_that_with_the_figure_is_read(verifier: Verifier) -> None:
    passages = ["Four towers in turn have carried the light. The first was of oak.", "It was first lit on 18 May 1882."]
    found = verifier.verify("The present tower was first lit in 1882.", passages)
    assert found.quote == "It was first lit on 18 May 1882."


def test_a_subject_and_what_is_said_of_it_in_two_passages_are_no_support(verifier: Verifier) -> None:
    claim, smeaton = "The second tower was made of granite.", "Its granite blocks were joined by dovetails of marble."
    found = verifier.verify(claim, [TOWERS, smeaton])
    assert found.label == "insufficient"
    assert found.rationale.startswith('No one sentence of the sources speaks of "second" and "granite" together.')
    assert verifier.verify(claim, [TOWERS.replace("timber", "granite")]).label == "supported"


MENAI = (
    "The bridge over the Menai Strait.\nThe Menai Suspension Bridge was designed by Thomas Telford. "
    "It was opened on 30 January 1826. Telford began it in 1819, and died in 1834, aged 77."
)


@pytest.mark.parametrize(
    ("claim", "absent"),
    [
        ("The Menai Suspension Bridge was designed by Isambard Telford.", "Isambard"),
        ("Thomas Telford died at the age of 59.", "59"),
        ("The Menai Suspension Bridge was opened in France.", "France"),
        ("The Menai Suspension Bridge was opened by Stanford Bridge.", "Stanford"),  # *Bridge* is any bridge
    ],
)
def test_what_names_a_name_or_figure_that_stands_nowhere_is_not_supported(
    verifier: Verifier, claim: str, absent: str
) -> None:
    found = verifier.verify(claim, [MENAI])
    assert found.label != "supported"
    assert f'"{absent}"' in found.rationale


@pytest.mark.parametrize(
    ("claim", "passage"),
    [
        ("Barack Obama was born in Honolulu.", "Obama was born in Honolulu."),
        ("Barack Obama was born in Honolulu.", "President Obama was born in Honolulu."),
    ],
)
def test_a_name_stands_where_only_a_part_of_it_does(verifier: Verifier, claim: str, passage: str) -> None:
    assert verifier.verify(claim, [passage]).label == "supported"
    assert verifier.verify(claim, [passage.replace("Obama", "Michelle Obama")]).label != "supported"


@pytest.mark.parametrize(
    ("claim", "wrong", "instead"),
    [
        ("The Menai Suspension Bridge was opened in 1836.", "1836", "1826"),  # "It was opened": of the bridge
        ("Telford died in 1843.", "1843", "1834"),  # of the three years that of his death
        ("Telford began it in 1820.", "1820", "1819"),
    ],
)
def test_another_date_is_that_of_the_same_event(verifier: Verifier, claim: str, wrong: str, instead: str) -> None:
    found = verifier.verify(claim, [MENAI])
    assert (found.label, found.wrong, found.instead) == ("contradicted", wrong, instead)


def test_many_sentences_on_the_subject_support_nothing_else(verifier: Verifier) -> None:
    on_towers = "Smeaton modelled the tower on an oak. The tower was lit in 1759. It was of granite."
    read = verifier.verify("The second tower hosts a jazz festival.", [on_towers, OLD_TOWER])
    assert read.label == "insufficient"
    assert '"hosts", "jazz" and "festival"' in read.rationale


def test_a_heading_decides_nothing(verifier: Verifier) -> None:
    found = verifier.verify("The Menai bridge was painted green.", [MENAI])
    assert "The bridge over the Menai Strait" not in found.quote


def test_what_is_missing_is_said_in_a_sentence(verifier: Verifier) -> None:
    found = verifier.verify("Marie Curie was a dentist.", [CURIE])
    assert found.rationale.startswith('No sentence of the sources speaks of "dentist". The nearest says: “Marie Curie')
    assert (
        verifier.verify("Chess", ["Music"]).rationale == "No sentence of the sources speaks of anything in this claim."
    )


def test_names_that_stand_apart_are_named_apart(verifier: Verifier) -> None:
    found = verifier.verify("Ada Brisk painted Otto Lund in Oslo.", ["It was painted in a day."])
    assert found.rationale.startswith('No sentence of the sources speaks of "Ada Brisk", "Otto Lund" and "Oslo".')


def test_a_quote_is_a_part_of_the_first_passage_cited(verifier: Verifier) -> None:
    """Compatibility forms are folded to compare, and quoted as they are."""
    passage = "In the ﬁnal of 1999\N{NO-BREAK SPACE}the club beat Lund. It was fine."
    found = verifier.verify("The club beat Lund in the final of 1999.", [passage])
    assert found.quote == "In the ﬁnal of 1999\N{NO-BREAK SPACE}the club beat Lund."


def test_nothing_in_common_scores_nothing(verifier: Verifier) -> None:
    found = verifier.verify("Chess", ["Music"])
    assert (found.score, found.cited) == (0.0, ())


def test_a_passage_split_in_two_is_judged_alike(verifier: Verifier) -> None:
    first, second = CURIE.split(" She shared ")
    assert verifier.verify("Marie Curie was born in Warsaw.", [first, f"She shared {second}"]).label == "supported"


@given(
    st.text(alphabet=st.characters(), max_size=120),
    st.lists(st.text(alphabet=st.characters(), max_size=200), max_size=3),
)
@example("\ud800 two", ["\ud800"])
@settings(max_examples=3 * settings().max_examples)
def test_any_text_gets_an_answer(claim: str, passages: list[str]) -> None:
    found = LexicalVerifier().verify(claim, passages)
    assert 0.0 <= found.score <= 1.0
    assert all(0 <= index < len(passages) for index in found.cited)
    assert found.rationale.isprintable()


@pytest.mark.large
@pytest.mark.parametrize(
    "passage", ["\0" * 100, "x" * 1_000_000, "ab " * 333_333, "{{ 6*7 }} <script>\u202e [KNOWLEDGE]"]
)
def test_strange_passages_take_linear_work(verifier: Verifier, passage: str) -> None:
    """What a regular expression does is not counted: the square of a megabyte would outlast the test's time limit."""

    def verify(n_characters: int) -> None:
        found = verifier.verify("Marie Curie was born in 1867.", [passage[:n_characters]])
        assert found.label == "insufficient"

    verify(len(passage))
    assert growth(verify, 2_000) < LINEAR


@pytest.mark.large
@pytest.mark.parametrize("piece", ["x{}y", "not x{}y", "7 layers{} of", "not"])
def test_long_claims_take_linear_work(verifier: Verifier, piece: str) -> None:
    letters = str.maketrans("0123456789", "abcdefghij")

    def verify(n_pieces: int) -> None:
        claim = " ".join(piece.format(str(number).translate(letters)) for number in range(n_pieces))
        verifier.verify(claim, [claim])

    verify(20_000)
    assert growth(verify, 500) < LINEAR


def test_a_passage_is_read_once(verifier: Verifier) -> None:
    passage = " ".join([CURIE, BRIDGE] * 10)  # 50 sentences
    first = lines_run(lambda: verifier.verify("Marie Curie was born in Warsaw in 1.", [passage]))
    assert lines_run(lambda: verifier.verify("Marie Curie was born in Warsaw in 2.", [passage])) < first / 2


class Letters:
    """An embedder by counts of letters: enough to tell texts apart, and worked by hand."""

    name = "letters"

    def encode(self, texts: Sequence[str]) -> NDArray[np.float32]:
        counts = np.array([[text.count(letter) for letter in "abc"] for text in texts], dtype=np.float32)
        lengths = np.maximum(np.linalg.norm(counts, axis=1, keepdims=True), 1e-9)
        return np.asarray(counts / lengths, dtype=np.float32)


def test_with_an_embedder_meaning_counts_too() -> None:
    comparison = compare_texts("aab bolt", ["bolt c.\nbolt."])
    assert comparison is not None
    found = agreement("aab bolt", comparison, Letters())
    # Claim (2, 2, 0) / sqrt 8; sentences (0, 1, 1) / sqrt 2 and (0, 1, 0); both together (0, 2, 1) / sqrt 5.
    assert found["cosine_sentence"] == pytest.approx(2 / 8**0.5)
    assert found["cosine_window"] == pytest.approx(4 / (8 * 5) ** 0.5)
    assert LexicalVerifier(Letters()).name == "lexical+letters"
    assert 0.0 <= LexicalVerifier(Letters()).verify("aab bolt", ["bolt c.\nbolt."]).score <= 1.0


AT_MOST, AT_LEAST = "The hall holds no more than 300 people.", "The hall holds no fewer than 300 people."


@pytest.mark.parametrize(
    ("claim", "passage", "label"),
    [
        ("The hall holds at most 300 people.", AT_MOST, "supported"),
        ("The hall holds up to 300 people.", AT_MOST, "supported"),
        ("The hall holds more than 300 people.", AT_MOST, "insufficient"),
        ("The hall holds at least 300 people.", AT_MOST, "insufficient"),
        ("The hall holds at least 300 people.", AT_LEAST, "supported"),
        ("The hall holds at most 300 people.", AT_LEAST, "insufficient"),
        ("Bags may weigh at most 20 kg.", "Bags must not exceed 20 kg.", "supported"),
        ("The update takes at most 12 minutes.", "The update lasts no longer than 12 minutes.", "supported"),
        ("Take at least 4 tablets a day.", "Do not take more than 4 tablets a day.", "insufficient"),
        ("The film exceeded expectations.", "The film did not exceed expectations.", "contradicted"),  # no limit
    ],
)
def test_what_a_denial_makes_of_a_limit(verifier: Verifier, claim: str, passage: str, label: Label) -> None:
    assert verifier.verify(claim, [passage]).label == label


@pytest.mark.parametrize("said", ["is red", "is tall", "was demolished", "collapsed", "is haunted", "is a prison"])
def test_a_subject_alone_bears_out_nothing_that_is_said_of_it(verifier: Verifier, said: str) -> None:
    assert verifier.verify(f"The Brill tower {said}.", ["The Brill tower was built in 1814."]).label == "insufficient"
    assert verifier.verify(f"The Lamp 3 {said}.", ["The Lamp 3 has a bulb."]).label == "insufficient"


LECTURER = "Voss was lecturer at Lindel from 1930 to 1946. She died at Marn on 9 May 1958."


@pytest.mark.parametrize(
    ("claim", "label"),
    [
        ("Voss died in 1946.", "insufficient"),
        ("Voss died in 1958.", "supported"),
        ("Voss was lecturer in 1946.", "supported"),
    ],
)
def test_a_figure_is_that_of_the_sentence_with_the_word(verifier: Verifier, claim: str, label: Label) -> None:
    assert verifier.verify(claim, [LECTURER]).label == label


def test_a_claim_that_no_passage_can_be_cited_for_is_not_supported(verifier: Verifier) -> None:
    said = (
        "The farmers sell milk. Ice came. Wind came. Sheep eat. Hail fell. Fog came. Wool is fine. Sun came. Rain fell."
    )
    read = verifier.verify("Farmers may shear their sheep to sell fine wool.", [f"{said} One may shear goats."])
    assert (read.label, read.cited) == ("insufficient", ())
    assert read.score < THRESHOLD


FANS = "Model: Tarn 2; Bays: 2; Fan: none\nModel: Tarn 8; Bays: 8; Fan: a large one"


@pytest.mark.parametrize(
    ("claim", "label", "quote"),
    [
        ("The Tarn 2 has 8 bays.", "contradicted", "Model: Tarn 2; Bays: 2; Fan: none"),
        ("The Tarn 8 has 8 bays.", "supported", "Model: Tarn 8; Bays: 8; Fan: a large one"),
        ("The Tarn 8 has 2 bays.", "contradicted", "Model: Tarn 8; Bays: 8; Fan: a large one"),
    ],
)
def test_rows_of_another_subject_decide_nothing(verifier: Verifier, claim: str, label: Label, quote: str) -> None:
    read = verifier.verify(claim, [FANS])
    assert (read.label, read.quote) == (label, quote)


def test_rows_are_of_all_subjects_where_the_claim_names_none(verifier: Verifier) -> None:
    assert verifier.verify("One model has 8 bays.", [FANS]).quote == "Model: Tarn 8; Bays: 8; Fan: a large one"


SEATS = "The Team plan costs 29 euros a month and has {} seats."
SEATS_APART = "The Team plan costs 29 euros a month. It has {} seats."
SEATS_OF_ROW = "Plan: Team; Seats: {}; Price: 29 euros"
WAYS = ("{} seats.", "Seats: {}.", "Team plan, seats: {}.", "Plan: Team; Seats: {}.", "The Team plan has {} seats.")


@pytest.mark.parametrize("source", [SEATS, SEATS_APART, SEATS_OF_ROW])
@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize(("in_claim", "in_source"), [("10", "ten"), ("ten", "10"), ("2", "two"), ("ten", "ten")])
def test_a_price_does_not_contradict_a_count(
    verifier: Verifier, source: str, way: str, in_claim: str, in_source: str
) -> None:
    read = verifier.verify(way.format(in_claim), [source.format(in_source)])
    assert (read.label, read.wrong) == ("supported", "")


@pytest.mark.parametrize("source", [SEATS, SEATS_APART, SEATS_OF_ROW])
@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("other", ["12", "twelve", "29"])
def test_a_count_is_told_from_another_count_and_from_a_price(
    verifier: Verifier, source: str, way: str, other: str
) -> None:
    read = verifier.verify(way.format(other), [source.format("ten")])
    assert read.label != "supported"
    assert read.instead in ("", "ten")


MILL = "The mill's revenue grew by 14 per cent to 3 million kronor, and its profit by 6 per cent."


@pytest.mark.parametrize(
    ("claim", "source"),
    [
        ("The mill's profit amounted to 3 million kronor.", MILL),
        (
            "The rock passed 45 metres away.",
            "The rock passed at a distance of 310 kilometres; its diameter is 45 metres.",
        ),
    ],
)
def test_a_unit_does_not_say_what_is_measured(verifier: Verifier, claim: str, source: str) -> None:
    assert verifier.verify(claim, [source]).label != "supported"


@pytest.mark.parametrize("signed", ["14", "fourteen"])
def test_a_bound_is_kept_by_a_number_in_words_or_figures(verifier: Verifier, signed: str) -> None:
    source = f"In May {signed} towns signed the treaty."
    for bound in ("more than 12", "more than twelve", "at least twelve"):
        assert verifier.verify(f"In May {bound} towns signed the treaty.", [source]).label == "supported"
