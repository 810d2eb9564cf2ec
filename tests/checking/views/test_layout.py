from __future__ import annotations

import pytest

from factloop.checking.views.layout import LayoutText, layout_of
from factloop.core.records import Claim
from factloop.reports.prose import LONGEST_LAID_OUT
from tests.reports.claims_about import claim
from tests.reports.sample import make_report

MARKDOWN = "# Plans\r\n\r\nIt costs **19 €** &amp; more.\r\n\r\n| a | b |\r\n|---|---|\r\n| 1 | 2 |"


def read(response: str) -> list[str]:
    """The layout as a page would show it: tags, and the words between them."""
    parts = []
    for part in layout_of(response, None).parts:
        if isinstance(part, LayoutText):
            parts.append(part.text or response[part.start : part.end])
        else:
            parts.append(f"</{part.name}>" if part.closes else f"<{part.name}>")
    return parts


def test_markdown_becomes_elements_and_places_in_the_response() -> None:
    """The Windows line ends count two characters each, as in what was given."""
    shown = "".join(read(MARKDOWN))
    assert shown.startswith("<h3>Plans</h3><p>It costs <strong>19 €</strong> & more.</p><table><thead><tr><th>a</th>")
    assert layout_of(MARKDOWN, None).is_marked_up


@pytest.mark.parametrize("response", ["It is a rock.", "One.\n\nTwo."])
def test_plain_text_reads_as_it_was_written(response: str) -> None:
    assert not layout_of(response, None).is_marked_up
    assert "".join(part for part in read(response) if not part.startswith("<")) == response.replace("\n", "")


def test_a_response_that_is_too_long_is_not_laid_out() -> None:
    found = layout_of("# x" * LONGEST_LAID_OUT, None)
    assert (found.parts, found.is_marked_up, found.faults) == ((), False, None)


def placed(response: str, one: Claim) -> Claim:
    """The claim with its sentence where the response has it."""
    start = response.index(one.sentence)
    return one.model_copy(update={"span": (start, start + len(one.sentence))})


def test_the_sentences_that_decide_are_those_of_the_report() -> None:
    decided = claim(
        "It costs 19 €.", "There are two plans.", "Say so. It costs 29 €.", cited=("e2",), quote="It costs 29 €."
    )
    near = claim("It is old.", "It was built in 1874.", contradicted=False, quote="It was built in 1874.")
    unknown = claim("It is red.", "It is old. It is high.")
    marks = layout_of("", make_report("", (decided, near, unknown))).marks
    assert [(one.claim_id, one.evidence_id, one.start, one.end, one.decides) for one in marks] == [
        ("It costs 19 €.", "e2", 8, 22, True),
        ("It is old.", "e1", 0, 21, False),
    ]
    assert layout_of("", None).marks == ()


def test_the_words_that_fail_are_those_of_the_report() -> None:
    response = "# Plans\r\n\r\nThe plan is\r\ncheap and costs **19 €**. It is old."
    sentence = "The plan is\r\ncheap and costs **19 €**."
    failing = claim("The plan costs 19 €.", "It costs 29 €.", sentence=sentence, wrong="19 €", instead="29 €")
    unfound = claim("It is old.", contradicted=False)
    report = make_report(response, (placed(response, failing), placed(response, unfound)), prompt=None)
    faults = layout_of(response, report).faults
    assert faults is not None
    assert [(response[one.start : one.end], one.status, one.said) for one in faults] == [
        ("19 €", "contradicted", "19 € · the source says 29 €"),
        ("It is old.", "no_evidence", "no evidence found"),
    ]
