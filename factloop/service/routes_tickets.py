"""The route that gives tickets."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter
from pydantic import StringConstraints

from factloop.core.records import Record
from factloop.entrance.asks import RequestModel
from factloop.service.context import InContext, Owner, answers
from factloop.service.tickets import PAGES

router = APIRouter(prefix="/v1", tags=["results"])


class TicketAsk(RequestModel):
    """The page that a browser is to open."""

    page: Annotated[str, StringConstraints(max_length=200, pattern=f"^{PAGES}$")]
    """The path of a report or of a registered result."""


class Ticket(Record):
    """An address for a browser."""

    address: str
    """Path and query. Good for half a day, without a key."""


@router.post("/tickets", responses=answers(403, 413, 415, 422))
async def ticket(ask: TicketAsk, context: InContext, owner: Owner) -> Ticket:
    """Gives an address under which a browser can open a page of the caller's: a link carries no key."""
    return Ticket(address=context.settings.public_path + context.tickets.address(owner, ask.page))
