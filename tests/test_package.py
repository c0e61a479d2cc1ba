"""The package's door: what it exports, and what opening it costs."""

from __future__ import annotations

import subprocess
import sys

import hermes_state


def test_every_exported_name_exists_and_is_listed_in_order() -> None:
    """`__all__` says what may be relied on; each name is there, sorted, and shown by `dir`."""
    assert sorted(hermes_state.__all__) == hermes_state.__all__
    for name in hermes_state.__all__:
        assert getattr(hermes_state, name) is not None
        assert name in dir(hermes_state)


def test_an_unknown_name_is_an_attribute_error() -> None:
    """Lazy loading does not turn a typing slip into something else."""
    assert not hasattr(hermes_state, "SessionDatabase")


def test_importing_the_package_loads_no_database_library() -> None:
    """What only asks for the version or for help does not wait for SQLAlchemy."""
    code = "import hermes_state, sys; hermes_state.__version__; print('sqlalchemy' in sys.modules)"
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert ran.stdout.strip() == "False"
