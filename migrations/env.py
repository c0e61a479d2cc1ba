"""Alembic's environment: it runs on the connection it is given and never makes one of its own."""

from alembic import context

connection = context.config.attributes.get("connection")
if connection is None:
    raise RuntimeError("migrations run inside hermes_state.migrate, which hands them its connection")

context.configure(connection=connection, transactional_ddl=True, transaction_per_migration=False)
with context.begin_transaction():
    context.run_migrations()
