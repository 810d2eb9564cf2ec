"""Tickets: a link carries no key, so a page that a browser is to open has an address that is good for half a day.

A ticket is made for one owner and one page, and says nothing of the key. It is the same as the key for that page alone.
"""

from __future__ import annotations

import hmac
import re
import time
from collections.abc import Callable
from urllib.parse import parse_qs

from factloop.entrance.keys import ApiKeys

PARAMETER = "ticket"
GOOD_FOR_S = 12 * 60 * 60
"""Half a day: a page that is open in a tab may be loaded anew there."""
PAGES = r"/v1/(results/[A-Za-z0-9][A-Za-z0-9._-]{0,63}/page\.html|jobs/[0-9a-f]{32}/report\.html)"
"""Paths of the pages that a ticket opens."""
_TICKET = re.compile(r"([0-9]{1,12})\.([0-9a-f]{64})", re.ASCII)
_LONGEST_QUERY = 500


class Tickets:
    """Makes tickets signed with their owner's key: they outlive the process, and hold in each service with that key."""

    def __init__(self, keys: ApiKeys, clock: Callable[[], float] = time.time) -> None:
        self._keys, self._clock = keys, clock

    def address(self, owner: str, page: str) -> str:
        """The address at which the owner's browser may open the page for the next half day."""
        until = str(int(self._clock()) + GOOD_FOR_S)
        return f"{page}?{PARAMETER}={until}.{self._sign(owner, page, until)}"

    def owner(self, path: str, query: bytes) -> str | None:
        """The owner of the ticket in a request's query, for this path; None without a valid ticket."""
        if len(query) > _LONGEST_QUERY or not is_page(path):
            return None
        given = parse_qs(query.decode("latin-1")).get(PARAMETER, [""])
        found = _TICKET.fullmatch(given[0]) if len(given) == 1 else None
        if found is None or int(found[1]) < self._clock():
            return None
        matches = [one for one in self._keys.owners if hmac.compare_digest(self._sign(one, path, found[1]), found[2])]
        return matches[0] if matches else None

    def _sign(self, owner: str, page: str, until: str) -> str:
        return self._keys.sign(owner, f"ticket\n{page}\n{until}")


def is_page(path: str) -> bool:
    """Whether a browser may open it by a ticket."""
    return re.fullmatch(PAGES, path, re.ASCII) is not None
