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
from tests.service.test_store import job
from tests.simulator import MODEL, Simulator
from tests.tools.fake_server import FakeServer, ReceivedRequest, Reply, serving
from tests.tools.names.dbpedia_servers import Servers, annotated
from tests.tools.names.dbpedia_servers import servers as servers


@pytest.fixture(autouse=True)
def nothing_served(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))


@pytest.fixture
def server() -> Iterator[FakeServer]:
    with serving() as fake:
        yield fake


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
    unused = dict.fromkeys(("subject_model", "search", "documents"), "not_configured")
    assert states == {"model": "works", "cache": "works", **unused}  # the model is the offline engine
    assert {one["extra"]: one["installed"] for one in found["extras"]}["offline"] is True
    assert (found["usage"]["calls"], found["usage"]["searches"]) == (0, 0)
    assert [*home.iterdir()] == []


def test_the_table_says_what_works_and_how(factloop: Command, sim: Simulator, docs: Path) -> None:
    shown = factloop("doctor", "--model", MODEL, "--docs", docs, "--search", "serper")
    words = " ".join(shown.out.split())
    assert (shown.code, shown.err, "FAILS" in words) == (DONE, "", False)
    assert [one for one in ("works", "tool calls", "1 file", "0.001 USD") if one not in words] == []
    assert sim.stats().search.requests == 1


@pytest.mark.parametrize(
    ("lacks", "with_tools", "alone", "log_probabilities"),
    [
        ({}, "tools", "json_schema", True),
        ({"supports_tools": False, "supports_logprobs": False}, "json_schema", "json_schema", False),
        ({"supports_tools": False, "supports_json_schema": False}, "json_mode", "json_mode", True),
        (
            {"supports_tools": False, "supports_json_schema": False, "supports_json_object": False},
            "text", "text", True,
        ),
        ({"gives_logprobs": False}, "tools", "json_schema", False),
    ],
)  # fmt: skip
def test_what_a_model_can_do_is_seen(
    factloop: Command, sim: Simulator, lacks: dict[str, bool], with_tools: str, alone: str, log_probabilities: bool
) -> None:
    sim.set(**lacks)
    found = part(diagnosis(factloop, "--model", MODEL, code=DONE), "model")["model"]
    assert (found["with_tools"], found["alone"], found["log_probabilities"]) == (with_tools, alone, log_probabilities)


def test_a_wrong_key_is_named(factloop: Command, sim: Simulator, monkeypatch: pytest.MonkeyPatch) -> None:
    sim.set(api_key="the right one")
    monkeypatch.setenv("OPENAI_API_KEY", "sk-another-key")
    found = diagnosis(factloop, "--model", MODEL, "--search", "serper", code=BROKEN)
    for name, status in (("model", "401"), ("search", "403")):
        one = part(found, name)
        assert (one["state"], status in one["problem"]) == ("fails", True)
        assert one["advice"] == "Set a key that the server accepts."
    assert "sk-another-key" not in json.dumps(found)


def test_a_dead_port(factloop: Command) -> None:
    with socket.create_server(("127.0.0.1", 0)) as held:
        nobody = f"http://127.0.0.1:{held.getsockname()[1]}/v1"
    search = ("--search", "searxng", "--set", f"searxng_url={nobody}")
    found = diagnosis(factloop, "--model", "openai:x", "--base-url", nobody, *search, code=BROKEN)
    for name in ("model", "search"):
        one = part(found, name)
        assert (one["state"], one["advice"][:16]) == ("fails", "Start the server")


def completion(said: str) -> dict[str, Any]:
    choice = {"index": 0, "finish_reason": "stop", "message": {"role": "assistant", "content": said}}
    return {"id": "1", "object": "chat.completion", "created": 0, "model": "x", "choices": [choice]}


