"""Fences that name no language: what is in them tells code from text."""

from __future__ import annotations

import pytest

from factloop.tools.linguistics.blocks import code_in
from factloop.tools.linguistics.fences import is_code_alone
from factloop.tools.linguistics.growing import GrowingText
from factloop.tools.linguistics.outline import read_outline
from factloop.tools.linguistics.sentences import split_sentences
from tests.work import LINEAR, growth

CODE = [
    "x=1\ny = load(x)",
    "npm install\nnpm run build",
    '{"opened": 1921}',
    "$ make test\nThe build took 3 seconds.",
    "# Install the package first.\npip install bramley",
    'print("The Bramley bakery opened in 1921.")',
    "import numpy as np\nnp.zeros(3)",
    "from bakery import Oven",
    "SELECT name, opened FROM bakeries WHERE opened > 1921",
    "for loaf in loaves:\n    bake(loaf)",
    'git commit -m "Open the bakery in 1921"',
    "name: bramley\nopened: 1921",
    "├── docs\n│   └── index.md",
    "const opened = 1921;",
    "// The bakery opened in 1921.\nlet n = 42",
    'def opened(year):\n    """The bakery opened in 1921."""\n    return year',
    "GET /v1/checks HTTP/1.1\nHost: example.org",
    "import os\nos.remove(p)",
    "name,opened\nbramley,1921",
    ">>> 1 + 1\n2",
    "- hosts: all\n  tasks: []",
    "2026-01-01 12:00:01 INFO Server started.",
    "public class Oven {\n}",
    "\\frac{1}{2}",
    "echo hello",
    "git status\ngit push origin main",
    "try:\n    bake()\nexcept OSError:\n    pass",
    'class Oven:\n    """Bake bread in the oven."""\n\n    heat = 220',
    "else:\n    # The oven is hot by now.\n    bake()",
    "name: bramley\ndescription: The bakery opened in 1921.\nversion: 2",
    "title: Bramley\nabout: >\n  The bakery opened in 1921.",
    "for loaf in loaves:\n    yield loaf",
    "if oven.is_hot:\n    return loaf not in oven and loaf is not None",
    "-v\n    Print more of the log.",
    "-I DIR  The folder is searched for headers.",
    "x -> x + 1",
    "steps:\n  - run: echo the oven is on",
    "docker run \\\n  --rm bramley",
    "kubectl logs web\nkubectl get pods",
    "factloop check report",
    "requests\nnumpy\nlanggraph",
    "cat notes.txt",
    "cd ../bakery\nls",
    "loaf => bake(loaf)",
    "import os\n\nclass Oven:\n    pass",
    "-- Bakeries of the north in Leeds.\nSELECT name FROM bakeries",
    "with oven as hot:\n    hot.bake()",
    "oven:\n  heat: 220\n  doors: 2",
    "while True:\n    '''Wait until the oven is hot.'''\n    wait()",
    "@property\ndef heat(self):\n    return 220",
    "BAKERY = 1921\nbake(BAKERY)",
    "elif loaf in the_loaves:\n    continue",
    "services:\n  web:\n    image: nginx",
    "map(x -> x + 1, loaves)",
    "poetry add bramley\npoetry install",
]
TEXT = [
    "<div>The bakery opened in 1921.</div>",
    "The Bramley bakery opened in 1921.",
    "# Bramley bakery\n\nThe bakery opened in 1921.",
    "- 42 people\n- three ovens",
    "- The bakery employs 42 people\n- It has three ovens",
    "| name | opened |\n|---|---|\n| Bramley | 1921 |",
    "The bakery opened in 1921 (in Leeds) and has since then\nmoved to York.",
    "Opening hours",
    "the bakery opened in 1921",
    "**Opened:** 1921",
    "“The bakery opened in 1921,” said Ada.",
    "$5 million was paid for the bakery.",
    "Use `load(x)` to read the file.",
    "Die Bäckerei wurde 1921 in Leeds eröffnet.",
    "灯塔于1759年点亮。",
    "1. The oven was replaced in 2004.",
    "- the bakery opened in 1921;\n- it employs 42 people.",
    "Dear Ada,\n\nThe bakery opened in 1921.",
    "> The bakery opened in 1921.",
    "The bakery employs 42 person(s)",
    "42 people work there",
    "Note: the bakery opened in 1921; it employs 42 people.",
    "Q: When did the bakery open?\nA: It opened in 1921.",
    "for adults:\nThe dose is 5 mg a day.",
    "with these effects:\n- The pulse slows down.",
    "with these effects:\n- the pulse slows within a day",
    "do the following:\nTake the tablets with water.",
    "summary: Eddystone lighthouse\n\nThe tower was built in 1759.",
    "-Smeaton built the tower in 1759.",
    "Leeds -> York\nThe line opened in 1839.",
    "rating: 5/5\nThe bakery opened in 1921.",
    "source: [1]\nThe bakery opened in 1921.",
    "for children in care:\nThe dose is 2 mg a day.",
    "la tour fut construite en pierre",
    "der turm wurde von smeaton gebaut",
    "le phare brille",
    "aspirin lowers fever",
    "tea contains caffeine",
    "aspirin thins blood",
    "answer: yes\n\nThe bakery opened in 1921.",
    "Leeds => York\n\nThe line opened in 1839.",
    "-A tower was built in 1698.\n-A second one followed in 1708.",
    "verdict: supported\nThe dose is 5 mg a day",
    "BMI = 24\nThe patient is of normal weight.",
    "The tower\\\nIt was built in 1759.",
    "@ada\nThe bakery opened in 1921.",
    "if pregnant:\nThe drug must not be taken.",
    "name: Ada Lovelace\nborn: 1815\n\nShe wrote the first program.",
    "oslo: capital\n\nOslo is the capital of Norway.",
    "except in winter:\nThe kiosk is open daily.",
    "import tariffs\nThey rose to 20 percent in 2018.",
    "while on treatment:\nDo not drive a car.",
    "bees make honey",
    "born: 1815\ndied: 1852\nShe wrote the first program.",
    "input -> output\nPhotosynthesis turns light into sugar.",
    "class A:\nThese drugs are banned in the United Kingdom.",
    "confidence: high\n\n- The tower was built in 1759.\n- It is 22 m tall.",
]


