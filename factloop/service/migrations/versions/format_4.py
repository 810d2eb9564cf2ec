"""Format 4: adds a column that is used to test whether the next job could be saved."""

import sqlalchemy as sa
from alembic import op

revision, down_revision = "4", "3"


def upgrade() -> None:
    op.add_column("factloop_format", sa.Column("probe", sa.Text))
