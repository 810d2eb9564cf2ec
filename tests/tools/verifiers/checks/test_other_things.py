"""What a passage says of another thing, place or time: no contradiction, and no reason that is told."""

from __future__ import annotations

import pytest

from factloop.tools.verifiers.lexical import LexicalVerifier


@pytest.fixture(scope="module")
def verifier() -> LexicalVerifier:
    return LexicalVerifier()


@pytest.mark.parametrize(
    ("claim", "passage"),
    [
        ("Prices went up in 1990.", "Prices went down in 1985. In 1990 they went up."),
        ("Exports rose in 2010.", "Imports fell in 2010."),
        ("The upper road is safe in winter.", "The lower road is dangerous in winter."),
        ("The garden is open in winter.", "The garden is open all year. The house is closed in winter."),
        ("The light turns red before trains pass.", "The light turns green after trains pass and red before them."),
        ("The lamp is green when it is ready.", "The lamp is red while it charges and green when it is ready."),
        ("Lund lost the match in Oslo.", "Lund won the match in Bergen."),
        ("Lund won the match.", "Lund lost the match in 1949."),
        ("The team lost its last game.", "The team won its first game."),
        ("The flight takes 2 hours.", "The drive takes 5 hours, the flight two."),
        ("The café is cheap in the evening.", "The restaurant is expensive in the evening."),
        ("The X4 prints faster than the X2.", "The X2 prints 24 pages a minute. The X4 prints faster: 32 pages."),
        ("In trial A 118 men were given a placebo.", "Trial A gave 120 men the new drug and 118 a placebo."),
        ("She stopped coaching the team in 2014.", "She coached the team from 2010 and left in 2014."),
        ("Black tea is drawn for four minutes.", "Green tea should be drawn for two minutes, black tea for four."),
        ("On Fridays visitors may stay until ten.", "Visitors may stay until nine, on Fridays until ten."),
        ("The salves keep for six months.", "Tablets keep for three years, salves for six months."),
        ("At night adults take one tablet.", "Adults take two tablets in the morning and one at night."),
        ("Voss allowed four visitors.", "Under Rahn patients were allowed two visitors, under Voss four."),
        ("Kestrel 2 had no dark mode.", "Kestrel 3 adds dark mode, which Kestrel 2 lacked."),
        ("Some rooms do not face south.", "Most rooms face south; four face the yard."),
        ("The Aln did not flood Benfold in 2013.", "In 1953 the Aln flooded Benfold; in 2013 it stayed dry."),
    ],
)
def test_the_opposite_of_another_thing_is_no_contradiction(verifier: LexicalVerifier, claim: str, passage: str) -> None:
    assert verifier.verify(claim, [passage]).label != "contradicted"


@pytest.mark.parametrize(
    ("claim", "passage"),
    [
        ("The town lies in a rural district.", "The town lies in an urban district."),
        ("Prices went down in 1990.", "Prices went up in 1990."),
        ("Exports fell in 2010.", "Imports fell in 2010. Exports rose in 2010."),
        ("The museum is closed on Sundays.", "The library is closed on Sundays. The museum is open on Sundays."),
        ("The lamp blinks orange.", "The lamp blinks blue."),
        ("Lund lost the match in Oslo.", "Lund won the match in Oslo."),
        ("The upper road is safe in winter.", "The upper road is dangerous in winter."),
        ("The flight takes 5 hours.", "The flight takes 2 hours."),
        ("Half of the seats are sold.", "25 percent of the seats are sold."),
        ("The hostel has 26 beds.", "The old house by the sea is now a hostel with 16 beds."),
        ("The X4 prints 24 pages a minute.", "The X4 prints 32 pages a minute."),
        (
            "Black tea is drawn for five minutes.",
            "Green tea is drawn for two minutes. Black tea is drawn for four minutes.",
        ),
        ("Voss allowed four visitors.", "Voss allowed two visitors."),
        ("The salves keep for three months.", "Tablets keep for three years, salves for six months."),
        ("At night adults take one tablet.", "At night adults take two tablets."),
        ("Kestrel 2 has 4 GB of memory.", "Kestrel 2 has 2 GB of memory."),
        ("Some rooms do not face south.", "All rooms face south."),
        ("The Aln did not flood Benfold in 2013.", "In 2013 the Aln flooded Benfold."),
    ],
)
def test_the_opposite_of_the_same_thing_is_contradicted(verifier: LexicalVerifier, claim: str, passage: str) -> None:
    assert verifier.verify(claim, [passage]).label == "contradicted"


