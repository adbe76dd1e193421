"""The first revision: a new database has the tables of today at once.

Older ones are known to `older_tables.py`.
"""

from alembic import op

from gnomon_workers.store.schema import metadata

revision, down_revision = "0018", None


def upgrade() -> None:
    """Make them."""
    metadata.create_all(op.get_bind())


def downgrade() -> None:
    """All jobs."""
    metadata.drop_all(op.get_bind())
