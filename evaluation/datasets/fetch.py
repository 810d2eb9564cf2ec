"""Downloads a data set, or copies it from a folder.

Each file is written as `NAME.part` and renamed once it is complete and verified. A record next to the files says where
they came from.
"""

from __future__ import annotations

import hashlib
import json
import shutil
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from urllib.parse import urlsplit

import requests

from factloop.core.errors import ConfigError, DataError, ToolError, ToolTimeout
from factloop.core.records import Record
from factloop.evaluation.datasets.registry import Dataset, DatasetPart, UpstreamFile

RECORD = ".source.json"


class How(StrEnum):
    DOWNLOADED = "downloaded"
    COPIED = "copied"
    PRESENT = "present"


class FetchedFile(Record):
    part: str
    path: Path
    source: str
    how: How
    sha256: str
    verified: bool
    """Whether the file matched a known checksum. False if no checksum is known."""


@dataclass(frozen=True)
class Download:
    """`timeout_s` limits the wait for each response and for each chunk of it."""

    timeout_s: float = 30.0
    attempts: int = 4
    wait_s: float = 1.0
    """The wait before the second attempt. It doubles with each further attempt."""
    longest_wait_s: float = 60.0
    """If a server asks for a longer wait, no further attempt is made."""

    def to(self, url: str, target: Path, sha256: str | None) -> None:
        """Downloads `url` to `target`, whose folder must exist. Retries after temporary failures. Raises ToolError if
        the download fails. If the checksum differs, removes the file and raises DataError."""
        part = target.with_name(f"{target.name}.part")
        for attempt in range(1, self.attempts + 1):
            try:
                self._attempt(url, part)
                break
            except ToolError as error:
                wait_s = max(self.wait_s * 2 ** (attempt - 1), error.retry_after_s or 0.0)
                if not error.retryable or attempt == self.attempts or wait_s > self.longest_wait_s:
                    raise
                time.sleep(wait_s)
        found = sha256_of(part)
        if sha256 not in (None, found):
            part.unlink()
            said = f"the SHA-256 is {found} instead of {sha256}; the file has changed or was tampered with"
            raise DataError(said, path=url)
        part.replace(target)

    def _attempt(self, url: str, part: Path) -> None:
        try:
            with requests.get(url, stream=True, timeout=self.timeout_s) as answer:
                _refuse_failure(answer, url)
                with part.open("wb") as file:
                    for chunk in answer.iter_content(_CHUNK):
                        file.write(chunk)
        except requests.Timeout as error:
            raise ToolTimeout(tool=_TOOL, timeout_s=self.timeout_s) from error
        except requests.RequestException as error:
            kind = type(error).__name__
            retryable = isinstance(error, requests.ConnectionError | requests.exceptions.ChunkedEncodingError)
            raise ToolError(f"cannot download {url} ({kind})", tool=_TOOL, retryable=retryable) from error


_TOOL = "download"
_CHUNK = 2**16
"""Size in bytes."""


def _refuse_failure(answer: requests.Response, url: str) -> None:
    status = answer.status_code
    if status == 200:
        return
    after = answer.headers.get("Retry-After", "")
    raise ToolError(
        f"{url}: the server returned status {status}",
        tool=_TOOL,
        status=status,
        retry_after_s=float(after) if after.isdecimal() else None,
        retryable=status >= 500 or status in (408, 425, 429),
    )


def fetch(
    dataset: Dataset,
    into: str | Path,
    from_dir: str | Path | None = None,
    *,
    parts: tuple[str, ...] = (),
    download: Download | None = None,
    on_file: Callable[[FetchedFile], None] | None = None,
) -> tuple[FetchedFile, ...]:
    """Saves all parts, or only `parts`, in `into/NAME/PART`, and calls `on_file` for each file.

    With `from_dir`, files are copied from this folder instead of downloaded. It may contain the published files, with
    or without upstream's subfolders, or factloop's own single file for the part. Missing parts are skipped unless they
    were requested. Existing files are kept if their checksum matches or none is known.

    Raises ConfigError if a part is unknown, if upstream provides the data set only on request, or if a file cannot be
    read or written. Raises ToolError if a download fails, and DataError if a checksum differs or files are missing.
    """
    chosen = [dataset.part(part) for part in parts] or list(dataset.parts)
    fetched: list[FetchedFile] = []
    try:
        for part in chosen:
            folder = Path(into) / dataset.name / part.name
            if from_dir is None:
                found = _downloads(dataset, part, folder, download or Download())
            else:
                found = _copies(part, folder, Path(from_dir))
            of_part = []
            for file in found:
                of_part.append(file)
                if on_file is not None:
                    on_file(file)
            if of_part:
                _write_record(dataset, folder, of_part)
            elif parts:
                raise DataError(f"no files for {dataset.name} {part.name} were found", path=str(from_dir))
            fetched += of_part
    except OSError as error:
        tried = f"read or write {error.filename or into}"
        if error.filename2 is not None:
            tried = f"copy {error.filename} to {error.filename2}"
        raise ConfigError(f"cannot {tried}: {error.strerror or error}") from error
    if not fetched:
        names = [part.own_file or (part.files[0].path if part.files else part.name) for part in chosen]
        raise DataError(f"no files for {dataset.name} were found; looked for {', '.join(names)}", path=str(from_dir))
    return tuple(fetched)


