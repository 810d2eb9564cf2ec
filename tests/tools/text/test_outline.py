"""A response in reading order: the sentences of the splitter, with headings, heads of tables, code, what is above."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from factloop.tools.text.outline import read_outline
from factloop.tools.text.sentences import split_sentences

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


@pytest.mark.parametrize(
    "title",
    ["**Prices**", "__Prices__", "**Prices:**", "**Prices** :", "***Prices***", "- **Prices**", "**Team_plan prices**"],
)
def test_a_line_that_is_bold_alone_heads_what_is_below(title: str) -> None:
    heading, said = parts(f"{title}\nThe Team plan costs 29 euros.")
    assert (heading[0], said[:2]) == ("heading", ("prose", "The Team plan costs 29 euros."))
    assert said[2] in ("Prices", "Team_plan prices")


@pytest.mark.parametrize(
    "said", ["It was lit in 1759.", "One line,\nand one more", "- It was lit", f"It {'was ' * 40}lit"]
)
def test_a_rule_right_under_what_is_said_hides_no_claim(said: str) -> None:
    assert not {kind for kind, _, _ in parts(f"{said}\n---\nThen it fell.")} & {"heading"}


def test_items_of_an_inner_list_keep_the_lead_that_stands_over_them() -> None:
    text = "Models:\n\n- Tarn 4:\n  - two ports\n    1. one\n  - a fan\n- Tarn 8:\n\t- four ports\n- others\n\nThen."
    assert [(said, above) for _, said, above in parts(text)] == [
        ("Models:", ""),
        ("Tarn 4:", "Models:"),
        ("two ports", "Models:\nTarn 4:"),
        ("one", "Models:\nTarn 4:\ntwo ports"),
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


@pytest.mark.parametrize(
    ("row", "text"),
    [
        ("| | Hugh Trask | 1850 |", "| | Hugh Trask | 1850 |"),
        ("| Oss Hall | Hugh Trask | |", "| Oss Hall | Hugh Trask | |"),
        ("|| Hugh Trask ||", "|| Hugh Trask ||"),
        ("|  | Hugh Trask | 1850", "|  | Hugh Trask | 1850"),
        ("| Oss Hall | | 1850 |", "Oss Hall | | 1850"),
        ("| Oss Hall | Hugh Trask | 1850 |", "Oss Hall | Hugh Trask | 1850"),
    ],
)
def test_a_row_keeps_its_empty_cells(row: str, text: str) -> None:
    head, found = read_outline(f"| Building | Designer | Year |\n|---|---|---|\n{row}\n")
    assert (found.kind, found.text, found.above) == ("row", text, head.text)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("The halls of the old town are these:\n2. Oss Hall\n3. Arden Hall", ["Oss Hall", "Arden Hall"]),
        ("1. Oss Hall\n3. Arden Hall\n10. Lindel Hall", ["Oss Hall", "Arden Hall", "Lindel Hall"]),
        ("It was lit. It was seen from afar in Lindel.\n34. Nobody knows.", ["Nobody knows."]),
        ("[Oss Hall](https://oss.example)\n[Arden](https://arden.example)", ["[Arden](https://arden.example)"]),
        ("Use `oss`\nIt is `free`", ["Use `oss`", "It is `free`"]),
    ],
)
def test_a_list_and_lines_of_their_own_are_no_wrapped_lines(text: str, expected: list[str]) -> None:
    assert [one.text for one in split_sentences(text)][-len(expected) :] == expected
