"""Which passages of many the grounded plan shows."""

from __future__ import annotations

from pathlib import Path

import pytest

from factloop.agents.safe.passages import SHOWN_CHARACTERS, passages_for
from factloop.agents.safe.sentences import sentences_of
from factloop.tools.search.documents.search import DocumentSearch
from tests.agents.safe.scripted import context_of

TOPICS = ("granite", "oak", "lamp", "keeper", "storm", "boat", "bell", "fog", "tide", "gale", "coal", "rope", "glass")


async def shown(folder: Path, answer: str, characters: int = SHOWN_CHARACTERS) -> list[str]:
    context = context_of(DocumentSearch([folder], in_memory=True), response=answer)
    tasks = sentences_of(context.answer)
    return [item.passage for item in (await passages_for(tasks, context, results=3, characters=characters)).items]


@pytest.mark.parametrize("n_topics", [9, 12])
async def test_a_set_that_is_just_too_large_is_shown_nearly_as_much_of(tmp_path: Path, n_topics: int) -> None:
    """Around the size up to which all is shown, a little more text must not mean far less of it."""
    for topic in TOPICS[:n_topics]:
        text = " ".join(f"The tower and its {topic} are told of in line {number} here." for number in range(14))
        (tmp_path / f"{topic}.txt").write_text(text)
    n_characters = sum(map(len, await shown(tmp_path, "The tower has a lamp.")))
    assert n_characters > 0.8 * SHOWN_CHARACTERS


@pytest.mark.parametrize(("characters", "n_shown"), [(500, 3), (20_000, len(TOPICS))])
async def test_how_much_is_shown_is_the_users(tmp_path: Path, characters: int, n_shown: int) -> None:
    for topic in TOPICS:
        (tmp_path / f"{topic}.txt").write_text(f"The tower and its {topic}. " * 16)
    assert len(await shown(tmp_path, "The tower has a lamp.", characters)) == n_shown


async def test_a_wording_is_shown_once_whichever_documents_have_it(tmp_path: Path) -> None:
    filler = "The tower stands far out at sea and many keepers have lived in it for years on end. " * 80
    said = {"a": "Parental leave: 16 weeks.", "b": "*Parental* leave 16 weeks", "c": "Parental leave: 12 weeks."}
    for name, text in {**said, "d": filler}.items():
        (tmp_path / f"{name}.txt").write_text(text)
    found = [passage for passage in await shown(tmp_path, "Parental leave is 16 weeks.") if "arental" in passage]
    assert len(found) == 2
    assert {"12" in passage for passage in found} == {True, False}
