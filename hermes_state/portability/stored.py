"""What a store says, wherever the store lies: in a file, on a server, in a backup, or as the lines of a pack."""

from __future__ import annotations

import tempfile
from contextlib import closing, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from hermes_state.copying.content import StoreContent
from hermes_state.copying.exported import ExportContent
from hermes_state.copying.learned import Keeper, Learned, sessions_without_row
from hermes_state.errors import NotFound, StoreUnavailable
from hermes_state.home import STORE_NAME
from hermes_state.portability import apart
from hermes_state.portability.build import write_file
from hermes_state.portability.format import HOME_ROOT, PACK_FORMAT
from hermes_state.portability.packs.pack import MEMORIES_FILE, SESSIONS_FILE
from hermes_state.portability.reader import open_archive
from hermes_state.store import SessionDB, is_on_server, locate

if TYPE_CHECKING:
    from collections.abc import Iterator

    from hermes_state.copying.content import Content
    from hermes_state.portability.crypt import Keys
    from hermes_state.portability.format import Limits

_STORE = f"{HOME_ROOT}/{STORE_NAME}"
_PRIVATE = 0o600


@contextmanager
def content_of(
    place: str, *, keys: Keys | None = None, limits: Limits | None = None, anew: bool = False
) -> Iterator[Content]:
    """The content of a store or an archive, as it is at one moment.

    What a digest learns of a store's sessions is kept in it, if it can be written to; nothing else of it changes.

    Args:
        place: a file, a folder that is a home, a URL of a store, or an archive.
        anew: use nothing that earlier digests learned.

    Raises:
        StoreUnavailable: there is nothing.
        NotFound: the archive holds no store.
        ArchiveForeign, ArchiveDamaged, ArchiveUnsupported, WrongKey: as the reader says.
        HermesStateError: as `SessionDB.open`.
    """
    if is_on_server(place) or "://" in place:
        with _content_of_store(place, anew=anew) as content:
            yield content
        return
    path = Path(place).expanduser()
    path = path / STORE_NAME if (path / STORE_NAME).is_file() else path
    if path.is_file() and apart.is_database(str(path)):
        with _content_of_store(str(locate(path)), anew=anew) as content:
            yield content
    elif path.exists() or path.parent.exists():
        with _content_of_archive(path, keys, limits) as content:
            yield content
    else:
        raise StoreUnavailable(f"there is no store and no archive at {place}")


@contextmanager
def _content_of_store(place: str, *, anew: bool) -> Iterator[Content]:
    with SessionDB.open(place, read_only=True) as db, closing(Keeper(lambda: SessionDB.open(place))) as keeper:
        with db.engine.read() as connection:
            unknown = sessions_without_row(connection)
        keeper.make_rows(unknown)
        with db.engine.read() as connection:
            yield StoreContent(connection, Learned(connection, keeper, anew=anew))


@contextmanager
def _content_of_copy(place: Path) -> Iterator[Content]:
    """Of a copy of ours, so its schema may be brought up to date; what is learned of it would go with it."""
    with SessionDB.open(place) as db, db.engine.read() as connection:
        yield StoreContent(connection)


@contextmanager
def _content_of_archive(path: Path, keys: Keys | None, limits: Limits | None) -> Iterator[Content]:
    with tempfile.TemporaryDirectory(prefix="hermes-state-") as name:
        folder = Path(name)
        with open_archive(path, keys=keys, limits=limits) as archive:
            is_pack = archive.manifest.format == PACK_FORMAT
            wanted = {SESSIONS_FILE, MEMORIES_FILE} if is_pack else {_STORE}
            found = set()
            for entry, member in archive.members():
                if entry.name in wanted and member is not None:
                    write_file(_place(folder, entry.name), member, mode=_PRIVATE, mtime_ns=entry.mtime_ns)
                    found.add(entry.name)
        if not found:
            what = "no sessions and no memories" if is_pack else f"no {_STORE}"
            raise NotFound(f"{path} holds {what}", hint=f"`hermes-state list {path}` shows what there is")
        if not is_pack:
            with _content_of_copy(_place(folder, _STORE)) as content:
                yield content
            return
        files = (_place(folder, name) if name in found else None for name in (SESSIONS_FILE, MEMORIES_FILE))
        yield ExportContent(*files)


def _place(folder: Path, name: str) -> Path:
    return folder / name.rpartition("/")[2]
