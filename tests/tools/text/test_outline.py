from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from factloop.tools.text.blocks import code_in, is_code_alone
from factloop.tools.text.growing import GrowingText
from factloop.tools.text.markup import plain_text
from factloop.tools.text.outline import read_outline
from factloop.tools.text.rows import cell_of, cell_with, row_claims
from factloop.tools.text.sentences import split_sentences
from tests.work import LINEAR, growth

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


TEXTS = {
    "Rome \x1b[31mis\x1b[0m \x9bold.": "Rome is old.",
    "\x1b]8;;https://example.org\x1b\\Rome\x1b]8;;\x07 is old.": "Rome is old.",
    "Rome \x1bis [31m old.": "Rome is [31m old.",
    "<p>Rome is in Italy.</p>": "Rome is in Italy.",
    "Rome is in <b>Italy</b>.<br/>": "Rome is in Italy.",
    """<a href="https://example.org/?q=1" class='x'>Rome</a> is old.""": "Rome is old.",
    "H<sub>2</sub>O is water.": "H2O is water.",
    "It has 10<sup>6</sup> people.": "It has 10^6 people.",
    "Rome is old.<sup>[3]</sup>": "Rome is old.",
    "<p></p>": "",
    "Rome <img src=x onerror=alert(2)> is old.": "Rome is old.",
    "<svg/onload=alert(1)>Rome is old.": "Rome is old.",
    "Rome <STYLE type='a'>p { a: b; }</STYLE>is old.": "Rome is old.",
    "Rome <!-- is new <b>and</b> --> is old.": "Rome is old.",
    "<button disabled>Rome is old.</button><input type=hidden value='Rome is new.'>": "Rome is old.",
    "[Rome](javascript:alert(4)) is old.": "Rome is old.",
    "[Rome](https://example.org/Rome_(city)) is old.": "Rome is old.",
    "Tokens open with `kd_live_`.": "Tokens open with kd_live_.",
    "`sk_test_` and ``pk__x`` are keys.": "sk_test_ and pk__x are keys.",
    "Set `__init__` and `*args`.": "Set __init__ and *args.",
    "Set my_app_ and _one_ more.": "Set my_app_ and one more.",
    "Rome is old. [unverified]": "Rome is old.",
    "Rome is old [contradicted].": "Rome is old.",
    "Close `<script>` with `</script>`.": "Close <script> with </script>.",
    'Put `<img src="x">` there.': 'Put <img src="x"> there.',
}
NO_TAGS = [
    "If a < b and c > d, then x.",
    "It holds for 5 <b and 7> c.",
    "Write to <ada@example.org> now.",
    "It returns a List<String> here.",
    "Run cp <source> <target> and set <style>.",
    "Rome [is](old (and big.",
    "Rome is in <claim>Italy</claim>.",
    "It was [unverified by anyone] in Rome.",
    "The state is unverified.",
    "Set kd_live_ and max_retry_count.",
]


def test_nothing_between_quotations_goes_where_utf_8_was_read_as_latin_1() -> None:
    said = "He said “yes”, the bridge weighs 3 tons, and “no” again. It weighs 5\x9b10 kg."
    read = plain_text(said.encode().decode("latin-1"))
    assert "the bridge weighs 3 tons" in read
    assert "10 kg" in read


@pytest.mark.parametrize(("text", "plain"), [*TEXTS.items(), *((text, text) for text in NO_TAGS)])
def test_simple_tags_are_taken_out_and_what_is_no_tag_stays(text: str, plain: str) -> None:
    assert plain_text(text) == plain


@pytest.mark.large
@pytest.mark.parametrize(
    "unit",
    ["<", "<a ", '<a b="', "<p a=b ", "</p", "<sup>[1", "10<sup>", "<!--", "<script>", "<img a ", "<input ", "[a](("],
)
def test_tags_without_an_end_are_no_trouble(unit: str) -> None:
    """Quadratic work would exceed the test's time limit."""
    assert isinstance(plain_text((unit * 1_000_000)[:1_000_000]), str)


CODE = [
    "x=1\ny = load(x)", '{"opened": 1921}', "$ make test\nThe build took 3 seconds.", "import numpy as np\nnp.zeros(3)",
    "for loaf in loaves:\n    bake(loaf)", 'git commit -m "Open the bakery in 1921"', "const opened = 1921;",
    "// The bakery opened in 1921.\nlet n = 42", "GET /v1/checks HTTP/1.1\nHost: example.org", ">>> 1 + 1\n2",
    "else:\n    # The oven is hot by now.\n    bake()", "requests\nnumpy\nlanggraph",
    "services:\n  web:\n    image: nginx",
    "while True:\n    '''Wait until the oven is hot.'''\n    wait()",
]  # fmt: skip
FENCED = [
    "<div>The bakery opened in 1921.</div>", "# Bramley bakery\n\nThe bakery opened in 1921.", "**Opened:** 1921",
    "- The bakery employs 42 people\n- It has three ovens", "| name | opened |\n|---|---|\n| Bramley | 1921 |",
    "the bakery opened in 1921", "“The bakery opened in 1921,” said Ada.", "$5 million was paid for the bakery.",
    "Die Bäckerei wurde 1921 in Leeds eröffnet.", "灯塔于1759年点亮。",
    "- the bakery opened in 1921;\n- it employs 42.",
    "The bakery employs 42 person(s)", "42 people work there", "aspirin lowers fever",
    "import tariffs\nThey rose to 20 percent in 2018.", "for adults:\nThe dose is 5 mg a day.",
]  # fmt: skip


def grown(text: str) -> list[str]:
    growing = GrowingText()
    found = [stretch for letter in text for stretch in growing.feed(letter)]
    return [one.sentence.text for one in (*found, *growing.end()) if one.sentence is not None]


