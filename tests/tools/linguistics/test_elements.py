"""Scripts, styles and comments of HTML in a response: neither sentences nor parts of one."""

from __future__ import annotations

import pytest

from factloop.tools.linguistics.elements import elements_in, open_element, without_elements
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
    text = "<script>\nalert(4). It ran.\n</script> The lamp is red.\n<div>\n\nIt <!-- is. Not. --> is old."
    assert [(part.text, silence_of(part)) for part in read_outline(text)] == [
        ("<script>\nalert(4). It ran.\n</script>", "code"),
        ("The lamp is red.", None),
        ("<div>", "code"),
        ("It <!-- is. Not. --> is old.", None),
    ]
    assert [one.text for one in split_sentences(text)] == [
        "The lamp is red.", "<div>", "It <!-- is. Not. --> is old.",
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
