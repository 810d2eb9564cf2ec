from __future__ import annotations

import asyncio
import base64
import gzip
import io
import json
import logging
import os
import re
import signal
import subprocess
import sys
import tempfile
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any
from zipfile import ZIP_DEFLATED, ZipFile

import httpx
import pytest
from fastapi.responses import Response
from sse_starlette.sse import AppStatus

import factloop
from factloop.core import extras
from factloop.service import evaluation, file_parts, reading
from factloop.service.app import build_app, serve
from factloop.service.errors import RequestRefusal
from factloop.service.places import Places
from factloop.service.reading import MOST_AT_ONCE, MOST_WAITING, FileReader
from factloop.service.settings import ServiceSettings
from factloop.service.shapes import FileAsk
from factloop.setup.settings import CheckSettings
from factloop.trust.settings import TrustSettings
from tests.service.asking import FINISHED_WITHIN_S, Service, finished
from tests.service.test_checks import audit_rows

PAGE = b"<title>Towers</title><h1>Towers</h1><h2>Smeaton</h2><p>It was lit in 1759.</p><script>steal()</script>"

LONG = b"<table>" + b"<tr><td>a<td>b</tr>" * 300_000  # takes longer to read than the service has to stop


def lying(home: Path) -> bool:
    return bool(list(home.glob("*/long.html")))


def zipped(name: str, content: bytes) -> bytes:
    with (packed := io.BytesIO()), ZipFile(packed, "w", ZIP_DEFLATED) as archive:
        archive.writestr(name, content)
        archive.close()
        return packed.getvalue()


def asked(name: str, content: bytes) -> dict[str, str]:
    return {"name": name, "content": base64.b64encode(content).decode()}


async def test_a_file_becomes_documents_that_a_check_takes(service: Service) -> None:
    async with service() as client:
        read = await client.post("/v1/documents", json=asked("../towers.html", PAGE))
        (document,) = read.json()["documents"]
        assert (document["title"], document["source"]) == ("Towers", "../towers.html")
        assert document["text"] == "Smeaton\n\nIt was lit in 1759."
        answer = {"response": "It was lit in 1759.", "documents": [document]}
        job = await finished(client, (await client.post("/v1/checks", json=answer)).json()["id"])
        assert job["status"] == "done"


@pytest.mark.parametrize(
    ("name", "content", "why"),
    [
        ("broken.pdf", b"%PDF-1.4", "broken.pdf: the PDF cannot be read"),
        ("tool.exe", b"MZ", "tool.exe: unsupported extension '.exe'"),
        ("book.docx", b"no zip", "book.docx: the Word file cannot be read"),
        ("rows.jsonl.gz", gzip.compress(b'{"text": "a"}\n', mtime=0), "rows.jsonl.gz: the file is compressed"),
        ("rows.jsonl", b'{"text": "a b"}\n' * 1_001, "rows.jsonl: the file has more than 1,000 parts"),
        ("bomb.docx", zipped("word/document.xml", b" " * 33_000_000), "bomb.docx: the file contains more than 32 MB"),
        ("long.txt", b"word " * 500_000, "long.txt: one part has more than 2,000,000 characters"),
        (
            "wide.csv",
            (b"a" * 299 + b",") * 400 + b"\n" + (b"x," * 400 + b"\n") * 300,
            "wide.csv: the file has more than 8",
        ),
    ],
    ids=["pdf", "exe", "docx", "gz", "rows", "bomb", "long", "wide"],
)
async def test_what_cannot_be_read_is_said_without_the_place_where_it_lay(
    service: Service, name: str, content: bytes, why: str
) -> None:
    async with service() as client:
        refused = await client.post("/v1/documents", json=asked(name, content))
    assert refused.status_code == 422
    assert refused.json()["error"]["message"].startswith(why)
    assert "/tmp" not in refused.text


