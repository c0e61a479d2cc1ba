"""Backups and restores of whole homes against their bars, beside the peer's, `tar | zstd`, restic and borg.

    python benchmarks/homes.py --peer /path/to/peer/bin/python --state peer-160000.db
    python benchmarks/homes.py --peer … --state … --json homes.json --markdown docs/benchmarks-portability.md
    python benchmarks/homes.py --from homes.json --markdown docs/benchmarks-portability.md   # the page alone

The home is made of a Hermes `state.db` that the peer made (``benchmarks/store.py`` keeps such in its cache), and of
many small files. Each command runs in a process of its own; its wall time, CPU time and peak memory are the process's.
The page cache is warm for all of them: each reads the same files in the same run.
"""

from __future__ import annotations

import argparse
import compileall
import contextlib
import datetime as dt
import json
import os
import random
import shutil
import sqlite3
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rich.console import Console

sys.path.insert(0, str(Path(__file__).resolve().parent))

from harness.home_bars import bars, show, write_page
from harness.run import machine

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

MB = 1_000_000
CHECKOUT = Path(__file__).resolve().parents[1]
PARTS = ("backup", "restore", "tools", "stall", "ours")
_REBUILD = "import sys; from pathlib import Path; import hermes_state; hermes_state.SessionDB(Path(sys.argv[1]))"
# Its own export, in the batches that its import takes: a line each.
_EXPORT = """
import json, sys
from pathlib import Path
from hermes_state import SessionDB
source = SessionDB(Path(sys.argv[1]), read_only=True)
batch, size = [], 0
for (name,) in source._conn.execute("SELECT id FROM sessions ORDER BY rowid").fetchall():
    batch.append(source.export_session(name))
    size += len(json.dumps(batch[-1]))
    if len(batch) == 200 or size > 12_000_000:
        print(json.dumps(batch), flush=True)
        batch, size = [], 0
print(json.dumps(batch))
"""
_IMPORT = """
import json, sys
from pathlib import Path
from hermes_state import SessionDB
target = SessionDB(Path(sys.argv[2]))
for line in open(sys.argv[1]):
    result = target.import_sessions(json.loads(line))
    if result.get("errors"):
        sys.exit(str(result)[:500])
target.close()
"""
_WAITED = """
import json, os, resource, subprocess, sys, time
started = time.perf_counter()
code = subprocess.run(sys.argv[1:], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
used = resource.getrusage(resource.RUSAGE_CHILDREN)
print(json.dumps({"code": code.returncode, "error": code.stderr.decode("utf-8", "replace")[-500:],
    "wall_s": time.perf_counter() - started, "cpu_s": used.ru_utime + used.ru_stime, "peak_mb": used.ru_maxrss / 1e3}))
"""


@dataclass
class Bench:
    """One run: where things lie, and what was measured."""

    peer: Path | None
    state: Path
    ours: Path | None
    files: int
    folder: Path
    full_mb: float = 0.0
    figures: list[dict[str, Any]] = field(default_factory=list)

    @property
    def home(self) -> Path:
        return self.folder / "user/.hermes"

    def make_home(self) -> None:
        """A Hermes home as it is used: one large store, many small files."""
        for package in ("hermes_state", "memory"):  # an installed program has its bytecode
            compileall.compile_dir(CHECKOUT / package, quiet=1)
        self.home.mkdir(parents=True)
        shutil.copy2(self.state, self.home / "state.db")
        (self.home / "config.yaml").write_text("# mine\nmodel: {}\n")
        self.add_small_files(self.home)

    def add_small_files(self, home: Path) -> None:
        """Files of random words, the same in every home."""
        rnd = random.Random(7)
        words = ["".join(rnd.choices("abcdefghijklmnoprstuvw", k=rnd.randint(2, 9))) for _ in range(4000)]
        for number in range(self.files):
            path = home / ("skills", "memories", "cron/output", "sessions")[number % 4] / f"{number % 53}/{number}.md"
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(" ".join(rnd.choices(words, k=rnd.randint(20, 1200))))

    def run(self, what: str, side: str, *command: str | Path, **more: str | Path) -> dict[str, Any]:
        """Run a command and note what it took."""
        environment = {**os.environ, "HOME": str(self.folder / "user"), "PYTHONPATH": str(CHECKOUT)}
        environment |= {"HERMES_HOME": str(self.home), "RESTIC_PASSWORD": "x", "BORG_PASSPHRASE": "x"}
        environment |= {"BORG_UNKNOWN_UNENCRYPTED_REPO_ACCESS_IS_OK": "yes", "BORG_BASE_DIR": str(self.folder)}
        environment |= {key: str(value) for key, value in more.items() if key.isupper()}
        arguments = [sys.executable, "-c", _WAITED, *map(str, command)]
        ran = subprocess.run(arguments, capture_output=True, text=True, env=environment, check=True, cwd=self.folder)
        figure = {"what": what, "side": side, **json.loads(ran.stdout)}
        if figure["code"]:
            raise SystemExit(f"{what} by {side} failed: {figure['error']}")
        self.figures.append(figure)
        return figure


