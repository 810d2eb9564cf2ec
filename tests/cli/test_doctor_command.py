"""`factloop doctor`: what is configured is asked, and each failure is a finding with what to do about it."""

from __future__ import annotations

import json
import re
import socket
import sqlite3
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any
from urllib.parse import quote

import jsonschema
import pytest

from factloop.cli.console import BROKEN, DONE
from factloop.doctor.controls import MILL, SENTENCES
from factloop.schemas import json_schema
from factloop.service.store import JobStore
from tests.cli.command import Command
from tests.service.postgres import running
from tests.service.test_store import job
from tests.simulator import MODEL, Simulator
from tests.tools.fake_server import FakeServer, ReceivedRequest, Reply, serving
from tests.tools.names.dbpedia_servers import Servers, annotated
from tests.tools.names.dbpedia_servers import servers as servers


@pytest.fixture(autouse=True)
def nothing_served(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """A user's data folder of the test's own."""
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))


@pytest.fixture
def server() -> Iterator[FakeServer]:
    with serving() as fake:
        yield fake


@pytest.fixture
def nobody() -> str:
    """The base URL of a port at which nothing listens."""
    with socket.create_server(("127.0.0.1", 0)) as held:
        return f"http://127.0.0.1:{held.getsockname()[1]}/v1"


def diagnosis(factloop: Command, *arguments: object, code: int) -> dict[str, Any]:
    done = factloop("doctor", *arguments, "--json", "-")
    assert done.code == code, (done.out, done.err)
    found: dict[str, Any] = json.loads(done.out)
    jsonschema.validate(found, json_schema("diagnosis"))
    assert found["works"] is (code == DONE)
    return found


def part(found: dict[str, Any], name: str) -> dict[str, Any]:
    (one,) = (one for one in found["parts"] if one["part"] == name)
    return dict(one)


def test_nothing_configured_is_no_failure(factloop: Command, home: Path) -> None:
    found = diagnosis(factloop, code=DONE)
    states = {one["part"]: one["state"] for one in found["parts"]}
    assert states == {
        "model": "works",  # the offline engine
        "cache": "works",
        "subject_model": "not_configured",
        "search": "not_configured",
        "documents": "not_configured",
    }
    assert {one["extra"]: one["installed"] for one in found["extras"]}["offline"] is True
    assert (found["usage"]["calls"], found["usage"]["searches"]) == (0, 0)
    assert [*home.iterdir()] == []


def test_a_cache_folder_that_no_run_can_use_fails(factloop: Command, home: Path) -> None:
    (home / "file").write_text("", encoding="utf-8")
    found = part(diagnosis(factloop, "--set", "cache_dir=file/cache", code=2), "cache")
    assert found["state"] == "fails"
    assert "file/cache: cannot be used as the cache folder (" in found["problem"]


def test_the_table_says_what_works_and_how(factloop: Command, sim: Simulator, docs: Path) -> None:
    shown = factloop("doctor", "--model", MODEL, "--docs", docs, "--search", "serper")
    words = " ".join(shown.out.split())
    assert (shown.code, shown.err) == (DONE, "")
    assert "works" in words
    assert "FAILS" not in words
    assert "tool calls" in words
    assert "1 file" in words
    assert "0.001 USD" in words
    assert sim.stats().search.requests == 1


@pytest.mark.parametrize(
    ("lacks", "with_tools", "alone", "unavailable"),
    [
        ({}, "tools", "json_schema", []),
        ({"supports_tools": False}, "json_schema", "json_schema", ["tools"]),
        (
            {"supports_tools": False, "supports_json_schema": False},
            "json_mode",
            "json_mode",
            ["json_schema", "tools"],
        ),
        (
            {"supports_tools": False, "supports_json_schema": False, "supports_json_object": False},
            "text",
            "text",
            ["json_mode", "json_schema", "tools"],
        ),
    ],
)
def test_the_modes_of_a_model(
    factloop: Command, sim: Simulator, lacks: dict[str, bool], with_tools: str, alone: str, unavailable: list[str]
) -> None:
    sim.set(**lacks)
    found = part(diagnosis(factloop, "--model", MODEL, code=DONE), "model")
    assert found["state"] == "works"
    assert (found["model"]["with_tools"], found["model"]["alone"]) == (with_tools, alone)
    assert found["model"]["unavailable"] == unavailable


