"""`factloop research distractors`: what would be asked, without a model; with DBpedia, and without where that fails."""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from factloop.schemas import json_schema
from tests.cli.command import Command, Result
from tests.simulator import MODEL, Simulator
from tests.tools.fake_server import Reply
from tests.tools.names.dbpedia_servers import Servers, annotated, thing
from tests.tools.names.dbpedia_servers import servers as servers

TEMPLE = ("--question", "Who built the first temple in Jerusalem?", "--response", "King Solomon built it.")
HTML = Reply(body=b"<!doctype html><title>Maintenance</title>", headers=(("Content-Type", "text/html"),))
MONARCH = ("Agent", "Person", "Monarch")
TYPES = ",".join(f"DBpedia:{name}" for name in MONARCH)


def found_in(result: Result) -> Any:
    assert (result.code, result.err) == (0, "")
    return json.loads(result.out)


def sources(found: Any) -> set[str]:
    return {one["source"] for one in found["distractors"]}


def test_they_are_shown_and_written_without_a_model_or_a_key(factloop: Command, home: Path) -> None:
    shown = factloop("research", "distractors", *TEMPLE, "--n", 5, "--json", "found.json")
    assert (shown.code, shown.err) == (0, "")
    found = json.loads((home / "found.json").read_text(encoding="utf-8"))
    assert len(found["distractors"]) == 5
    for one in found["distractors"]:
        assert one["by"] in shown.out.replace("\n", " ")
    schema = json_schema("distractor_set")
    jsonschema.validate(found, schema)
    assert found_in(factloop("research", "distractors", *TEMPLE, "--n", 5, "--json", "-")) == found
    assert found_in(factloop("research", "distractors", *TEMPLE, "--n", 5, "--json", "-", "--seed", 1)) != found


MODEL_FLAGS = ("--distractors", "model", "--judge-model", MODEL)


def test_a_model_proposes_some_where_it_is_told_to(factloop: Command, sim: Simulator) -> None:
    """The simulator spells words backwards, so that its proposals are told apart from all others."""
    found = found_in(factloop("research", "distractors", *TEMPLE, *MODEL_FLAGS, "--n", 12, "--json", "-"))
    proposed = [one["by"] for one in found["distractors"] if one["source"] == "model"]
    assert proposed
    assert found["usage"]["stages"]["substitutes"]["calls"] == sim.stats().stages["Substitutes"].answered == 1
    assert "1 answer reused" in " ".join(
        factloop("research", "distractors", *TEMPLE, *MODEL_FLAGS, "--n", 12).out.split()
    )
    known = [flag for answer in proposed for flag in ("--reference", answer)]
    barred = found_in(factloop("research", "distractors", *TEMPLE, *MODEL_FLAGS, *known, "--n", 12, "--json", "-"))
    assert sources(barred) == sources(found) - {"model"}
    assert sim.stats().stages["Substitutes"].answered == 1  # the answer of the first time was kept


def test_without_a_judge_no_model_proposes(factloop: Command, sim: Simulator) -> None:
    result = factloop("research", "distractors", *TEMPLE, "--distractors", "model")
    assert (result.code, result.out) == (2, "")
    assert "--distractors model asks the judge model: give --judge-model" in result.complaint
    assert sim.stats().model.requests == 0


def test_the_settings_of_other_commands_are_no_matter(factloop: Command, home: Path) -> None:
    (home / "factloop.toml").write_text("plan = 'paper'\nsubject_model = 'nobody:x'\nseed = 3\n")
    assert found_in(factloop("research", "distractors", *TEMPLE, "--json", "-"))["seed"] == 3


@pytest.mark.parametrize("width", ["20", "40", "200"])
def test_any_terminal_is_wide_enough(factloop: Command, monkeypatch: pytest.MonkeyPatch, width: str) -> None:
    monkeypatch.setenv("COLUMNS", width)
    result = factloop("research", "distractors", *TEMPLE, "--n", 3)
    assert result.code == 0
    assert max(map(len, result.out.splitlines())) <= int(width)


def test_too_few_are_said(factloop: Command) -> None:
    result = factloop("research", "distractors", "--question", "???", "--response", "???")
    assert result.code == 0
    assert "???" in result.out
    assert (
        found_in(factloop("research", "distractors", "--question", "???", "--response", "???", "--json", "-"))[
            "distractors"
        ]
        == []
    )