@pytest.mark.parametrize("code", CODE)
@pytest.mark.parametrize("name", ["", "text"])
def test_code_is_told_without_the_name_of_its_language(code: str, name: str) -> None:
    block = f"```{name}\n{code}\n```"
    assert [(part.kind, part.text) for part in read_outline(f"It fell.\n\n{block}\nIt rose.\n")] == [
        ("prose", "It fell."),
        ("code", block),
        ("prose", "It rose."),
    ]


@pytest.mark.parametrize("text", TEXT)
@pytest.mark.parametrize("name", ["", "text"])
def test_text_in_a_fence_is_read(text: str, name: str) -> None:
    fenced = f"It fell.\n\n```{name}\n{text}\n```\n\nIt rose.\n"
    assert list(code_in(fenced)) == []
    plain = f"It fell.\n\n{text}\n\nIt rose.\n"
    assert [one.text for one in split_sentences(fenced)] == [one.text for one in split_sentences(plain)]


@pytest.mark.parametrize("opened", ["md", "answer", ""])
def test_what_follows_the_end_of_a_fence_of_text_is_in_none(opened: str) -> None:
    text = f"```{opened}\nThe kiln was lit.\n```\nx = 1 sets it.\n\n```\nx = 1\n```\nIt was red.\n"
    code = ["```\nx = 1\n```"]
    assert [text[start:end] for start, end in code_in(text)] == code
    assert [one for one in grown(text) if one.startswith("`")] == code


@pytest.mark.parametrize(
    "text",
    ["`x = 1`", "`pip install bramley`.", "``load(x)``", "**`git push --force`**", "`rm -r x`:", "`npm run build`"],
)
def test_code_alone_between_backticks_is_code(text: str) -> None:
    assert is_code_alone(text)


@pytest.mark.parametrize(
    "text",
    [
        "`It was lit in 1759.`",
        "`x` is `3`",
        "Run `x = 1`.",
        "`1759`",
        "`The kiln is in Oss`",
        "x = 1",
        "`42 people work there`",
        "`aspirin lowers fever`",
        "`bees make honey`",
        "`le phare brille`",
    ],
)
def test_other_text_with_backticks_is_text(text: str) -> None:
    assert not is_code_alone(text)