def test_a_model_that_answers_nothing_readable(factloop: Command, server: FakeServer) -> None:
    server.will_answer(completion("Well, who knows?"))
    found = part(diagnosis(factloop, "--model", "openai:x", "--base-url", f"{server.url}/v1", code=BROKEN), "model")
    assert found["problem"] == "openai:x: the reply is not a single JSON object"
    assert "another model" in found["advice"]


@pytest.mark.parametrize(
    ("listed", "tokens"),
    [
        ({"meta": {"n_ctx": 4096, "n_ctx_train": 8192}}, 4096),
        ({"id": "z", "aliases": ["z", "x"], "meta": {"n_ctx": 4096}}, 4096),
        ({"aliases": None, "max_model_len": 8192}, 8192),
        ({"context_length": 131_072}, 131_072),
        ({"meta": "none"}, None),
        ({"meta": {"n_ctx": 0}, "max_model_len": 8192}, 8192),
        ({"max_model_len": 10**30}, None),
        (Reply(status=302, headers=(("Location", "http://[::1"),)), None),
    ],
)
def test_a_servers_context_is_a_limit(
    factloop: Command, server: FakeServer, listed: dict[str, Any] | Reply, tokens: int | None
) -> None:
    said = json.dumps({"rationale": "[1] says so.", "cited": [1], "wrong": "", "verdict": "supported"})

    def respond(request: ReceivedRequest) -> Reply:
        if request.path != "/v1/models":
            return Reply(body=json.dumps(completion(said)).encode())
        if isinstance(listed, Reply):
            return listed
        return Reply(body=json.dumps({"object": "list", "data": [{"id": "another"}, {"id": "x", **listed}]}).encode())

    server.respond = respond
    at = ("--model", "openai:x", "--base-url", f"{server.url}/v1")
    found = part(diagnosis(factloop, *at, code=DONE), "model")
    assert found["model"]["context_tokens"] == tokens
    limits = [] if tokens is None else [f"{tokens:,} tokens of context"]
    assert [one for one in found["limits"] if "context" in one] == limits
    assert "no budget in USD, because the price is unknown; set --price-in and --price-out" in found["limits"]
    priced = part(diagnosis(factloop, *at, "--price-in", 1, "--price-out", 2, code=DONE), "model")
    assert not [one for one in priced["limits"] if "USD" in one]


@pytest.mark.parametrize(
    ("extensions", "how"),
    [((), "articles read as pages, without TextExtracts"), (("TextExtracts",), "plain text by TextExtracts")],
)
def test_a_wiki_says_how_it_is_read(
    factloop: Command, server: FakeServer, extensions: tuple[str, ...], how: str
) -> None:
    listed = [{"type": "other", "name": name} for name in extensions]
    about = {"batchcomplete": True, "query": {"general": {"generator": "MediaWiki \ud800"}, "extensions": listed}}

    def respond(request: ReceivedRequest) -> Reply:
        return Reply(body=json.dumps(about if "meta" in request.params else {"batchcomplete": True}).encode())

    server.respond = respond
    wiki = ("--search", "wikipedia", "--set", f"wikipedia_url={server.url}")
    assert part(diagnosis(factloop, *wiki, code=DONE), "search")["how"][:2] == ["MediaWiki \ufffd", how]


