"""The tables and figures that can be reproduced, with the data and the function for each.

The entries are in `registry.json`, ordered by paper and then by table number. `run` names a function as
`module:function`, which is called with the inputs and the entry's `arguments`.
"""

from __future__ import annotations

from importlib import import_module, resources
from typing import Literal

from factloop.core.errors import ConfigError
from factloop.core.records import Record
from factloop.evaluation.reproduction.inputs import Inputs
from factloop.evaluation.reproduction.records import ListedEntry, Reproduction


class Entry(ListedEntry):
    data: tuple[str, ...] = ()
    model: str = ""
    key: str = ""
    command: str = ""
    calls: str = ""
    run: str
    arguments: tuple[int | str, ...] = ()
    unit: str = ""
    against: Literal["paper", "check values"] = "paper"

    @property
    def reads_results(self) -> bool:
        return bool(self.command)

    @property
    def paper(self) -> str:
        return self.id.partition(":")[0]

    def listed(self) -> ListedEntry:
        return ListedEntry(**{name: getattr(self, name) for name in ListedEntry.model_fields})

    def reproduce(self, inputs: Inputs) -> Reproduction:
        """Compares the published figures with ours. Raises DataError or ConfigError if an input cannot be used."""
        module, _, function = self.run.partition(":")
        find = getattr(import_module(f"factloop.evaluation.reproduction.{module}"), function)
        figures, notes = find(inputs, *self.arguments)
        return Reproduction(
            entry=self.id,
            title=self.title,
            unit=self.unit,
            against=self.against,
            figures=tuple(figures),
            notes=tuple(notes),
        )


class Paper(Record):
    key: str
    """The prefix of the paper's entry ids."""
    title: str
    citation: str


class _Registry(Record):
    papers: tuple[Paper, ...]
    entries: tuple[Entry, ...]


_READ = _Registry.model_validate_json(resources.files(__package__).joinpath("registry.json").read_bytes())
PAPERS, ENTRIES = _READ.papers, _READ.entries


def find_entry(name: str) -> Entry:
    """Raises ConfigError if the id is unknown."""
    known = {entry.id: entry for entry in ENTRIES}
    if name not in known:
        paper = name.partition(":")[0]
        near = [one for one in known if one.startswith(f"{paper}:")] or [f"{one.key}:..." for one in PAPERS]
        raise ConfigError(f"unknown entry {name!r}; choose from {', '.join(near)}")
    return known[name]