@pytest.mark.parametrize("code", CODE)
@pytest.mark.parametrize("name", ["", "text"])
def test_code_is_told_without_the_name_of_its_language(code: str, name: str) -> None:
    block = f"```{name}\n{code}\n```"
    text = f"It fell.\n\n{block}\nIt rose.\n"
    expected = [("prose", "It fell."), ("code", block), ("prose", "It rose.")]
    assert [(part.kind, part.text) for part in read_outline(text)] == expected
    assert grown(text) == ["It fell.", block, "It rose."]


@pytest.mark.parametrize("text", FENCED)
def test_text_in_a_fence_is_read_at_once_and_as_it_grows(text: str) -> None:
    fenced, plain = f"It fell.\n\n```\n{text}\n```\n\nIt rose.\n", f"It fell.\n\n{text}\n\nIt rose.\n"
    assert list(code_in(fenced)) == []
    assert [one.text for one in split_sentences(fenced)] == [one.text for one in split_sentences(plain)]
    heads = {part.text for part in read_outline(fenced) if part.kind in ("head", "heading")}
    assert [one for one in grown(fenced) if one not in heads] == [
        one.text for one in split_sentences(plain) if one.text not in heads
    ]


@pytest.mark.parametrize("opened", ["md", "answer", ""])
def test_what_follows_the_end_of_a_fence_of_text_is_in_none(opened: str) -> None:
    text = f"```{opened}\nThe kiln was lit.\n```\nx = 1 sets it.\n\n```\nx = 1\n```\nIt was red.\n"
    code = ["```\nx = 1\n```"]
    assert [text[start:end] for start, end in code_in(text)] == code
    assert [one for one in grown(text) if one.startswith("`")] == code


@pytest.mark.parametrize(
    ("text", "is_code"),
    [
        ("`x = 1`", True),
        ("**`git push --force`**", True),
        ("`rm -r x`:", True),
        ("`It was lit in 1759.`", False),
        ("`x` is `3`", False),
        ("`The kiln is in Oss`", False),
        ("`bees make honey`", False),
    ],
)
def test_code_alone_between_backticks_is_code(text: str, is_code: bool) -> None:
    assert is_code_alone(text) is is_code


def test_a_fence_that_nothing_closes_hides_nothing_and_holds_nothing_back() -> None:
    assert [one.text for one in split_sentences("```\nx = 1\n\nThe kiln was lit.")] == ["x = 1", "The kiln was lit."]
    growing = GrowingText()
    text = "```\nsummary: kiln\n\n" + "The kiln was lit in 1759. " * 20
    stretches = [one for letter in text for one in growing.feed(letter)]
    assert len([one for one in stretches if one.sentence is not None]) > 10


@pytest.mark.parametrize("unit", ["```\nx\n", "```\nfor" + " in" * 90 + "\n", "```\n", "```\n" + "f(" * 300 + "\n"])
def test_work_is_linear(unit: str) -> None:
    assert growth(lambda n: list(code_in(unit * n)), 250) < LINEAR


HEAD = "| Plan | Price a month | Storage |"


@pytest.mark.parametrize(
    ("row", "head", "claims"),
    [
        ("| Team | **29 €** | 1 TB |", HEAD, ["Plan: Team; Price a month: 29 €.", "Plan: Team; Storage: 1 TB."]),
        ("Team | 29 € | 1 TB", HEAD, ["Plan: Team; Price a month: 29 €.", "Plan: Team; Storage: 1 TB."]),
        ("| Team | – | 1 TB |", HEAD, ["Plan: Team; Storage: 1 TB."]),
        ("| Team | 29 € |", HEAD, []),
        ("| | 29 € | 1 TB |", HEAD, []),
        ("The Team plan costs 29 €.", HEAD, []),
        ("| Team | 29 € |", "| | Price |", ["Team; Price: 29 €."]),  # a column without a name
        ("| Team | 29 € |", "", []),
    ],
)
def test_each_cell_stands_under_its_column_with_whose_it_is(row: str, head: str, claims: list[str]) -> None:
    assert row_claims(row, head) == claims


@pytest.mark.parametrize(
    ("claim", "cell"),
    [
        ("Model: Tarn 4; RAM: 8 GB.", "8 GB"),
        ("Model: Tarn 4; Bays: 4.", "4"),
        ("Model: Tarn 4; Ports: 4.", "4 "),
        ("The Tarn 4 has 8 GB of RAM.", "8 GB"),
        ("The Tarn 4 has 4 bays.", "4"),
        ("The Tarn 4 is sold.", None),
        ("The warranty of the Tarn 4 is good for 3 years.", "**3 years**"),
    ],
)
@pytest.mark.parametrize("row", ["| Tarn 4 | 4 | 8 GB | 4  | **3 years** |", "Tarn 4|4|8 GB|4 |**3 years**"])
def test_a_claim_is_about_one_cell_of_its_row(row: str, claim: str, cell: str | None) -> None:
    place = cell_of(claim, row, "| Model | Bays | RAM | Ports | Warranty |")
    assert (None if place is None else row[slice(*place)]) == (None if cell is None else cell.strip())
    assert cell != "4 " or (place is not None and place[0] > row.index("8 GB"))
    assert cell_of(claim, "no row", "") is None


@pytest.mark.parametrize(
    ("words", "cell"), [("€89", "€89"), ("25", "25 seats"), ("2", None), ("", None), ("Team", None), ("€99", None)]
)
def test_one_cell_alone_has_them(words: str, cell: str | None) -> None:
    row = "| Team | €89 | 25 seats | Team |"
    found = cell_with(words, row)
    assert (None if found is None else row[slice(*found)]) == cell
