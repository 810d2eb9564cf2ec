"""Alembic migrations from each database format to the next. Released migrations are never changed."""

from __future__ import annotations

from pathlib import Path

from alembic.config import Config
from alembic.runtime.environment import EnvironmentContext
from alembic.script import ScriptDirectory
from sqlalchemy import Connection

REVISIONS = "factloop_revisions"
"""Alembic's table. Other programs may use the default name in the same database."""


def upgrade(connection: Connection, found: int) -> None:
    """Upgrades from format `found` to the latest, within the connection's transaction."""
    script = ScriptDirectory(str(Path(__file__).parent))
    with EnvironmentContext(Config(), script, fn=lambda at, _: script._upgrade_revs("head", at)) as environment:
        environment.configure(connection=connection, version_table=REVISIONS)
        context = environment.get_context()
        if context.get_current_revision() is None:
            context.stamp(script, str(found))
        environment.run_migrations()