def test_dbpedias_servers(factloop: Command, servers: Servers) -> None:
    text = "Berlin is the capital of Germany."
    servers.spotlight.respond = lambda request: annotated(
        request.payload["text"], ("Berlin", "Berlin", request.payload["text"].index(text), "DBpedia:City")
    )
    spotlight_url, sparql_url = f"{servers.spotlight.url}/en/annotate", f"{servers.sparql.url}/sparql"
    flags = ("--dbpedia", "--set", f"spotlight_url={spotlight_url}", "--set", f"sparql_url={sparql_url}")
    found = diagnosis(factloop, *flags, code=DONE)
    spotlight, sparql = (one for one in found["parts"] if one["part"] == "knowledge_base")
    assert spotlight["how"] == [f"1 name found in “{text}”"]
    assert "lacks DBpedia's ontology" in sparql["how"][0]  # of cities: the store knows persons alone
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
        (("--base-url", "http://127.0.0.1:9/v1"), "model", "--base-url needs a model"),
        (("--set", "cache_dir=file/cache"), "cache", "cannot use file/cache as the cache folder ("),
        (("--database", "mysql://x/y"), "database", "must be sqlite:///FILE"),
        (("--database", "sqlite:///others.sqlite"), "database", "is the database of another program"),
        (("--database", "sqlite:///file"), "database", "file is not a database"),
        (("--database", "sqlite:///."), "database", "is not a file"),
        (("--database", "postgresql://me:secret-word@127.0.0.1:9/jobs"), "database", "127.0.0.1:9/jobs"),
    ],
)
def test_a_wrong_set_up_is_a_finding(
    factloop: Command, home: Path, arguments: tuple[str, ...], name: str, said: str
) -> None:
    (home / "file").write_text("no database " * 1_000, encoding="utf-8")
    with sqlite3.connect(home / "others.sqlite") as other:
        other.execute("CREATE TABLE songs (title)")
    other.close()
    before = state_of(home)
    found = diagnosis(factloop, *arguments, code=BROKEN)
    assert (part(found, name)["state"], said in part(found, name)["problem"]) == ("fails", True)
    assert "secret-word" not in json.dumps(found)
    assert state_of(home) == before


def state_of(folder: Path) -> dict[str, tuple[int, bytes]]:
    """Mode and bytes of every file in a folder, except SQLite's shared memory, which readers also write."""
    files = [path for path in folder.iterdir() if path.is_file() and not path.name.endswith("-shm")]
    return {path.name: (path.stat().st_mode, path.read_bytes()) for path in files}


def test_the_database_of_the_service_is_read_and_not_made(factloop: Command, tmp_path: Path) -> None:
    found = part(diagnosis(factloop, "--folder", tmp_path / "never", code=DONE), "database")
    assert (found["how"], (tmp_path / "never").exists()) == (["nothing is stored there yet"], False)
    (tmp_path / "served").mkdir()
    JobStore(f"sqlite:///{tmp_path / 'served' / 'jobs.sqlite'}").close()
    assert part(diagnosis(factloop, "--folder", tmp_path / "served", code=DONE), "database")["how"] == ["no jobs"]


@pytest.mark.parametrize("name", ["jobs.sqlite", "100% of a #?.sqlite"])
def test_looking_at_a_database_changes_nothing(factloop: Command, tmp_path: Path, name: str) -> None:
    folder = tmp_path / "served"
    folder.mkdir()
    url = f"sqlite:///{quote(str(folder / name), safe='/')}"
    store = JobStore(url)
    store.add(job(), "{}")
    with store.held():
        store.add(job(), "{}")  # in the log, not in the file
        (folder / name).chmod(0o640)
        before = state_of(folder)
        assert part(diagnosis(factloop, "--database", url, code=DONE), "database")["how"] == ["2 jobs queued"]
        assert (state_of(folder), len(before)) == (before, 4)  # with the log, the lock of the service, and the reserve
    store.close()
    assert not list(folder.glob("*-shm"))


def test_the_offline_engine_is_tried_on_sentences_of_known_truth(factloop: Command) -> None:
    found = part(diagnosis(factloop, "--controls", code=BROKEN), "controls")
    assert (found["name"], found["state"]) == ("offline engine", "fails")
    controls = found["controls"]
    assert (controls["n_true"], controls["n_false"], controls["grade"]) == (6, 6, "not_usable")
    assert (controls["n_true_supported"] > 0, controls["n_unscored"] > 0) == (True, True)
    assert (controls["wrongly_supported"], controls["wrongly_refused"]) == ([], ["No visitor gets in during January."])
    assert "not supported, but true: “No visitor gets in during January.”" in found["problem"]
    assert "leaves too much undecided. Use a chat model (--model)" in found["advice"]


