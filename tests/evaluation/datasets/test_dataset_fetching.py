"""Downloads from a server on loopback that misbehaves as told, and copies of folders."""

from __future__ import annotations

import hashlib
import json
from dataclasses import replace
from pathlib import Path

import pytest

from factloop.core.errors import ConfigError, DataError, ToolError, ToolTimeout
from factloop.evaluation.datasets.download import Download
from factloop.evaluation.datasets.fetch import FetchedFile, How, fetch, get
from factloop.evaluation.datasets.registry import (
    Dataset,
    DatasetPart,
    UpstreamFile,
    find_dataset,
    list_datasets,
    load_part,
)
from tests.evaluation.datasets.dataset_files import array, jsonl, published
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


def served(received: ReceivedRequest) -> Reply:
    """The body, or the rest of it that was asked for."""
    asked = received.headers.get("Range")
    if asked is None:
        return Reply(body=BODY, headers=PLAIN)
    start = int(asked.removeprefix("bytes=").removesuffix("-"))
    if start >= len(BODY):
        return Reply(416, b"", PLAIN)
    return Reply(206, BODY[start:], (*PLAIN, ("Content-Range", f"bytes {start}-{len(BODY) - 1}/{len(BODY)}")))


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


def test_without_a_known_checksum_nothing_is_called_verified(server: FakeServer, tmp_path: Path) -> None:
    server.respond = served
    (file,) = fetch(dataset(server.url, None), tmp_path, parts=("dev",), download=ONCE)
    assert (file.verified, file.sha256) == (False, sha256(BODY))


def test_another_checksum_is_an_error_and_leaves_nothing(server: FakeServer, tmp_path: Path) -> None:
    server.respond = served
    with pytest.raises(DataError, match=rf"its SHA-256 is {sha256(BODY)}, where {'0' * 64} was expected"):
        fetch(dataset(server.url, "0" * 64), tmp_path, parts=("dev",), download=THRICE)
    assert files_in(tmp_path) == []
    assert len(server.received) == 1


def test_a_file_that_was_changed_is_downloaded_anew(server: FakeServer, tmp_path: Path) -> None:
    server.respond = served
    (file,) = fetch(dataset(server.url), tmp_path, parts=("dev",), download=ONCE)
    file.path.write_bytes(b"changed")
    (again,) = fetch(dataset(server.url), tmp_path, parts=("dev",), download=ONCE)
    assert (again.how, again.path.read_bytes()) == (How.DOWNLOADED, BODY)


def test_a_download_goes_on_where_it_was_cut(server: FakeServer, tmp_path: Path) -> None:
    def cut_first(received: ReceivedRequest) -> Reply:
        if len(server.received) == 1:
            return Reply(body=BODY[:15_000], headers=PLAIN, content_length=len(BODY))
        return served(received)

    server.respond = cut_first
    with pytest.raises(ToolError, match="no whole answer") as caught:
        fetch(dataset(server.url), tmp_path, parts=("dev",), download=ONCE)
    assert caught.value.retryable
    assert files_in(tmp_path) == ["mine/dev/deep/rows.jsonl.part"]
    start = (tmp_path / "mine/dev/deep/rows.jsonl.part").stat().st_size
    assert 0 < start <= 15_000
    (file,) = fetch(dataset(server.url), tmp_path, parts=("dev",), download=ONCE)
    assert file.path.read_bytes() == BODY
    assert server.received[1].headers["Range"] == f"bytes={start}-"


@pytest.mark.parametrize("version", [("ETag", '"1"'), ("Last-Modified", "Tue, 24 Nov 2026 10:00:00 GMT"), None])
def test_without_a_checksum_a_part_is_never_ended_with_another_version(
    server: FakeServer, tmp_path: Path, version: tuple[str, str] | None
) -> None:
    """The file changes after the first answer was cut: a server that is told which version is meant sends all anew."""
    headers = PLAIN if version is None else (*PLAIN, version)

    def changed(received: ReceivedRequest) -> Reply:
        if len(server.received) == 1:
            return Reply(body=b"x" * 15_000, headers=headers, content_length=len(BODY))
        assert received.headers.get("If-Range") == (None if version is None else version[1])
        assert ("Range" in received.headers) == (version is not None)
        return Reply(body=BODY, headers=PLAIN)

    server.respond = changed
    (file,) = fetch(dataset(server.url, None), tmp_path, parts=("dev",), download=THRICE)
    assert file.path.read_bytes() == BODY
    assert len(server.received) == 2


def test_without_a_checksum_a_rest_of_another_version_is_thrown_away(server: FakeServer, tmp_path: Path) -> None:
    """The server does not know If-Range: it sends the rest that was asked for, whatever it is the rest of."""

    def changed(received: ReceivedRequest) -> Reply:
        if len(server.received) == 1:
            return Reply(body=b"x" * 15_000, headers=(*PLAIN, ("ETag", '"1"')), content_length=len(BODY))
        whole = served(received)
        return replace(whole, headers=(*whole.headers, ("ETag", '"2"')))

    server.respond = changed
    (file,) = fetch(dataset(server.url, None), tmp_path, parts=("dev",), download=THRICE)
    assert file.path.read_bytes() == BODY
    assert ["Range" in received.headers for received in server.received] == [False, True, False]