def ours(*arguments: str | Path) -> tuple[str | Path, ...]:
    """A command of ours, from this checkout."""
    return (sys.executable, "-c", "from hermes_state.commands import main; main()", *arguments)


def note_size(figure: dict[str, Any], path: Path) -> None:
    """How large the result is."""
    files = [path] if path.is_file() else [p for p in path.rglob("*") if p.is_file()]
    figure["mb"] = sum(p.stat().st_size for p in files) / MB


def backups(bench: Bench) -> None:
    """A backup of the whole home; ours with and without the indexes."""
    figure = bench.run("backup", "ours", *ours("backup", bench.folder / "ours.tar.zst"))
    note_size(figure, bench.folder / "ours.tar.zst")
    figure = bench.run(
        "backup", "ours --keep-indexes", *ours("backup", "--keep-indexes", bench.folder / "full.tar.zst")
    )
    note_size(figure, bench.folder / "full.tar.zst")
    for name in ("ours", "full"):
        shown = subprocess.run(
            ["tar", "--zstd", "-tvf", bench.folder / f"{name}.tar.zst"], capture_output=True, text=True, check=True
        ).stdout
        size = sum(int(line.split()[2]) for line in shown.splitlines() if line.startswith("-"))
        figure = bench.run("verify", name, *ours("verify", bench.folder / f"{name}.tar.zst"))
        figure["mb_per_s"] = size / MB / figure["wall_s"]
        bench.full_mb = size / MB
    if bench.peer is not None:
        figure = bench.run("backup", "peer", bench.peer.with_name("hermes"), "backup", "-o", bench.folder / "peer.zip")
        note_size(figure, bench.folder / "peer.zip")


def restores(bench: Bench) -> None:
    """Restores into nothing, to where a search can be asked."""
    for name in ("ours", "full"):
        bench.run(
            "restore", name, *ours("restore", bench.folder / f"{name}.tar.zst", "--into", bench.folder / f"r-{name}")
        )
    if bench.peer is None:
        return
    target = bench.folder / "r-peer"
    target.mkdir()
    command = (bench.peer.with_name("hermes"), "import", "--force", bench.folder / "peer.zip")
    bench.run("restore", "peer", *command, HERMES_HOME=target)
    bench.run(
        "restore", "ours, of the peer's zip", *ours("restore", bench.folder / "peer.zip", "--into", bench.folder / "rz")
    )
    raw = bench.folder / "raw"
    raw.mkdir()
    subprocess.run(["tar", "--zstd", "-xf", bench.folder / "ours.tar.zst", "-C", raw, "home/state.db"], check=True)
    bench.run(
        "rebuild of the indexes", "peer", bench.peer, "-I", "-c", _REBUILD, raw / "home/state.db", HERMES_HOME=raw
    )
    _import_of_conversations(bench, raw)


def _import_of_conversations(bench: Bench, folder: Path) -> None:
    """The peer takes in what it exported, into a new store."""
    assert bench.peer is not None
    exported = folder / "exported.jsonl"
    environment = {**os.environ, "HERMES_HOME": str(folder), "HOME": str(folder)}
    with exported.open("wb") as file:
        command = [bench.peer, "-I", "-c", _EXPORT, bench.home / "state.db"]
        subprocess.run(command, stdout=file, env=environment, check=True)
    command = [bench.peer, "-I", "-c", _IMPORT, exported, folder / "imported.db"]
    bench.run("import of the conversations", "peer", *command, HERMES_HOME=folder, HOME=folder)
    exported.unlink()


def tools(bench: Bench) -> None:
    """What a person would take otherwise."""
    home, folder = bench.home, bench.folder
    packed = folder / "t.tar.zst"
    pipe = f"tar -C {home.parent} -cf - {home.name} | zstd -q -T0 -3 -f -o {packed}"
    note_size(bench.run("backup", "tar | zstd -3", "sh", "-c", pipe), packed)
    bench.run("restore", "tar | zstd -3", "sh", "-c", f"mkdir {folder}/rt && tar --zstd -xf {packed} -C {folder}/rt")
    if shutil.which("restic"):
        repository = ("restic", "-q", "--no-cache", "-r", folder / "restic")
        bench.run("", "restic", *repository, "init")
        bench.figures.pop()
        note_size(bench.run("backup", "restic", *repository, "backup", home), folder / "restic")
        bench.run("restore", "restic", *repository, "restore", "latest", "--target", folder / "rr")
    if shutil.which("borg"):
        bench.run("", "borg", "borg", "init", "-e", "none", folder / "borg")
        bench.figures.pop()
        command = ("borg", "create", "-C", "zstd,3", f"{folder}/borg::a", home)
        note_size(bench.run("backup", "borg", *command), folder / "borg")
        (folder / "rb").mkdir()
        bench.run("restore", "borg", "sh", "-c", f"cd {folder}/rb && borg extract {folder}/borg::a")


