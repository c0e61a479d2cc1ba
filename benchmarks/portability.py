"""Archives against their bars: writing, verifying and memory, beside `tar | zstd` on the same files in the same run.

    python benchmarks/portability.py --mb 1000 --files 5000
    python benchmarks/portability.py --mb 4000 --only verify --repeat 5 --json portability.json

A home of one large file (rows of text, as a store has) and many small ones is made in a temporary folder. Each
measurement runs in a process of its own, so that its peak memory is its own. A bar that is missed does not change
the exit code unless ``--strict`` is given.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import random
import resource
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rich.console import Console
from rich.table import Table

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

# Bars of the issue.
VERIFY_MB_PER_S = 400
MEMORY_MB = 200
MB = 1_000_000
PIECE = 1024 * 1024
SEED = 20260720
#: Columns of the table when stdout is not a terminal.
PIPE_WIDTH = 150
#: What others read: written also when it is not measured.
NEEDED = ("write", "write encrypted, read back", "tar | zstd -T0")


# --- the home -----------------------------------------------------------------------------------------------------


def make_home(home: Path, megabytes: int, files: int, seed: int = SEED) -> None:
    """One large file of rows and many small ones; compresses about as a store without its index does (1 : 4)."""
    rnd = random.Random(seed)
    words = ["".join(rnd.choices("abcdefghijklmnopqrstuvwxyz", k=rnd.randint(2, 9))) for _ in range(8000)]
    home.mkdir()
    with (home / "state.db").open("wb") as out:
        while out.tell() < megabytes * MB:
            out.write(_rows(rnd, words))
    for n in range(files):
        folder = home / "skills" / f"{n % 97:02}"
        folder.mkdir(parents=True, exist_ok=True)
        (folder / f"{n}.md").write_bytes(_rows(rnd, words, rnd.randint(1, 12)))


def _rows(rnd: random.Random, words: list[str], number: int = 2000) -> bytes:
    rows = (
        f"{rnd.getrandbits(64):016x}|user|{' '.join(rnd.choices(words, k=rnd.randint(5, 60)))}" for _ in range(number)
    )
    return "\n".join(rows).encode()


def entries_of(home: Path) -> Iterator[Any]:
    """The whole tree, folders first."""
    from hermes_state.portability.format import Entry, Kind

    yield Entry(name="home", kind=Kind.DIR, mode=0o700)
    for path in sorted(home.rglob("*")):
        status = path.stat()
        name = f"home/{path.relative_to(home).as_posix()}"
        shared = {"name": name, "mode": status.st_mode & 0o7777, "mtime_ns": status.st_mtime_ns}
        if path.is_dir():
            yield Entry(kind=Kind.DIR, **shared)
        else:
            yield Entry(size=status.st_size, opener=lambda path=path: path.open("rb"), **shared)


# --- what is measured, each in a process of its own ----------------------------------------------------------------


def write(home: Path, archive: Path, *, check: bool, passphrase: str | None = None) -> int:
    """Write an archive of the home; returns bytes of content."""
    from hermes_state.portability.crypt import Lock
    from hermes_state.portability.manifest import Manifest
    from hermes_state.portability.writer import Options, write_archive

    lock = Lock(passphrase=passphrase) if passphrase else None
    options = Options(replace=True, check=check, lock=lock)
    return write_archive(archive, Manifest(roots={"home": str(home)}), entries_of(home), options=options).content_bytes


def verify(archive: Path, passphrase: str | None = None) -> int:
    """Verify it; returns bytes of content."""
    from hermes_state.portability.crypt import Keys
    from hermes_state.portability.verify import Verdict
    from hermes_state.portability.verify import verify as verify_archive

    result = verify_archive(archive, keys=Keys(passphrase=passphrase))
    if result.verdict is not Verdict.SOUND:
        raise SystemExit(f"the archive is {result.verdict.name}: {result.findings.listed[:1]}")
    return result.content_bytes


def tar_zstd(home: Path, archive: Path) -> int:
    """What a person would do without us."""
    command = f"tar -C {home.parent} -cf - {home.name} | zstd -q -T0 -3 -f -o {archive}"
    subprocess.run(["sh", "-c", command], check=True)
    return sum(path.stat().st_size for path in home.rglob("*") if path.is_file())


def unzstd(archive: Path) -> int:
    """Reading it back, without any proof."""
    subprocess.run(["sh", "-c", f"zstd -q -dc {archive} | tar -tf - > /dev/null"], check=True)
    return 0


def tasks(home: Path, work: Path) -> dict[str, Callable[[], int]]:
    """Every measurement by name, in the order in which they run."""
    plain, locked, other = work / "a.tar.zst", work / "a.tar.zst.age", work / "other.tar.zst"
    return {
        "write": lambda: write(home, plain, check=False),
        "write, read back": lambda: write(home, plain, check=True),
        "verify": lambda: verify(plain),
        "write encrypted, read back": lambda: write(home, locked, check=True, passphrase="benchmark"),
        "verify encrypted": lambda: verify(locked, passphrase="benchmark"),
        "tar | zstd -T0": lambda: tar_zstd(home, other),
        "zstd -d | tar -t": lambda: unzstd(other),
    }


def measure(name: str, home: Path, work: Path) -> None:
    """Worker: one measurement, as JSON."""
    started, cpu = time.perf_counter(), time.process_time()
    content = tasks(home, work)[name]()
    figures = {
        "content_bytes": content,
        "seconds": time.perf_counter() - started,
        "cpu_s": time.process_time() - cpu,
        "peak_mb": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024 / MB,
    }
    json.dump(figures, sys.stdout)


# --- the run ------------------------------------------------------------------------------------------------------


def run(options: argparse.Namespace, console: Console) -> dict[str, Any]:
    """All measurements; the best of the repeats, since other load only ever makes it slower."""
    figures: dict[str, Any] = {"machine": machine(), "mb": options.mb, "files": options.files, "results": {}}
    with tempfile.TemporaryDirectory(dir=options.work) as folder:
        home, work = Path(folder) / "home", Path(folder)
        console.print(f"making a home of {options.mb} MB and {options.files:,} files …")
        make_home(home, options.mb, options.files)
        for name in tasks(home, work):
            if options.only and not any(word in name for word in options.only.split(",")):
                if name in NEEDED:
                    _once(name, home, work)
                continue
            best = min((_once(name, home, work) for _ in range(options.repeat)), key=lambda one: one["seconds"])
            content = best["content_bytes"] or options.mb * MB
            best["mb_per_s"] = content / MB / best["seconds"]
            best["archive_bytes"] = _archive_bytes(name, work)
            figures["results"][name] = best
    return figures


def _once(name: str, home: Path, work: Path) -> dict[str, Any]:
    command = [sys.executable, __file__, "--measure", name, str(home), str(work)]
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def _archive_bytes(name: str, work: Path) -> int:
    archive = work / ("a.tar.zst.age" if "encrypted" in name else "other.tar.zst" if "zstd" in name else "a.tar.zst")
    return archive.stat().st_size


def machine() -> dict[str, Any]:
    """What the figures depend on."""
    piece, started = os.urandom(PIECE), time.perf_counter()
    for _ in range(100):
        hashlib.sha256(piece).digest()
    rate = 100 * PIECE / MB / (time.perf_counter() - started)
    return {"cores": os.cpu_count(), "load": os.getloadavg()[0], "sha256_mb_per_s": round(rate)}


def report(figures: dict[str, Any], console: Console) -> bool:
    """The table; returns whether every bar was met."""
    facts = figures["machine"]
    console.print(
        f"{facts['cores']} cores, load {facts['load']:.1f}, SHA-256 {facts['sha256_mb_per_s']} MB/s in one thread"
    )
    table = Table("what", "MB/s of content", "MB per CPU s", "seconds", "CPU s", "peak MB", "archive MB", "bar")
    met = True
    for name, one in figures["results"].items():
        words, is_met = verdict(name, one)
        met = met and is_met
        per_cpu = f"{one['content_bytes'] / MB / one['cpu_s']:.0f}" if one["cpu_s"] > 1 else ""
        cells = (one["seconds"], one["cpu_s"], one["peak_mb"], one["archive_bytes"] / MB)
        table.add_row(name, f"{one['mb_per_s']:.0f}", per_cpu, *(f"{cell:.1f}" for cell in cells), words)
    console.print(table)
    return met


def verdict(name: str, one: dict[str, Any]) -> tuple[str, bool]:
    """Whether a result meets its bar, in words."""
    if "tar" in name:
        return "", True
    is_small = one["peak_mb"] <= MEMORY_MB
    is_fast = name != "verify" or one["mb_per_s"] >= VERIFY_MB_PER_S
    bars = [f"<= {MEMORY_MB} MB"] + ([f">= {VERIFY_MB_PER_S} MB/s"] if name == "verify" else [])
    return f"{'met' if is_small and is_fast else 'MISSED'} ({', '.join(bars)})", is_small and is_fast


def parse(arguments: list[str]) -> argparse.Namespace:
    """The options."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--mb", type=int, default=1000, help="size of the large file (default: %(default)s)")
    parser.add_argument("--files", type=int, default=5000, help="number of small files (default: %(default)s)")
    parser.add_argument("--repeat", type=int, default=2, help="runs of each, the best counts (default: %(default)s)")
    parser.add_argument("--only", help="words of the names of what is measured (default: all)")
    parser.add_argument("--work", type=Path, help="where there is room (default: the temporary folder)")
    parser.add_argument("--json", type=Path, help="write all figures here")
    parser.add_argument("--strict", action="store_true", help="exit 1 when a bar is missed")
    parser.add_argument("--measure", nargs=3, metavar=("NAME", "HOME", "WORK"), help=argparse.SUPPRESS)
    return parser.parse_args(arguments)


def main() -> int:
    """The run."""
    options = parse(sys.argv[1:])
    if options.measure:
        name, home, work = options.measure
        measure(name, Path(home), Path(work))
        return 0
    if shutil.which("tar") is None or shutil.which("zstd") is None:
        print("tar and zstd are needed for comparison", file=sys.stderr)
        return 1
    console = Console(width=None if sys.stdout.isatty() else PIPE_WIDTH)
    figures = run(options, console)
    met = report(figures, console)
    if options.json:
        options.json.write_text(json.dumps(figures, indent=2))
    return 1 if options.strict and not met else 0


if __name__ == "__main__":
    sys.exit(main())
