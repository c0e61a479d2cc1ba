"""Archives of every format version there has been stay readable: `golden/` is kept for ever."""

from __future__ import annotations

from pathlib import Path

import pytest
from archive_harness import sample

from hermes_state.portability.format import VERSION
from hermes_state.portability.reader import open_archive
from hermes_state.portability.verify import Verdict, verify

GOLDEN = Path(__file__).parent / "golden"
# The digest that names each one's content, as it was when it was made.
DIGESTS = {1: "b2a140a6c5e5e95e5a42ff50f74537c795655020561dbdbdfdefc57b97df5bc0"}


def test_there_is_one_for_every_version() -> None:
    """A new version comes with its golden archive."""
    assert {*DIGESTS} == {*range(1, VERSION + 1)}


@pytest.mark.parametrize("version", DIGESTS)
def test_an_archive_of_that_version_is_sound_and_reads_the_same(version: int) -> None:
    """Manifest, report, members and content."""
    path = GOLDEN / f"format-{version}.tar.zst"
    assert verify(path, expect=DIGESTS[version]).verdict is Verdict.SOUND
    with open_archive(path) as archive:
        found = [(entry, content.read() if content is not None else b"") for entry, content in archive.members()]
        assert archive.manifest.version == version
        assert archive.report is not None
        assert archive.report.omitted == [{"name": "home/gone", "reason": "Permission denied"}]
    expected = [(entry, entry.opener().read() if entry.opener is not None else b"") for entry in sample()]
    assert found == expected