@pytest.mark.parametrize(
    ("flags", "named"),
    [
        (("--question", "", "--response", "x"), "question: a text is needed"),
        (("--question", "x", "--response", "\t"), "response: a text is needed"),
        (("--question", "x", "--response", "\udcff"), "half a character"),
        ((*TEMPLE, "--kb", "nowhere.kb"), "no table of typed entities at nowhere.kb"),
        ((*TEMPLE, "--kb", "."), "no table of typed entities at ."),
        ((*TEMPLE, "--kb", "mine.txt"), "mine.txt is not a table"),
        ((*TEMPLE, "--set", "vectors=nowhere.bin"), "nowhere.bin"),
        ((*TEMPLE, "--set", "vectors=mine.txt"), "mine.txt"),
        pytest.param((*TEMPLE, "--embeddings", "nowhere"), "nowhere", marks=pytest.mark.torch),
        ((*TEMPLE, "--kb", "mine.txt", "--json", "mine.txt"), "would overwrite mine.txt"),
        ((*TEMPLE, "--set", "vectors=mine.txt", "--json", "mine.txt"), "would overwrite mine.txt"),
        ((*TEMPLE, "--json", "no/where.json"), "does not exist"),
        ((*TEMPLE, "--dbpedia", "--set", "spotlight_url=nowhere"), "spotlight_url = 'nowhere'"),
        ((*TEMPLE, "--timeout", "0"), "timeout_s = 0"),
    ],
)
def test_wrong_input_is_named(factloop: Command, home: Path, flags: tuple[str, ...], named: str) -> None:
    (home / "mine.txt").write_text("mine")
    result = factloop("research", "distractors", *flags)
    assert (result.code, result.out) == (2, "")
    assert named in result.complaint
    assert (home / "mine.txt").read_text() == "mine"


@pytest.mark.parametrize("n", ["0", "-1", "1001", "many"])
def test_a_number_out_of_range_is_wrong_usage(factloop: Command, n: str) -> None:
    assert factloop("research", "distractors", *TEMPLE, "--n", n).code == 2


@pytest.fixture
def dbpedia(servers: Servers) -> tuple[object, ...]:
    """Flags for servers on loopback that know some monarchs."""
    kings = {
        "Solomon": "Solomon",
        "David": "King David",
        "Saul": "King Saul",
        "O'Neill": 'King "Brian" O\'Neill',
        "Back": "King Back\\slash",
        "Brace": "King Brace}",
    }
    servers.know(*(thing(name, label, MONARCH, 10) for name, label in kings.items()))
    servers.spotlight.will(annotated("King Solomon built it.", ("Solomon", "King Solomon", 0, TYPES)))
    urls = (
        "--set",
        f"spotlight_url={servers.spotlight.url}/en/annotate",
        "--set",
        f"sparql_url={servers.sparql.url}/sparql",
    )
    return ("--dbpedia", *urls, "--timeout", 1)


def test_dbpedia_gives_entities_of_the_same_types(factloop: Command, dbpedia: tuple[object, ...]) -> None:
    found = found_in(factloop("research", "distractors", *TEMPLE, *dbpedia, "--n", 3, "--json", "-"))
    assert sources(found) == {"dbpedia"}
    assert found["notes"] == []
    assert {one["by"] for one in found["distractors"]} <= {
        "King David", "King Saul", 'King "Brian" O\'Neill', "King Back\\slash", "King Brace}",
    }  # fmt: skip


def test_answers_of_dbpedia_are_kept(factloop: Command, servers: Servers, dbpedia: tuple[object, ...]) -> None:
    first = found_in(factloop("research", "distractors", *TEMPLE, *dbpedia, "--json", "-"))
    asked = len(servers.spotlight.received), len(servers.queries)
    assert found_in(factloop("research", "distractors", *TEMPLE, *dbpedia, "--json", "-")) == first
    assert (len(servers.spotlight.received), len(servers.queries)) == asked


Break = Callable[[Servers], None]
FAILURES: dict[str, Break] = {
    "Spotlight answers with a page": lambda servers: servers.spotlight.will(HTML),
    "Spotlight fails": lambda servers: servers.spotlight.will(Reply(status=500)),
    "Spotlight is slow": lambda servers: servers.spotlight.will(Reply(body=b"{}" * 50, drip_s=0.2)),
    "Spotlight answers with a list": lambda servers: servers.spotlight.will(Reply(body=b"[]")),
    "SPARQL answers with a page": lambda servers: servers.break_sparql(HTML),
    "SPARQL times out": lambda servers: servers.break_sparql(
        Reply(status=500, body=b"Virtuoso S1T00 Error SR171: Transaction timed out")
    ),
    "SPARQL is slow": lambda servers: servers.break_sparql(Reply(body=b"{}" * 50, drip_s=0.2)),
    "SPARQL refuses": lambda servers: servers.break_sparql(Reply(status=403)),
}


