"""`factloop serve`: what is wrong with a set-up is one line, before anything is open. Serving is in tests/service."""

from __future__ import annotations

from pathlib import Path

import pytest

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
        (("--set", "rate=often"), "rate 'often'"),
        (("--set", "max_body_mb=0"), "max_body_mb 0"),
        (("--set", "max_body_mb=inf"), "max_body_mb inf: must be greater than 0, and 1,000,000 at most"),
        (("--set", "keep_days=1e6"), "keep_days 1e+06: must be greater than 0, and 36,500 at most"),
        (("--set", "keep_days=nan"), "keep_days nan"),
        (("--max-jobs", "9" * 400), "--max-jobs 999"),
        (("--set", f"max_jobs_together={2**63!s}"), "max_jobs_together"),
        (("--budget-usd", "1", "--set", "budget_usd_per_day=inf"), "budget_usd_per_day inf"),
        (("--max-calls", "1", "--set", f"max_calls_per_day={2**63!s}"), "max_calls_per_day"),
        (("--set", "rate=0/minute"), "rate '0/minute'"),
        (("--set", f"rate={2**63}/minute"), "give 1 to 1,000,000,000 requests"),
        (("--set", "rate=5 per 1000 years"), "at most 36,500 days"),
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
