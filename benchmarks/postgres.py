"""The PostgreSQL engine against its bars: ours, raw psycopg and two peers on one server.

    python benchmarks/postgres.py                                # a server is started and thrown away
    python benchmarks/postgres.py --size 1m --peers DIR --json postgres.json --markdown docs/benchmarks-postgres.md
    python benchmarks/postgres.py --only growth,tenants --stores 1000 --merge postgres.json

DIR holds the peers' virtual environments `agents` (openai-agents[sqlalchemy]) and `langgraph`
(langgraph-checkpoint-postgres with psycopg[binary]); `--make-peers` makes them there. With `--server URL`, a database
of a running server, only appends are measured: the rest needs a superuser, to multiply stores.

A part that fails is reported and the exit code is 1; a missed bar does not change it.
"""

from __future__ import annotations

import argparse
import datetime as dt
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
import traceback
import venv
from contextlib import ExitStack, contextmanager
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rich.console import Console
from sqlalchemy.engine import make_url

sys.path.insert(0, str(Path(__file__).resolve().parent))
sys.path.append(str(Path(__file__).resolve().parents[1] / "tests"))

import postgres_server
from corpus import CORPUS_REVISION, DEFAULT_SEED, Corpus
from harness import digests, postgres_bars, postgres_growth
from harness.bars import LISTS
from harness.client import Worker
from harness.figures import Figures, percentile
from harness.postgres_store import Multiplied, server_cpu_s, superuser
from harness.queries import query_kinds
from harness.run import machine

if TYPE_CHECKING:
    from collections.abc import Iterator

HERE = Path(__file__).resolve().parent
SETTINGS = ("shared_buffers=1GB", "max_wal_size=4GB", "max_connections=200")
PACKAGES = {
    "agents": ["openai-agents[sqlalchemy]"],
    "langgraph": ["langgraph-checkpoint-postgres", "langgraph", "psycopg[binary]"],
}
#: How many times as large the stores become, and how often the searches are repeated in each of four stores.
GROWN, GROWTH_TURNS = 10, 3
_HELD = """
SELECT sum(pg_total_relation_size(oid)) FROM pg_class
WHERE relkind = 'r' AND relnamespace = current_schema()::regnamespace
"""


class Bench:
    """One run: the server, the sides, the figures."""

    def __init__(self, options: argparse.Namespace, url: str, *, own: bool) -> None:
        self.options = options
        self.url = url
        self.figures = Figures()
        self.failures: list[str] = []
        self._superuser = superuser(url) if own else None
        self.corpus = Corpus(options.seed)

    def move_superuser(self, connection: Any) -> None:
        """Another one from now on."""
        self._superuser = connection

    @property
    def superuser(self) -> Any:
        """A connection that sees all stores."""
        if self._superuser is None:
            raise RuntimeError("this part needs a server that the benchmark starts")
        return self._superuser

    def place(self, store: str) -> str:
        """The URL of one of our stores."""
        return f"{self.url}?store={store}"

    def worker(self, side: str) -> Worker:
        """A process of one side."""
        seed = str(self.options.seed)
        if side in PACKAGES:
            python = str(self.options.peers / side / "bin" / "python")
            return Worker(side, [python, "-I", str(HERE / "postgres_peer_worker.py"), seed, side])
        script = {"ours": "ours_worker.py", "raw": "postgres_raw_worker.py"}[side]
        return Worker(side, [sys.executable, str(HERE / script), seed])

    @property
    def sides(self) -> list[str]:
        """Those that can be started."""
        peers = [name for name in PACKAGES if self.options.peers and (self.options.peers / name).is_dir()]
        return ["ours", "raw", *peers]

    @contextmanager
    def opened(self, side: str, count: int, store: str) -> Iterator[list[Worker]]:
        """Processes of a side with the database open."""
        with ExitStack() as stack:
            workers = [stack.enter_context(self.worker(side)) for _ in range(count)]
            for worker in workers:
                worker.call("open", path=self.place(store) if side == "ours" else self.url, synchronous="FULL")
            yield workers
            for worker in workers:
                worker.call("close")

    def cpu(self) -> float:
        """CPU seconds of the server so far; 0 when it is not ours to look at."""
        return 0.0 if self._superuser is None else server_cpu_s(self._superuser)


