"""Products of middling matrices, on which the threads of a linear algebra library would wait for each other."""

from __future__ import annotations

from contextlib import AbstractContextManager
from functools import cache
from typing import Any


def one_blas_thread() -> AbstractContextManager[object]:
    """While it is entered, products take one thread; other threads of the process are held to it, too."""
    limited: AbstractContextManager[object] = _threads().limit(limits=1, user_api="blas")
    return limited


@cache
def _threads() -> Any:
    """Made once: finding the libraries takes longer than most products."""
    from threadpoolctl import ThreadpoolController  # type: ignore[import-untyped]  # it ships no types

    return ThreadpoolController()
