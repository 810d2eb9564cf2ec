"""Fences that name no language: what is in them tells code from text."""

from __future__ import annotations

import pytest

from factloop.tools.text.blocks import code_in, is_code_alone
from factloop.tools.text.growing import GrowingText
from factloop.tools.text.outline import read_outline
from factloop.tools.text.sentences import split_sentences
from tests.work import LINEAR, growth

CODE = [
    "x=1\ny = load(x)", '{"opened": 1921}', "$ make test\nThe build took 3 seconds.", "import numpy as np\nnp.zeros(3)",
    "for loaf in loaves:\n    bake(loaf)", 'git commit -m "Open the bakery in 1921"', "const opened = 1921;",
    "// The bakery opened in 1921.\nlet n = 42", "GET /v1/checks HTTP/1.1\nHost: example.org", ">>> 1 + 1\n2",
    "else:\n    # The oven is hot by now.\n    bake()", "requests\nnumpy\nlanggraph",
    "services:\n  web:\n    image: nginx",
    "while True:\n    '''Wait until the oven is hot.'''\n    wait()",
]  # fmt: skip
TEXT = [
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


@pytest.mark.parametrize("text", TEXT)
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