def test_without_a_checksum_what_an_earlier_download_left_is_not_gone_on_with(
    server: FakeServer, tmp_path: Path
) -> None:
    server.respond = served
    partial = tmp_path / "mine/dev/deep/rows.jsonl.part"
    partial.parent.mkdir(parents=True)
    partial.write_bytes(b"x" * 100)
    (file,) = fetch(dataset(server.url, None), tmp_path, parts=("dev",), download=ONCE)
    assert file.path.read_bytes() == BODY


@pytest.mark.parametrize("left", [b"x" * len(BODY), BODY])
def test_a_rest_that_does_not_fit_is_thrown_away(server: FakeServer, tmp_path: Path, left: bytes) -> None:
    server.respond = served
    partial = tmp_path / "mine/dev/deep/rows.jsonl.part"
    partial.parent.mkdir(parents=True)
    partial.write_bytes(left)
    (file,) = fetch(dataset(server.url), tmp_path, parts=("dev",), download=THRICE)
    assert file.path.read_bytes() == BODY


def test_a_server_that_knows_no_ranges_sends_all_of_it(server: FakeServer, tmp_path: Path) -> None:
    server.will(Reply(body=BODY, headers=PLAIN))
    partial = tmp_path / "mine/dev/deep/rows.jsonl.part"
    partial.parent.mkdir(parents=True)
    partial.write_bytes(BODY[:50])
    (file,) = fetch(dataset(server.url), tmp_path, parts=("dev",), download=ONCE)
    assert file.path.read_bytes() == BODY


def test_another_range_than_was_asked_for_is_refused(server: FakeServer, tmp_path: Path) -> None:
    server.will(Reply(206, BODY[3:], (*PLAIN, ("Content-Range", f"bytes 3-{len(BODY) - 1}/{len(BODY)}"))))
    with pytest.raises(ToolError, match="another part than was asked for"):
        fetch(dataset(server.url, None), tmp_path, parts=("dev",), download=ONCE)
    assert files_in(tmp_path) == []


@pytest.mark.parametrize(("status", "requests"), [(500, 3), (503, 3), (429, 3), (404, 1), (403, 1)])
def test_what_may_pass_is_tried_again(server: FakeServer, tmp_path: Path, status: int, requests: int) -> None:
    server.will(Reply(status, b"no", PLAIN))
    with pytest.raises(ToolError, match=f"the server answers with status {status}") as caught:
        fetch(dataset(server.url), tmp_path, parts=("dev",), download=THRICE)
    assert (caught.value.status, len(server.received)) == (status, requests)
    assert files_in(tmp_path) == []


def test_an_error_that_passes_is_forgotten(server: FakeServer, tmp_path: Path) -> None:
    server.will(Reply(500, b"no", PLAIN), Reply(429, b"", (("Retry-After", "0"),)), Reply(body=BODY, headers=PLAIN))
    (file,) = fetch(dataset(server.url), tmp_path, parts=("dev",), download=THRICE)
    assert (file.path.read_bytes(), len(server.received)) == (BODY, 3)


def test_a_server_that_wants_a_long_rest_is_left_alone(server: FakeServer, tmp_path: Path) -> None:
    server.will(Reply(429, b"", (("Retry-After", "3600"),)))
    with pytest.raises(ToolError) as caught:
        fetch(dataset(server.url), tmp_path, parts=("dev",), download=THRICE)
    assert (caught.value.retry_after_s, len(server.received)) == (3600.0, 1)


def test_a_silent_server_is_no_wait_without_end(server: FakeServer, tmp_path: Path) -> None:
    server.will(Reply(body=BODY, headers=PLAIN, drip_s=2.0, drip_head=True))
    with pytest.raises(ToolTimeout):
        fetch(dataset(server.url), tmp_path, parts=("dev",), download=Download(timeout_s=0.2, attempts=1))


def test_nobody_there_is_a_tool_error(tmp_path: Path) -> None:
    with pytest.raises(ToolError, match=r"no whole answer \(ConnectionError\)"):
        fetch(dataset("http://127.0.0.1:1"), tmp_path, parts=("dev",), download=ONCE)


def test_what_is_handed_out_on_request_says_where(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"accept its terms: download it at https://mine\.test and name the folder"):
        fetch(dataset("http://127.0.0.1:1", gated=True), tmp_path, download=ONCE)
    with pytest.raises(ConfigError, match="LLM-AggreFact is handed out only"):
        get("llm-aggrefact", tmp_path)


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


