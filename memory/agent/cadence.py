"""When a review of memory is due: counters of a conversation, kept in the store and not in the agent object.

A gateway that makes a new agent for each message, a restart and a kill all find the counters as they were.
"""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, fields, replace
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from hermes_state import SessionDB
    from memory.settings import MemorySettings

_COUNTS, _UNFINISHED = "agent.cadence:", "agent.review:"


@dataclass(frozen=True, kw_only=True, slots=True)
class Counts:
    """What is counted of a conversation.

    Attributes:
        turns: user turns so far.
        since_write: user turns since memory was written or reviewed last.
        since_skill: tool iterations since a skill was changed or reviewed last.
    """

    turns: int = 0
    since_write: int = 0
    since_skill: int = 0


@dataclass(frozen=True, kw_only=True, slots=True)
class Due:
    """What is to be reviewed."""

    memory: bool = False
    skills: bool = False

    def __bool__(self) -> bool:
        return self.memory or self.skills


class Cadence:
    """The counters of one conversation.

    Args:
        conversation_id: its first segment's id, which compression does not change.
        counts_turns: False for automation: cron runs and sub-agents use up nobody's interval.
    """

    def __init__(
        self, db: SessionDB, conversation_id: str, settings: MemorySettings, *, counts_turns: bool = True
    ) -> None:
        self._db = db
        self._counts_key, self._unfinished_key = f"{_COUNTS}{conversation_id}", f"{_UNFINISHED}{conversation_id}"
        self._settings = settings
        self._counts_turns = counts_turns
        self._stored = self.counts = self._load()
        # Of an earlier process, or agent; one of our own says itself when it ends.
        self._is_unfinished = db.meta.get(self._unfinished_key) is not None

    def begin_turn(self) -> int:
        """Count a turn of the user; returns its number. `save` makes it last."""
        self._stored = self.counts = self._load()
        step = int(self._counts_turns)
        turns, since = self.counts.turns + 1, self.counts.since_write + step
        self.counts = replace(self.counts, turns=turns, since_write=since)
        return turns

    def wrote_memory(self) -> None:
        """The agent wrote to memory itself: nothing to review for a while."""
        self.counts = replace(self.counts, since_write=0)

    def changed_skill(self) -> None:
        """The agent changed a skill itself."""
        self.counts = replace(self.counts, since_skill=0)

    def iterated(self) -> None:
        """One round of tools went by."""
        self.counts = replace(self.counts, since_skill=self.counts.since_skill + int(self._counts_turns))

    def due(self, *, asked: bool = False, skills: bool = False) -> Due:
        """What is due at the end of a turn.

        A review that began and did not end, since it was killed or cancelled, is due again.

        Args:
            asked: the user asked for something to be remembered, and the agent did not.
            skills: the agent has tools to change skills.
        """
        every, every_skill = self._settings.nudge_interval, self._settings.skill_nudge_interval
        if not self._counts_turns:
            return Due()
        by_turns = self.counts.since_write >= every or self._is_unfinished or asked
        by_turns = by_turns and self._settings.has_tools  # else a review could save nothing
        return Due(memory=every > 0 and by_turns, skills=skills and 0 < every_skill <= self.counts.since_skill)

    def is_worth_a_flush(self) -> bool:
        """Whether enough was said since the last write that the end of the session is worth a review."""
        least = self._settings.flush_min_turns
        return self._counts_turns and self._settings.has_tools and 0 < least <= self.counts.since_write

    def review_began(self, due: Due) -> None:
        """The counters of what is reviewed start anew; until its end is told the review counts as unfinished."""
        counts = self.counts
        self.counts = Counts(
            turns=counts.turns,
            since_write=0 if due.memory else counts.since_write,
            since_skill=0 if due.skills else counts.since_skill,
        )
        self._is_unfinished = True
        with self._db.transaction():
            self.save()
            self._db.meta.set(self._unfinished_key, json.dumps(asdict(due)))

    def review_ended(self) -> None:
        """The review came to an end."""
        self._db.meta.delete(self._unfinished_key)
        self._is_unfinished = False

    def save(self) -> None:
        """Keep the counters, if they changed."""
        if self.counts != self._stored:
            self._db.meta.set(self._counts_key, json.dumps(asdict(self.counts)))
            self._stored = self.counts

    def _load(self) -> Counts:
        text = self._db.meta.get(self._counts_key)
        if text is None:
            return Counts()
        found = json.loads(text)
        return Counts(**{spec.name: found[spec.name] for spec in fields(Counts) if spec.name in found})
