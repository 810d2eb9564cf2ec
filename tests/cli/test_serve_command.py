"""`factloop serve`: what is wrong with a set-up is one line, before anything is open. Serving is in tests/service."""

from __future__ import annotations

from pathlib import Path

import pytest

from factloop.cli.serve import named_documents
from factloop.core.errors import ConfigError
from tests.cli.command import Command


@pytest.mark.parametrize(
    ("flags", "said"),
    [
        (("--host", "0.0.0.0"), "give a key"),
        (("--api-key-file", "absent"), "--api-key-file absent: cannot be read"),
        (("--documents", "lives"), "give NAME=PATH"),
        (("--documents", "a/b=docs"), "--documents a/b"),
        (("--documents", "lives=absent"), "absent"),
        (("--docs", "absent"), "absent"),
        (("--results", "absent"), "--results absent: not a folder"),
        (("--database", "mysql://u:secret@h/d"), "give sqlite:///FILE"),
        (("--rate", "often"), "--rate 'often'"),
        (("--max-body-mb", "0"), "--max-body-mb 0"),
        (("--max-body-mb", "inf"), "--max-body-mb inf: must be greater than 0, and 1,000,000 at most"),
        (("--keep-days", "1e6"), "--keep-days 1e+06: must be greater than 0, and 36,500 at most"),
        (("--keep-days", "nan"), "--keep-days nan"),
        (("--max-jobs", "9" * 400), "--max-jobs 999"),
        (("--max-jobs-together", str(2**63)), "--max-jobs-together"),
        (("--budget-usd", "1", "--budget-usd-per-day", "inf"), "--budget-usd-per-day inf"),
        (("--max-calls", "1", "--max-calls-per-day", str(2**63)), "--max-calls-per-day"),
        (("--rate", "0/minute"), "--rate '0/minute'"),
        (("--rate", f"{2**63}/minute"), "give 1 to 1,000,000,000 requests"),
        (("--rate", "5 per 1000 years"), "at most 36,500 days"),
        (("--search", "nonsense"), "unknown search"),
        (("--model", "openai:gpt-4o-mini"), "OPENAI_API_KEY"),
        (("--base-url", "http://localhost:1/v1"), "--model"),
        (("--corpus", "absent"), "absent"),
    ],
)
def test_a_wrong_set_up_is_one_line(factloop: Command, home: Path, flags: tuple[str, ...], said: str) -> None:
    result = factloop("serve", "--folder", home / "service", "--port", 0, *flags)
    assert result.code == 2
    assert said in result.complaint
    assert "secret" not in result.err


def test_a_short_key_is_refused(factloop: Command, home: Path) -> None:
    (home / "keys").write_text("short\n")
    result = factloop("serve", "--host", "0.0.0.0", "--api-key-file", "keys", "--folder", home / "service")
    assert result.code == 2
    assert "API key 1: at least 16" in result.complaint
    assert "short" not in result.complaint.replace("--", "")


def test_documents_have_names_and_a_name_may_have_several_paths() -> None:
    found = named_documents(["a=x", "b=y=z", "a=w"])
    assert found == {"a": ("x", "w"), "b": ("y=z",)}
    with pytest.raises(ConfigError):
        named_documents(["=x", "a"])
