"""The tables of conversations and of what a gateway keeps beside them.

Times are INTEGER microseconds since 1970 UTC. Large columns stand last, so that a scan of counters never reads text.
The full-text index is derived data and not here: `hermes_state.engine` makes it, drops it and rebuilds it.
"""

from __future__ import annotations

from sqlalchemy import (
    DDL,
    BigInteger,
    Boolean,
    Column,
    Float,
    ForeignKey,
    Index,
    Integer,
    LargeBinary,
    String,
    Table,
    Text,
    event,
    text,
)

from hermes_state.schema.naming import Counter, Key, metadata
from hermes_state.schema.stored_text import StoredText

store_state = Table(
    "store_state",
    metadata,
    Column("id", Integer, primary_key=True),  # always 1: one row
    Column("store_id", String, nullable=False),  # a random UUID: which store this is, wherever the file lies
    Column("created_at", BigInteger, nullable=False),
    # Message ids at or below it were given out once; keeps ids unique after the newest messages are deleted.
    Column("id_floor", BigInteger, nullable=False),
    # Messages with a higher id are not yet in the counters of their session; `hermes_state.activity` adds them.
    Column("counted_through", BigInteger, nullable=False),
    # Messages with a higher id are not yet in the full-text index.
    Column("indexed_through", BigInteger, nullable=False),
    Column("segmentation", String),  # which segmentation the index was built with; NULL: there is no index
    Column("rebuild_from", BigInteger),  # a rebuild is under way and has reached this id; NULL: none
)

system_prompts = Table(
    "system_prompts",
    metadata,
    Column("pk", Key, primary_key=True),
    Column("sha256", LargeBinary, nullable=False, unique=True),
    Column("text", Text, nullable=False),
)

sessions = Table(
    "sessions",
    metadata,
    Column("pk", Key, primary_key=True),
    Column("id", String, nullable=False, unique=True),
    Column("source", String, nullable=False),
    Column("title", String),
    Column("parent_pk", Key, ForeignKey("sessions.pk")),
    Column("relation", String),
    Column("conversation_pk", Key, nullable=False),  # the first segment of the compression chain; itself if alone
    Column("is_tip", Boolean, nullable=False),  # the segment to resume: one per conversation
    Column("delegated", Boolean, nullable=False),  # in a sub-agent's conversation
    Column("sealed", Boolean, nullable=False),  # ended by compression: appends go to the tip
    Column("archived", Boolean, nullable=False),
    Column("started_at", BigInteger, nullable=False),
    Column("ended_at", BigInteger),
    Column("end_reason", String),
    Column("last_active_at", BigInteger, nullable=False),
    Column("message_count", Integer, nullable=False),
    Column("tool_call_count", Integer, nullable=False),
    Column("rewind_count", Integer, nullable=False),
    Column("model", String),
    Column("user_id", String),
    Column("chat_id", String),
    Column("chat_type", String),
    Column("thread_id", String),
    Column("display_name", String),
    Column("cwd", String),
    Column("git_branch", String),
    Column("git_root", String),
    Column("profile", String),
    Column("system_prompt_pk", Key, ForeignKey("system_prompts.pk")),
    Column("model_config", Text),  # JSON
    Column("origin", Text),  # JSON
    Column("extras", Text),  # JSON: fields of other products that have no column here
)
Index("ix_sessions_listed", sessions.c.is_tip, sessions.c.delegated, sessions.c.archived, sessions.c.last_active_at)
Index("ix_sessions_parent_pk", sessions.c.parent_pk)
Index("ix_sessions_conversation_pk", sessions.c.conversation_pk)
# One tip per conversation, found by its conversation.
Index("uq_sessions_tip", sessions.c.conversation_pk, unique=True, sqlite_where=text("is_tip = 1"))
Index("uq_sessions_title", sessions.c.title, unique=True, sqlite_where=sessions.c.title.is_not(None))
Index(
    "ix_sessions_chat",
    sessions.c.source,
    sessions.c.chat_id,
    sessions.c.thread_id,
    sqlite_where=sessions.c.chat_id.is_not(None),
)

session_tags = Table(
    "session_tags",
    metadata,
    Column("session_pk", Key, ForeignKey("sessions.pk", ondelete="CASCADE"), primary_key=True),
    Column("tag", String, primary_key=True),
    sqlite_with_rowid=False,
)
Index("ix_session_tags_tag", session_tags.c.tag)

messages = Table(
    "messages",
    metadata,
    Column("id", Key, primary_key=True),
    # No cascade: deleting a message must also take it out of the index, so it is always done by name.
    Column("session_pk", Key, ForeignKey("sessions.pk"), nullable=False),
    Column("position", Integer, nullable=False),
    Column("created_at", BigInteger, nullable=False),
    Column("state", Integer, nullable=False),
    Column("role", String, nullable=False),
    Column("tool_call_count", Integer),
    Column("rewind_number", Integer),  # which rewind of its session took it back
    Column("tool_name", String),
    Column("tool_call_id", String),
    Column("platform_message_id", String),
    Column("content_format", Integer),  # NULL: content is the text itself; 1: content is JSON
    Column("content", StoredText),
    Column("tool_calls", StoredText),  # JSON
    Column("details", StoredText),  # JSON object: every other field
)
Index("uq_messages_session_pk_position", messages.c.session_pk, messages.c.position, unique=True)
Index(
    "uq_messages_session_pk_platform_message_id",
    messages.c.session_pk,
    messages.c.platform_message_id,
    unique=True,
    sqlite_where=messages.c.platform_message_id.is_not(None),
)

