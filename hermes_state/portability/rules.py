"""What is left out of a backup, and why: everything that can be had again, and nothing a person would miss.

A rule that fits at any depth goes by evidence (a `pyvenv.cfg`, a cache's tag) or by a hidden name that only one
program uses; a folder with a `SKILL.md` is a skill, whatever it is called. Plain names such as `backups` or `cache`
count at the top of a home or of a profile only, where the agent makes them.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, NamedTuple

from hermes_state.errors import InvalidValue
from hermes_state.portability.patterns import PROFILE, Pattern, Sieve

if TYPE_CHECKING:
    from pathlib import Path

    from hermes_state.portability.patterns import Ends

# A person's own rules, at the top of the home: one pattern a line, `!` before it takes in what another leaves out.
RULES_FILE = "backup-rules"
# Of https://bford.info/cachedir/.
_CACHE_SIGNATURE = b"Signature: 8a477f597d28d172789f06886806bc55"
# Of docs/repository-format.md.
_REPOSITORY_FORMAT = b'"hermes-state-repository"'
# A file that holds a process id, as a number or in a small JSON object, is no longer than this.
_PID_BYTES = 512

# The pattern of rules that go by evidence alone.
_ANY_FOLDER = "**/"

# The names in a folder; None when it can't be listed.
Names = frozenset[str] | None
# Looks closer at what fits: the absolute path, its name's siblings for a file, or the names inside for a folder.
Evidence = Callable[[str, Names], bool]


class Rule(NamedTuple):
    """One reason to leave something out.

    Attributes:
        pattern: where it may be.
        reason: what it is, for people; "": a folder or file that is kept although an earlier rule leaves it out.
        evidence: what must be true besides; None: the name is enough.
        is_runtime: it describes processes of one machine, so a restore leaves it out too.
    """

    pattern: Pattern
    reason: str
    evidence: Evidence | None = None
    is_runtime: bool = False


def _rules(reason: str, patterns: str, evidence: Evidence | None = None, *, is_runtime: bool = False) -> list[Rule]:
    return [
        Rule(pattern=Pattern(text), reason=reason, evidence=evidence, is_runtime=is_runtime)
        for text in patterns.split()
    ]


def _has_venv(_: str, names: Names) -> bool:
    return names is not None and ("pyvenv.cfg" in names or "conda-meta" in names)


def _has_cache_tag(path: str, names: Names) -> bool:
    if names is None or "CACHEDIR.TAG" not in names:
        return False
    return _start(f"{path}/CACHEDIR.TAG", len(_CACHE_SIGNATURE)) == _CACHE_SIGNATURE


def _is_repository(path: str, names: Names) -> bool:
    """A repository of ours, with many backups of this home in it."""
    if names is None or not names.issuperset(("repository.json", "packs", "snapshots")):
        return False
    return _REPOSITORY_FORMAT in (_start(f"{path}/repository.json", _PID_BYTES) or b"")


def _start(path: str, size: int) -> bytes | None:
    """The first bytes of a file; None for one that can't be read, which then is no evidence."""
    try:
        with open(path, "rb", opener=_without_waiting) as file:
            return file.read(size)
    except OSError:
        return None


def _without_waiting(path: str, flags: int) -> int:
    """Open, but follow no link, and don't wait for the other end of a FIFO."""
    return os.open(path, flags | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0))


def _is_lock(path: str, siblings: Names) -> bool:
    """A lock holds nothing, or stands beside what it locks: `poetry.lock` is no lock."""
    name = path.rpartition("/")[2]
    return name.removesuffix(".lock") in (siblings or ()) or _start(path, 1) == b""


def _is_pid(path: str, _: Names) -> bool:
    """A process id and little else, as number or JSON."""
    content = _start(path, _PID_BYTES + 1)
    if content is None or len(content) > _PID_BYTES:
        return False
    return not content.strip() or content.strip().isdigit() or b'"pid"' in content


# The reason for which a lock file is left out.
LOCK = "lock"
DEFAULT_RULES: tuple[Rule, ...] = (
    *_rules("earlier backup", "/backups/ /state-snapshots/ /update-backups/"),
    *_rules("earlier backup", "hermes-backup-*.zip hermes-backup-*.tar.zst hermes-backup-*.tar.zst.age"),
    *_rules("earlier backup", _ANY_FOLDER, _is_repository),
    *_rules("copy of a damaged database", "/*.db.malformed-backup-*"),
    *_rules("replaced by a restore", "/.*.replaced-*/"),
    *_rules("unfinished backup or restore", ".*.partial/ .*.restore/ .*.partial"),
    *_rules("shadow checkout", "/checkpoints/ /.worktrees/"),
    *_rules("program code", "/hermes-agent/ /node/ /git/"),
    *_rules("virtual environment", _ANY_FOLDER, _has_venv),
    *_rules("virtual environment", ".venv/"),
    *_rules("installed packages", "node_modules/ .npm/ .bun/ .pnpm-store/"),
    *_rules("cache", _ANY_FOLDER, _has_cache_tag),
    *_rules("cache", ".cache/ __pycache__/ .tox/ .nox/ .pytest_cache/ .mypy_cache/ .ruff_cache/"),
    *_rules("cache", "/cache/"),
    # What people sent to the agent; messages refer to it.
    *_rules("", "/cache/images/ /cache/audio/ /cache/documents/ /cache/videos/"),
    *_rules("cache", "/browser_screenshots/ /models_dev_cache.json /provider_models_cache.json"),
    *_rules("cache", "/context_length_cache.yaml /.skills_prompt_snapshot.json /.update_check"),
    *_rules("process id", "/*.pid /gateway/*.pid /cron/*.pid", is_runtime=True),
    *_rules("process id", "*.pid", _is_pid, is_runtime=True),
    *_rules(LOCK, "/*.lock /gateway/*.lock /cron/*.lock /memories/*.lock", is_runtime=True),
    *_rules(LOCK, "*.lock", _is_lock, is_runtime=True),
    *_rules("state of running processes", "/gateway_state.json /processes.json", is_runtime=True),
    *_rules("state of running processes", "/runtime/active_sessions.json", is_runtime=True),
)

