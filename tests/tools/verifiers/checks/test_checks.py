"""What the checks object to, with a true twin beside each case: like is compared with like alone."""

from __future__ import annotations

import pytest

from factloop.tools.verifiers.alignment import Alignment, align
from factloop.tools.verifiers.checks.all import CHECKS, contradicts, find_mismatch
from factloop.tools.verifiers.reading import read_together
from factloop.tools.verifiers.terms import read_sentences


def aligned(claim: str, evidence: str) -> Alignment:
    return align(read_together(read_sentences(claim)), read_together(read_sentences(evidence)))


CASES = [
    (
        "counts",
        "The ferry carried 212 passengers and 31 crew.",
        "The ferry carried 31 crew.",
        "The ferry carried 212 crew.",
    ),
    ("counts", "The canal is 46 kilometres long.", "The canal runs for 46 km.", "The canal runs for 46 miles."),
    (
        "counts",
        "The app needs version 3.8 and listens on port 443.",
        "The app needs version 3.8.",
        "The app needs version 3.9.",
    ),
    (
        "counts",
        "Four towers stood there. The third tower was lit.",
        "The third tower was lit.",
        "Five towers stood there.",
    ),
    ("counts", "She isolated a gram of radium and won two prizes.", "She won two prizes.", "She isolated two grams."),
    (
        "durations",
        "After five attempts an account is locked for 30 minutes.",
        "An account is locked for 30 minutes.",
        "An account is locked for an hour.",
    ),
    ("durations", "The token lasts for 24 hours.", "The token lasts for a day.", "The token lasts for a week."),
    (
        "durations",
        "Warranty: 2 years on frames, 1 year on lamps.",
        "Lamps carry a one-year warranty.",
        "Frames carry a one-year warranty.",
    ),
    (
        "dates",
        "In 1881 Marlow entered Trinity College.",
        "Marlow entered Trinity College in 1881.",
        "Marlow entered Trinity College in 1880.",
    ),
    (
        "dates",
        "Curie shared a prize in 1903 and won another eight years later.",
        "Curie won another prize in 1911.",
        "Curie won another prize in 1908.",
    ),
    (
        "dates",
        "The treaty was signed in the 16th century.",
        "The treaty was signed in the 1500s.",
        "The treaty was signed in the 1800s.",
    ),
    (
        "figures of others",
        "The tower was begun in 1841, but the lamp was lit in 1846.",
        "The lamp was lit in 1846.",
        "The lamp was lit in 1841.",
    ),
    (
        "nearer numbers",
        "The wing, 28 metres tall and 64 metres long, was opened.",
        "The wing has a height of 28 metres.",
        "The wing has a length of 28 metres.",
    ),
    (
        "limits",
        "Backups are kept for up to 90 days.",
        "Backups are kept at most 90 days.",
        "Backups are kept at least 90 days.",
    ),
    (
        "ends of time",
        "The road was closed until 1990.",
        "The road was closed until 1990.",
        "The road was closed since 1990.",
    ),
    ("roles", "Ada beat Bob in the final.", "Bob was beaten by Ada in the final.", "Bob beat Ada in the final."),
    ("roles", "Marquez beat the champion Ito.", "Ito lost to Marquez.", "Marquez lost to Ito."),
    (
        "agents",
        "Bob designed the bridge, and Ada built it.",
        "Bob designed the bridge.",
        "Ada designed the bridge.",
    ),
    ("comparisons", "Paris is larger than Lyon.", "Lyon is smaller than Paris.", "Lyon is larger than Paris."),
    ("denials", "Bob failed to win the cup.", "Bob did not win the cup.", "Bob won the cup."),
    (
        "denials",
        "Weight gain was not seen in the trial.",
        "The trial showed no weight gain.",
        "The trial showed weight gain.",
    ),
    ("denials", "None of her diaries were printed.", "Her diaries remained unprinted.", "Her diaries were printed."),
    ("opposites", "Vitamin C prevents scurvy.", "Scurvy is prevented by vitamin C.", "Scurvy is caused by vitamin C."),
    ("opposites", "She lost her right eye.", "She lost her right eye.", "She lost her left eye."),
    ("opposites", "The museum is free for children.", "It is free for children.", "The museum charges children."),
    (
        "opposites nearby",
        "The museum opens at 10 and is closed on Mondays.",
        "The museum is closed on Mondays.",
        "The museum is open on Mondays.",
    ),
    ("denials", "It may be taken with or without food.", "It may be taken with food.", "It is not taken with food."),
    ("opposites", "The gate is locked at night.", "At night the gate is locked.", "The gate is unlocked at night."),
    (
        "degrees",
        "The new pump uses more power.",
        "More power is used by the new pump.",
        "The new pump uses less power.",
    ),
    (
        "comparisons",
        "The pump uses more oil than a fan.",
        "A fan uses less oil than the pump.",
        "The pump uses less oil than a fan.",
    ),
    (
        "more than one",
        "The lamp has two fans and a switch.",
        "The lamp has one switch.",
        "The lamp has one fan.",
    ),
    ("counts", "Two fans cool it.", "It has no fan; the two sold well.", "Three fans cool it."),
    (
        "limits",
        "Doses above 4 mg a day must not be given.",
        "The maximum dose is 4 mg a day.",
        "The minimum dose is 4 mg a day.",
    ),
    ("limits", "Versions from 13 on work.", "Version 13 or newer works.", "Version 13 or earlier works."),
    ("denials", "The lamp has no fan.", "The lamp is fanless.", "The lamp has a fan."),
    ("denials", "The lamp has a fan.", "The lamp has a fan.", "The lamp is fanless."),
    (
        "denials",
        "The doctorate was the first that the faculty had given to a woman.",
        "Before, no woman had been given a doctorate by the faculty.",
        "The doctorate was not given to a woman.",
    ),
    (
        "denials",
        "The inspectors found cracks in the pillars. The foundation was not damaged.",
        "The inspection found no damage to the foundation.",
        "The inspection found damage to the foundation.",
    ),
    (
        "opposite deeds",
        "Remedies for sickness weaken the effect of the tablets and must not be used at the same time.",
        "Remedies for sickness weaken the effect of the tablets.",
        "Remedies for sickness strengthen the effect of the tablets.",
    ),
    (
        "opposite deeds",
        "The remedy weakens the effect of the tablets.",
        "Since that drug weakens their effect, it is not used.",
        "It is used at night, since that drug strengthens their effect.",
    ),
    (
        "opposites nearby",
        "The males can fly, whereas the females have no wings.",
        "The females are wingless.",
        "The males are wingless.",
    ),
    (
        "parts",
        "There were 2,300 plates, of which 1,740 are preserved.",
        "She made 2,300 plates, of which 1,740 are preserved.",
        "She made 2,300 plates, all of which are preserved.",
    ),
    (
        "causes",
        "The harvest failed because of a fungus. Drought played no part.",
        "It was because of a fungus that the harvest failed.",
        "It was because of drought that the harvest failed.",
    ),
    (
        "causes",
        "Tanaka left in protest, not on account of his health.",
        "Tanaka left in protest.",
        "Tanaka left because of his health.",
    ),
    ("levelled", "Women and men were paid the same.", "Women and men were paid.", "Women were paid more than men."),
    (
        "figures of other clauses",
        "The hall of the library seats 90 people, but the café has 40 chairs.",
        "The hall of the library seats 90 people.",
        "The hall of the library seats 40 people.",
    ),
    ("quantifiers", "Most members voted for it.", "The majority of members voted for it.", "All members voted for it."),
    (
        "only",
        "Sign-on is part of Team and Enterprise.",
        "Sign-on is part of Enterprise.",
        "Sign-on is part of Enterprise only.",
    ),
    ("fillings", "The tower was built of oak.", "The tower was built of oak.", "The tower was built of granite."),
    (
        "fillings",
        "Salt came from Lenz, timber from Oberau.",
        "They got timber from Oberau.",
        "They got timber from Lenz.",
    ),
    (
        "fillings",
        "Logs are on the Enterprise plan. The Team plan has chat.",
        "The Enterprise plan has logs.",
        "The Team plan has logs.",
    ),
]


