"""The folders in which a run keeps what it must find again: its directory, and the answers that were paid for."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from factloop.setup.run_directory import RunDirectory


@contextmanager
def claimed_folder(run_dir: str | Path | None, configuration: Mapping[str, Any]) -> Iterator[Path | None]:
    """The directory of a run, held by this process; None where the user named none.

    `configuration` is what must not change between the attempts at one run. Raises ConfigError where the directory
    holds something else, another run, or is in use.
    """
    if run_dir is None:
        yield None
        return
    with RunDirectory(Path(run_dir)) as directory:
        directory.claim(configuration)
        yield directory.path


@contextmanager
def answers_folder(folder: Path | None) -> Iterator[Path]:
    """The folder for answers: the run's, or a temporary one. Never in memory, which would grow with the run."""
    if folder is not None:
        yield folder
        return
    with TemporaryDirectory(prefix="factloop-") as temporary:
        yield Path(temporary)