@contextlib.contextmanager
def _appending(database: Path) -> Iterator[list[float]]:
    """A writer of one message after the other; its waits in milliseconds."""
    waits: list[float] = []
    stop = threading.Event()

    def write() -> None:
        db = sqlite3.connect(database, isolation_level=None, timeout=60)
        db.execute("PRAGMA synchronous=NORMAL")
        session = db.execute("SELECT id FROM sessions LIMIT 1").fetchone()[0]
        insert = (
            "INSERT INTO messages (session_id, role, content, timestamp) VALUES (?, 'user', 'while it is backed up', 1)"
        )
        while not stop.is_set():
            started = time.perf_counter()
            db.execute(insert, (session,))
            waits.append((time.perf_counter() - started) * 1000)
            time.sleep(0.005)
        db.close()

    thread = threading.Thread(target=write)
    thread.start()
    try:
        yield waits
    finally:
        stop.set()
        thread.join()


def stall(bench: Bench) -> None:
    """What a backup adds to an append of a running agent."""
    for side, work in (
        ("nobody", lambda: time.sleep(5)),
        (
            "ours",
            lambda: bench.run("", "", *ours("backup", "--force", bench.folder / "s.tar.zst")) and bench.figures.pop(),
        ),
    ):
        with _appending(bench.home / "state.db") as waits:
            work()
        cut = statistics.quantiles(waits, n=100)
        bench.figures.append(
            {"what": "append during a backup", "side": side, "p50_ms": cut[49], "p99_ms": cut[98], "max_ms": max(waits)}
        )


def our_store(bench: Bench) -> None:
    """A home with the same small files and a store of ours: the one given, or the same conversations, imported."""
    home = bench.folder / "ours-home"
    home.mkdir()
    bench.add_small_files(home)
    if bench.ours is not None:
        shutil.copy2(bench.ours, home / "hermes_state.db")
    else:
        bench.run("import of the state.db", "ours", *ours("--home", home, "import", "hermes", bench.home))
    archive = bench.folder / "store.tar.zst"
    note_size(bench.run("our backup", "ours", *ours("--home", home, "backup", archive)), archive)
    bench.run("our restore", "ours", *ours("restore", archive, "--into", bench.folder / "store-again"))
    full = bench.folder / "store-full.tar.zst"
    note_size(bench.run("our backup", "full", *ours("--home", home, "backup", "--keep-indexes", full)), full)
    bench.run("our restore", "full", *ours("restore", full, "--into", bench.folder / "store-full"))


def about(options: argparse.Namespace, bench: Bench) -> dict[str, Any]:
    """What the figures depend on."""
    words = ["python benchmarks/homes.py --state STATE", f"--files {options.files} --only {options.only}"]
    found: dict[str, Any] = {
        "date": dt.datetime.now(dt.UTC).strftime("%Y-%m-%d %H:%M UTC"),
        "command": " ".join([*words, *(["--peer PEER/bin/python"] if options.peer else [])]),
        "machine": machine(),
    }
    if bench.peer is not None:
        ask = "from importlib.metadata import version; print(version('hermes-agent'))"
        ran = subprocess.run([bench.peer, "-I", "-c", ask], capture_output=True, text=True, check=True)
        found["peer"] = f"hermes-agent {ran.stdout.strip()}"
    return found | {"state_mb": bench.state.stat().st_size / MB, "files": bench.files, "full_mb": bench.full_mb}


def main() -> int:
    """The run."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--state", type=Path, help="a state.db that the peer made")
    parser.add_argument("--peer", type=Path, help="the peer's interpreter, in an environment of its own")
    parser.add_argument("--ours", type=Path, help="a store of ours, closed (default: imported from the state.db)")
    parser.add_argument("--files", type=int, default=5_000, help="small files in the home (default: %(default)s)")
    parser.add_argument("--only", default=",".join(PARTS), help="parts to run (default: all)")
    parser.add_argument("--work", type=Path, help="work here (default: a temporary folder)")
    parser.add_argument("--json", type=Path, help="write the figures there too")
    parser.add_argument("--markdown", type=Path, help="write the page there (docs/benchmarks-portability.md)")
    parser.add_argument("--from", dest="earlier", type=Path, help="measure nothing: the figures of an earlier --json")
    parser.add_argument("--strict", action="store_true", help="exit 1 when a bar is missed")
    options = parser.parse_args()
    if options.earlier is None and options.state is None:
        parser.error("give --state, or --from")
    facts, figures = measured(options) if options.earlier is None else json.loads(options.earlier.read_text()).values()
    show(Console(width=None if sys.stdout.isatty() else 140), figures)
    if options.json:
        options.json.write_text(json.dumps({"about": facts, "figures": figures}, indent=1))
    if options.markdown:
        write_page(options.markdown, facts, figures)
    return 1 if options.strict and any(bar.is_met is False for bar in bars(figures)) else 0


def measured(options: argparse.Namespace) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    """Run the parts."""
    runs: dict[str, Callable[[Bench], None]] = dict(
        zip(PARTS, (backups, restores, tools, stall, our_store), strict=True)
    )
    with tempfile.TemporaryDirectory(prefix="homes-", dir=options.work) as folder:
        bench = Bench(options.peer, options.state, options.ours, options.files, Path(folder))
        bench.make_home()
        for name in options.only.split(","):
            runs[name](bench)
        return about(options, bench), bench.figures


if __name__ == "__main__":
    sys.exit(main())
