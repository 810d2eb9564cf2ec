from __future__ import annotations

import gzip
import hashlib
import json
from pathlib import Path

import pytest
from filelock import FileLock

from factloop.cli.research.data import Get, get_datasets
from factloop.evaluation.datasets.fetch import Download
from factloop.evaluation.datasets.folder import find_part
from factloop.evaluation.datasets.mapping import UNKNOWN_SYSTEM
from factloop.evaluation.datasets.registry import Dataset, DatasetPart, UpstreamFile, load_part
from tests.cli.command import Command
from tests.evaluation.datasets.dataset_files import jsonl
from tests.tools.fake_server import FakeServer, Reply
from tests.tools.fake_server import server as server

PROMPT = '{"id": "1", "topic": "music", "prompt": "What is a lute?"}\n'
QUESTION = {
    "id": "q1",
    "question": "Who?",
    "reference_answers": ["Ada"],
    "source": "PopQA",
    "responses": [{"system": "gpt-3.5-turbo", "text": "Ada", "human_correct": 1}],
}
BODY = b'{"prompt": "Why?"}\n' * 1000
ONCE = Download(timeout_s=30.0, attempts=1, wait_s=0.0)


@pytest.fixture
def source(home: Path) -> Path:
    folder = home / "there"
    folder.mkdir()
    (folder / "longfact_objects.jsonl").write_text(PROMPT, encoding="utf-8")
    (folder / "mixedqa.jsonl").write_text(json.dumps(QUESTION) + "\n", encoding="utf-8")
    return folder


