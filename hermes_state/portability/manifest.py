"""What an archive says of itself: the manifest at its start and the report near its end."""

from __future__ import annotations

import json
import re
import uuid
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from hermes_state.errors import ArchiveDamaged, ArchiveForeign, ArchiveUnsupported, InvalidValue
from hermes_state.portability.format import (
    FORMAT,
    HOME_ROOT,
    MAX_JSON_BYTES,
    MAX_LISTED,
    PACK_FEATURES,
    READ_FEATURES,
    RESTORE_FEATURES,
    VERSION,
    VERSIONS,
)
from hermes_state.portability.names import ROOT

if TYPE_CHECKING:
    from collections.abc import Mapping

_ID = re.compile(r"[0-9a-f]{32}\Z")
_OWN = frozenset({"format", "version", "required", "archive_id", "created_at", "roots"})
# [fields] that tell an archive of ours whose `format` was damaged from somebody else's `manifest.json`.
_TRAITS = frozenset({"archive_id", "required", "roots"})


@dataclass(frozen=True, kw_only=True, slots=True)
class Manifest:
    """The first member.

    Attributes:
        roots: root name to the folder it was read from; `home` is always there, but in a pack.
        required_read, required_restore: what a reader must know; see `format.READ_FEATURES`.
        archive_id: 32 hex digits, random.
        created_at: aware, UTC.
        format, version: an archive of a home, or a pack.
        facts: every other field (`product`, `origin`, `databases`, `left_out`, …), JSON values.
    """

    roots: Mapping[str, str]
    required_read: tuple[str, ...] = ()
    required_restore: tuple[str, ...] = ()
    archive_id: str = field(default_factory=lambda: uuid.uuid4().hex)
    created_at: datetime = field(default_factory=lambda: datetime.now(UTC))
    format: str = FORMAT
    version: int = VERSION
    facts: Mapping[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        wrong = [name for name in self.roots if not ROOT.match(name)]
        if wrong or (self.format == FORMAT and HOME_ROOT not in self.roots):
            raise InvalidValue(f"an archive's roots are {HOME_ROOT!r} and others like it, not {wrong or {*self.roots}}")
        if _OWN & {*self.facts}:
            raise InvalidValue(f"fields of the format can't be facts: {', '.join(sorted(_OWN & {*self.facts}))}")

    def as_json(self) -> dict[str, Any]:
        """The fields in the order a person reads them."""
        return {
            "format": self.format,
            "version": self.version,
            "required": {"read": list(self.required_read), "restore": list(self.required_restore)},
            "archive_id": self.archive_id,
            "created_at": time_text(self.created_at),
            "roots": {name: {"path": path} for name, path in self.roots.items()},
            **self.facts,
        }

    def check_restorable(self) -> None:
        """Refuse what this version can read and not restore.

        Raises:
            ArchiveUnsupported: names the features.
        """
        known = RESTORE_FEATURES if self.format == FORMAT else PACK_FEATURES
        _refuse_unknown("restoring", self.required_restore, known)


def time_text(instant: datetime) -> str:
    """An instant as it stands in manifests."""
    return instant.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%S.%fZ")


def time_of(text: str) -> datetime:
    """The instant that such a text means. Not by `strptime`, which takes 2 ms to load.

    Raises:
        ValueError: it is not as `time_text` writes it.
    """
    instant = datetime.fromisoformat(text)
    if instant.tzinfo is None or time_text(instant) != text:
        raise ValueError(f"{text!r} is no time as we write it")
    return instant


def dump(value: Mapping[str, Any]) -> bytes:
    """JSON as it stands in an archive.

    Raises:
        InvalidValue: it is larger than a reader would take.
    """
    raw = json.dumps(value, indent=1).encode() + b"\n"
    if len(raw) > MAX_JSON_BYTES:
        raise InvalidValue(f"{len(raw)} bytes of JSON; an archive takes {MAX_JSON_BYTES}")
    return raw


def parse(raw: bytes, path: str) -> Manifest:
    """The manifest of an archive.

    Args:
        path: the archive, for messages.

    Raises:
        ArchiveForeign: somebody else's `manifest.json`.
        ArchiveUnsupported: a newer version, or unknown features that reading requires.
        ArchiveDamaged: ours, and not as it was written.
    """
    found = load(raw, "manifest.json")
    format_ = found.get("format")
    if not isinstance(format_, str) or format_ not in VERSIONS:
        if not _TRAITS.issubset(found):
            raise ArchiveForeign(path, "its manifest.json is another program's")
        raise _damaged(f"its format is {format_!r}")
    version = found.get("version")
    if type(version) is not int or version < 1:
        raise _damaged(f"its version is {version!r}")
    if version > VERSIONS[format_]:
        raise ArchiveUnsupported(f"{path} has format version {version}; this program reads up to {VERSIONS[format_]}")
    required = _required(found.get("required"))
    _refuse_unknown("reading", required["read"], READ_FEATURES)
    try:
        return Manifest(
            roots=_roots(found.get("roots")),
            required_read=required["read"],
            required_restore=required["restore"],
            archive_id=_archive_id(_text(found, "archive_id")),
            created_at=_instant(_text(found, "created_at")),
            format=format_,
            version=version,
            facts={name: value for name, value in found.items() if name not in _OWN},
        )
    except InvalidValue as error:
        raise _damaged(error.message) from error


def load(raw: bytes, member: str) -> dict[str, Any]:
    """A JSON object that an archive holds.

    Raises:
        ArchiveDamaged: it is none, or has a key twice.
    """
    try:
        found = json.loads(raw.decode(), object_pairs_hook=_unique)
    except (ValueError, RecursionError) as error:
        raise ArchiveDamaged(f"{member} is not JSON: {error}", code="json", member=member) from error
    if not isinstance(found, dict):
        raise ArchiveDamaged(f"{member} is no JSON object", code="json", member=member)
    return found


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) != len(pairs):
        raise ValueError("a key stands there twice")
    return found


