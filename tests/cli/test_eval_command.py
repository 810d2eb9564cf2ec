"""`factloop eval FILE`: SAFE over a data set of responses."""

from __future__ import annotations

import io
import json
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from tests.cli.command import Command
from tests.evaluation.running.short_responses import short_items, write_items
from tests.simulator import MODEL, Simulator

ROWS = [
    {"prompt": "Who was Ada?", "response": "Ada Lovelace was born in London.", "system": "one"},
    {"prompt": "Who was Ada?", "response": "", "system": "two"},
    {"prompt": "Where?", "response": "Ada Lovelace was taught in Paris.", "system": "two"},
]


def write(path: Path, rows: Sequence[Any]) -> Path:
    path.write_text("".join(f"{json.dumps(row)}\n" for row in rows), encoding="utf-8")
    return path


@pytest.fixture
def data(home: Path) -> Path:
    return write(home / "responses.jsonl", ROWS)


def test_systems_are_scored_and_every_number_says_what_it_rests_on(
    factloop: Command, data: Path, docs: Path, home: Path
) -> None:
    flags = ("--k", 1, "--k", "median", "--k", "maximum", "--docs", docs, "--resamples", 20)
    result = factloop("eval", data, *flags, "--html", "page.html")
    assert (result.code, result.err) == (0, "")
    for part in (
        "F1@1",
        "Precision",
        "95% interval",
        "zero: a response without claims",
        "1 abstained",
    ):
        assert part in " ".join(result.out.split())
    assert (home / "page.html").read_text(encoding="utf-8").startswith("<!doctype html>")
    found = json.loads(factloop("eval", "responses", data, *flags, "--json", "-", "--abstention", "exclude").out)
    assert (found["kind"], len(found["responses"])) == ("responses", 3)
    one, two = found["scores"]["systems"]
    assert (one["at_k"][0]["f1"]["value"], one["at_k"][0]["f1"]["n"]) == (1.0, 1)
    assert (two["at_k"][0]["f1"]["value"], two["at_k"][0]["f1"]["n"], two["n_abstained"]) == (0.0, 1, 1)
    assert found["data"].startswith("responses.jsonl (sha256 ")


@pytest.mark.usefixtures("brisk")
def test_a_search_that_is_not_there_ends_it_soon_and_pays_for_nothing(
    factloop: Command, sim: Simulator, data: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FACTLOOP_SERPER_URL", "http://127.0.0.1:9")
    result = factloop("eval", data, "--model", MODEL, "--search", "serper", "--json", "run.json", "--quiet")
    refused = "serper: connection refused at 127.0.0.1:9: is the server running, and its URL right?"
    assert (result.code, result.complaint) == (3, f"factloop: no claim could be scored: {refused}")
    counts = [system["counts"]["unscored"] for system in json.loads(Path("run.json").read_text())["scores"]["systems"]]
    assert (counts, sim.stats().model.requests) == ([1, 1], 0)


def test_a_pipe_is_read_once(factloop: Command, docs: Path, home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    raw = "".join(f"{json.dumps(row)}\n" for row in ROWS).encode()
    for _ in range(2):  # the second goes on with what the first judged
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(raw)))
        result = factloop("eval", "-", "--docs", docs, "--run-dir", "run", "--json", "-")
        assert result.code == 0
    assert json.loads(result.out)["data"] == "standard input"
    assert len((home / "run" / "reports.jsonl").read_bytes().splitlines()) == 3


def test_a_model_judges_and_a_finished_run_is_scored_anew_for_nothing(
    factloop: Command, sim: Simulator, home: Path
) -> None:
    data = write_items(home / "short.jsonl", short_items(sim.world, 6))
    flags = (data, "--model", MODEL, "--search", "serper", "--run-dir", "run", "--quiet", "--json", "-")
    first = json.loads(factloop("eval", *flags, "--limit", 4).out)
    assert first["usage"]["calls"] == sim.stats().model.answered > 0
    whole = json.loads(factloop("eval", *flags).out)
    assert (len(first["responses"]), len(whole["responses"]), sim.stats().repeated) == (4, 6, 0)
    sim.reset()
    again = json.loads(factloop("eval", *flags, "--k", 3, "--level", 0.5).out)
    assert (again["scores"]["ks"], again["scores"]["level"]) == ([{"k": 3, "rule": "given"}], 0.5)
    assert again["responses"] == whole["responses"]
    assert sim.stats().stages == {}