async def test_a_file_that_takes_too_long_is_refused_and_its_reading_ended(
    service: Service, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(home))
    monkeypatch.setattr(reading, "LONGEST_S", 1)
    async with service() as client:
        refused = await client.post("/v1/documents", json=asked("long.html", LONG))
    assert refused.status_code == 422
    assert refused.json()["error"]["message"] == "long.html: reading the file took too long; split the file"
    assert not lying(home)


def test_a_reading_that_nobody_waits_for_ends_itself_and_deletes_the_file(tmp_path: Path) -> None:
    (file := tmp_path / "long.html").write_bytes(LONG)
    command = (sys.executable, "-m", "factloop.service.limited", "5", "factloop.service.file_parts")
    ended = subprocess.run((*command, str(file), "9", "9", "9"), capture_output=True, text=True)
    assert (ended.returncode, ended.stdout, ended.stderr) == (1, "", "this took too long\n")
    assert not file.exists()


async def test_what_is_not_set_up_to_read_a_file_is_told_to_the_operator(
    service: Service, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    async def without_extras(_seconds: int, _: str, file: str, *most: str) -> bytes:
        return json.dumps(file_parts.answer(file, *map(int, most))).encode()

    monkeypatch.setattr(extras, "has_packages", lambda *names: "pypdf" not in names)
    monkeypatch.setattr(reading, "output_of", without_extras)
    async with service() as client:
        refused = await client.post("/v1/documents", json=asked("a.pdf", b"%PDF-1.4"))
    assert (refused.status_code, refused.json()["error"]["type"]) == (503, "not_set_up")
    assert 'reading PDF needs the "documents" extra; run: pip install' in caplog.text


async def test_why_a_process_failed_is_logged(caplog: pytest.LogCaptureFixture) -> None:
    assert await reading.output_of(60, "factloop", "no-such-command") is None
    assert re.search(r"factloop ended with 2: .*no-such-command", caplog.text)


async def test_work_that_needs_too_much_memory_says_how_to_need_less(
    service: Service, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "hungry.py").write_text("bytearray(3_000_000_000)")
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join(map(str, (tmp_path, Path(factloop.__file__).parents[1]))))
    output_of = reading.output_of
    for module in (reading, evaluation):
        monkeypatch.setattr(module, "output_of", lambda *_: output_of(60, "hungry"))
    async with service() as client:
        file = await client.post("/v1/documents", json=asked("a.txt", b"a"))
        audit = (await client.post("/v1/audits", json={"rows": audit_rows(2)})).json()
        errors = [file.json()["error"], audit["error"]]
    assert [one["type"] for one in errors] == ["unreadable_file", "invalid_input"]
    for one, said in zip(errors, ("split the file", "audit fewer rows"), strict=True):
        assert one["message"].endswith(f": the process needed more than 2 GB of memory; {said}")
    (tmp_path / "hungry.py").write_text("import os; os.kill(os.getpid(), 9)")
    with pytest.raises(MemoryError, match="was killed, perhaps because the machine ran out"):
        await output_of(60, "hungry")


async def test_no_module_of_the_working_directory_is_imported(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "factloop.py").write_text("print('mine')")
    monkeypatch.chdir(tmp_path)
    assert await reading.output_of(60, "factloop", "--version") != b"mine\n"


async def test_a_name_may_be_long_and_files_do_not_count_as_jobs(service: Service) -> None:
    async with service(rate="2/hour") as client:
        read = [await client.post("/v1/documents", json=asked("漢" * 100 + ".txt", b"It was lit.")) for _ in range(3)]
    assert [one.status_code for one in read] == [200] * 3


