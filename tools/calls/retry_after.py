"""How long a server asks us to wait before the next request."""

from __future__ import annotations

import math
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime


def retry_after_s(value: str | None, now: datetime) -> float | None:
    """Seconds to wait by a `Retry-After` header, given in seconds or as an HTTP date; None where it says neither."""
    if value is None:
        return None
    try:
        seconds = float(value)
    except ValueError:
        try:
            moment = parsedate_to_datetime(value)
        except (ValueError, OverflowError):  # a zone or a year that no date can have
            return None
        if moment.tzinfo is None:  # "-0000" means UTC without a known local zone
            moment = moment.replace(tzinfo=UTC)
        seconds = (moment - now).total_seconds()
    return max(0.0, seconds) if math.isfinite(seconds) else None