@pytest.mark.parametrize(
    ("lacks", "given"), [({}, True), ({"supports_logprobs": False}, False), ({"gives_logprobs": False}, False)]
)
def test_log_probabilities_are_seen_rather_than_believed(
    factloop: Command, sim: Simulator, lacks: dict[str, bool], given: bool
) -> None:
    sim.set(**lacks)
    assert part(diagnosis(factloop, "--model", MODEL, code=DONE), "model")["model"]["log_probabilities"] is given


def test_a_subject_is_asked_no_question_with_tools(factloop: Command, sim: Simulator) -> None:
    found = diagnosis(factloop, "--subject-model", MODEL, code=DONE)
    assert part(found, "subject_model")["model"]["with_tools"] is None
    assert sim.stats().model.requests == 1
    assert part(found, "model")["name"] == "offline engine"


def test_nothing_comes_from_the_cache(factloop: Command, sim: Simulator) -> None:
    for _ in range(2):
        diagnosis(factloop, "--model", MODEL, code=DONE)
    assert sim.stats().model.requests == 4


def test_a_wrong_key_is_named(factloop: Command, sim: Simulator, monkeypatch: pytest.MonkeyPatch) -> None:
    sim.set(api_key="the right one")
    monkeypatch.setenv("OPENAI_API_KEY", "sk-another-key")
    found = diagnosis(factloop, "--model", MODEL, "--search", "serper", code=BROKEN)
    model, search = part(found, "model"), part(found, "search")
    assert (model["state"], search["state"]) == ("fails", "fails")
    assert "401" in model["problem"]
    assert "403" in search["problem"]
    assert model["advice"] == search["advice"] == "Give a key that the server takes."
    assert "sk-another-key" not in json.dumps(found)


@pytest.mark.usefixtures("sim")
def test_a_model_that_is_not_there(factloop: Command) -> None:
    found = part(diagnosis(factloop, "--model", "openai:unheard-of", code=BROKEN), "model")
    assert "404" in found["problem"]
    assert found["advice"] == "Correct the name or the address."


def test_a_dead_port(factloop: Command, nobody: str) -> None:
    found = diagnosis(
        factloop, "--model", "openai:x", "--base-url", nobody, "--search", "searxng", "--set", f"searxng_url={nobody}",
        code=BROKEN,
    )  # fmt: skip
    for name in ("model", "search"):
        assert part(found, name)["state"] == "fails"
        assert part(found, name)["advice"].startswith("Start the server")


@pytest.mark.parametrize("location", ["http://\udcff/", "http://[::1"])
def test_a_redirect_to_no_address_is_a_finding(factloop: Command, server: FakeServer, location: str) -> None:
    server.hello = Reply(status=302, headers=(("Location", location),))
    server.will(server.hello)
    dbpedia = ("--dbpedia", "--set", f"spotlight_url={server.url}/annotate", "--set", f"sparql_url={server.url}/sparql")
    found = diagnosis(factloop, "--search", "searxng", "--set", f"searxng_url={server.url}", *dbpedia, code=BROKEN)
    failed = [one for one in found["parts"] if one["part"] in ("search", "knowledge_base")]
    assert len(failed) == 3
    assert all("127.0.0.1 redirects to an invalid address" in one["problem"] for one in failed)


def test_a_model_server_that_redirects_to_no_address_is_there(factloop: Command, server: FakeServer) -> None:
    server.will(Reply(status=302, headers=(("Location", "http://[::1"),)))
    found = part(diagnosis(factloop, "--model", "openai:x", "--base-url", f"{server.url}/v1", code=BROKEN), "model")
    assert "no host" not in found["problem"]
    assert "location header" in found["problem"]