@pytest.mark.parametrize(("check", "evidence", "true", "false"), CASES)
def test_the_false_twin_alone_is_objected_to(check: str, evidence: str, true: str, false: str) -> None:
    assert list(CHECKS[check](aligned(false, evidence)))
    assert find_mismatch(aligned(false, evidence)) is not None
    assert find_mismatch(aligned(true, evidence)) is None


@pytest.mark.parametrize(
    ("claim", "is_true"),
    [
        ("The pool is closed on Sundays.", True),
        ("The pool is open on Sundays.", False),
        ("The sauna is open on Sundays.", True),
        ("The sauna is closed on Sundays.", False),
    ],
)
def test_what_the_next_sentence_says_of_another_thing_is_no_support(claim: str, is_true: bool) -> None:
    evidence = "The pool is closed on Sundays. The sauna is open on Sundays."
    alignment = aligned(claim, evidence)
    mismatch = find_mismatch(alignment)
    assert (mismatch is None) == is_true
    if mismatch is not None:
        assert {mismatch.wrong(alignment), mismatch.instead(alignment)} == {"open", "closed"}
        assert contradicts(alignment, mismatch)


@pytest.mark.parametrize(
    ("claim", "evidence"),
    [
        (
            "The planet spins fast despite its large size.",
            "Its axial tilt is small. The planet spins fast. Its size is great.",
        ),
        ("The expedition lasted five weeks.", "On the first expedition they spent five weeks."),  # no form of *last*
        ("Lund moved to New York.", "Lund sold the old farm and moved to York."),
        ("Lund wrote not only songs.", "Lund wrote songs and plays."),
        ("The town was rebuilt only to burn again.", "The town was rebuilt and burned again."),
        ("It was her only book.", "She published no other book."),
        ("During the upgrade the board is read-only.", "During the upgrade the board can be read, not written."),
        (
            "In 1905 he gave up, and the two exchanged letters.",
            "In 1905 he gave up. The 61 letters were exchanged.",
        ),
        ("A brother and a sister founded it.", "It was founded by a woman and her brother."),
        ("One of the fans is loud.", "The lamp has two fans, and the first fan is loud."),
        ("One particle acts on the other particle.", "Two particles act on one another."),
        ("Children get in free of charge.", "For children it is free."),
        (
            "Ferries run often, which those who did not book may regret.",
            "Ferries run often. Those who book may regret it.",
        ),
    ],
)
def test_what_is_said_of_another_thing_is_no_mismatch(claim: str, evidence: str) -> None:
    assert find_mismatch(aligned(claim, evidence)) is None


