"""The folder that `factloop research data get` puts data sets into, and where the other commands find them in it."""

from __future__ import annotations

import os
from pathlib import Path

from factloop.core.errors import ConfigError
from factloop.evaluation.datasets.fetch import RECORD
from factloop.evaluation.datasets.registry import find_dataset

VARIABLE = "FACTLOOP_DATA_DIR"


def data_folder() -> Path:
    """The folder in FACTLOOP_DATA_DIR, by default one for data in the user's own."""
    named = os.environ.get(VARIABLE)
    if named:  # an empty variable is an unset one
        return Path(named).expanduser()
    import platformdirs

    return Path(platformdirs.user_data_dir("factloop", appauthor=False))


def is_got(folder: Path, dataset: str, part: str) -> bool:
    """Whether `folder` holds all of the part: `data get` writes down where it is from when that is so."""
    return (folder / dataset / part / RECORD).is_file()


def find_part(dataset: str, part: str, given: str | None) -> Path:
    """The place to load a part from (`registry.load_part`): the one given, or the folder that `data get` filled.

    Of a folder that was filled by `data get --into` the part's own folder is meant, and of one that holds a file of the
    part's own name, that file. Raises ConfigError, with the
    command that gets it, where nothing is given and the part is not there; and for unknown names.
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
        command = f"factloop research data get {known.name}"
        if known.gated:
            command += f" --from FOLDER (from {known.homepage})"
        elif len(known.parts) > 1:
            command += f" --part {part}"
        missing = f"{named_part(dataset, part)} is not in {folder}"
        raise ConfigError(f"{missing}; get it with: {command}, or name it with --data")
    return folder / dataset / part


def named_part(dataset: str, part: str) -> str:
    """The name that reports give to a part found in the folder."""
    return f"{find_dataset(dataset).title} ({part})"
