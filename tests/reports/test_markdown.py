from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from factloop.reports.markdown import Part, Tag, TextRun, read_markdown

ANSWER = """# Rates

Pay *within* **30 days.** Run `pay --now` \\* &amp; wait. See [the terms](https://example.org/t "Terms") first.

## Plans

| Plan | Price \\| month |
|---|--:|
| Team | **10 €** |

> Said
> once

3. Three
   - nested
4. Four

```sh
pay \\
  --now
```

[1]: https://example.org/source
"""


def shown(parts: list[Part]) -> str:
    """The parts as HTML without attributes, in which each run is bracketed."""
    found = []
    for part in parts:
        if isinstance(part, Tag):
            found.append(f"<{'/' if part.closes else ''}{part.name}>")
        else:
            found.append(part.text)
    return "".join(found)


def test_headings_lists_tables_and_code_become_tags() -> None:
    html = shown(read_markdown(ANSWER))
    for part in (
        "<h3>Rates</h3>",
        "<em>within</em> <strong>30 days.</strong> Run pay --now * & wait. See the terms first.",
        "<h4>Plans</h4>",
        "<th>Price | month</th>",
        "<td><strong>10 €</strong></td>",
        "<blockquote><p>Said<br>once</p></blockquote>",
        "<ol><li>Three<ul><li>nested</li></ul></li><li>Four</li></ol>",
        "<pre><code>pay \\\n  --now</code></pre>",
        "[1]: https://example.org/source",
    ):
        assert part in html


def test_every_run_knows_its_place_in_the_source() -> None:
    runs = [part for part in read_markdown(ANSWER) if isinstance(part, TextRun)]
    for run in runs:
        if run.is_literal:
            assert ANSWER[run.start : run.end] == run.text
    special = {run.text: ANSWER[run.start : run.end] for run in runs if not run.is_literal}
    assert special == {"*": "\\*", "&": "&amp;"}
    assert next(run for run in runs if run.href).href == "https://example.org/t"
    assert next(run for run in runs if run.code).text == "pay --now"


@pytest.mark.parametrize(
    "text",
    [
        "<script>alert(1)</script>",
        "<b onclick=x>bold</b>",
        "[click](javascript:alert(1))",
        "[click](data:text/html,x)",
        "<https://example.org>",
        "[click](notes.md)",
    ],
)
def test_html_and_other_addresses_stay_text(text: str) -> None:
    parts = read_markdown(text)
    assert shown(parts) == f"<p>{text}</p>" or not any(isinstance(part, TextRun) and part.href for part in parts)
    assert {part.name for part in parts if isinstance(part, Tag)} == {"p"}


def test_lines_that_end_on_purpose_stay_apart_and_wrapped_ones_flow() -> None:
    wrapped = "word " * 13 + "end"
    assert shown(read_markdown("Name: Ada\nBorn: 1815")) == "<p>Name: Ada<br>Born: 1815</p>"
    assert shown(read_markdown(f"{wrapped}\nof the line")) == f"<p>{wrapped}\nof the line</p>"


def test_no_level_of_headings_is_left_out() -> None:
    tags = [part.name for part in read_markdown("### a\n# b\n#### c\n###### d\n## e") if isinstance(part, Tag)]
    assert tags[::2] == ["h3", "h3", "h4", "h5", "h4"]


TABLE = "| a |\n|---|\n| c |\n"
MARKS = "a;b ;word ; ;\n;\n\n;# ;- ;1. ;> ;|;`;```;*;**;_;~~;[;](;http://x.org;);![;\\;<;\t;    ;---;日;\\|"


@given(st.lists(st.sampled_from([*MARKS.split(";"), TABLE, "&amp;"]), max_size=40).map("".join))
def test_any_text_gives_tags_that_nest_and_runs_in_order(text: str) -> None:
    opened: list[str] = []
    reached = 0
    for part in read_markdown(text):
        if isinstance(part, TextRun):
            assert reached <= part.start <= part.end <= len(text)
            reached = part.start
            if part.is_literal and not part.text.startswith("[image: "):
                assert part.text.split() == text[part.start : part.end].split()
        elif part.closes:
            assert opened.pop() == part.name
        elif part.name not in ("br", "hr"):
            opened.append(part.name)
    assert opened == []
