"""Finds the search providers, verifiers and data sets that other distributions register as entry points."""

from __future__ import annotations

from importlib import metadata
from typing import Any

from factloop.core.errors import ConfigError

SEARCH, VERIFIERS, DATASETS = "factloop.search", "factloop.verifiers", "factloop.datasets"


def plugin_names(group: str) -> tuple[str, ...]:
    """The sorted names of a group's plugins. Scans all distributions, but imports nothing."""
    return tuple(sorted({one.name for one in metadata.entry_points(group=group)}))


def load_plugin(group: str, name: str) -> Any:
    """The plugin, or None if it is not installed. Raises ConfigError if the import fails."""
    found = next(iter(metadata.entry_points(group=group, name=name)), None)
    if found is None:
        return None
    try:
        return found.load()
    except Exception as error:  # importing it runs third-party code
        place = f"{found.value} in {found.dist.name if found.dist is not None else 'an unknown distribution'}"
        said = f"cannot load {name!r} from {place} ({type(error).__name__}: {error})"
        raise ConfigError(f"{group}: {said}; fix or uninstall this plugin") from error
