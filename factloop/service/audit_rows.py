"""Prints an audit's number of rows as JSON, or why a row is refused. Runs in its own process, so it imports little.

python -m factloop.service.audit_rows FILE MOST_ROWS MOST_BYTES
"""

from __future__ import annotations

import json
import re
import sys
from typing import Any

from factloop.core.errors import DataError
from factloop.evaluation.audit.resampling import refuse_too_large
from factloop.evaluation.audit.rows import load_predictions


def answer(file: str, most_rows: int, most_bytes: int) -> dict[str, Any]:
    """A dictionary with one key: `n_rows`, or `why` if the audit would reject a row."""
    try:
        table = load_predictions(file)
        if table.n_rows > most_rows:
            raise DataError(f"there are {table.n_rows:,} rows, but an audit may have at most {most_rows:,}")
        refuse_too_large(table, most_bytes=most_bytes)
    except DataError as error:
        return {"why": re.sub(r"^rows:(\d+)", r"row \1", str(error).replace(file, "rows"))}
    return {"n_rows": table.n_rows}


if __name__ == "__main__":
    json.dump(answer(sys.argv[1], *map(int, sys.argv[2:])), sys.stdout)
