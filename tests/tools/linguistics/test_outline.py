"""A response in reading order: the sentences of the splitter, with headings, heads of tables, code, what is above."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from factloop.tools.linguistics.outline import Part, read_outline
from factloop.tools.linguistics.sentences import split_sentences

TEXT = """Here is what is known about Ada Brisk:

# Ada Brisk

Dame Ada Brisk wrote a book in 1820. She left.

## Oran Brisk
He did this:
- was born in Ulm and wrote in 1819
- **Born:** 1820

**Works**

| Name | Town |
|---|---|
| Ada Brisk | Ulm |

```bash
pip install nimbus-sync==4.2.0
```

## Later
Nothing more.
"""


def parts(text: str) -> list[tuple[str, str, str]]:
    return [(part.kind, part.text, part.above) for part in read_outline(text)]


def test_every_part_is_told_with_its_kind_and_what_stands_above_it() -> None:
    oran = "Ada Brisk\nOran Brisk"
    assert parts(TEXT) == [
        ("prose", "Here is what is known about Ada Brisk:", ""),
        ("heading", "Ada Brisk", ""),
        ("prose", "Dame Ada Brisk wrote a book in 1820.", "Ada Brisk"),
        ("prose", "She left.", "Ada Brisk"),
        ("heading", "Oran Brisk", "Ada Brisk"),
        ("prose", "He did this:", oran),
        ("item", "was born in Ulm and wrote in 1819", f"{oran}\nHe did this:"),
        ("item", "**Born:** 1820", f"{oran}\nHe did this:"),
        ("heading", "**Works**", oran),
        ("head", "Name | Town", f"{oran}\nWorks"),
        ("row", "Ada Brisk | Ulm", f"{oran}\nWorks\nName | Town"),
        ("code", "```bash\npip install nimbus-sync==4.2.0\n```", f"{oran}\nWorks"),
        ("heading", "Later", "Ada Brisk"),
        ("prose", "Nothing more.", "Ada Brisk\nLater"),
    ]


def test_a_line_under_a_short_line_makes_it_a_heading() -> None:
    text = "Opening hours\n=====\nThe shop is open.\n\nMuseum\n---\nIt is shut."
    assert parts(text) == [
        ("heading", "Opening hours", ""),
        ("prose", "The shop is open.", "Opening hours"),
        ("heading", "Museum", "Opening hours"),
        ("prose", "It is shut.", "Opening hours\nMuseum"),
    ]


@pytest.mark.parametrize("title", ["Side effects", "How to take it", "Berg’s tower", "Is it safe"])
def test_a_short_line_right_above_a_paragraph_heads_it(title: str) -> None:
    text = f"{title}\nIt was lit in 1759, and it fell when the great storm came.\n\nOther things\nIt is open."
    assert [(kind, above) for kind, _, above in parts(text)] == [
        ("heading", ""),
        ("prose", title),
        ("heading", ""),
        ("prose", "Other things"),
    ]


@pytest.mark.parametrize(
    "line",
    [
        "It was built of oak and iron by the engineer Ann", "It was lit.", "Built in 1759", "Lit: 1759", "small print",
        "The name of the", "- Oss Light", "Oss | Arden", "Oss and", "Oss, Arden,", "Who lit it? Ann",
    ],
)  # fmt: skip
def test_a_line_that_may_be_wrapped_or_tell_something_heads_nothing(line: str) -> None:
    below = "Marr, who had come to Arden from the town of Oss"
    assert "heading" not in {kind for kind, _, _ in parts(f"{line}\n{below}\nin May.")}
    assert "heading" not in {kind for kind, _, _ in parts(f"It is old,\nOss Light\n{below} in May.")}
    assert "heading" not in {kind for kind, _, _ in parts("Oss Light\nArden Light\nTrenn Light")}


@pytest.mark.parametrize(
    "title",
    ["**Prices**", "__Prices__", "**Prices:**", "**Prices** :", "***Prices***", "- **Prices**", "**Team_plan prices**"],
)
def test_a_line_that_is_bold_alone_heads_what_is_below(title: str) -> None:
    heading, said = parts(f"{title}\nThe Team plan costs 29 euros.")
    assert (heading[0], said[:2]) == ("heading", ("prose", "The Team plan costs 29 euros."))
    assert said[2] in ("Prices", "Team_plan prices")


@pytest.mark.parametrize("said", ["The bridge was opened in 1826.", "The Menai Bridge was opened in 1826 by Telford"])
def test_a_bold_sentence_is_a_sentence_of_its_own_that_heads_nothing(said: str) -> None:
    assert parts(f"**{said}**\nIt is long.") == [("prose", f"**{said}**", ""), ("prose", "It is long.", "")]


def test_sentences_in_one_bold_line_are_told_apart() -> None:
    assert [said for _, said, _ in parts("**It was lit. It fell in 1703.**")] == ["**It was lit.", "It fell in 1703.**"]


@pytest.mark.parametrize(
    "said", ["It was lit in 1759.", "One line,\nand one more", "- It was lit", f"It {'was ' * 40}lit"]
)
def test_a_rule_right_under_what_is_said_hides_no_claim(said: str) -> None:
    assert not {kind for kind, _, _ in parts(f"{said}\n---\nThen it fell.")} & {"heading"}


def test_a_table_without_a_line_of_dashes_has_no_head() -> None:
    assert [kind for kind, _, _ in parts("| Ada | 1815 |\n| Bob | 1820 |")] == ["row", "row"]


def test_the_head_of_one_table_is_not_above_the_next() -> None:
    two = "| Name | Town |\n|--|--|\n| Ada | Ulm |\n\nThen this.\n\n| Bob | Bern |"
    assert parts(two)[-1] == ("row", "Bob | Bern", "")


def test_items_of_an_inner_list_keep_the_lead_that_stands_over_them() -> None:
    text = "Models:\n\n- Tarn 4:\n  - two ports\n    1. one\n  - a fan\n- Tarn 8:\n\t- four ports\n- others\n\nThen."
    assert [(said, above) for _, said, above in parts(text)] == [
        ("Models:", ""),
        ("Tarn 4:", "Models:"),
        ("two ports", "Models:\nTarn 4:"),
        ("one", "Models:\nTarn 4:"),
        ("a fan", "Models:\nTarn 4:"),
        ("Tarn 8:", "Models:"),
        ("four ports", "Models:\nTarn 8:"),
        ("others", "Models:"),
        ("Then.", ""),
    ]


@given(st.text(alphabet="Ab1 .:|#-*`\n>", max_size=120))
def test_sentences_are_those_of_the_splitter_and_parts_stand_where_they_say(text: str) -> None:
    found = read_outline(text)
    told = [part for part in found if part.kind != "code"]
    assert [(part.text, part.start) for part in told] == [(one.text, one.start) for one in split_sentences(text)]
    for part in found:
        assert text[part.start : part.end] == part.text
    assert all(first.end <= second.start for first, second in pairwise(found))


@pytest.mark.large
@pytest.mark.parametrize(
    "line",
    [
        "# a\n",
        "- a:\n",
        "- a:\n - a:\n  - a:\n",
        "| a | b |\n|--|--|\n",
        "```sh\nx 1\n```\n",
        "**a**\n",
        "A b\nC d e.\n\n",
    ],
)
def test_work_grows_with_the_text_alone(line: str) -> None:
    """What stands above is bounded: else each part would carry all before it."""
    found: list[Part] = read_outline(line * 20_000)
    assert max(len(part.above) for part in found) < 2_500
