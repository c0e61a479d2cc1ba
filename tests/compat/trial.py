"""Try unchanged provider packages of the package index with this checkout, each in an environment of its own.

    python tests/compat/trial.py                     all of them; prints a table
    python tests/compat/trial.py nyx-memory --json   one of them, with every step

Needs the network to install; the conversation itself is offline.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from catalogue import PACKAGES, Package

ROOT = Path(__file__).parents[2]
INSTALL_TIMEOUT_S = 600
CONVERSATION_TIMEOUT_S = 300

# Run in the package's environment: puts it into the home as its manual says.
_COPY = (
    "import importlib.util, shutil, sys; "
    "shutil.copytree(importlib.util.find_spec({module!r}).submodule_search_locations[0], sys.argv[1], "
    "ignore=shutil.ignore_patterns('__pycache__'))"
)
_SHIM = (
    "import sys, pathlib, {module}; from {module}.hermes_plugin import write_plugin_shim; "
    "write_plugin_shim(sys.argv[1], package_root=pathlib.Path({module}.__path__[0]).parent)"
)


@dataclass(frozen=True, kw_only=True)
class Trial:
    """How one package did.

    Attributes:
        version: the version that was installed.
        result: what `conversation.py` printed.
        log: what it wrote to stderr.
    """

    package: Package
    version: str
    result: dict[str, Any]
    log: str

    @property
    def verdict(self) -> str:
        """`works`, or how far it came and why."""
        if self.result["broken"]:
            return f"broke a turn: {self.result['broken'][0]}"
        if self.result["state"] == "ready" and not self.result["failures"]:
            return "works"
        return f"{self.result['state']}: {self.result['reason'] or self.result['last_error']}"


def build_wheel(directory: Path) -> Path:
    """This checkout as a wheel."""
    command = [sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", "--wheel-dir", str(directory), str(ROOT)]
    _run(command, INSTALL_TIMEOUT_S)
    (wheel,) = directory.glob("hermes_state-*.whl")
    return wheel


def try_package(package: Package, wheel: Path, directory: Path) -> Trial:
    """Install a package beside the wheel and talk to it."""
    python = directory / "env" / "bin" / "python"
    _run([sys.executable, "-m", "venv", str(directory / "env")], INSTALL_TIMEOUT_S)
    pip = [str(python), "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
    _run([*pip, str(wheel), package.name, *package.also], INSTALL_TIMEOUT_S)
    home = directory / "user" / ".hermes"
    for name in ("plugins", *package.directories):
        (home / name).mkdir(parents=True)
    (home / "config.yaml").write_text(package.config.format(home=home), encoding="utf-8")
    env = {name: value for name, value in os.environ.items() if not name.startswith(("HERMES_", "PYTHON"))}
    env |= {"HOME": str(directory / "user"), "HERMES_HOME": str(home), "PYTHONDONTWRITEBYTECODE": "1"}
    _place(package, python, home, env)
    version = _run(
        [str(python), "-c", f"import importlib.metadata as m; print(m.version({package.name!r}))"], 60, env=env
    ).stdout.strip()
    talk = [str(python), str(Path(__file__).with_name("conversation.py")), package.provider]
    done = _run(talk, CONVERSATION_TIMEOUT_S, env=env, cwd=directory)
    return Trial(package=package, version=version, result=json.loads(done.stdout), log=done.stderr)


def _place(package: Package, python: Path, home: Path, env: dict[str, str]) -> None:
    target = str(home / "plugins" / package.provider)
    if package.placing == "directory":
        _run([str(python), "-c", _COPY.format(module=package.module), target], 60, env=env)
    elif package.placing == "shim":
        _run([str(python), "-c", _SHIM.format(module=package.module), target], 60, env=env)


def _run(command: list[str], timeout_s: float, **options: Any) -> subprocess.CompletedProcess[str]:
    done = subprocess.run(command, capture_output=True, text=True, timeout=timeout_s, check=False, **options)
    if done.returncode:
        raise RuntimeError(f"{' '.join(command)} exited {done.returncode}:\n{done.stdout[-2000:]}{done.stderr[-4000:]}")
    return done


def table(trials: list[Trial]) -> str:
    """The results as a Markdown table."""
    lines = ["| package | version | result | recalled offline | tools | needs |", "|---|---|---|---|---|---|"]
    for trial in trials:
        recalled = ", ".join(language for language, was in trial.result["recalled"].items() if was) or "–"
        tools = len(trial.result["tools"])
        cells = [trial.package.name, trial.version, trial.verdict, recalled, str(tools), trial.package.needs]
        lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", help="packages; all of the catalogue if none is named")
    parser.add_argument("--json", action="store_true", help="every step, as JSON")
    parser.add_argument("--log", action="store_true", help="what was logged, on stderr")
    options = parser.parse_args()
    chosen = [p for p in PACKAGES if not options.names or p.name in options.names]
    with tempfile.TemporaryDirectory() as work:
        wheel = build_wheel(Path(work))
        trials = []
        for package in chosen:
            directory = Path(work) / package.name
            directory.mkdir()
            trials.append(try_package(package, wheel, directory))
            if options.log:
                sys.stderr.write(f"== {package.name}\n{trials[-1].log}\n")
    if options.json:
        json.dump({t.package.name: t.result for t in trials}, sys.stdout, ensure_ascii=False, indent=2)
    else:
        sys.stdout.write(table(trials) + "\n")


if __name__ == "__main__":
    main()
