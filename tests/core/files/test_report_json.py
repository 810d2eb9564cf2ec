from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from factloop.core.errors import ConfigError
from factloop.core.files.json import to_json, write_atomically
from factloop.core.records import FactualityReport, StageUsage
from tests.reports.sample import hostile_report, sample_report


@pytest.mark.parametrize("report", [sample_report(), hostile_report()])
def test_what_is_written_reads_back_equal(report: FactualityReport) -> None:
    text = to_json(report)
    assert FactualityReport.model_validate_json(text) == report
    assert text.endswith("}\n")
    assert json.loads(text) == report.model_dump(mode="json")


def test_fields_stand_as_declared_and_mappings_in_alphabetical_order() -> None:
    report = sample_report()
    stages = {"split": StageUsage(calls=1), "assess": StageUsage(calls=2)}
    usage = report.usage.model_copy(update={"stages": stages})
    turned = report.usage.model_copy(update={"stages": dict(reversed(stages.items()))})
    text = to_json(report.model_copy(update={"usage": usage}))
    assert text == to_json(report.model_copy(update={"usage": turned}))
    assert list(json.loads(text)) == list(FactualityReport.model_fields)
    assert list(json.loads(text)["usage"]["stages"]) == ["assess", "split"]


def test_what_a_terminal_would_obey_is_escaped_and_stays_the_same_value() -> None:
    obeyed = "".join(map(chr, [*range(9), *range(11, 32), *range(0x7F, 0xA0), *range(0x2028, 0x202F)])) + "\u2066\u2069"
    report = sample_report().model_copy(update={"response": f"a{obeyed}b"})
    text = to_json(report)
    assert not set(text) & set(obeyed)
    assert "\\u009b" in text
    assert "\\u202e" in text
    assert json.loads(text)["response"] == f"a{obeyed}b"


@pytest.mark.parametrize("value", [float("nan"), float("inf")])
def test_what_json_cannot_say_is_refused(value: float) -> None:
    report = sample_report()
    fingerprint = report.fingerprint.model_copy(update={"sampling": {"temperature": value}})
    with pytest.raises(ValueError, match="JSON"):
        to_json(report.model_copy(update={"fingerprint": fingerprint}))


def test_a_file_is_replaced_whole(tmp_path: Path) -> None:
    path = tmp_path / "report.json"
    path.write_text("old")
    path.chmod(0o600)
    write_atomically(path, "nový\n")
    assert path.read_bytes() == "nový\n".encode()
    assert path.stat().st_mode & 0o777 == 0o600
    assert list(tmp_path.iterdir()) == [path]


@pytest.mark.skipif(os.name != "posix", reason="rights of this kind")
@pytest.mark.parametrize(("umask", "mode"), [(0o000, 0o666), (0o022, 0o644), (0o077, 0o600)])
def test_a_new_file_has_the_rights_of_the_umask_unless_it_is_private(tmp_path: Path, umask: int, mode: int) -> None:
    before = os.umask(umask)
    try:
        write_atomically(tmp_path / "report.json", "text")
        write_atomically(tmp_path / "private.json", "text", private=True)
    finally:
        os.umask(before)
    assert (tmp_path / "report.json").stat().st_mode & 0o777 == mode
    assert (tmp_path / "private.json").stat().st_mode & 0o777 == 0o600


def test_a_pipe_is_written_to_and_stays_a_pipe(tmp_path: Path) -> None:
    path = tmp_path / "pipe"
    os.mkfifo(path)
    reader = os.open(path, os.O_RDONLY | os.O_NONBLOCK)
    write_atomically(path, "text")
    assert os.read(reader, 100) == b"text"
    os.close(reader)
    assert path.is_fifo()


@pytest.mark.parametrize("place", ["missing/report.json", ".", "file/report.json"])
def test_a_place_that_cannot_be_written_is_named(tmp_path: Path, place: str) -> None:
    (tmp_path / "file").write_text("in the way")
    path = tmp_path / place
    with pytest.raises(ConfigError, match="cannot write") as caught:
        write_atomically(path, "text")
    assert str(path) in str(caught.value)
    assert isinstance(caught.value.__cause__, OSError)
    assert [entry.name for entry in tmp_path.iterdir()] == ["file"]