# What a quick backup leaves out besides: everything that is large and is not state. What it does not know it takes.
_NO_STATE = (
    "/skills/ /skill-bundles/ /optional-skills/ /plugins/ /mcp-installs/ /bin/ /skins/ /pets/ /logs/ /session-exports/"
    " /images/ /pastes/ /spawn-trees/ /tmp/ /sandboxes/ /sessions/saved/ /sessions/request_dump_* /image_cache/"
    " /audio_cache/ /document_cache/ /video_cache/ /cache/images/ /cache/audio/ /cache/documents/ /cache/videos/"
    " /kanban/boards/*/attachments/"
)
QUICK = tuple(_NO_STATE.split())


class Rules:
    """The rules of one backup: ours, then the home's own, then those given for this time. The last that fits decides.

    Args:
        include: patterns of what is taken whatever a rule says.
        exclude: patterns of what is left out.
        lines: further rules, as in a `RULES_FILE`.

    Raises:
        InvalidValue: a pattern is empty.
    """

    def __init__(
        self, *, include: Iterable[str] = (), exclude: Iterable[str] = (), lines: Iterable[str] = (), ours: bool = True
    ) -> None:
        self._ours = DEFAULT_RULES if ours else ()
        chosen = [*_parsed(lines), *exclude, *(f"!{text}" for text in include)]
        self._theirs = [_of_person(text) for text in chosen]
        self._of_any_folder = [rule for rule in self._ours if rule.pattern.text == _ANY_FOLDER]
        named = [rule.pattern for rule in self._ours if rule.pattern.text != _ANY_FOLDER]
        named += [rule.pattern for rule in self._theirs]
        self._folders, self._files = Sieve(named), Sieve(one for one in named if one.fits_files)
        self._kept = [rule.pattern for rule in (*self._ours, *self._theirs) if not rule.reason]

    @classmethod
    def of_home(cls, home: Path, *, include: Iterable[str] = (), exclude: Iterable[str] = ()) -> Rules:
        """The rules of a home, with those in its `backup-rules`.

        Raises:
            InvalidValue: that file can't be read.
        """
        file = home / RULES_FILE
        try:
            lines = file.read_text(encoding="utf-8").splitlines() if file.is_file() else []
        except (OSError, UnicodeDecodeError) as error:
            raise InvalidValue(f"{file} can't be read: {error}", hint="mend it or move it away") from error
        return cls(include=include, exclude=exclude, lines=lines)

    def decide(self, path: str, absolute: str, *, is_dir: bool, names: Names) -> Rule | None:
        """The last rule that fits a path; None when none does.

        Args:
            path: relative to the home, with `/`.
            absolute: where it lies.
            names: what a folder holds, or what a file's folder holds.
        """
        folder, _, name = path.rpartition("/")
        is_named = (self._folders if is_dir else self._files).inside(folder).may_fit(name)
        for rule in reversed(self._theirs) if is_named else ():
            if rule.pattern.fits(path, is_dir=is_dir):
                return rule
        is_person_made = is_dir and (PROFILE.fullmatch(f"{path}/") or "SKILL.md" in (names or ()))
        for rule in reversed(self._ours if is_named else self._of_any_folder):
            if is_person_made and not rule.pattern.is_anchored:
                continue
            if rule.pattern.fits(path, is_dir=is_dir) and (rule.evidence is None or rule.evidence(absolute, names)):
                return rule
        return None

    def names_in(self, folder: str) -> Ends:
        """The names of files in a folder for which `decide` must be asked; for all others it is None."""
        return self._files.inside(folder)

    def may_keep_below(self, folder: str) -> bool:
        """Whether something inside a folder that is left out could still be taken."""
        return any(pattern.may_fit_below(folder) for pattern in self._kept)


def _parsed(lines: Iterable[str]) -> Iterable[str]:
    stripped = (line.strip() for line in lines)
    return [line for line in stripped if line and not line.startswith("#")]


def _of_person(text: str) -> Rule:
    pattern = text.removeprefix("!")
    if not pattern.strip("/"):
        raise InvalidValue(f"{text!r} is no pattern: it names nothing")
    return Rule(pattern=Pattern(pattern), reason="" if text.startswith("!") else f"rule {pattern!r}")
