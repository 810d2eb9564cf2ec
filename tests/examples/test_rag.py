"""`examples/rag` runs, and its guards find the mistake."""

from __future__ import annotations

from tests.examples.programs import Run


def test_the_guard_finds_the_wrong_year(run: Run) -> None:
    first, second = run("rag/guarded.py")
    assert first.startswith("supported: John Smeaton built the third Eddystone tower. [")
    assert second.startswith("not_supported: ")
    assert "1795" in second


def test_the_guard_of_the_stream_marks_the_wrong_sentence_and_no_other(run: Run) -> None:
    answer, counted = run("rag/streaming.py")
    assert answer == (
        "John Smeaton built the third Eddystone tower. It was first lit in 1795. [contradicted by the sources] "
        "The present tower was lit in 1882."
    )
    assert counted == "(2 of 3 claims supported)"
