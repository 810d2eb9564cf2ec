"""The garbage collector's rounds are rare while checks are under way, and as the application had them otherwise."""

from __future__ import annotations

import gc
from collections.abc import Iterator

import pytest

from factloop.core.garbage import CONTAINERS_MORE, rare_collections

DEFAULT = (700, 10, 10)


@pytest.fixture(autouse=True)
def threshold() -> Iterator[None]:
    before = gc.get_threshold()
    gc.set_threshold(*DEFAULT)
    yield
    gc.set_threshold(*before)


def test_rounds_are_rare_until_the_last_block_ends() -> None:
    first, second = rare_collections(), rare_collections()
    first.__enter__()
    second.__enter__()
    first.__exit__(None, None, None)
    assert gc.get_threshold() == (CONTAINERS_MORE, 10, 10)
    second.__exit__(None, None, None)
    assert gc.get_threshold() == DEFAULT


def test_an_error_ends_a_block_as_well() -> None:
    with pytest.raises(RuntimeError), rare_collections():
        raise RuntimeError
    assert gc.get_threshold() == DEFAULT


@pytest.mark.parametrize("chosen", [(0, 10, 10), (CONTAINERS_MORE + 1, 5, 5)], ids=["off", "rarer still"])
def test_what_the_application_chose_stands(chosen: tuple[int, int, int]) -> None:
    gc.set_threshold(*chosen)
    with rare_collections():
        assert gc.get_threshold() == chosen
    assert gc.get_threshold() == chosen


def test_what_the_application_changes_meanwhile_stands() -> None:
    with rare_collections():
        gc.set_threshold(1_000, 10, 10)
    assert gc.get_threshold() == (1_000, 10, 10)