@pytest.mark.parametrize(
    ("claim", "evidence", "wrong", "instead"),
    [
        ("The tower was opened in 1880.", "The tower was opened in 1881.", "1880", "1881"),
        ("The tower was opened in May 1881.", "The tower was opened in June 1881.", "May", "June"),
        ("The canal runs for 46 miles.", "The canal runs for 46 kilometres.", "46 miles", "46 kilometres"),
        ("The lid was open.", "The lid was closed.", "open", "closed"),
        ("It is open on Mondays.", "It opens at 10 and is closed on Mondays.", "open", "closed"),
        ("Women earn more than men.", "Women and men earn the same.", "more", "same"),
        ("All members voted.", "Most members voted.", "All", "Most"),
    ],
)
def test_a_contradiction_names_both_sides(claim: str, evidence: str, wrong: str, instead: str) -> None:
    alignment = aligned(claim, evidence)
    mismatch = find_mismatch(alignment)
    assert mismatch is not None
    assert contradicts(alignment, mismatch)
    assert (mismatch.wrong(alignment), mismatch.instead(alignment)) == (wrong, instead)


def test_a_passive_of_another_verb_turns_no_sides() -> None:
    evidence = "Marlow, often called a pioneer, was asked by the president of the union to design the third bridge."
    assert find_mismatch(aligned("Marlow designed the third bridge.", evidence)) is None
    assert find_mismatch(aligned("The bridge was designed by Marlow.", "Marlow designed the bridge.")) is None


@pytest.mark.parametrize(
    ("claim", "evidence"),
    [
        ("Marlow was born in Lund in 1880.", "Marlow studied in Oslo in 1881."),  # another matter
        ("In 1880 Marlow entered Trinity College.", "In 1881 Marlow matriculated at Trinity College."),  # another verb
        ("Marlow sang at the opera.", "Perhaps Marlow danced at the opera."),  # no check
        ("Sign-on is part of Enterprise only.", "Sign-on is part of Team and Enterprise."),  # it need not exclude
        ("The tower was built of granite.", "The tower was built of oak."),  # a tower is of many things
        ("The Brill tower was demolished.", "The Brill tower was built."),  # at another time
        ("Tom was dismissed.", "Tom was hired in 1990."),
    ],
)
def test_a_doubtful_difference_is_no_contradiction(claim: str, evidence: str) -> None:
    alignment = aligned(claim, evidence)
    mismatch = find_mismatch(alignment)
    assert mismatch is None or not contradicts(alignment, mismatch)


def test_a_sentence_that_says_it_clears_what_another_says() -> None:
    evidence = "Lund did not win the cup in 1921. Lund won the cup in 1922."
    assert find_mismatch(aligned("Lund won the cup in 1922.", evidence)) is None
