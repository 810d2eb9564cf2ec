from __future__ import annotations

import random
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from factloop.core.errors import DataError
from factloop.evaluation.datasets.longfact import (
    LongFactPrompt,
    load_longfact,
    load_prompts,
    sample_prompts,
)
from tests.evaluation.datasets.dataset_files import jsonl, published

CANARY = "not for training"


def prompts(n: int) -> list[LongFactPrompt]:
    return [LongFactPrompt(id=f"p/{place:03}", topic="t", prompt=f"What is {place}?") for place in range(n)]


def test_both_layouts_say_the_same(tmp_path: Path) -> None:
    upstream = tmp_path / "longfact-objects_gpt4"
    for topic in ("world-religions", "accounting"):
        rows = [{"prompt": f"What of {topic} {place}?", "canary": CANARY} for place in range(2)]
        jsonl(upstream / f"longfact-objects_{topic}.jsonl", *rows)
    theirs = list(load_longfact(upstream))
    assert [prompt.id for prompt in theirs] == [
        "longfact-objects/accounting/000",
        "longfact-objects/accounting/001",
        "longfact-objects/world-religions/000",
        "longfact-objects/world-religions/001",
    ]
    assert theirs[3].topic == "world-religions"
    one_file = jsonl(tmp_path / "longfact_objects.jsonl", *(prompt.model_dump() for prompt in theirs))
    assert list(load_longfact(one_file)) == theirs
    assert list(load_longfact(upstream / "longfact-objects_accounting.jsonl")) == theirs[:2]


def test_any_file_of_prompts_is_read(tmp_path: Path) -> None:
    own = jsonl(tmp_path / "my_prompts.jsonl", {"prompt": "Why?"}, {"id": 7, "prompt": "Who?", "topic": "t"})
    assert [(one.id, one.topic, one.prompt) for one in load_prompts(own)] == [("1", None, "Why?"), ("7", "t", "Who?")]
    table = tmp_path / "prompts.csv"
    table.write_text("prompt\nWhy?\n", encoding="utf-8")
    assert [one.prompt for one in load_prompts(table)] == ["Why?"]
    published = jsonl(tmp_path / "longfact-objects_world-religions.jsonl", {"prompt": "What?", "canary": CANARY})
    (one,) = load_prompts(published)
    assert (one.id, one.topic) == ("longfact-objects/world-religions/000", "world-religions")
    with pytest.raises(DataError, match=r"lost\.jsonl:1: field 'prompt': it is missing"):
        list(load_prompts(jsonl(tmp_path / "lost.jsonl", {"question": "Why?"})))


@given(st.integers(0, 40), st.integers(0, 60), st.integers(0, 60), st.randoms(use_true_random=False))
def test_a_sample_is_the_same_for_any_order(size: int, n: int, more: int, rng: random.Random) -> None:
    everything = prompts(size)
    shuffled = list(everything)
    rng.shuffle(shuffled)
    sample = sample_prompts(everything, n, seed=3)
    assert sample == sample_prompts(shuffled, n, seed=3)
    assert sample == sample_prompts(everything, n + more, seed=3)[:n]
    assert len({prompt.id for prompt in sample}) == min(n, size)


@pytest.mark.parametrize(("name", "distinct"), [("longfact_objects", 1131), ("longfact_concepts", 1140)])
def test_the_published_prompts_are_read_whole(name: str, distinct: int) -> None:
    everything = list(load_longfact(published(f"{name}.jsonl")))
    assert len(everything) == 1140
    assert len({prompt.topic for prompt in everything}) == 38
    assert len(sample_prompts(everything, 2000)) == distinct
    assert len(sample_prompts(everything)) == 250