@pytest.mark.usefixtures("sim")
def test_a_dry_run_spends_nothing(factloop: Command, sim: Simulator, data: Path) -> None:
    priced = ("--price-in", 0.15, "--price-out", 0.6)  # the simulator is no server whose prices are known
    flags = ("--model", "openai:gpt-4o-mini", *priced, "--search", "serper", "--dry-run", "--run-dir", "run")
    result = factloop("eval", data, *flags)
    assert (result.code, result.err, sim.stats().stages) == (0, "", {})
    assert "Nothing was spent. Estimate for 3 responses" in result.out
    estimate = json.loads(factloop("eval", data, *flags, "--limit", 2, "--json", "-").out)
    assert (estimate["n_sentences"], estimate["cost_usd"] > 0) == (1, True)
    assert not Path("run").exists()


def test_exit_codes(factloop: Command, data: Path, docs: Path, home: Path) -> None:
    low = factloop("eval", data, "--docs", docs, "--fail-under", 0.9, "--quiet")
    assert (low.code, low.out) == (1, "")
    assert low.complaint == "factloop: precision 0.000 of two (1 response) is below 0.9 (--fail-under)"
    for flags in ((), ("--strict",), ("--fail-under", 0.5)):  # without documents no claim can be judged
        nothing = factloop("eval", data, "--quiet", *flags)
        assert (nothing.code, nothing.out) == (3, "")
        assert nothing.complaint == "factloop: no claim could be scored: 2 × no source to check against"
    write(home / "none.jsonl", [{"prompt": "Who?", "response": ""}])
    undefined = factloop("eval", "none.jsonl", "--docs", docs, "--fail-under", 0, "--quiet")
    assert (undefined.code, undefined.complaint) == (
        1,
        "factloop: precision undefined of none (0 responses) is below 0 (--fail-under)",
    )
    empty = factloop("eval", "none.jsonl", "--docs", docs, "--quiet")
    said = "factloop: no claim could be scored: no response makes a claim that can be checked"
    assert (empty.code, empty.complaint) == (3, said)


def test_each_response_is_judged_by_its_own_documents(factloop: Command, docs: Path, home: Path) -> None:
    said = "The bridge has five arches."
    rows: list[dict[str, Any]] = [
        {"prompt": "How many?", "response": said, "system": "a", "documents": [said]},
        {
            "prompt": "How many?",
            "response": said,
            "system": "b",
            "documents": [{"text": "It has six.", "source": "b.md"}],
        },
        {"prompt": "How many?", "response": said, "system": "c", "documents": []},
        {"prompt": "Who was Ada?", "response": "Ada Lovelace was born in London.", "system": "d"},
    ]
    data = write(home / "own.jsonl", rows)
    result = factloop("eval", data, "--docs", docs, "--json", "run.json", "--run-dir", "run")
    assert result.code == 0
    run = json.loads((home / "run.json").read_text())
    counts = {one["system"]: one["counts"] for one in run["scores"]["systems"]}
    found = {name: (of["supported"], of["not_supported"], of["unscored"]) for name, of in counts.items()}
    assert found == {"a": (1, 0, 0), "b": (0, 1, 0), "c": (0, 0, 1), "d": (1, 0, 0)}
    assert "Faithfulness: 2 of 4 responses were judged by their own documents" in " ".join(result.out.split())
    assert not any("judged alike" in warning for warning in run["warnings"])
    assert "1 of 4 responses had nothing to be checked against: no text in its `documents`" in run["warnings"]
    alone = factloop("eval", data, "--quiet", "--json", "-", "--limit", 1)
    warnings = json.loads(alone.out)["warnings"]
    assert any("each response was judged by its own documents" in warning for warning in warnings)
    assert not any("nothing to check against" in warning for warning in warnings)
    rows[0]["documents"] = ["The bridge has six arches."]
    write(data, rows)
    other = factloop("eval", data, "--docs", docs, "--run-dir", "run")
    assert (other.code, "another configuration (data differ)" in other.complaint) == (2, True)


