"""The folder where `factloop research data get` saves data sets for other commands."""

from __future__ import annotations

import os
from pathlib import Path

from factloop.core.errors import ConfigError
from factloop.evaluation.datasets.fetch import RECORD
from factloop.evaluation.datasets.registry import find_dataset

VARIABLE = "FACTLOOP_DATA_DIR"


def data_folder() -> Path:
    """Returns the folder named by FACTLOOP_DATA_DIR or, by default, one in the user's data directory."""
    named = os.environ.get(VARIABLE)
    if named:  # an empty variable counts as unset
        return Path(named).expanduser()
    import platformdirs

    return Path(platformdirs.user_data_dir("factloop", appauthor=False))


def is_got(folder: Path, dataset: str, part: str) -> bool:
    """Whether the complete part is in `folder`. `data get` records the source of a part once it is complete."""
    return (folder / dataset / part / RECORD).is_file()


def find_part(dataset: str, part: str, given: str | None) -> Path:
    """Returns the path from which `registry.load_part` can load a part.

    Without `given`, this is the folder that `data get` saved to. Otherwise, it is the part's folder inside `given` (if
    `data get --into` filled it), the part's file inside `given`, or `given` itself. Raises ConfigError if a name is
    unknown, or if the part has not been saved; the message then names the command to run.
    """
    known = find_dataset(dataset)
    own_file = known.part(part).own_file
    if given is not None:
        place = Path(given)
        if is_got(place, dataset, part):
            return place / dataset / part
        return place / own_file if own_file is not None and (place / own_file).is_file() else place
    folder = data_folder()
    if not is_got(folder, dataset, part):
        command, source = f"factloop research data get {known.name}", ""
        if known.gated:
            command, source = f"{command} --from FOLDER", f" (from {known.homepage})"
        elif len(known.parts) > 1:
            command += f" --part {part}"
        missing = f"{named_part(dataset, part)} is not in {folder}"
        raise ConfigError(f"{missing}; get it with `{command}`{source}, or pass its path with --data")
    return folder / dataset / part


def named_part(dataset: str, part: str) -> str:
    return f"{find_dataset(dataset).title} ({part})"