def append_part(bench: Bench) -> None:
    """Appends of one client and of several, the sides in turn."""
    rates: dict[tuple[str, int], list[dict[str, float]]] = {}
    for turn in range(bench.options.rounds):
        for clients in (1, 8):
            sides = bench.sides
            for side in sides[turn % len(sides) :] + sides[: turn % len(sides)]:
                rates.setdefault((side, clients), []).append(_append(bench, side, clients, turn))
    for (side, clients), rounds in sorted(rates.items(), key=lambda each: each[0][1]):
        values = {name: statistics.median(each[name] for each in rounds) for name in rounds[0]}
        bench.figures.add("append", "append", clients, side, **values)


def _append(bench: Bench, side: str, clients: int, turn: int) -> dict[str, float]:
    seconds = bench.options.seconds
    with bench.opened(side, clients, f"append-{clients}-{turn}") as workers:
        start = time.time() + 2.0  # sessions are made first, which takes eight clients a while
        for place, worker in enumerate(workers):
            # A session of its own in every round, also for who keeps no stores apart.
            session = 1_000 * turn + 100 * clients + place
            worker.send("hammer", worker=session, start_at=start, seconds=seconds)
        time.sleep(max(0.0, start - time.time()))
        before = bench.cpu()
        told = [worker.receive() for worker in workers]
        spent = bench.cpu() - before
    if errors := [error for each in told for error in each["errors"]]:
        raise RuntimeError(f"{side}: {len(errors)} errors, the first: {errors[0]}")
    own = [value for each in told for value in each["own"]]
    return {
        "per_s": sum(len(each["own"]) / (sum(each["own"]) / 1_000) for each in told),
        "wall_per_s": len(own) / seconds,
        "own_p50_ms": statistics.median(own),
        "own_p95_ms": percentile(own, 0.95),
        "client_ms": sum(value for each in told for value in each["cpu"]) / len(own),
        "server_ms": spent * 1_000 / len(own),
    }