@pytest.mark.parametrize("sources", [(), ("--docs", "docs")])
def test_empty_documents_are_what_a_run_of_them_lacks(
    factloop: Command, docs: Path, home: Path, sources: tuple[str, ...]
) -> None:
    data = write(home / "own.jsonl", [{**ROWS[0], "documents": []}, {**ROWS[2], "documents": [" "]}])
    result = factloop("eval", data, "--json", "-", "--quiet", *(docs if one == "docs" else one for one in sources))
    assert result.code == 3
    said, unscored = json.loads(result.out)["warnings"]
    assert said == "2 of 2 responses had nothing to be checked against: no text in their `documents`"
    assert "claims have no verdict" in unscored


def test_a_dry_run_knows_that_own_documents_are_searched_for_nothing(
    factloop: Command, sim: Simulator, home: Path
) -> None:
    rows = [{**ROWS[0], "documents": ["Ada Lovelace was born in London."]}, {**ROWS[2], "documents": None}]
    data = write(home / "own.jsonl", rows)
    flags = ("--model", "openai:gpt-4o-mini", "--search", "serper", "--dry-run")
    both = factloop("eval", data, *flags)
    assert (both.code, "plan 'fused' and 'grounded' with" in both.out) == (0, True)
    assert "plan 'grounded' with" in factloop("eval", data, *flags, "--limit", 1).out
    assert sim.stats().stages == {}


def test_a_model_needs_a_source_for_each_response(factloop: Command, sim: Simulator, home: Path) -> None:
    rows = [{**ROWS[0], "documents": ["Ada Lovelace was born in London."]}, ROWS[2]]
    data = write(home / "own.jsonl", rows)
    result = factloop("eval", data, "--model", MODEL)
    assert (result.code, sim.stats().stages) == (2, {})
    assert "the response '2' comes without documents: there is nothing to check against" in result.complaint
    first = factloop("eval", write(data, rows[:1]), "--model", MODEL, "--json", "-", "--quiet")
    assert json.loads(first.out)["fingerprint"]["plan"] == "grounded"


def test_two_prompts_under_one_id_are_told_of(factloop: Command, docs: Path, home: Path) -> None:
    rows = [{"system": name, "prompt_id": 1, "prompt": f"What of {name}?", "response": ""} for name in ("one", "two")]
    write(home / "x.jsonl", rows)
    result = factloop("eval", "x.jsonl", "--docs", docs)
    assert result.code == 3, "no response has a claim"
    assert 'x.jsonl:2: the prompt_id "1" is also that of another prompt, in line 1' in result.err
    assert "(2 such responses)" in result.out, "empty ones are counted"


def test_columns_are_named(factloop: Command, docs: Path, home: Path) -> None:
    (home / "x.csv").write_text("Question,Answer\nWho was Ada?,Ada Lovelace was born in London.\n", encoding="utf-8")
    columns = ("--column", "prompt=Question", "--column", "response=Answer")
    found = json.loads(factloop("eval", "x.csv", *columns, "--docs", docs, "--json", "-").out)
    assert [line["system"] for line in found["responses"]] == ["x"]


def test_hostile_names_are_shown_and_not_obeyed(factloop: Command, docs: Path, home: Path) -> None:
    system = "\x1b[31m\u202egpt\n[bold]evil</b><script>alert(1)</script>"
    write(home / "\x1b[2Jx.jsonl", [{**ROWS[0], "system": system, "id": "\x9b1m", "prompt_id": "../../etc"}])
    result = factloop("eval", "\x1b[2Jx.jsonl", "--docs", docs, "--html", "page.html", "--run-dir", "run")
    assert result.code == 0
    assert not {"\x1b", "\x9b", "\u202e"} & set(result.out)
    assert "[bold]evil" in result.out
    assert "<script>alert" not in (home / "page.html").read_text(encoding="utf-8")
    again = factloop(
        "eval", "\x1b[2Jx.jsonl", "--docs", docs, "--quiet", "--fail-under", 1, "--column", "response=system"
    )
    assert not {"\x1b", "\x9b", "\u202e"} & set(again.err)


