"""Facts of holographic memory."""

from alembic import op

revision = "0004"
down_revision = "0003"

TABLES: list[str] = []


def upgrade() -> None:
    for statement in TABLES:
        op.execute(statement)