def store_part(bench: Bench) -> None:
    """The store that is searched: built, multiplied, weighed."""
    built, size = bench.options.built, bench.options.size
    connection = bench.superuser
    with bench.opened("ours", 1, "searched") as (worker,):
        worker.call("bulk", first=0, count=built)
    found = connection.execute("SELECT number FROM stores WHERE name = 'searched'").fetchone()
    for table in ("raw_messages", "agent_messages", "agent_sessions", "checkpoints", "checkpoint_blobs"):
        connection.execute(f"DROP TABLE IF EXISTS {table} CASCADE")
    _forget_others(connection, found[0])
    text = sum(one.text_bytes() for session in bench.corpus.sessions(messages=built) for one in session.messages)
    copies = max(1, size // built)
    if copies > 1:
        Multiplied(connection).grow([(found[0], copy) for copy in range(1, copies)], found[0])
    held = connection.execute(_HELD).fetchone()
    bench.figures.add(
        "bytes", "bytes of text", built * copies, "ours",
        disk_mb=float(held[0]) / 1e6, text_mb=text * copies / 1e6, of_text=float(held[0]) / (text * copies),
    )  # fmt: skip
    bench.options.size = built * copies


def _forget_others(connection: Any, kept: int) -> None:
    """Take away what the appends left."""
    tables = [row[0] for row in connection.execute(
        "SELECT table_name FROM information_schema.columns WHERE column_name = 'store' AND table_schema = 'public'"
    )]  # fmt: skip
    connection.execute("SET session_replication_role = replica")  # in whatever order
    for table in tables:
        connection.execute(f"DELETE FROM {table} WHERE store <> {kept}")
    connection.execute("SET session_replication_role = origin")
    connection.execute("VACUUM FULL")


def search_part(bench: Bench) -> None:
    """Every kind of query."""
    with bench.opened("ours", 1, "searched") as (worker,):
        for kind in query_kinds(bench.corpus):
            asked = {"queries": list(kind.queries), "newest": kind.newest}
            worker.call("search", repeats=len(kind.queries), **asked)
            before = bench.cpu()
            told = worker.call("search", repeats=bench.options.repeats, **asked)
            spent = (bench.cpu() - before) * 1_000
            _note(bench, "search", kind.name, told, spent)


def list_part(bench: Bench) -> None:
    """List by last activity, open and resume sessions."""
    ids = [bench.corpus.session(at).id for at in range(0, bench.options.built // 50, 5)]
    calls = {
        LISTS[0]: ("recent", {}),
        LISTS[1]: ("read", {"session_ids": ids}),
        LISTS[2]: ("resume", {"session_ids": ids}),
    }
    with bench.opened("ours", 1, "searched") as (worker,):
        for name, (call, arguments) in calls.items():
            worker.call(call, repeats=5, **arguments)
            before = bench.cpu()
            told = worker.call(call, repeats=bench.options.repeats, **arguments)
            _note(bench, "list", name, told, (bench.cpu() - before) * 1_000)


def _note(bench: Bench, part: str, name: str, told: dict[str, Any], server_ms: float) -> None:
    calls = len(told["own"])
    bench.figures.add(
        part, name, bench.options.size, "ours",
        own_p50_ms=statistics.median(told["own"]), own_p95_ms=percentile(told["own"], 0.95),
        wall_p50_ms=statistics.median(told["wall"]), wall_p95_ms=percentile(told["wall"], 0.95),
        client_ms=sum(told["cpu"]) / calls, server_ms=server_ms / calls, calls=calls,
    )  # fmt: skip


def growth_part(bench: Bench) -> None:
    """A search inside one of many stores, before and after all of them became ten times as large."""
    from hermes_state import SessionDB

    each, stores = bench.options.each, bench.options.stores
    with SessionDB.open(bench.place("one"), synchronous="NORMAL") as db:
        text = postgres_growth.fill(db, bench.corpus, each)
        found = bench.superuser.execute("SELECT number FROM stores WHERE name = 'one'").fetchone()
    _forget_others(bench.superuser, found[0])
    tenants = postgres_growth.Tenants(bench.superuser, found[0], stores, each)
    tenants.grow(1)
    before = f"{make_url(bench.url).database}_before"
    bench.move_superuser(postgres_growth.clone(bench.superuser, before))
    tenants.move(bench.superuser)
    tenants.grow(GROWN - 1)
    _search_tenants(bench, {1: before, GROWN: str(make_url(bench.url).database)}, text * stores)


def _search_tenants(bench: Bench, databases: dict[int, str], text: int) -> None:
    """The same searches in both databases, in turn, so that what else the machine does is the same for both."""
    each, stores = bench.options.each, bench.options.stores
    queries = [query for kind in query_kinds(bench.corpus) for query in kind.queries[:3]]
    told: dict[int, list[dict[str, Any]]] = {times: [] for times in databases}
    for tenant in sorted({1, stores // 4, stores // 2, stores}):
        with ExitStack() as stack:
            workers = {times: stack.enter_context(bench.worker("ours")) for times in told}
            for times, worker in workers.items():
                url = make_url(bench.url).set(database=databases[times])
                worker.call("open", path=f"{url}?store=tenant-{tenant}", synchronous="FULL")
                worker.call("search", queries=queries, repeats=len(queries))
            for turn in range(GROWTH_TURNS):
                for times in sorted(told, reverse=bool(turn % 2)):
                    start = bench.cpu()
                    answer = workers[times].call("search", queries=queries, repeats=len(queries))
                    told[times].append(answer | {"server": bench.cpu() - start})
            for worker in workers.values():
                worker.call("close")
    for times, answers in told.items():
        own = [value for one in answers for value in one["own"]]
        with superuser(bench.url, databases[times]) as connection:
            held = connection.execute(_HELD).fetchone()
        bench.figures.add(
            "growth", f"{stores:,} stores of {each * times:,}", stores * each * times, "ours",
            own_p50_ms=statistics.median(own), own_p95_ms=percentile(own, 0.95),
            wall_p50_ms=statistics.median(value for one in answers for value in one["wall"]),
            client_ms=sum(value for one in answers for value in one["cpu"]) / len(own),
            server_ms=sum(one["server"] for one in answers) * 1_000 / len(own), calls=len(own),
            disk_mb=float(held[0]) / 1e6, text_mb=text * times / 1e6,
        )  # fmt: skip


def tenants_part(bench: Bench) -> None:
    """Many stores: each is opened by a new handle, gets a conversation, is searched and closed."""
    from hermes_state import SessionDB

    times: dict[str, list[float]] = {}

    def timed(name: str, action: Any) -> Any:
        started = time.perf_counter()
        result = action()
        times.setdefault(name, []).append((time.perf_counter() - started) * 1_000)
        return result

    count, before = bench.options.tenants, bench.cpu()
    for tenant in range(count):
        db = timed("open a new store", lambda n=tenant: SessionDB.open(bench.place(f"t{n}"), synchronous="NORMAL"))
        session = db.sessions.create(source="cli").id
        for text in ("why did the deploy fail?", f"the disk of host-{tenant} was full", "缓存 升级 以后 好了"):
            timed("append a message", lambda t=text, d=db, s=session: d.messages.append(s, role="user", content=t))
        hits = timed("first search", lambda d=db, n=tenant: d.search.messages(f'"host-{n}"'))
        assert len(hits) == 1, tenant
        db.close()
    for tenant in range(0, count, max(1, count // 500)):
        db = timed("open a store again", lambda n=tenant: SessionDB.open(bench.place(f"t{n}")))
        assert timed("search again", lambda d=db: d.search.messages("deploy"))
        db.close()
    for name, taken in times.items():
        bench.figures.add(
            "tenants", name, count, "ours",
            wall_p50_ms=statistics.median(taken), wall_p95_ms=percentile(taken, 0.95), calls=len(taken),
        )  # fmt: skip
    status = Path("/proc/self/status").read_text(encoding="utf-8")
    peak = next(line.split()[1] for line in status.splitlines() if line.startswith("VmHWM"))
    bench.figures.add("tenants", "all", count, "ours", peak_mb=int(peak) / 1024, server_s=bench.cpu() - before)


def copy_part(bench: Bench) -> None:
    """A store from a file to the server and back, by the command; the digests of all three are equal."""
    from hermes_state import SessionDB

    count = bench.options.copied
    work = Path(bench.options.work)
    origin, back = work / "origin.db", work / "back.db"
    with bench.worker("ours") as worker:
        worker.call("open", path=str(origin), synchronous="NORMAL")
        worker.call("bulk", first=0, count=count)
        worker.call("close")
    with SessionDB.open(origin) as db:
        count = db.messages.count()
    middle = bench.place("copied")
    digests = {_digest(origin)}
    for way, source, target in (("to the server", origin, middle), ("to a file", middle, back)):
        started = time.perf_counter()
        usage = _run_measured(["copy", str(source), str(target)])
        taken = time.perf_counter() - started
        bench.figures.add("copy", way, count, "ours", per_s=count / taken, **usage)
        digests.add(_digest(target))
    if len(digests) != 1:
        raise RuntimeError(f"the copies differ: {digests}")


def digest_part(bench: Bench) -> None:
    """Digests of a store in a file and of its copy on the server."""
    from hermes_state import SessionDB
    from hermes_state.copying.copy import copy_store

    origin, there = Path(bench.options.work) / "digested.db", bench.place("digested")
    with bench.worker("ours") as worker:
        worker.call("open", path=str(origin), synchronous="NORMAL")
        worker.call("bulk", first=0, count=bench.options.copied)
        worker.call("close")
    with SessionDB.open(origin) as db, SessionDB.open(there) as copy:
        copy_store(db.engine, copy.engine)
        count = db.messages.count()
    for where, place, server_s in (("file", str(origin), lambda: 0.0), ("server", there, bench.cpu)):
        for what, values in digests.measured(place, server_s):
            bench.figures.add("digest", f"{where}: {what}", count, "ours", **values)


def _command(arguments: list[str]) -> list[str]:
    return [str(Path(sys.executable).parent / "hermes-state"), *arguments]


def _run_measured(arguments: list[str]) -> dict[str, float]:
    process = subprocess.Popen(_command(arguments), stdout=subprocess.DEVNULL)
    _, status, usage = os.wait4(process.pid, 0)
    if os.waitstatus_to_exitcode(status):
        raise RuntimeError(f"hermes-state {arguments[0]} ended with {os.waitstatus_to_exitcode(status)}")
    return {"client_s": usage.ru_utime + usage.ru_stime, "peak_mb": usage.ru_maxrss / 1024}


def _digest(place: object) -> str:
    command = _command(["db", "digest", "--db", str(place), "--json"])
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    return str(json.loads(done.stdout)["digest"])


PARTS = {
    "append": append_part,
    "store": store_part,
    "search": search_part,
    "list": list_part,
    "copy": copy_part,
    "digest": digest_part,
    "growth": growth_part,
    "tenants": tenants_part,
}


def size_of(text: str) -> int:
    """`10k` -> 10,000; `1m` -> 1,000,000."""
    factors = {"k": 1_000, "m": 1_000_000}
    return int(text[:-1]) * factors[text[-1]] if text[-1] in factors else int(text)


def parse(arguments: list[str]) -> argparse.Namespace:
    """The options."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--server", metavar="URL", help="measure appends in this database (default: start a server)")
    parser.add_argument("--only", default="append,store,search,list,copy,digest", help=f"parts: {','.join(PARTS)}")
    parser.add_argument("--size", type=size_of, default=100_000, help="messages of the store that is searched")
    parser.add_argument("--built", type=size_of, default=20_000, help="of which so many are stored one by one")
    parser.add_argument("--copied", type=size_of, default=20_000, help="messages that are copied, or digested")
    parser.add_argument("--stores", type=size_of, default=100, help="growth: stores")
    parser.add_argument("--each", type=size_of, default=1_000, help="growth: messages of each at first")
    parser.add_argument("--tenants", type=size_of, default=1_000, help="stores opened in turn")
    parser.add_argument("--seconds", type=float, default=4.0, help="of each round of appends")
    parser.add_argument("--rounds", type=int, default=3, help="of appends, the sides in turn")
    parser.add_argument("--repeats", type=int, default=60, help="searches of each kind")
    parser.add_argument("--peers", type=Path, help="the folder of the peers' environments")
    parser.add_argument("--make-peers", action="store_true", help="make them there")
    parser.add_argument("--seed", type=int, default=DEFAULT_SEED)
    parser.add_argument("--merge", type=Path, help="JSON of an earlier run, kept where this one measures nothing")
    parser.add_argument("--json", type=Path, help="write all figures here")
    parser.add_argument("--markdown", type=Path, help="write the page here (docs/benchmarks-postgres.md)")
    return parser.parse_args(arguments)


def make_peers(folder: Path) -> None:
    """Environments with the peers in them."""
    for name, packages in PACKAGES.items():
        if not (folder / name).is_dir():
            venv.create(folder / name, with_pip=True)
            subprocess.run([str(folder / name / "bin" / "pip"), "install", "--quiet", *packages], check=True)


def about(bench: Bench) -> dict[str, Any]:
    """What the figures depend on."""
    import psycopg

    versions = []
    for side in bench.sides[2:]:
        with bench.worker(side) as worker:
            versions.append(str(worker.call("versions")).partition("SQLite ")[2])
    with psycopg.connect(bench.url.replace("+psycopg", "")) as connection:
        server = connection.execute("SELECT split_part(version(), ' on ', 1)").fetchone()
    options = bench.options
    sizes = f"--size {options.size} --stores {options.stores} --each {options.each} --tenants {options.tenants}"
    return {
        "date": dt.datetime.now(dt.UTC).strftime("%Y-%m-%d %H:%M UTC"),
        "command": f"python benchmarks/postgres.py --only {options.only} {sizes} --seed {options.seed}",
        "machine": machine(),
        "server": server[0] if server else "",
        "peers": "; ".join(versions) or "none",
        "corpus": f"seed {options.seed}, revision {CORPUS_REVISION}",
        "settings": " ".join(SETTINGS),
        "built": options.built,
    }


def main(arguments: list[str] | None = None) -> int:
    """Run, show, write; 0 when everything could be measured."""
    options = parse(sys.argv[1:] if arguments is None else arguments)
    if options.make_peers:
        make_peers(options.peers)
    progress = Console(stderr=True, highlight=False, markup=False)
    with ExitStack() as stack:
        options.work = stack.enter_context(tempfile.TemporaryDirectory(prefix="bench-postgres-"))
        url = options.server or stack.enter_context(postgres_server.server(own=True, settings=SETTINGS))
        bench = Bench(options, url, own=not options.server)
        described = about(bench)
        if options.merge:
            earlier = json.loads(options.merge.read_text(encoding="utf-8"))
            bench.figures = Figures.read(earlier)
            described["other parts measured"] = f"{earlier['about']['date']}, {earlier['about']['command']}"
        for name, part in PARTS.items():
            if name in options.only.split(","):
                progress.print(f"{dt.datetime.now(dt.UTC):%H:%M:%S} {name}")
                try:
                    part(bench)
                except Exception:
                    bench.failures.append(f"{name}: {traceback.format_exc()}")
                    progress.print(bench.failures[-1])
    postgres_bars.show(Console(width=None if sys.stdout.isatty() else 160, highlight=False), bench.figures)
    if options.json:
        rows = [asdict(row) for row in bench.figures.rows]
        document = {"about": described, "figures": rows, "failures": bench.failures}
        options.json.write_text(json.dumps(document, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    if options.markdown:
        postgres_bars.write_page(options.markdown, described, bench.figures)
    return 1 if bench.failures else 0


if __name__ == "__main__":
    raise SystemExit(main())