def _downloads(dataset: Dataset, part: DatasetPart, folder: Path, download: Download) -> Iterator[FetchedFile]:
    if dataset.gated:
        raise ConfigError(
            f"{dataset.title} requires you to accept its terms; download it from {dataset.homepage} and "
            "pass the folder with --from"
        )
    for file in part.files:
        target = folder / file.path
        target.parent.mkdir(parents=True, exist_ok=True)
        how = How.PRESENT
        if not _is_there(target, file.sha256):
            download.to(file.url, target, file.sha256)
            how = How.DOWNLOADED
        yield _fetched(part, target, file.url, how, file.sha256)


def _copies(part: DatasetPart, folder: Path, source: Path) -> Iterator[FetchedFile]:
    for path, name, sha256 in _found_in(source, part):
        target = folder / name
        target.parent.mkdir(parents=True, exist_ok=True)
        if sha256 is not None and sha256_of(path) != sha256:
            raise DataError(f"the SHA-256 is {sha256_of(path)} instead of the published {sha256}", path=str(path))
        how = How.PRESENT
        if not _is_there(target, sha256_of(path)):
            draft = target.with_name(f"{target.name}.part")
            shutil.copyfile(path, draft)
            draft.replace(target)
            how = How.COPIED
        yield _fetched(part, target, str(path), how, sha256)


def _found_in(source: Path, part: DatasetPart) -> list[tuple[Path, str, str | None]]:
    if not source.is_dir():
        raise DataError("this folder does not exist", path=str(source))
    published = [(found, file.path, file.sha256) for file in part.files if (found := _below(source, file)) is not None]
    if published and len(published) == len(part.files):
        return published
    folders = (source, source / "data")
    handed_out = sorted({path for pattern in part.patterns for folder in folders for path in folder.glob(pattern)})
    if handed_out:
        return [(path, path.name, None) for path in handed_out]
    own = source / part.own_file if part.own_file else None
    if own is not None and own.is_file():
        return [(own, own.name, None)]
    if published:
        lacking = next(file.path for file in part.files if _below(source, file) is None)
        raise DataError(f"{part.name} is incomplete: {lacking} is missing", path=str(source))
    return []


def _below(source: Path, file: UpstreamFile) -> Path | None:
    """Finds the published file in a copy of upstream's repository, or of a folder in it."""
    steps = urlsplit(file.url).path.strip("/").split("/")
    ends = ["/".join(steps[start:]) for start in range(len(steps))]
    return next((source / place for place in (file.path, *ends) if (source / place).is_file()), None)


def _is_there(target: Path, sha256: str | None) -> bool:
    return target.is_file() and sha256 in (None, sha256_of(target))


def _fetched(part: DatasetPart, target: Path, source: str, how: How, known: str | None) -> FetchedFile:
    found = sha256_of(target)
    return FetchedFile(part=part.name, path=target, source=source, how=how, sha256=found, verified=found == known)


def sha256_of(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _write_record(dataset: Dataset, folder: Path, files: list[FetchedFile]) -> None:
    about = {"dataset": dataset.name, "licence": dataset.licence, "citation": dataset.citation}
    listed = [
        {**file.model_dump(mode="json", exclude={"part", "how"}), "path": file.path.relative_to(folder).as_posix()}
        for file in files
    ]
    draft = folder / f"{RECORD}.part"
    draft.write_text(json.dumps({**about, "files": listed}, indent=2) + "\n", encoding="utf-8")
    draft.replace(folder / RECORD)
