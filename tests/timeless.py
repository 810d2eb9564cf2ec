"""What two equal runs have in common: all but clock times and where answers came from."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

VOLATILE = {"usage", "created_at", "retrieved_at", "wall_s"}


def stable(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: stable(item) for name, item in value.items() if name not in VOLATILE}
    return [stable(item) for item in value] if isinstance(value, list) else value


def results(run: Path) -> Any:
    summary = json.loads((run / "summary.json").read_text(encoding="utf-8"))
    reports = map(json.loads, (run / "reports.jsonl").read_text(encoding="utf-8").splitlines())
    return stable(summary), sorted((stable(report) for report in reports), key=lambda report: report["id"])