def reader(judges: Callable[[str], str]) -> Callable[[ReceivedRequest], Reply]:
    def respond(request: ReceivedRequest) -> Reply:
        if request.path == "/v1/models":
            return Reply(404)
        title = request.payload["response_format"]["json_schema"]["name"]
        asked = request.payload["messages"][-1]["content"]
        said: dict[str, Any] = {"rationale": "", "cited": [1], "wrong": "", "verdict": "supported"}
        if title == "GroundedFacts":
            told = re.findall(r'<sentence id="(\d+)">(.*?)</sentence>', asked, re.DOTALL)
            facts = [
                {"sentence": int(at), "fact": text.strip(), "verdict": judges(text.strip()), "passages": [1]}
                for at, text in told
            ]
            said = {"facts": facts, "without_fact": [], "off_topic": []}
        elif title != "Assessment":
            told = re.findall(r'<claim id="(\d+)">(.*?)</claim>', asked, re.DOTALL)
            more = {"fact": "", "passages": [1], "wrong": "", "reason": "x"}
            said = {"claims": [{"claim": int(at), "verdict": judges(text), **more} for at, text in told]}
        return Reply(body=json.dumps(completion(json.dumps(said))).encode())

    return respond


@pytest.mark.parametrize(
    ("n_supported", "n_refused", "grade"),
    [
        (6, 6, "good"), (5, 5, "good"), (6, 4, "usable_with_care"), (4, 4, "usable_with_care"),
        (3, 6, "not_usable"), (6, 3, "not_usable"), (6, 0, "not_usable"), (0, 6, "not_usable"),
    ],
)  # fmt: skip
def test_a_model_is_graded_by_the_kind_of_sentences_that_it_does_worse_on(
    factloop: Command, server: FakeServer, n_supported: int, n_refused: int, grade: str
) -> None:
    true, false = ([text for text, is_true in SENTENCES if is_true is of] for of in (True, False))
    supported = {*true[:n_supported], *false[n_refused:]}
    server.respond = reader(lambda text: "supported" if text in supported else "contradicted")
    options = ("--model", "openai:x", "--base-url", f"{server.url}/v1", "--set", "tool_calling=no", "--controls")
    diagnosed = diagnosis(factloop, *options, code=BROKEN if grade == "not_usable" else DONE)
    told = part(diagnosed, "controls")
    controls = told["controls"]
    found = (controls["n_true_supported"], controls["n_false_refused"], controls["n_unscored"], controls["grade"])
    assert found == (n_supported, n_refused, 0, grade)
    assert (controls["wrongly_supported"], controls["wrongly_refused"]) == (false[n_refused:], true[n_supported:])
    assert ("not reliable" in told["advice"]) == (grade == "not_usable")
    asked = [one.payload["response_format"]["json_schema"]["name"] for one in server.received if one.payload]
    assert diagnosed["usage"]["calls"] == len(asked) > asked.count("Assessment")  # those of the controls are counted


def test_a_report_tells_of_a_judge_that_cites_unread(factloop: Command, server: FakeServer, tmp_path: Path) -> None:
    server.respond = reader(lambda _: "supported")
    source, answer = tmp_path / "mill.md", tmp_path / "answer.md"
    source.write_text(MILL, encoding="utf-8")
    answer.write_text("The Eiffel Tower stands in Paris. Big Ben was built in 1859.", encoding="utf-8")
    options = ("--model", "openai:x", "--base-url", f"{server.url}/v1", "--docs", source, "--json", "-")
    report = json.loads(factloop("check", answer, *options).out)
    assert [claim["judgement"]["verdict"] for claim in report["claims"]] == ["supported", "supported"]
    assert any("2 of 2 supported claims cite passages that lack" in warning for warning in report["warnings"])
