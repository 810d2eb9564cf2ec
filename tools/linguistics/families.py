"""Rules under the name of their family, so that each can be left out and its worth measured."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

Function = TypeVar("Function", bound=Callable[..., Any])


@dataclass(frozen=True, slots=True)
class Rule(Generic[Function]):
    """A rule and the family by which `benchmarks.offline_splitting --without` knows it."""

    family: str
    apply: Function


def without(rules: tuple[Rule[Function], ...], family: str) -> tuple[Rule[Function], ...]:
    """The rules but those of one family, in their order."""
    return tuple(rule for rule in rules if rule.family != family)