def test_files_of_another_layout_got_earlier_are_removed(tmp_path: Path) -> None:
    (tmp_path / "own").mkdir()
    (tmp_path / "own/mine_dev.jsonl").write_bytes(b"own")
    (tmp_path / "published").mkdir()
    (tmp_path / "published/rows.jsonl").write_bytes(BODY)
    (tmp_path / "outside").write_bytes(b"kept")
    fetch(dataset("https://mine.test"), tmp_path / "here", tmp_path / "own", parts=("dev",))
    record = tmp_path / "here/mine/dev/.source.json"
    record.write_text(record.read_text().replace('"files": [', '"files": [{"path": "../../../outside"},'))
    (tmp_path / "here/mine/dev/notes.txt").write_bytes(b"the user's")
    fetch(dataset("https://mine.test"), tmp_path / "here", tmp_path / "published", parts=("dev",))
    assert files_in(tmp_path / "here/mine/dev") == [".source.json", "deep/rows.jsonl", "notes.txt"]
    assert (tmp_path / "outside").read_bytes() == b"kept"


def test_a_folder_without_the_files_is_named(tmp_path: Path) -> None:
    known = dataset("https://mine.test")
    with pytest.raises(DataError, match=r"there is no file of mine here; looked for mine_dev\.jsonl, mine_test\.jsonl"):
        fetch(known, tmp_path / "here", tmp_path)
    with pytest.raises(DataError, match="there is no file of mine test here"):
        fetch(known, tmp_path / "here", tmp_path, parts=("test",))
    with pytest.raises(DataError, match="there is no such folder"):
        fetch(known, tmp_path / "here", tmp_path / "absent")


def test_a_copy_with_another_checksum_is_refused(tmp_path: Path) -> None:
    (tmp_path / "rows.jsonl").write_bytes(b"other")
    with pytest.raises(DataError, match="where that of the published file is"):
        fetch(dataset("https://mine.test"), tmp_path / "here", tmp_path)
    assert not (tmp_path / "here/mine/dev/deep/rows.jsonl").exists()


def test_names_that_are_none_are_answered_with_those_there_are(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"there is no data set 'longfakt'; there are expertqa, .*wice"):
        get("longfakt", tmp_path)
    with pytest.raises(ConfigError, match="longfact has no part 'subjects'; it has objects, concepts"):
        get("longfact", tmp_path, parts=("subjects",))
    with pytest.raises(ConfigError, match="wice has no part 'train'"):
        load_part("wice", "train", tmp_path)


def test_the_registry_says_of_each_data_set_what_users_need() -> None:
    datasets = list_datasets()
    assert [one.name for one in datasets] == sorted(one.name for one in datasets)
    assert {one.name for one in datasets} >= {"longfact", "mixedqa", "factscore", "wice", "tofueval", "refchecker"}
    for one in datasets:
        assert all((one.title, one.about, one.licence, one.citation, one.homepage.startswith("https://"))), one.name
        for part in one.parts:
            assert bool(part.files) != one.gated, (one.name, part.name)
            assert part.columns, (one.name, part.name)
            for file in part.files:
                assert file.url.startswith("https://"), file.url
                assert file.url.endswith(file.path), file.url
                assert not Path(file.path).is_absolute(), file.path
                assert ".." not in Path(file.path).parts, file.path
                assert "/main/" not in file.url, "an address names a revision, or its checksum may change"
    topics = [file for part in find_dataset("longfact").parts for file in part.files]
    assert (len(topics), sum(file.sha256 is not None for file in topics)) == (76, 76)


@pytest.mark.parametrize(
    ("name", "part", "own_file", "rows"),
    [
        ("longfact", "objects", "longfact_objects.jsonl", 1140),
        ("mixedqa", "answers", "mixedqa.jsonl", 1000),
        ("factscore", "bio", "factscore_bio.jsonl", 549),
        ("wice", "dev", "wice_dev.jsonl", 349),
        ("tofueval", "mediasum-dev", "tofueval_mediasum_dev.jsonl", 1813),
        ("factcheckgpt", "stance", "factcheckgpt_dev_stance.jsonl", 1825),
        ("expertqa", "claims", "expertqa_dev_claims.jsonl", 1356),
    ],
)
def test_what_is_got_from_the_labelled_data_can_be_loaded(
    tmp_path: Path, name: str, part: str, own_file: str, rows: int
) -> None:
    source = published(own_file).parent
    get(name, tmp_path, source, parts=(part,))
    assert sum(1 for _ in load_part(name, part, tmp_path / name / part)) == rows


def test_every_part_has_a_loader(tmp_path: Path) -> None:
    for one in list_datasets():
        for part in one.parts:
            empty = tmp_path / one.name / part.name
            empty.mkdir(parents=True)
            with pytest.raises((DataError, ConfigError)):
                list(load_part(one.name, part.name, empty))


def test_mixedqa_is_loaded_from_either_layout(tmp_path: Path) -> None:
    answer = {"pred": "Ada", "human_eval": "1"}
    array(tmp_path / "qa_human_check.json", {"question": "Who?", "answers": ["Ada"], "source": "PopQA", "gpt": answer})
    (theirs,) = load_part("mixedqa", "answers", tmp_path)
    jsonl(tmp_path / "own" / "mixedqa.jsonl", theirs.model_dump())
    assert list(load_part("mixedqa", "answers", tmp_path / "own")) == [theirs]
