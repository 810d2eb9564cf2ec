"""Scripts, styles and comments of HTML in a response: neither sentences nor parts of one."""

from __future__ import annotations

import pytest

from factloop.tools.linguistics.elements import elements_in, open_element, without_elements
from factloop.tools.linguistics.markup import plain_text
from factloop.tools.linguistics.outline import read_outline
from factloop.tools.linguistics.sentences import split_sentences
from factloop.tools.linguistics.silence import silence_of
from tests.work import LINEAR, growth


@pytest.mark.parametrize(
    ("text", "elements"),
    [
        ("<script>alert(4). It ran.</script> The lamp is red.", ["<script>alert(4). It ran.</script>"]),
        ("Red.<STYLE a=b>p {}\n</style ><!-- No. -->", ["<STYLE a=b>p {}\n</style >", "<!-- No. -->"]),
        ("<script>a<!--</script>b-->", ["<script>a<!--</script>"]),
        ("<script>never closed. The lamp is red.", []),
        ("<!-- <script>a</script>", ["<script>a</script>"]),
        ("Close `<script>` by `</script>`.", []),
        ("```html\n<script>a</script>\n```\n", []),
        ("a < b, <scripts>c</scripts>", []),
    ],
)
def test_what_no_reader_sees_is_found(text: str, elements: list[str]) -> None:
    assert [text[start:end] for start, end in elements_in(text)] == elements
    shown = without_elements(text)
    assert (len(shown), shown.count("\n")) == (len(text), text.count("\n"))
    assert not any(element in shown for element in elements)


def test_an_open_one_is_told() -> None:
    assert open_element("a <!-- b --> <script>c") == 13
    assert open_element("a <!-- b -->") is open_element("```js\n<script>\n```\n") is None


def test_it_is_code_that_is_not_read_and_cuts_no_sentence() -> None:
    text = "<script>\nalert(4). It ran.\n</script> The lamp is red.\n<img src=x>\n\nIt <!-- is. Not. --> is old."
    assert [(part.text, silence_of(part)) for part in read_outline(text)] == [
        ("<script>\nalert(4). It ran.\n</script>", "code"),
        ("The lamp is red.", None),
        ("<img src=x>", "code"),
        ("It <!-- is. Not. --> is old.", None),
    ]
    assert [one.text for one in split_sentences(text)] == [
        "The lamp is red.", "<img src=x>", "It <!-- is. Not. --> is old.",
    ]  # fmt: skip


@pytest.mark.parametrize("unit", ["<script>", "<!--", "<script>a</script>", "<style>a. ", "```\n<script>\n```\n"])
def test_work_is_linear(unit: str) -> None:
    assert growth(lambda n: without_elements(unit * n), 250) < LINEAR
    assert growth(lambda n: read_outline(unit * n), 250) < LINEAR


@pytest.mark.large
@pytest.mark.parametrize("unit", ["<script>", "<!--", "<style a=", "<script>a</style>"])
def test_a_megabyte_of_open_ones_is_no_trouble(unit: str) -> None:
    """The square of its length would outlast the time limit of a test."""
    assert elements_in(unit * (1_000_000 // len(unit))) == []


LOGS, EXPORTS = "Logs are kept for 90 days.", "Exports run hourly."


@pytest.mark.parametrize(
    "text",
    [
        f"{LOGS}<br>{EXPORTS}",
        f"{LOGS} <br/> {EXPORTS}",
        f"<p>{LOGS}</p><p class='x'>{EXPORTS}</p>",
        f"<ul><li>{LOGS}</li><li>{EXPORTS}</li></ul>",
        f"<div>{LOGS}</div> {EXPORTS}",
        f"{LOGS}<script>x = 1</script>{EXPORTS}",
        f"<details><summary>{LOGS}</summary>{EXPORTS}</details>",
    ],
)
def test_tags_of_blocks_part_sentences_and_are_in_none(text: str) -> None:
    found = [part for part in read_outline(text) if part.kind != "code"]
    assert [part.text for part in found] == [LOGS, EXPORTS]
    assert all(text[part.start : part.end] == part.text for part in found)


@pytest.mark.parametrize(
    "text",
    [
        "Close `<br>` with a bar.",
        "| Logs <br> and more | 90 days |",
        "It is true if a <b and c> d.",
        "Run cp <source> <target>.",
        "It is <b>old</b> and <em>red</em>.",
    ],
)
def test_tags_within_a_sentence_part_nothing(text: str) -> None:
    assert [part.text for part in read_outline(text)] == [text.strip("| ") if "|" in text else text]


@pytest.mark.parametrize(
    "first",
    [
        "Logs are kept for [90 days.](https://oss.example/logs)",
        "Logs are kept for 90 days. [docs](https://oss.example/logs)",
        "Logs are kept for <a href='/logs'>90 days.</a>",
        "Logs are kept for [90 days](https://oss.example/logs).",
        "[Logs are kept for 90 days.](https://oss.example/logs_(old))",
        "**[Logs are kept.](https://oss.example)**",
    ],
)
def test_a_link_at_the_end_of_a_sentence_belongs_to_it(first: str) -> None:
    assert [part.text for part in read_outline(f"{first} {EXPORTS}")] == [first, EXPORTS]
    assert "docs" not in plain_text(first)


@pytest.mark.parametrize(
    "text",
    [
        "See the file v1.2 [docs](https://oss.example) Now.",
        "Ask Dr. [Oss](https://oss.example) Marr.",
        "It is in [Mt. Oss](https://oss.example) today.",
    ],
)
def test_a_link_within_a_sentence_ends_none(text: str) -> None:
    assert [part.text for part in read_outline(text)] == [text]


def test_a_link_may_open_a_sentence() -> None:
    second = "[Oss Hall](https://oss.example) is old."
    assert [part.text for part in read_outline(f"{LOGS} {second}")] == [LOGS, second]


def test_a_closed_fence_of_tildes_is_code_and_an_open_one_is_text() -> None:
    fenced = "~~~\nThe pump weighs 3 kg.\n~~~"
    assert [(part.kind, part.text) for part in read_outline(f"{LOGS}\n\n{fenced}\n\n{EXPORTS}")] == [
        ("prose", LOGS),
        ("code", fenced),
        ("prose", EXPORTS),
    ]
    assert [part.text for part in read_outline(f"~~~\n{LOGS}")] == [LOGS]
    assert [part.text for part in read_outline(f"```\n{LOGS}\n```")] == [LOGS]