def test_a_model_that_answers_nothing_readable(factloop: Command, server: FakeServer) -> None:
    choice = {"index": 0, "finish_reason": "stop", "message": {"role": "assistant", "content": "Well, who knows?"}}
    server.will_answer({"id": "1", "object": "chat.completion", "created": 0, "model": "x", "choices": [choice]})
    found = part(
        diagnosis(factloop, "--model", "openai:x", "--base-url", f"{server.url}/v1", code=BROKEN), "model"
    )  # fmt: skip
    assert found["problem"] == "openai:x: the reply is not one JSON object"
    assert "another model" in found["advice"]


@pytest.mark.parametrize(
    ("listed", "tokens"),
    [
        ({"meta": {"n_ctx": 4096, "n_ctx_train": 8192}}, 4096),
        ({"id": "z", "aliases": ["z", "x"], "meta": {"n_ctx": 4096}}, 4096),
        ({"aliases": None, "max_model_len": 8192}, 8192),
        ({"max_model_len": 32_768}, 32_768),
        ({"context_length": 131_072}, 131_072),
        ({}, None),
        ({"meta": "none"}, None),
        ({"meta": {"n_ctx": -5}}, None),
        ({"meta": {"n_ctx": 0}, "max_model_len": 8192}, 8192),
        ({"max_model_len": 10**30}, None),
        (Reply(status=302, headers=(("Location", "http://[::1"),)), None),
    ],
)
def test_a_servers_context_is_a_limit(
    factloop: Command, server: FakeServer, listed: dict[str, Any] | Reply, tokens: int | None
) -> None:
    said = json.dumps({"rationale": "[1] says so.", "cited": [1], "wrong": "", "verdict": "supported"})
    message = {"role": "assistant", "content": said}
    choice = {"index": 0, "finish_reason": "stop", "message": message}
    completion = {"id": "1", "object": "chat.completion", "created": 0, "model": "x", "choices": [choice]}

    def models() -> Reply:
        if isinstance(listed, Reply):
            return listed
        found = {"object": "list", "data": [{"id": "another"}, {"id": "x", **listed}]}
        return Reply(body=json.dumps(found).encode())

    def respond(request: ReceivedRequest) -> Reply:
        return models() if request.path == "/v1/models" else Reply(body=json.dumps(completion).encode())

    server.respond = respond
    found = part(diagnosis(factloop, "--model", "openai:x", "--base-url", f"{server.url}/v1", code=DONE), "model")
    assert found["model"]["context_tokens"] == tokens
    assert [said for said in found["limits"] if "context" in said] == (
        [] if tokens is None else [f"{tokens:,} tokens of context"]
    )


def site(*extensions: str, generator: str = "MediaWiki 1.39.17") -> Reply:
    about = {
        "general": {"generator": generator},
        "extensions": [{"type": "other", "name": name} for name in extensions],
    }
    return Reply(body=json.dumps({"batchcomplete": True, "query": about}).encode())


@pytest.mark.parametrize(
    ("extensions", "how"),
    [((), "articles read as pages, without TextExtracts"), (("TextExtracts",), "plain text by TextExtracts")],
)
def test_a_wiki_says_how_it_is_read(
    factloop: Command, server: FakeServer, extensions: tuple[str, ...], how: str
) -> None:
    def respond(request: ReceivedRequest) -> Reply:
        return site(*extensions) if "meta" in request.params else Reply(body=b'{"batchcomplete": true}')

    server.respond = respond
    found = part(
        diagnosis(factloop, "--search", "wikipedia", "--set", f"wikipedia_url={server.url}", code=DONE), "search"
    )
    assert found["how"][:2] == ["MediaWiki 1.39.17", how]
    assert "nothing about" in found["how"][2]


def test_half_a_character_that_a_server_says_does_no_harm(factloop: Command, server: FakeServer) -> None:
    server.will_answer({"batchcomplete": True})
    server.respond = lambda request: site(generator="Wiki \ud800") if "meta" in request.params else None
    found = part(
        diagnosis(factloop, "--search", "wikipedia", "--set", f"wikipedia_url={server.url}", code=DONE), "search"
    )
    assert found["how"][0] == "Wiki \ufffd"