async def test_a_few_files_are_read_at_a_time_one_of_each_key_until_the_service_stops() -> None:
    begun: list[str] = []

    def never(ask: FileAsk) -> asyncio.Future[Response]:
        begun.append(ask.name)
        return asyncio.Future()

    files = FileReader(Places(), never)
    whose = ["a", "a", "b", "c", "d", "e"]
    reading = [
        asyncio.create_task(files.read(FileAsk(name=f"{owner}{number}", content=b""), owner))
        for number, owner in enumerate(whose)
    ]
    for _ in range(20):  # steps, of which each takes a few
        await asyncio.sleep(0)
    assert len(begun) == MOST_AT_ONCE
    assert begun == ["a0", "b2", "c3", "d4"]
    files.stop()
    ended = await asyncio.gather(*reading, return_exceptions=True)
    assert [getattr(one, "status", one) for one in ended] == [503] * len(whose)


async def test_only_a_few_files_of_a_caller_wait() -> None:
    files, ask = FileReader(Places(), lambda _: asyncio.Future[Response]()), FileAsk(name="a.txt", content=b"")
    reading = [asyncio.create_task(files.read(ask, "a")) for _ in range(MOST_WAITING)]
    await asyncio.sleep(0)
    with pytest.raises(RequestRefusal, match="try again later"):
        await files.read(ask, "a")
    reading.pop().cancel()  # the caller has left
    reading.append(asyncio.create_task(files.read(ask, "b")))
    for _ in range(20):
        await asyncio.sleep(0)
    reading.append(asyncio.create_task(files.read(ask, "a")))
    await asyncio.sleep(0)
    assert not any(one.done() for one in reading)
    files.stop()
    await asyncio.gather(*reading, return_exceptions=True)


@pytest.fixture
async def client(home: Path, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[httpx.AsyncClient]:
    """A client of a service on a socket; SIGTERM stops the service if the test has not."""
    monkeypatch.setattr(tempfile, "tempdir", str(home))
    monkeypatch.setattr(AppStatus, "should_exit", False)  # the signal ends all streams of the process
    kept = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)}
    settings = ServiceSettings(folder=home / "service", port=0, stop_timeout_s=1.0)
    started: asyncio.Future[str] = asyncio.get_running_loop().create_future()
    serving = asyncio.create_task(
        serve(build_app(settings, CheckSettings(), TrustSettings()), ready=started.set_result)
    )
    async with httpx.AsyncClient(base_url=await started, timeout=FINISHED_WITHIN_S) as client:
        yield client
    if not serving.done():
        signal.raise_signal(signal.SIGTERM)
    await serving
    for number, handler in kept.items():
        signal.signal(number, handler)


async def sending(client: httpx.AsyncClient, home: Path) -> asyncio.Task[httpx.Response]:
    request = asyncio.create_task(client.post("/v1/documents", json=asked("long.html", LONG)))
    while not lying(home):  # noqa: ASYNC110 - it is written in another thread
        await asyncio.sleep(0.01)
    return request


async def test_a_service_that_is_stopped_answers_for_a_file_that_it_has_not_read(
    client: httpx.AsyncClient, home: Path, caplog: pytest.LogCaptureFixture
) -> None:
    request = await sending(client, home)
    signal.raise_signal(signal.SIGTERM)
    answer = await request
    assert (answer.status_code, answer.json()["error"]["type"]) == (503, "stopping")
    told = [one.getMessage() for one in caplog.records if one.levelno >= logging.WARNING]
    assert told == ["files not read completely: 1; send them again"]
    assert not lying(home)


async def test_the_file_of_a_caller_who_leaves_is_not_read_to_its_end(
    client: httpx.AsyncClient, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    begun: list[asyncio.subprocess.Process] = []
    start = asyncio.create_subprocess_exec

    async def watched(*command: str, **options: Any) -> asyncio.subprocess.Process:
        begun.append(await start(*command, **options))
        return begun[-1]

    monkeypatch.setattr(asyncio, "create_subprocess_exec", watched)
    request = await sending(client, home)
    while not begun:  # noqa: ASYNC110 - the file is written first
        await asyncio.sleep(0.01)
    request.cancel()
    assert await begun[0].wait() == -signal.SIGKILL
    while lying(home):  # noqa: ASYNC110 - it is deleted in another thread
        await asyncio.sleep(0.01)
