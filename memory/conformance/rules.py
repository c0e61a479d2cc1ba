"""Every rule that a provider is held to: its stable name, what breaks when it is broken, and what mends it."""

from __future__ import annotations

from typing import NamedTuple


class Rule(NamedTuple):
    """One rule.

    Attributes:
        breaks: what a host or a person suffers.
        fix: what to change.
        is_warning: a provider may pass without it.
    """

    breaks: str
    fix: str
    is_warning: bool = False


RULES: dict[str, Rule] = {
    # --- contract -------------------------------------------------------------------------------------------------
    "contract.signature": Rule(
        "the host refuses it at registration", "give the hook the signature of `memory.provider.MemoryProvider`"
    ),
    "contract.name": Rule(
        "outbox, tools and status know it by its name",
        "return one constant name of lower-case letters, digits, - and _; `builtin` is taken",
    ),
    "contract.available-raises": Rule("the provider is not used", "return False and say why in `unavailable_reason`"),
    "contract.available-network": Rule(
        "every start waits for the network", "look at settings and installed packages only"
    ),
    "contract.unavailable-silent": Rule(
        "a person can't see what is missing", "return the reason from `unavailable_reason`", is_warning=True
    ),
    "contract.schemas": Rule(
        "tools are read before `initialize`, and model APIs refuse a whole request for one bad schema",
        "return static, named JSON schemas that need no connection",
    ),
    "contract.schemas-unstable": Rule(
        "a tool the model was offered is gone", "return the same schemas each time", is_warning=True
    ),
    "contract.tool-reserved": Rule(
        "the tool is never offered: built-in memory and the session search have these names",
        "give it a name of your own, e.g. with the provider's name in front",
    ),
    "contract.config-schema": Rule(
        "the set-up can't ask for it", "give each item a `key`, each secret an `env_var`, defaults out of the `choices`"
    ),
    # --- life -----------------------------------------------------------------------------------------------------
    "lifecycle.initialize": Rule(
        "the provider is not used", "raise only when it can't work, and return False from `is_available` then"
    ),
    "lifecycle.shutdown": Rule("its last writes may be lost", "let `shutdown` finish, also twice and before a start"),
    "lifecycle.threads": Rule("the process does not end", "make threads daemons and join them in `shutdown`"),
    "lifecycle.daemons": Rule(
        "a runtime that starts many sessions collects threads", "end them in `shutdown`", is_warning=True
    ),
    "lifecycle.restart": Rule("memory is gone after a restart", "take up what an earlier instance stored"),
    # --- hooks ----------------------------------------------------------------------------------------------------
    "hooks.raises": Rule("the call is lost", "handle it inside; raise only what a retry can mend"),
    "hooks.exits": Rule(
        "a host that does not guard ends with it", "never raise SystemExit, KeyboardInterrupt or the like"
    ),
    "hooks.hangs": Rule("the turn waits for the deadline, and later calls are skipped", "bound every wait inside"),
    "hooks.returns": Rule("the answer is thrown away", "return what the contract says"),
    "hooks.mutates": Rule("the conversation of the user changes", "copy the messages before you change them"),
    "hooks.fenced": Rule(
        "fences in recalled text are taken out, with what is in them", "return plain text; the host fences it"
    ),
    # --- what is stored -------------------------------------------------------------------------------------------
    "ingest.not-idempotent": Rule(
        "after a crash a turn is told again and stored twice", "key what you store by `turn_id` or by its content"
    ),
    "sessions.end-again": Rule(
        "a session's end is told at each compression and at exit", "make `on_session_end` idempotent"
    ),
    "sessions.stale-recall": Rule(
        "a turn gets the recall of another question", "keep queued recall by session and query"
    ),
    "sessions.broken-after": Rule(
        "after a switch or a rewind the provider stores or recalls no more", "bind the new id and go on"
    ),
    "isolation.users": Rule(
        "one user sees another's memory", "make `user_id` of `initialize` part of the storage key", is_warning=True
    ),
    "isolation.homes": Rule("profiles share one memory", "keep everything under `hermes_home` of `initialize`"),
    # --- texts and threads ----------------------------------------------------------------------------------------
    "unicode.raises": Rule("a turn in that script is lost", "take any text, lone surrogates and NUL included"),
    "unicode.recall": Rule(
        "what was said in that script is not found", "segment CJK text, or index its bigrams", is_warning=True
    ),
    "threads.raises": Rule(
        "hooks run on several threads: calls fail at random", "one connection per thread, or a lock around one"
    ),
    # --- tools ----------------------------------------------------------------------------------------------------
    "tools.raises": Rule(
        "the model sees an error of the host in the place of yours", 'return `{"error": …}` as JSON', is_warning=True
    ),
    "tools.not-json": Rule("hosts that trust the contract hand broken JSON on", "return `json.dumps(…)`"),
    "recall.status": Rule("the user is shown a recall that was none", "let `recall_status` tell of the last prefetch"),
    # --- backup and checkpoint ------------------------------------------------------------------------------------
    "backup.uninitialised": Rule(
        "a backup is made without starting providers", "let `backup_paths` work before `initialize`"
    ),
    "backup.relative": Rule("nobody knows where it is", "return absolute paths"),
    "backup.unlisted": Rule(
        "a backup of the home has no memory in it", "store under `hermes_home`, or name the path in `backup_paths`"
    ),
    "checkpoint.dishonest": Rule(
        "the transcript is thrown away although nothing was kept", "write and sync before `on_pre_compress` returns"
    ),
    "checkpoint.not-repeatable": Rule(
        "a compression that is tried again fails", "take the same evidence twice, keyed by a digest of its content"
    ),
}