def test_a_wiki_that_may_not_be_read(factloop: Command, server: FakeServer) -> None:
    server.will_answer({"error": {"code": "readapidenied", "info": "You need read permission."}})
    found = part(
        diagnosis(factloop, "--search", "wikipedia", "--set", f"wikipedia_url={server.url}", code=BROKEN), "search"
    )
    assert "readapidenied" in found["problem"]


@pytest.mark.parametrize("place", ["flags", "variables", "file"])
def test_dbpedias_servers(
    factloop: Command, servers: Servers, place: str, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    text = "Berlin is the capital of Germany."
    servers.spotlight.respond = lambda request: annotated(
        request.payload["text"], ("Berlin", "Berlin", request.payload["text"].index(text), "DBpedia:City")
    )
    addresses = {
        "spotlight_url": f"{servers.spotlight.url}/en/annotate",
        "sparql_url": f"{servers.sparql.url}/sparql",
    }
    flags: list[str] = ["--dbpedia"]
    if place == "flags":
        flags += [part for name, url in addresses.items() for part in ("--set", f"{name}={url}")]
    elif place == "variables":
        for name, url in addresses.items():
            monkeypatch.setenv(f"FACTLOOP_{name.upper()}", url)
    else:
        (home / "factloop.toml").write_text("".join(f'{name} = "{url}"\n' for name, url in addresses.items()))
    found = diagnosis(factloop, *flags, code=DONE)
    spotlight, sparql = (one for one in found["parts"] if one["part"] == "knowledge_base")
    assert spotlight["how"] == [f"1 name found in “{text}”"]
    assert "without DBpedia's ontology" in sparql["how"][0]  # of cities: the store knows persons alone
    servers.break_sparql(Reply(status=503))
    found = diagnosis(factloop, *flags, code=BROKEN)
    assert [one["state"] for one in found["parts"] if one["part"] == "knowledge_base"] == ["works", "fails"]


@pytest.mark.parametrize(
    ("arguments", "name", "said"),
    [
        (("--docs", "no-such-folder"), "documents", "no-such-folder"),
        (("--corpus", "no-such-folder"), "corpus", "no-such-folder"),
        (("--search", "unheard-of"), "search", "unknown search"),
        (("--search", "serper"), "search", "SERPER_API_KEY"),
        (("--kb", "no-such-table"), "knowledge_base", "no-such-table"),
        (("--prompts", "no-such-folder"), "prompts", "no-such-folder"),
        (("--cascade", "no-such-file"), "cascade", "a cascade (--cascade) leaves unclear claims to a model"),
        (("--base-url", "http://127.0.0.1:9/v1"), "model", "no --model"),
        (("--database", "mysql://x/y"), "database", "give sqlite:///FILE"),
    ],
)
def test_a_wrong_set_up_is_a_finding(factloop: Command, arguments: tuple[str, ...], name: str, said: str) -> None:
    found = part(diagnosis(factloop, *arguments, code=BROKEN), name)
    assert (found["state"], said in found["problem"]) == ("fails", True)


def test_settings_that_cannot_be_read_are_one_line(factloop: Command, home: Path) -> None:
    (home / "factloop.toml").write_text("timeout_s = -1\n")
    result = factloop("doctor")
    assert (result.code, result.out) == (BROKEN, "")
    assert "timeout_s = -1" in result.complaint


def test_the_database_of_the_service_is_read_and_not_made(factloop: Command, tmp_path: Path) -> None:
    found = part(diagnosis(factloop, "--folder", tmp_path / "never", code=DONE), "database")
    assert found["how"] == ["nothing is kept there yet"]
    assert not (tmp_path / "never").exists()
    folder = tmp_path / "served"
    folder.mkdir()
    JobStore(f"sqlite:///{folder / 'jobs.sqlite'}").close()
    assert part(diagnosis(factloop, "--folder", folder, code=DONE), "database")["how"] == ["no jobs"]
    (folder / "jobs.sqlite").write_text("overwritten " * 1_000)
    assert "cannot be read" in part(diagnosis(factloop, "--folder", folder, code=BROKEN), "database")["problem"]


def state_of(folder: Path) -> dict[str, tuple[int, bytes]]:
    """Rights and bytes of all files of a folder but SQLite's shared memory, where readers write down that they read."""
    files = [path for path in folder.iterdir() if not path.name.endswith("-shm")]
    return {path.name: (path.stat().st_mode, path.read_bytes()) for path in files}


@pytest.mark.parametrize("name", ["jobs.sqlite", "100% of a #?.sqlite"])
def test_looking_at_a_database_changes_nothing(factloop: Command, tmp_path: Path, name: str) -> None:
    folder = tmp_path / "served"
    folder.mkdir()
    flags = ("--database", f"sqlite:///{quote(str(folder / name), safe='/')}")
    store = JobStore(f"sqlite:///{quote(str(folder / name), safe='/')}")
    store.add(job(), "{}")
    with store.held():
        store.add(job(), "{}")  # in the log, not in the file
        (folder / name).chmod(0o640)
        before = state_of(folder)
        assert part(diagnosis(factloop, *flags, code=DONE), "database")["how"] == ["2 jobs queued"]
        assert state_of(folder) == before
        assert len(before) == 3  # with the log, and the lock of the service
    store.close()
    before = state_of(folder)
    assert part(diagnosis(factloop, *flags, code=DONE), "database")["how"] == ["2 jobs queued"]
    assert (state_of(folder), len(before)) == (before, 2)
    assert not list(folder.glob("*-shm"))


def test_a_database_of_something_else_is_no_place_for_jobs(factloop: Command, tmp_path: Path) -> None:
    folder = tmp_path / "others"
    folder.mkdir()
    file = folder / "other.sqlite"
    flags = ("--database", f"sqlite:///{file}")
    with sqlite3.connect(file) as other:
        other.execute("VACUUM")
    assert part(diagnosis(factloop, *flags, code=DONE), "database")["how"] == ["nothing is kept there yet"]
    with other:
        other.execute("CREATE TABLE songs (title)")
    other.close()
    before = state_of(folder)
    found = part(diagnosis(factloop, *flags, code=BROKEN), "database")
    assert (found["state"], "its tables are not factloop's" in found["problem"]) == ("fails", True)
    assert state_of(folder) == before
    for path, said in ((folder, "is no file"), (folder / "notes.txt", "file is not a database")):
        if path != folder:
            path.write_text("no database " * 1_000)
        found = part(diagnosis(factloop, "--database", f"sqlite:///{path}", code=BROKEN), "database")
        assert (found["state"], said in found["problem"]) == ("fails", True)
        assert "is it running" not in found["problem"]


@pytest.mark.postgres
def test_a_database_on_a_server(factloop: Command) -> None:
    with running() as server:
        flags = ("--database", server.url)
        assert part(diagnosis(factloop, *flags, code=DONE), "database")["how"] == ["nothing is kept there yet"]
        JobStore(server.url).close()
        assert part(diagnosis(factloop, *flags, code=DONE), "database")["how"] == ["no jobs"]
    assert "cannot be read" in part(diagnosis(factloop, *flags, code=BROKEN), "database")["problem"]


def test_the_database_shows_no_password(factloop: Command) -> None:
    found = diagnosis(factloop, "--database", "postgresql://me:secret-word@127.0.0.1:9/jobs", code=BROKEN)
    assert "secret-word" not in json.dumps(found)
    assert "127.0.0.1:9/jobs" in part(found, "database")["problem"]


def test_the_offline_engine_is_tried_on_sentences_of_known_truth(factloop: Command) -> None:
    """The packaged baseline leaves too many of them to be read, and says so."""
    found = part(diagnosis(factloop, "--controls", code=BROKEN), "controls")
    assert (found["name"], found["state"]) == ("offline engine", "fails")
    controls = found["controls"]
    assert (controls["n_true"], controls["n_false"], controls["grade"]) == (6, 6, "not_usable")
    assert controls["n_true_supported"] > 0
    assert controls["n_unscored"] > 0
    assert "a chat model (--model)" in found["advice"]


def reader(judges: Callable[[str], str]) -> Callable[[ReceivedRequest], Reply]:
    """A model that finds one fact in each sentence, and judges it by a function of its words."""

    def respond(request: ReceivedRequest) -> Reply:
        if request.path == "/v1/models":
            return Reply(404)
        title = request.payload["response_format"]["json_schema"]["name"]
        asked = request.payload["messages"][-1]["content"]
        said: dict[str, Any]
        if title == "Assessment":
            said = {"rationale": "", "cited": [1], "wrong": "", "verdict": "supported"}
        elif title == "GroundedFacts":
            told = re.findall(r'<sentence id="(\d+)">(.*?)</sentence>', asked, re.DOTALL)
            facts = [(int(number), text.strip(), judges(text.strip())) for number, text in told]
            said = {"facts": [], "without_fact": [], "off_topic": []}
            said["facts"] = [
                {"sentence": number, "fact": text, "verdict": verdict, "passages": [1]}
                for number, text, verdict in facts
            ]
        else:
            told = re.findall(r'<claim id="(\d+)">(.*?)</claim>', asked, re.DOTALL)
            said = {"claims": []}
            said["claims"] = [
                {"claim": int(number), "fact": "", "verdict": judges(text), "passages": [1], "wrong": "", "reason": "x"}
                for number, text in told
            ]
        choice = {"index": 0, "finish_reason": "stop", "message": {"role": "assistant", "content": json.dumps(said)}}
        completion = {"id": "1", "object": "chat.completion", "created": 0, "model": "x", "choices": [choice]}
        return Reply(body=json.dumps(completion).encode())

    return respond


def of_known_truth(text: str) -> str:
    return "supported" if dict(SENTENCES)[text] else "contradicted"


@pytest.mark.parametrize(
    ("judges", "code", "n_supported", "n_refused", "grade"),
    [
        (of_known_truth, DONE, 6, 6, "good"),
        (lambda _: "supported", BROKEN, 6, 0, "not_usable"),
        (lambda _: "contradicted", BROKEN, 0, 6, "not_usable"),
    ],
)
def test_a_model_is_tried_on_sentences_of_known_truth(
    factloop: Command,
    server: FakeServer,
    judges: Callable[[str], str],
    code: int,
    n_supported: int,
    n_refused: int,
    grade: str,
) -> None:
    server.respond = reader(judges)
    options = ("--model", "openai:x", "--base-url", f"{server.url}/v1", "--set", "tool_calling=no", "--controls")
    diagnosed = diagnosis(factloop, *options, code=code)
    controls = part(diagnosed, "controls")["controls"]
    assert (controls["n_true_supported"], controls["n_false_refused"], controls["n_unscored"]) == (
        n_supported,
        n_refused,
        0,
    )
    assert controls["grade"] == grade
    assert diagnosed["usage"]["calls"] > 2  # those of the controls are counted


def test_a_report_tells_of_a_judge_that_cites_without_reading(
    factloop: Command, server: FakeServer, tmp_path: Path
) -> None:
    server.respond = reader(lambda _: "supported")
    sources = tmp_path / "sources"
    sources.mkdir()
    (sources / "mill.md").write_text(MILL, encoding="utf-8")
    answer = tmp_path / "answer.md"
    answer.write_text("The Eiffel Tower stands in Paris. Big Ben was built in 1859.", encoding="utf-8")
    options = ("--model", "openai:x", "--base-url", f"{server.url}/v1", "--docs", sources, "--json", "-")
    done = factloop("check", answer, *options)
    report = json.loads(done.out)
    assert [claim["judgement"]["verdict"] for claim in report["claims"]] == ["supported", "supported"]
    assert any("2 of 2 supported claims cite passages without" in warning for warning in report["warnings"])