@pytest.mark.parametrize("spoil", FAILURES.values(), ids=FAILURES.keys())
def test_where_dbpedia_fails_the_next_source_is_used_and_that_is_said_once(
    factloop: Command, servers: Servers, dbpedia: tuple[object, ...], spoil: Break
) -> None:
    spoil(servers)
    found = found_in(factloop("research", "distractors", *TEMPLE, *dbpedia, "--n", 6, "--json", "-"))
    assert len(found["distractors"]) == 6
    assert "dbpedia" not in sources(found)
    (note,) = found["notes"]
    assert note.startswith("DBpedia did not answer (")
    assert note.endswith("): the next source was used")


def test_where_dbpedia_is_not_there_the_next_source_is_used(factloop: Command) -> None:
    with socket.create_server(("127.0.0.1", 0)) as closed:
        port = closed.getsockname()[1]
    nowhere = ("--set", f"spotlight_url=http://127.0.0.1:{port}/a", "--set", f"sparql_url=http://127.0.0.1:{port}/b")
    result = factloop("research", "distractors", *TEMPLE, "--dbpedia", *nowhere, "--n", 6, "--json", "-")
    found = found_in(result)
    assert len(found["distractors"]) == 6
    (note,) = found["notes"]
    assert f"connection refused at 127.0.0.1:{port}" in note


def test_a_name_without_types_is_left_to_the_next_source(
    factloop: Command, servers: Servers, dbpedia: tuple[object, ...]
) -> None:
    servers.spotlight.will(annotated("King Solomon built it.", ("Solomon", "King Solomon", 0, "")))
    found = found_in(factloop("research", "distractors", *TEMPLE, *dbpedia, "--n", 6, "--json", "-"))
    assert len(found["distractors"]) == 6
    assert "dbpedia" not in sources(found)


@pytest.mark.parametrize("key", ['Quo"te', "Back%5Cslash", "Brace}", "Dollar{$x}", "Line%0AEnd", "Umlaut_ü"])
def test_hostile_names_reach_the_servers_as_names(
    factloop: Command, servers: Servers, dbpedia: tuple[object, ...], key: str
) -> None:
    servers.spotlight.will(annotated("King Solomon built it.", (key, "King Solomon", 0, TYPES)))
    found = found_in(factloop("research", "distractors", *TEMPLE, *dbpedia, "--n", 6, "--json", "-"))
    assert len(found["distractors"]) == 6
    assert all("Error" not in note for note in found["notes"])  # none was refused as malformed


def test_a_report_says_once_that_dbpedia_failed(
    factloop: Command, sim: Simulator, servers: Servers, dbpedia: tuple[object, ...]
) -> None:
    servers.spotlight.will(HTML)
    flags = (*TEMPLE, "--subject-model", MODEL, *dbpedia, "--max-checks", 2)
    report = found_in(factloop("trust", *flags, "--json", "-"))
    (note,) = report["trust_bc"]["notes"]
    assert note.startswith("DBpedia did not answer")
    assert len(report["trust_bc"]["checks"]) >= 1
    assert factloop("trust", *flags).out.count("DBpedia did not answer") == 1
    assert sim.stats().model.requests > 0


@pytest.mark.process
def test_an_interrupt_ends_it_at_once(home: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as silent:
        url = f"http://127.0.0.1:{silent.getsockname()[1]}"
        flags = ("--dbpedia", "--set", f"spotlight_url={url}/a", "--set", f"sparql_url={url}/b", "--timeout", "60")
        command = [sys.executable, "-m", "factloop", "research", "distractors", *TEMPLE, *flags]
        with subprocess.Popen(command, cwd=home, stderr=subprocess.PIPE, text=True, env=environment()) as process:
            silent.settimeout(30.0)
            connection, _ = silent.accept()
            with connection:
                process.send_signal(signal.SIGINT)
                _, said = process.communicate(timeout=10.0)
    assert (process.returncode, said) == (130, "factloop: stopped. Nothing was written.\n")


def environment() -> dict[str, str]:
    return {**os.environ, "PYTHONPATH": str(Path(__file__).resolve().parents[2])}