def _required(value: Any) -> dict[str, tuple[str, ...]]:
    names = {what: value.get(what) if isinstance(value, dict) else None for what in ("read", "restore")}
    for what, listed in names.items():
        if not isinstance(listed, list) or not all(isinstance(name, str) for name in listed):
            raise _damaged(f"required.{what} is no list of names")
    return {what: tuple(listed or ()) for what, listed in names.items()}


def _refuse_unknown(what: str, required: tuple[str, ...], known: frozenset[str]) -> None:
    unknown = sorted({*required} - known)
    if unknown:
        names = ", ".join(repr(name) for name in unknown)
        raise ArchiveUnsupported(f"{what} this archive needs what this program doesn't know: {names}", missing=unknown)


def _roots(value: Any) -> dict[str, str]:
    if not isinstance(value, dict):
        raise _damaged("it has no roots")
    paths = {name: root.get("path") if isinstance(root, dict) else None for name, root in value.items()}
    for name, path in paths.items():
        if not isinstance(path, str):
            raise _damaged(f"the root {name!r} has no path")
    return {name: str(path) for name, path in paths.items()}


def _text(found: dict[str, Any], name: str) -> str:
    value = found.get(name)
    if not isinstance(value, str):
        raise _damaged(f"it has no {name}")
    return value


def _archive_id(text: str) -> str:
    if not _ID.match(text):
        raise _damaged(f"archive_id is {text!r}")
    return text


def _instant(text: str) -> datetime:
    try:
        return time_of(text)
    except ValueError as error:
        raise _damaged(f"created_at is {text!r}") from error


def _damaged(what: str) -> ArchiveDamaged:
    return ArchiveDamaged(f"manifest.json is not as we write it: {what}", code="manifest", member="manifest.json")


@dataclass(kw_only=True, slots=True)
class Report:
    """What was learned while the home was read. Whoever collects the entries and the writer share one.

    Attributes:
        facts: further keys, JSON values; may grow until the last entry was given.
    """

    facts: dict[str, Any] = field(default_factory=dict)
    omitted: list[dict[str, str]] = field(default_factory=list)
    incomplete: list[dict[str, str]] = field(default_factory=list)
    omitted_count: int = 0
    incomplete_count: int = 0

    def omit(self, name: str, reason: str) -> None:
        """Something that was meant to be in is not."""
        self.omitted_count += 1
        if len(self.omitted) < MAX_LISTED:
            self.omitted.append({"name": name, "reason": reason})

    def cut_short(self, name: str, reason: str) -> None:
        """A member is there, and its content is not the file's."""
        self.incomplete_count += 1
        if len(self.incomplete) < MAX_LISTED:
            self.incomplete.append({"name": name, "reason": reason})

    @property
    def is_partial(self) -> bool:
        """Whether anything is missing."""
        return bool(self.omitted_count or self.incomplete_count)

    def as_json(self) -> dict[str, Any]:
        """The member `report.json`."""
        return {
            "omitted": self.omitted,
            "omitted_count": self.omitted_count,
            "incomplete": self.incomplete,
            "incomplete_count": self.incomplete_count,
            **self.facts,
        }

    def dump(self) -> bytes:
        """The member, with fewer examples when thousands of long names would make it larger than a reader takes.

        Raises:
            InvalidValue: the facts alone are too large.
        """
        try:
            return dump(self.as_json())
        except InvalidValue:
            if len(self.omitted) + len(self.incomplete) < 2:
                raise
        half = Report(
            facts=self.facts,
            omitted=self.omitted[: len(self.omitted) // 2],
            incomplete=self.incomplete[: len(self.incomplete) // 2],
            omitted_count=self.omitted_count,
            incomplete_count=self.incomplete_count,
        )
        return half.dump()

    @classmethod
    def parse(cls, raw: bytes) -> Report:
        """The report of an archive.

        Raises:
            ArchiveDamaged: it is none.
        """
        found = load(raw, "report.json")
        lists = {name: found.pop(name, None) for name in ("omitted", "incomplete")}
        counts = {f"{name}_count": found.pop(f"{name}_count", None) for name in lists}
        if not all(_is_list_of_reasons(value) for value in lists.values()):
            raise ArchiveDamaged("report.json has no lists of what is missing", code="report", member="report.json")
        if not all(type(value) is int and value >= 0 for value in counts.values()):
            raise ArchiveDamaged("report.json has no counts", code="report", member="report.json")
        return cls(facts=found, **lists, **counts)


def _is_list_of_reasons(value: Any) -> bool:
    return isinstance(value, list) and all(
        isinstance(item, dict) and {*item} == {"name", "reason"} and all(isinstance(v, str) for v in item.values())
        for item in value
    )