@pytest.mark.parametrize(
    ("flags", "named"),
    [
        (("nope.jsonl",), "nope.jsonl: cannot be read"),
        (("docs",), "docs: cannot be read"),
        (("bad.jsonl",), "bad.jsonl:2: field 'response': it is missing"),
        (("bad.jsonl", "--limit", 1), "bad.jsonl:2: field 'response': it is missing"),
        (("bad.jsonl", "--dry-run"), "bad.jsonl:2: field 'response': it is missing"),
        (
            ("number.jsonl",),
            "number.jsonl:1: field 'documents': a list of texts is needed, or of objects with `text`, not 7",
        ),
        (("item.jsonl",), "item.jsonl:1: field 'documents[1]': a text is needed, or an object with `text`, not 7"),
        (("text.jsonl",), "text.jsonl:1: field 'documents[0].text': it is missing"),
        (("text.jsonl", "--column", "documents=page"), "text.jsonl:1: field 'page': it is missing"),
        (("responses.jsonl", "--column", "prompt"), "--column prompt: FIELD=COLUMN is needed"),
        (("responses.jsonl", "--column", "promt=q"), "there is no field 'promt', but id, system"),
        (("responses.jsonl", "--column", "id=a", "--column", "id=b"), "id is named twice"),
        (("responses.jsonl", "--column", "prompt=q"), "responses.jsonl:1: field 'q': it is missing"),
        (("responses.jsonl", "--k", "0"), "--k 0: a whole number from 1, median or maximum"),
        (("responses.jsonl", "--k", "mean"), "--k mean: a whole number"),
        (("responses.jsonl", "--k", "9" * 30), "a whole number from 1"),
        (("responses.jsonl", "--k", "²"), "a whole number from 1"),
        (("responses.jsonl", "--level", "95"), "--level 95: a share between 0 and 1"),
        (("responses.jsonl", "--level", "nan"), "--level nan: a share"),
        (("responses.jsonl", "--fail-under", "nan"), "--fail-under nan"),
        (("responses.jsonl", "--workers", 2), "--workers and --address go with --engine ray"),
        (("responses.jsonl", "--json", "responses.jsonl"), "would overwrite"),
        (("responses.jsonl", "--docs", "."), "support itself"),
        (("responses.jsonl", "--docs", "nowhere"), "nowhere"),
        (("responses.jsonl", "--run-dir", "docs"), "docs: not a run directory"),
        (("responses.jsonl", "--calibration", "nowhere.jsonl"), "nowhere.jsonl"),
    ],
)
def test_wrong_input_is_named_and_nothing_is_spent(
    factloop: Command, sim: Simulator, data: Path, docs: Path, home: Path, flags: tuple[object, ...], named: str
) -> None:
    write(home / "bad.jsonl", [ROWS[0], {"prompt": "Who?"}])
    for name, documents in {"number": 7, "item": ["Ada.", 7], "text": [{"page_content": "Ada."}]}.items():
        write(home / f"{name}.jsonl", [{**ROWS[0], "documents": documents}])
    before = (data.read_bytes(), sorted(docs.iterdir()))
    result = factloop("eval", *flags, "--model", MODEL, "--search", "serper")
    assert (result.code, result.out, sim.stats().stages) == (2, "", {})
    assert named in result.complaint
    assert (data.read_bytes(), sorted(docs.iterdir())) == before


def test_another_data_set_in_the_same_place_is_refused(factloop: Command, data: Path, docs: Path) -> None:
    assert factloop("eval", data, "--docs", docs, "--run-dir", "run", "--quiet").code == 0
    write(data, ROWS[:2])
    result = factloop("eval", data, "--docs", docs, "--run-dir", "run")
    assert result.code == 2
    assert "another configuration (data differ)" in result.complaint
