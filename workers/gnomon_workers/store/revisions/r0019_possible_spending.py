"""What a job may have spent, beside what is known."""

from alembic import op
from sqlalchemy import inspect

from gnomon_workers.store.schema import jobs

revision, down_revision = "0019", "0018"
COLUMNS = ("possible_usd", "possible_tokens")


def upgrade() -> None:
    """Add it; what was booked as known before stays so."""
    present = {column["name"] for column in inspect(op.get_bind()).get_columns("jobs")}
    for name in COLUMNS:
        if name not in present:  # the first revision makes the tables of today
            op.add_column("jobs", jobs.c[name].copy())


def downgrade() -> None:
    """Leave it out."""
    for name in COLUMNS:
        op.drop_column("jobs", name)