@pytest.fixture
def folder(home: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("FACTLOOP_DATA_DIR", str(home / "data"))
    return home / "data"


def small(name: str, url: str, checksum: str | None) -> Dataset:
    file = UpstreamFile(path="rows.jsonl", url=f"{url}/{name}/rows.jsonl", sha256=checksum)
    part = DatasetPart(name="dev", files=(file,), own_file=None, columns=("prompt",), loader="")
    return Dataset(
        name=name, title=name, about="", homepage="https://x.test", licence="CC0", citation="Me", parts=(part,)
    )


def test_what_is_copied_is_listed_and_found(factloop: Command, folder: Path, source: Path) -> None:
    got = factloop("research", "data", "get", "longfact", "mixedqa", "--from", source)
    assert (got.code, got.err) == (0, "")
    longfact, mixedqa = got.out.splitlines()
    said = "1 file (1 copied; no checksum is known for 1)"
    assert longfact == f"longfact: {said} in {folder}/longfact. Licence: CC BY 4.0"
    assert mixedqa == f"mixedqa: {said} in {folder}/mixedqa. Licence: MIT"
    listed = json.loads(factloop("research", "data", "list", "--json", "-").out)
    here = {one["name"]: [part["path"] for part in one["parts"]] for one in listed["datasets"]}
    assert listed["folder"] == str(folder)
    assert here["longfact"] == [str(folder / "longfact/objects"), None]
    assert here["mixedqa"] == [str(folder / "mixedqa/answers")]
    assert here["wice"] == [None, None]
    assert len(list(load_part("longfact", "objects", find_part("longfact", "objects", None)))) == 1


def test_two_at_once_do_not_write_one_file(factloop: Command, folder: Path, source: Path) -> None:
    (folder / "longfact").mkdir(parents=True)
    with FileLock(folder / "longfact/.lock"):
        got = factloop("research", "data", "get", "longfact", "--from", source)
    assert (got.code, "another process is downloading this data set" in got.complaint) == (2, True)


def test_downloads_say_what_was_verified(
    server: FakeServer, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FACTLOOP_DATA_DIR", str(tmp_path))
    server.will(Reply(body=BODY))
    known = small("known", server.url, hashlib.sha256(BODY).hexdigest())
    other = small("other", server.url, "0" * 64)
    find = {"known": known, "other": other}.__getitem__
    assert get_datasets(Get(names=("other", "known", "known")), find=find, download=ONCE) == 2
    shown = capsys.readouterr()
    assert shown.out == (f"known: 1 file (1 downloaded; checksums verified) in {tmp_path}/known. Licence: CC0\n")
    assert "factloop: other: http://127.0.0.1" in shown.err
    assert "the file has changed or was tampered with" in shown.err
    assert (tmp_path / "known/dev/rows.jsonl").read_bytes() == BODY
    assert not (tmp_path / "other/dev/rows.jsonl").exists()
    assert get_datasets(Get(names=("known",), quiet=True), find=find, download=ONCE) == 0
    assert (capsys.readouterr(), len(server.received)) == (("", ""), 2)


TYPE, LABEL = "http://www.w3.org/1999/02/22-rdf-syntax-ns#type", "http://www.w3.org/2000/01/rdf-schema#label"
NAMES = (
    "Glimmerfall",
    "Ostrava Deep",
    'Quill "Sharp" Bay',
    "Brace } Cove",
    "Back\\slash Sound",
    "Tarn Vexley",
    "Unnamed",
)


def ntriples(names: tuple[str, ...]) -> tuple[str, str]:
    types, labels = [], []
    for number, name in enumerate(names):
        subject = f"<http://dbpedia.org/resource/N{number}>"
        types.append(f"{subject} <{TYPE}> <http://dbpedia.org/ontology/Lighthouse> .")
        if name != "Unnamed":
            said = name.replace("\\", "\\\\").replace('"', '\\"')
            labels.append(f'{subject} <{LABEL}> "{said}"@en .')
    return "\n".join(types) + "\n", "\n".join(labels) + "\n"


@pytest.fixture
def dumps(home: Path) -> tuple[Path, Path]:
    paths = (home / "types.nt.gz", home / "labels.nt.gz")
    for path, text in zip(paths, ntriples(NAMES), strict=True):
        path.write_bytes(gzip.compress(text.encode()))
    return paths


def test_a_table_from_dumps_gives_distractors_of_the_same_type(
    factloop: Command, dumps: tuple[Path, Path], home: Path
) -> None:
    types, labels = dumps
    built = factloop("research", "kb", "build", "--types", types, "--labels", labels, "--out", "lights.kb")
    assert (built.code, built.err) == (0, "")
    assert built.out == "lights.kb: 6 entities of 1 type, 6 names; left out 1 without a label\n"
    found = factloop(
        "research", "distractors", "--question", "Which light was it?", "--response", "It was Glimmerfall.", "--n", 5,
        "--kb", "lights.kb", "--json", "-",
    )  # fmt: skip
    assert found.code == 0
    made = json.loads(found.out)["distractors"]
    assert {one["by"] for one in made} == set(NAMES) - {"Glimmerfall", "Unnamed"}
    assert {(one["source"], one["level"], one["replaced"]) for one in made} == {
        ("knowledge_base", "entity", "Glimmerfall")
    }
    assert sorted(path.name for path in home.iterdir()) == sorted([types.name, labels.name, "lights.kb"])


def test_the_command_writes_pairs_and_says_what_matched(factloop: Command, home: Path) -> None:
    said = "The red house stands in the old town."
    jsonl(home / "dev.jsonl", *({"dataset": "Lfqa", "doc": "D", "claim": one, "label": 1} for one in (said, "No.")))
    jsonl(
        home / "up.jsonl", {"dataset": "Lfqa", "system": "webgpt", "response": said, "response_id": 1, "prompt_id": 2}
    )
    result = factloop(
        "research", "data", "join", "dev.jsonl", "--source", "responses=up.jsonl", "--out", "joined.jsonl"
    )
    assert (result.code, result.err) == (0, "")
    assert "Lfqa" in result.out
    rows = [json.loads(line) for line in (home / "joined.jsonl").read_text(encoding="utf-8").splitlines()]
    assert [(one["system"], one["task"], one["label"]) for one in rows] == [
        ("webgpt", "long-form QA", 1),
        (UNKNOWN_SYSTEM, "long-form QA", 1),
    ]
    scored = factloop("research", "verify", "joined.jsonl", "--verifier", "baseline", "--out", "p.jsonl", "--quiet")
    assert (scored.code, scored.err) == (0, "")
    audited = factloop("research", "audit", "p.jsonl", "--resamples", "10", "--json", "-")
    assert json.loads(audited.out)["data"]["systems"] == ["webgpt"]
