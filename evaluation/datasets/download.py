"""One file over HTTP: resumed where a part of it is there, compared with its checksum, and only then given its name."""

from __future__ import annotations

import hashlib
import time
from dataclasses import dataclass
from pathlib import Path

import requests

from factloop.core.errors import DataError, ToolError, ToolTimeout

_TOOL = "download"
_CHUNK = 2**13
"""Bytes. What was read of a chunk when the answer breaks off is lost, so it is small."""
_RETRYABLE = frozenset({408, 425, 429})


@dataclass
class _Part:
    """The part of a file that is there, in which only what belongs to one version of the file may stand."""

    path: Path
    is_checked: bool
    """Whether a checksum will tell, so that any part may be gone on with."""
    version: str | None = None
    """The strong ETag, or the date, of the version that the part is of, where this download has begun it."""

    @property
    def size(self) -> int:
        """Bytes to go on from; 0 where a rest could be that of another version."""
        return self.path.stat().st_size if self.path.exists() and (self.is_checked or self.version) else 0

    def note(self, answer: requests.Response) -> None:
        """Keeps in mind which version is begun."""
        self.version = _version(answer)

    def is_of_another(self, answer: requests.Response) -> bool:
        """Whether a rest is of another version than the part: a server may not know *If-Range*."""
        return not self.is_checked and _version(answer) not in (None, self.version)


def _version(answer: requests.Response) -> str | None:
    tag = answer.headers.get("ETag", "")
    return (tag if tag.startswith('"') else answer.headers.get("Last-Modified")) or None


@dataclass(frozen=True)
class Download:
    """How files are downloaded. `timeout_s` bounds the wait for each answer and for each piece of it."""

    timeout_s: float = 30.0
    attempts: int = 4
    wait_s: float = 1.0
    """Wait before the second attempt; twice as long before each further one."""
    longest_wait_s: float = 60.0
    """A server that wants to be left alone for longer is not asked again."""

    def to(self, url: str, target: Path, sha256: str | None) -> None:
        """Puts what is at `url` to `target`, whose folder is there.

        A failed attempt is repeated where that can help, and goes on where the last one ended: without a checksum only
        where the server says that it is still the same file. Raises ToolError, and DataError where the file has another
        checksum; it is then removed.
        """
        partial = target.with_name(f"{target.name}.part")
        part = _Part(partial, is_checked=sha256 is not None)
        for attempt in range(1, self.attempts + 1):
            try:
                self._attempt(url, part)
                break
            except ToolError as error:
                wait_s = max(self.wait_s * 2 ** (attempt - 1), error.retry_after_s or 0.0)
                if not error.retryable or attempt == self.attempts or wait_s > self.longest_wait_s:
                    raise
                time.sleep(wait_s)
        _check(partial, url, sha256)
        partial.replace(target)

    def _attempt(self, url: str, part: _Part) -> None:
        start, headers = part.size, {"Accept-Encoding": "identity"}
        if start:
            headers |= {"Range": f"bytes={start}-"} | ({"If-Range": part.version} if part.version else {})
        try:
            with requests.get(url, headers=headers, stream=True, timeout=self.timeout_s) as answer:
                is_of_another = answer.status_code == 206 and part.is_of_another(answer)
                if start and (answer.status_code == 416 or is_of_another):  # it ends there, or changed: from the start
                    part.path.unlink()
                    raise ToolError(
                        f"{url}: what was there of it does not fit",
                        tool=_TOOL,
                        status=answer.status_code,
                        retryable=True,
                    )
                _refuse_failure(answer, url)
                resumed = answer.status_code == 206
                if resumed and not _begins_at(answer, start):
                    raise ToolError(f"{url}: the server sent another part than was asked for", tool=_TOOL, status=206)
                if not resumed:
                    part.note(answer)
                with part.path.open("ab" if resumed else "wb") as file:
                    for chunk in answer.iter_content(_CHUNK):
                        file.write(chunk)
        except requests.Timeout as error:
            raise ToolTimeout(tool=_TOOL, timeout_s=self.timeout_s) from error
        except requests.RequestException as error:
            kind = type(error).__name__
            retryable = isinstance(error, requests.ConnectionError | requests.exceptions.ChunkedEncodingError)
            raise ToolError(f"{url}: no whole answer ({kind})", tool=_TOOL, retryable=retryable) from error


def _refuse_failure(answer: requests.Response, url: str) -> None:
    status = answer.status_code
    if status in (200, 206):
        return
    after = answer.headers.get("Retry-After", "")
    raise ToolError(
        f"{url}: the server answers with status {status}",
        tool=_TOOL,
        status=status,
        retry_after_s=float(after) if after.isdecimal() else None,
        retryable=status >= 500 or status in _RETRYABLE,
    )


def _begins_at(answer: requests.Response, start: int) -> bool:
    return answer.headers.get("Content-Range", "").startswith(f"bytes {start}-")


def _check(partial: Path, url: str, sha256: str | None) -> None:
    if sha256 is None:
        return
    with partial.open("rb") as file:
        found = hashlib.file_digest(file, "sha256").hexdigest()
    if found != sha256:
        partial.unlink()
        raise DataError(
            f"its SHA-256 is {found}, where {sha256} was expected: it changed, or was tampered with", path=url
        )
