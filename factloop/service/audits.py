"""Runs audits by the evaluation package, which is imported when an audit is asked for, if it is installed."""

from __future__ import annotations

import asyncio
import json
import re
import sys
from pathlib import Path
from typing import Any

from factloop.core.errors import DataError, ToolError
from factloop.core.files.private import make_private_folder, write_private
from factloop.evaluation.audit.report import AuditReport
from factloop.evaluation.audit.rows import load_predictions
from factloop.service.shapes import AuditAsk, AuditSummary

AUDIT_ROWS = "rows.jsonl"


def write_rows(rows: tuple[dict[str, Any], ...], folder: Path) -> Path:
    """The rows as a file that the audit reads. Raises DataError for rows that it would refuse; blocks."""
    make_private_folder(folder)
    file = folder / AUDIT_ROWS
    try:
        text = "".join(json.dumps(row, allow_nan=False) + "\n" for row in rows)
    except ValueError as error:
        raise DataError("a number is not finite; give null for a missing score", field="rows") from error
    write_private(file, text.encode())
    try:
        load_predictions(file)
    except DataError as error:
        message = str(error).replace(str(file), "row")
        raise DataError(re.sub(r"^row:(\d+)", r"row \1", message)) from error
    return file


async def audit(ask: AuditAsk, folder: Path) -> tuple[AuditReport, str, AuditSummary]:
    """The report, its JSON and its summary.

    The command makes it, in a process of its own: it can be stopped, and does not hold up the loop.
    """
    file = await asyncio.to_thread(write_rows, ask.rows, folder)
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "factloop", "audit", str(file), "--json", "-"),
        stdin=asyncio.subprocess.DEVNULL,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.DEVNULL,
        start_new_session=True,  # an interrupt of the service is not one of the audit
    )
    try:
        output, _ = await process.communicate()
    finally:
        if process.returncode is None:
            process.kill()
            await process.wait()
    if process.returncode != 0:
        raise ToolError("the audit failed", tool="audit")
    result = output.decode()
    report = await asyncio.to_thread(AuditReport.model_validate_json, result)
    data = report.data
    summary = AuditSummary(n_claims=data.n_claims, n_responses=data.n_responses, evaluators=data.evaluators)
    return report, result, summary
