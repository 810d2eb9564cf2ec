"""Format 5: adds the owner and the size of each text, so that the limit on what a caller keeps is quick to check."""

import sqlalchemy as sa
from alembic import op

revision, down_revision = "5", "4"


def upgrade() -> None:
    op.add_column("factloop_job_texts", sa.Column("owner", sa.String(64), nullable=False, server_default=""))
    op.add_column("factloop_job_texts", sa.Column("n_bytes", sa.BigInteger, nullable=False, server_default="0"))
    owner = "(SELECT owner FROM factloop_jobs WHERE id = job_id)"
    size = "octet_length(body)" if op.get_bind().dialect.name == "postgresql" else "length(CAST(body AS BLOB))"
    op.execute(f"UPDATE factloop_job_texts SET owner = {owner}, n_bytes = 1000 + {size}")
    op.create_index("factloop_texts_of_owner", "factloop_job_texts", ["owner", "n_bytes"])
