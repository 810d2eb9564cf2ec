from __future__ import annotations

import hashlib
import json
import re
from pathlib import Path

import pytest

from factloop.core.errors import ConfigError, DataError, ToolError, ToolTimeout
from factloop.evaluation.datasets.fetch import Download, FetchedFile, How, fetch
from factloop.evaluation.datasets.folder import data_folder, find_part
from factloop.evaluation.datasets.registry import Dataset, DatasetPart, UpstreamFile, list_datasets, load_part
from tests.tools.fake_server import FakeServer, ReceivedRequest, Reply, server

__all__ = ["server"]

BODY = b'{"prompt": "Why?"}\n' * 1000
PLAIN = (("Content-Type", "text/plain"),)
ONCE = Download(timeout_s=30.0, attempts=1, wait_s=0.0)
THRICE = Download(timeout_s=30.0, attempts=3, wait_s=0.0)


def sha256(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


def dataset(url: str, checksum: str | None = sha256(BODY), *, gated: bool = False) -> Dataset:
    file = UpstreamFile(path="deep/rows.jsonl", url=f"{url}/repo/main/deep/rows.jsonl", sha256=checksum)
    one = DatasetPart(name="dev", files=(file,), own_file="mine_dev.jsonl", columns=("prompt",), loader="")
    other = DatasetPart(
        name="test", files=(), patterns=("test-*.parquet",), own_file="mine_test.jsonl", columns=(), loader=""
    )
    return Dataset(
        name="mine",
        title="Mine",
        about="",
        homepage="https://mine.test",
        licence="CC0",
        citation="Me 2024",
        gated=gated,
        parts=(one, other),
    )


def served(received: ReceivedRequest) -> Reply:  # noqa: ARG001 - whatever is asked
    return Reply(body=BODY, headers=PLAIN)


def files_in(folder: Path) -> list[str]:
    return sorted(path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file())


def test_a_file_is_downloaded_once_and_its_origin_recorded(server: FakeServer, tmp_path: Path) -> None:
    server.respond = served
    told: list[FetchedFile] = []
    (file,) = fetch(dataset(server.url), tmp_path, parts=("dev",), download=ONCE, on_file=told.append)
    assert told == [file]
    assert file.path == tmp_path / "mine/dev/deep/rows.jsonl"
    assert file.path.read_bytes() == BODY
    assert (file.how, file.verified, file.sha256) == (How.DOWNLOADED, True, sha256(BODY))
    record = json.loads((tmp_path / "mine/dev/.source.json").read_text())
    assert (record["licence"], record["citation"]) == ("CC0", "Me 2024")
    assert record["files"] == [
        {"path": "deep/rows.jsonl", "source": file.source, "sha256": sha256(BODY), "verified": True}
    ]
    (again,) = fetch(dataset(server.url), tmp_path, parts=("dev",), download=ONCE)
    assert (again.how, len(server.received)) == (How.PRESENT, 1)
    assert files_in(tmp_path) == ["mine/dev/.source.json", "mine/dev/deep/rows.jsonl"]


def test_another_checksum_is_an_error_and_leaves_nothing(server: FakeServer, tmp_path: Path) -> None:
    server.respond = served
    with pytest.raises(DataError, match=rf"the SHA-256 is {sha256(BODY)} instead of {'0' * 64};"):
        fetch(dataset(server.url, "0" * 64), tmp_path, parts=("dev",), download=THRICE)
    assert files_in(tmp_path) == []
    assert len(server.received) == 1


def test_a_download_that_breaks_off_is_made_again_and_has_no_name_before(server: FakeServer, tmp_path: Path) -> None:
    def cut_first(received: ReceivedRequest) -> Reply:  # noqa: ARG001 - whatever is asked
        length = 15_000 if len(server.received) == 1 else len(BODY)
        return Reply(body=BODY[:length], headers=PLAIN, content_length=len(BODY))

    server.respond = cut_first
    with pytest.raises(ToolError, match="cannot download ") as caught:
        fetch(dataset(server.url), tmp_path, parts=("dev",), download=ONCE)
    assert caught.value.retryable
    assert files_in(tmp_path) == ["mine/dev/deep/rows.jsonl.part"]
    (file,) = fetch(dataset(server.url, None), tmp_path, parts=("dev",), download=ONCE)
    assert (file.path.read_bytes(), file.verified) == (BODY, False)
    assert files_in(tmp_path) == ["mine/dev/.source.json", "mine/dev/deep/rows.jsonl"]


@pytest.mark.parametrize(("status", "requests"), [(500, 3), (503, 3), (429, 3), (404, 1), (403, 1)])
def test_what_may_pass_is_tried_again(server: FakeServer, tmp_path: Path, status: int, requests: int) -> None:
    server.will(Reply(status, b"no", PLAIN))
    with pytest.raises(ToolError, match=f"the server returned status {status}") as caught:
        fetch(dataset(server.url), tmp_path, parts=("dev",), download=THRICE)
    assert (caught.value.status, len(server.received)) == (status, requests)
    assert files_in(tmp_path) == []


def test_a_silent_server_is_no_wait_without_end(server: FakeServer, tmp_path: Path) -> None:
    server.will(Reply(body=BODY, headers=PLAIN, drip_s=2.0, drip_head=True))
    with pytest.raises(ToolTimeout):
        fetch(dataset(server.url), tmp_path, parts=("dev",), download=Download(timeout_s=0.2, attempts=1))


def test_what_is_handed_out_on_request_says_where(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"accept its terms; download it from https://mine\.test and pass the folder"):
        fetch(dataset("http://127.0.0.1:1", gated=True), tmp_path, download=ONCE)


def test_a_place_that_cannot_be_written_is_named(tmp_path: Path) -> None:
    (tmp_path / "mine").write_text("a file")
    with pytest.raises(ConfigError, match="cannot read or write"):
        fetch(dataset("http://127.0.0.1:1"), tmp_path, download=ONCE)


@pytest.mark.parametrize("place", ["deep/rows.jsonl", "rows.jsonl", "main/deep/rows.jsonl"])
def test_published_files_are_found_in_a_folder(tmp_path: Path, place: str) -> None:
    source = tmp_path / "there" / place
    source.parent.mkdir(parents=True)
    source.write_bytes(BODY)
    (file,) = fetch(dataset("https://mine.test"), tmp_path / "here", tmp_path / "there")
    assert (file.how, file.verified, file.source) == (How.COPIED, True, str(source))
    assert file.path == tmp_path / "here/mine/dev/deep/rows.jsonl"
    (again,) = fetch(dataset("https://mine.test"), tmp_path / "here", tmp_path / "there")
    assert again.how is How.PRESENT


def test_our_own_files_and_handed_out_ones_are_found_too(tmp_path: Path) -> None:
    (tmp_path / "there/data").mkdir(parents=True)
    (tmp_path / "there/mine_dev.jsonl").write_bytes(b"own")
    (tmp_path / "there/data/test-0.parquet").write_bytes(b"handed out")
    dev, test = fetch(dataset("https://mine.test"), tmp_path / "here", tmp_path / "there")
    assert (dev.path.name, dev.verified) == ("mine_dev.jsonl", False)
    assert test.path == tmp_path / "here/mine/test/test-0.parquet"


def test_a_folder_without_the_files_is_named(tmp_path: Path) -> None:
    known = dataset("https://mine.test")
    with pytest.raises(DataError, match=r"no files for mine were found; looked for mine_dev\.jsonl, mine_test\.jsonl"):
        fetch(known, tmp_path / "here", tmp_path)
    with pytest.raises(DataError, match="no files for mine test were found"):
        fetch(known, tmp_path / "here", tmp_path, parts=("test",))
    with pytest.raises(DataError, match="this folder does not exist"):
        fetch(known, tmp_path / "here", tmp_path / "absent")


def test_a_copy_with_another_checksum_is_refused(tmp_path: Path) -> None:
    (tmp_path / "rows.jsonl").write_bytes(b"other")
    with pytest.raises(DataError, match="instead of the published"):
        fetch(dataset("https://mine.test"), tmp_path / "here", tmp_path)
    assert not (tmp_path / "here/mine/dev/deep/rows.jsonl").exists()


def test_every_part_has_a_loader_and_files_of_one_revision(tmp_path: Path) -> None:
    for one in list_datasets():
        for part in one.parts:
            assert [file.url for file in part.files if not re.search("/[0-9a-f]{40}/", file.url)] == []
            empty = tmp_path / one.name / part.name
            empty.mkdir(parents=True)
            with pytest.raises((DataError, ConfigError)):
                list(load_part(one.name, part.name, empty))


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("FACTLOOP_DATA_DIR", str(tmp_path / "data"))
    return tmp_path / "data"


def test_the_folder_is_named_by_the_environment(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert data_folder() == folder
    monkeypatch.setenv("FACTLOOP_DATA_DIR", "~/sets")
    assert data_folder() == Path.home() / "sets"
    monkeypatch.setenv("FACTLOOP_DATA_DIR", "")
    assert data_folder().name == "factloop"
    assert data_folder().is_absolute()


@pytest.mark.parametrize(
    ("dataset", "part", "command"),
    [
        ("longfact", "objects", "factloop research data get longfact --part objects`,"),
        ("mixedqa", "answers", "factloop research data get mixedqa`,"),
        ("llm-aggrefact", "dev", "factloop research data get llm-aggrefact --from FOLDER` (from https://"),
    ],
)
def test_a_part_that_is_absent_says_how_to_get_it(folder: Path, dataset: str, part: str, command: str) -> None:
    with pytest.raises(ConfigError) as caught:
        find_part(dataset, part, None)
    assert f"is not in {folder}; get it with `{command}" in str(caught.value)
