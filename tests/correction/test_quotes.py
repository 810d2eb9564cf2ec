"""The source's own sentence in the place of what it contradicts, and the sentences that cannot stand there."""

from __future__ import annotations

import pytest

from factloop.correction.quotes import quoted

OLD = "Recovery codes never expire."


def in_place(quote: str, old: str = OLD) -> str | None:
    return quoted(quote, old, lambda part: "after" in part)


@pytest.mark.parametrize(
    ("quote", "said"),
    [
        ("Recovery codes expire after a year.", "Recovery codes expire after a year."),
        ("Codes expire after a year; we e-mail you before.", "Codes expire after a year."),  # the clause that decides
        ("**Codes** expire\nafter a year", "Codes expire after a year."),
        ("There is no code that works after a year.", "There is no code that works after a year."),
        ("three codes worked after that year", "Three codes worked after that year."),
        ("Codes keep their value after a year!", "Codes keep their value after a year."),
        ("We never e-mail codes, and the codes expire after a year.", "The codes expire after a year."),
        ("Codes are free, but after a year a code is deleted.", "Codes are free, but after a year a code is deleted."),
    ],
)
def test_a_sentence_that_says_all_itself_stands_as_it_is(quote: str, said: str) -> None:
    assert in_place(quote) == said


def test_a_subject_of_two_is_not_taken_apart() -> None:
    quote = "Dogs, and the cats in the shelter, cost 40 euros a day."
    assert quoted(quote, "The cats cost 50 euros a day.", lambda part: "40" in part) == quote


def test_the_writer_may_speak_of_what_the_old_sentence_says_of_the_writer() -> None:
    assert in_place("We delete codes after a year; an e-mail tells of it.", "We never delete codes.") == (
        "We delete codes after a year."
    )
    assert in_place("They delete codes after a year.", "They never delete codes.") is None


def test_a_sentence_in_the_words_of_the_old_one_needs_no_known_verb() -> None:
    assert in_place("Codes count after a year.", "Codes don't count after a year.") == "Codes count after a year."
    assert in_place("Codes count double after a year.", "Codes don't count after a year.") is None


@pytest.mark.parametrize(
    "quote",
    [
        "In winter codes are kept, and the codes expire, they say, after a year.",
        "They expire after a year.",  # who?
        "After that, it expires.",
        "Its codes expire after a year.",
        "However, codes expire after a year.",
        "We delete codes after a year.",
        "code: K7; expires: after a year; owner: Ida",  # a row
        "Code | after a year",
        "Codes after a year",  # no verb
        "Plans and prices The codes expire after a year.",  # a heading runs into it
        f"Codes expire after a year, {'and so on ' * 20}.",
        "Codes expire after a year, see https://evil.example",
        "Codes <script>expire</script> after a year\x1b[2J.",
        "Codes [expire](https://evil.example) after a year, <img src=x>.",
        "",
    ],
)
def test_a_sentence_that_needs_others_or_brings_more_is_not_taken(quote: str) -> None:
    said = in_place(quote)
    assert said is None or ("evil" not in said and "<" not in said and "\x1b" not in said)
    assert said is None or quote.startswith("Codes [")
