"""Labels that people give the claims of a check, in the database beside its job: deleted with it, its owner's alone."""

from __future__ import annotations

from collections.abc import Mapping

from pydantic import TypeAdapter
from sqlalchemy import select, update

from factloop.reports.labels import GivenLabel
from factloop.service.store import JobStore, write_texts
from factloop.service.tables import JOBS, TEXTS

_LABELS: TypeAdapter[dict[str, GivenLabel]] = TypeAdapter(dict[str, GivenLabel])


def read_labels(text: str | None) -> Mapping[str, GivenLabel]:
    """The labels of a job by the ids of their claims."""
    return {} if text is None else _LABELS.validate_json(text)


def change_label(store: JobStore, job_id: str, claim_id: str, label: GivenLabel | None) -> GivenLabel | None:
    """Keeps the label of a claim, or forgets it where it is None. Returns the one before it.

    Raises LookupError for a job that is not there. Blocks: call it outside the event loop.
    """
    with store.engine.begin() as connection:
        # One after the other, in whichever service: the row is held until the end.
        if not connection.execute(update(JOBS).where(JOBS.c.id == job_id).values(status=JOBS.c.status)).rowcount:
            raise LookupError(job_id)
        kept = connection.scalar(select(TEXTS.c.body).where(TEXTS.c.job_id == job_id, TEXTS.c.name == "labels"))
        labels = dict(read_labels(kept))
        before = labels.pop(claim_id, None)
        if label is not None:
            labels[claim_id] = label
        write_texts(connection, job_id, {"labels": _LABELS.dump_json(labels).decode()})
    return before
