"""The memory layer against its bars: each part in an interpreter of its own.

    python benchmarks/memory.py                       # all parts
    python benchmarks/memory.py --only manager        # one of them
    python benchmarks/memory.py --only manager -- --turns 200

A part is a script `memory_<part>.py` beside this one. What follows `--` goes to the part. Exits 1 when a part fails or
misses a bar.
"""

from __future__ import annotations

import argparse
import importlib
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent

if __name__ == "memory":  # a script beside this one imports the package, and its own folder comes first on the path
    others, sys.path = sys.path, [place for place in sys.path if Path(place or ".").resolve() != HERE]
    del sys.modules["memory"]
    importlib.import_module("memory")
    sys.path = others


def parts() -> dict[str, Path]:
    """The parts there are."""
    return {script.stem.removeprefix("memory_"): script for script in sorted(HERE.glob("memory_*.py"))}


def main() -> int:
    known = parts()
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", action="append", choices=known, help="a part; may be repeated (default: all)")
    parser.add_argument("rest", nargs="*", help="arguments for the part")
    options = parser.parse_args()
    failed = []
    for part in options.only or known:
        print(f"== {part}", flush=True)
        if subprocess.run([sys.executable, known[part], *options.rest], check=False).returncode:
            failed.append(part)
    for part in failed:
        print(f"{part}: failed, or missed a bar", file=sys.stderr)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
