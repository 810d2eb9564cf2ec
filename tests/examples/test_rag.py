"""`examples/rag` runs, and its guards find the mistake."""

from __future__ import annotations

from tests.examples.programs import Run


def test_the_guard_finds_the_wrong_year(run: Run) -> None:
    first, second = run("rag/guarded.py")
    assert first.startswith("supported: Smeaton's Tower was lit on 16 October 1759. [")
    assert second.startswith("not_supported: ")
    assert "1887" in second


def test_the_guard_of_the_stream_marks_the_wrong_sentence_and_no_other(run: Run) -> None:
    answer, counted = run("rag/streaming.py")
    assert answer == (
        "Smeaton's Tower was lit on 16 October 1759. "
        "Smeaton's Tower remained in use until 1887. [contradicted by the sources] "
        "The present tower was lit in 1882."
    )
    assert counted == "(2 of 3 claims supported)"