def test_a_fence_that_nothing_closes_hides_nothing() -> None:
    assert [one.text for one in split_sentences("```\nx = 1\n\nThe kiln was lit.")] == ["x = 1", "The kiln was lit."]


@pytest.mark.parametrize(
    "code",
    [
        "x=1\nload(x)",
        "$ make test",
        "if (lit) {\n    burn();\n}\n\nx = 2",
        "// lit\nlet n = 42",
        "name: bramley\nopened: 1921",
    ],
)
@pytest.mark.parametrize("blanks", ["    ", "\t", "      "])
def test_an_indented_paragraph_of_statements_is_code(code: str, blanks: str) -> None:
    shown = "\n".join(blanks + line if line else line for line in code.split("\n"))
    text = f"It fell.\n\n{shown}\n\nIt rose again.\n"
    assert [text[start:end] for start, end in code_in(text)] == [shown.lstrip()]
    assert [one.text for one in split_sentences(text)] == ["It fell.", "It rose again."]
    assert grown(text) == ["It fell.", shown.lstrip(), "It rose again."]
    assert grown(f"It fell.\n\n{shown}") == ["It fell.", shown.lstrip()]


@pytest.mark.parametrize(
    "text",
    [
        "It fell.\n\n    The kiln was lit in 1759.\n    It was red.\n",
        "- It fell.\n\n    x = 1 sets it.\n\n    y = 2 as well.\n",
        "1. It fell.\n\n       x = 1 sets it.\n",
        "It fell.\n    x = 1 sets it.\n",
        "It fell.\n\n    rating: 5/5\n\n    The kiln was lit in 1759.\n\nIt rose.\n",
        "It fell.\n\n   x = 1 sets it.\n",
        "- Team plan\n    - price: 15 euros\n    - seats: 10\n    - users: 3\n\nIt rose.\n",
        "1. Team plan\n\n    price: 15 euros\n    seats: 10\n\n    users: 3\n\nIt rose.\n",
        "    The kiln was lit.\n    It was red.\n\n    seats: 10\n\nIt rose.\n",
        "    The kiln was lit in 1759.\n\n    x = 1 sets it.\n",
    ],
)
def test_other_indented_text_is_read(text: str) -> None:
    assert list(code_in(text)) == []
    assert grown(text) == [one.text for one in split_sentences(text)]


def grown(text: str) -> list[str]:
    growing = GrowingText()
    found = [stretch for letter in text for stretch in growing.feed(letter)]
    return [one.sentence.text for one in (*found, *growing.end()) if one.sentence is not None]


@pytest.mark.parametrize("inside", CODE + TEXT)
@pytest.mark.parametrize("name", ["", "text"])
def test_a_text_that_grows_is_cut_as_the_whole_is(inside: str, name: str) -> None:
    text = f"It fell.\n\n```{name}\n{inside}\n```\n\nIt was lit again.\n\n```\n{inside}\n```\n\nIt rose.\n"
    whole = sorted([one.text for one in split_sentences(text)] + [text[start:end] for start, end in code_in(text)])
    heads = {part.text for part in read_outline(text) if part.kind in ("head", "heading")}
    assert sorted(one for one in grown(text) if one not in heads) == [one for one in whole if one not in heads]


def test_text_in_a_fence_is_not_held_back_until_the_fence_ends() -> None:
    growing = GrowingText()
    stretches = growing.feed("```\n" + "The kiln was lit in 1759. " * 20)
    assert {one.sentence.text for one in stretches if one.sentence is not None} == {"The kiln was lit in 1759."}


def test_text_below_a_line_that_looks_like_code_is_not_held_back_either() -> None:
    growing = GrowingText()
    text = "```\nsummary: kiln\n\n" + "The kiln was lit in 1759. " * 20
    stretches = [one for letter in text for one in growing.feed(letter)]
    said = [one.sentence.text for one in stretches if one.sentence is not None]
    assert said[:2] == ["summary: kiln", "The kiln was lit in 1759."]
    assert len(said) > 10


@pytest.mark.parametrize(
    "unit",
    [
        "```\nx\n",
        "```\nx: 1\n",
        "```\nfor" + " in" * 90 + "\n",
        "```text\n",
        "```\n",
        "```md\n",
        "```\n" + "f(" * 300 + "\n",
    ],
)
def test_work_is_linear(unit: str) -> None:
    assert growth(lambda n: list(code_in(unit * n)), 250) < LINEAR
