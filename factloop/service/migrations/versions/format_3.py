"""Format 3: adds the owner to spending."""

import sqlalchemy as sa
from alembic import op

revision, down_revision = "3", "2"


def upgrade() -> None:
    table = "factloop_spending"
    columns = [one["name"] for one in sa.inspect(op.get_bind()).get_columns(table)]
    if "owner" not in columns:  # an SQLite upgrade that was killed left it behind
        op.add_column(table, sa.Column("owner", sa.String(64), nullable=False, server_default=""))