@pytest.mark.parametrize(
    ("claim", "passage"),
    [
        ("The line closed in 1943.", "The line opened in 1901."),
        ("The line closed in 1943.", "The station on the line closed in 1951."),
        ("The line closed in 1943.", "The line, which had closed in 1917, was shut again later."),
        ("Lund won the final in 1950.", "Lund lost the final in 1949 and won that of 1950."),
        ("Berg lost to Lund in 1962.", "Berg won against Lund in 1961 and lost to it in 1962."),
        ("Berg won the cup in 1962.", "Berg won the cup in 1960."),
        ("Sales rose in 1990.", "Sales rose in 1989."),
        ("Berg visited Oslo in 1962.", "Berg visited Oslo in 1960."),
        ("The lake was closed in July.", "The lake was closed to boats from June to August."),
        ("Quist served on the board in 2003.", "Quist served on the board between 1998 and 2007."),
    ],
)
def test_the_date_of_another_event_is_no_contradiction(verifier: LexicalVerifier, claim: str, passage: str) -> None:
    assert verifier.verify(claim, [passage]).label != "contradicted"


@pytest.mark.parametrize(
    ("claim", "passage"),
    [
        ("The line closed in 1943.", "The line closed in 1951."),
        ("Lund died in 1950.", "Lund died in 1951."),
        ("The tower was built in 1880.", "The tower was built in 1881."),
        ("The company was founded in 1904.", "The company was founded in 1914 and sold in 1920."),
        ("The hall was opened in May.", "The hall was opened in June."),
        ("The line closed in 1943.", "The line opened in 1901 and closed in 1951."),
        ("The Falcon was redesigned in 2019.", "The Falcon was launched in 2019 and redesigned in 2023."),
        ("The Falcon was launched in 2023.", "The Falcon was launched in 2019 and redesigned in 2023."),
        ("The lake was closed in May.", "The lake was closed from June to August."),
    ],
)
def test_another_date_of_the_same_event_is_contradicted(verifier: LexicalVerifier, claim: str, passage: str) -> None:
    assert verifier.verify(claim, [passage]).label == "contradicted"


@pytest.mark.parametrize(
    ("claim", "passage", "untold"),
    [
        ("The war lasted four years.", "The war ended in 1808. A battle lasted 4 hours.", '"4 hours"'),
        ("He ruled for four years.", "He spoke for 4 hours at his crowning. He ruled from 1804.", '"4 hours"'),
        ("The strike lasted six weeks.", "Talks went on for six hours. The strike ended late.", '"six hours"'),
        ("The garden is open in winter.", "The garden is open all year. The house is closed in winter.", '"closed"'),
        ("The stove is hot at night.", "The cellar is cold at night. The stove is hot.", '"cold"'),
        ("The line closed in 1943.", "The line opened in 1901.", '"1901"'),
    ],
)
def test_what_is_said_of_another_thing_is_no_reason(
    verifier: LexicalVerifier, claim: str, passage: str, untold: str
) -> None:
    read = verifier.verify(claim, [passage])
    assert read.label != "contradicted"
    assert untold not in read.rationale.split(": “")[0]


@pytest.mark.parametrize(
    ("claim", "passage", "told"),
    [
        (
            "The siege lasted four years.",
            "The siege lasted four months.",
            'The source says "four months", the claim "four years"',
        ),
        ("The battle lasted six hours.", "The battle lasted 4 hours.", 'The source says "4", the claim "six"'),
        ("The stove is hot at night.", "The stove is cold at night.", 'The source says "cold", the claim "hot"'),
        ("Two thirds of them voted.", "20 percent of them voted.", 'has "20" where the claim has "thirds"'),
        ("Any visitor can open the vault.", "Only the curator can open the vault.", '"Only the curator"'),
        ("The hut is 9 km away.", "The hut is 9 miles away.", 'The source says "9 miles", the claim "9 km"'),
    ],
)
def test_the_difference_in_the_same_thing_is_told(
    verifier: LexicalVerifier, claim: str, passage: str, told: str
) -> None:
    assert told in verifier.verify(claim, [passage]).rationale


def test_of_two_sides_exchanged_no_words_are_told_that_stand_apart(verifier: LexicalVerifier) -> None:
    read = verifier.verify("Tom hired Jim in May.", ["Jim hired Tom in May."])
    assert (read.label, read.wrong, read.instead) == ("contradicted", "", "")