# What was learned of a session by reading it: the chain of its first `messages` messages, the last of which has that
# position (`hermes_state.copying.learned`). Derived data; a message that is changed or deleted takes it away.
session_digests = Table(
    "session_digests",
    metadata,
    Column("session_pk", Key, ForeignKey("sessions.pk", ondelete="CASCADE"), primary_key=True),
    Column("stamp", BigInteger, nullable=False),  # random, another one at each change of the row
    Column("messages", Integer, nullable=False),
    Column("position", Integer, nullable=False),  # -1: none
    Column("chain", LargeBinary, nullable=False),
)
# In the database, so that they hold for older versions and other programs too. An append fires none of them.
TRIGGERS = {"messages_updated": "UPDATE", "messages_deleted": "DELETE"}
_FORGET = """
    CREATE TRIGGER {name} AFTER {change} ON messages BEGIN
        DELETE FROM session_digests WHERE session_pk = OLD.session_pk;
    END
    """
for _name, _change in TRIGGERS.items():
    _trigger = DDL(_FORGET.format(name=_name, change=_change))  # type: ignore[no-untyped-call]
    event.listen(metadata, "after_create", _trigger.execute_if(dialect="sqlite"))

index_zones = Table(
    "index_zones",
    metadata,
    Column("first_id", BigInteger, primary_key=True),
    Column("last_id", BigInteger, nullable=False),
    Column("min_created_at", BigInteger, nullable=False),
    Column("max_created_at", BigInteger, nullable=False),
)

usage = Table(
    "usage",
    metadata,
    Column("session_pk", Key, ForeignKey("sessions.pk", ondelete="CASCADE"), primary_key=True),
    Column("model", String, primary_key=True),
    Column("task", String, primary_key=True),
    Column("provider", String, primary_key=True),
    Column("base_url", String, primary_key=True),
    Column("mode", String, primary_key=True),
    Column("api_calls", Counter, nullable=False),
    Column("input_tokens", Counter, nullable=False),
    Column("output_tokens", Counter, nullable=False),
    Column("cache_read_tokens", Counter, nullable=False),
    Column("cache_write_tokens", Counter, nullable=False),
    Column("reasoning_tokens", Counter, nullable=False),
    Column("estimated_cost_usd", Float),
    Column("actual_cost_usd", Float),
    Column("cost_status", String),
    Column("cost_source", String),
    Column("first_at", BigInteger, nullable=False),
    Column("last_at", BigInteger, nullable=False),
)

leases = Table(
    "leases",
    metadata,
    Column("name", String, primary_key=True),
    Column("owner", String, nullable=False),
    Column("host", String, nullable=False),
    Column("pid", Integer, nullable=False),
    Column("pid_started", String, nullable=False),  # tells a reused process id from the owner
    Column("acquired_at", BigInteger, nullable=False),
    Column("expires_at", BigInteger, nullable=False),
)

meta = Table(
    "meta",
    metadata,
    Column("key", String, primary_key=True),
    Column("value", Text),
)

routes = Table(
    "routes",
    metadata,
    Column("scope", String, primary_key=True),
    Column("key", String, primary_key=True),
    Column("session_pk", Key, ForeignKey("sessions.pk", ondelete="SET NULL")),
    Column("entry", Text, nullable=False),  # JSON
    Column("updated_at", BigInteger, nullable=False),
)
Index("ix_routes_session_pk", routes.c.session_pk)

handoffs = Table(
    "handoffs",
    metadata,
    Column("session_pk", Key, ForeignKey("sessions.pk", ondelete="CASCADE"), primary_key=True),
    Column("state", String, nullable=False),
    Column("platform", String, nullable=False),
    Column("error", Text),
    Column("requested_at", BigInteger, nullable=False),
    Column("updated_at", BigInteger, nullable=False),
)

import_sources = Table(
    "import_sources",
    metadata,
    Column("pk", Key, primary_key=True),
    Column("kind", String, nullable=False),  # of what program and form, e.g. `hermes`
    Column("location", String, nullable=False),  # the file; "" where the file does not matter
    Column("last_message_id", BigInteger, nullable=False),  # highest foreign message id seen by a finished import
    Column("signature", String),  # size and time of the files at the last finished import; NULL: none was finished
    Column("finished_at", BigInteger),
)
Index("uq_import_sources_kind_location", import_sources.c.kind, import_sources.c.location, unique=True)

imported_sessions = Table(
    "imported_sessions",
    metadata,
    Column("source_pk", Key, ForeignKey("import_sources.pk"), primary_key=True),
    Column("foreign_id", String, primary_key=True),
    Column("session_pk", Key, ForeignKey("sessions.pk", ondelete="SET NULL")),  # NULL: deleted here
    # Digests of the foreign session's parts as they were last brought in; only parts that changed are followed.
    Column("fingerprint", String, nullable=False),
    Column("imported_at", BigInteger, nullable=False),
    sqlite_with_rowid=False,
)
Index("ix_imported_sessions_session_pk", imported_sessions.c.session_pk)
Index("ix_imported_sessions_foreign_id", imported_sessions.c.foreign_id)

imported_messages = Table(
    "imported_messages",
    metadata,
    Column("session_pk", Key, ForeignKey("sessions.pk", ondelete="CASCADE"), primary_key=True),
    Column("source_pk", Key, ForeignKey("import_sources.pk"), primary_key=True),
    Column("foreign_id", BigInteger, primary_key=True),
    Column("message_id", BigInteger, nullable=False),
    Column("digest", BigInteger, nullable=False),  # of the foreign row as it was brought in
    sqlite_with_rowid=False,
)
