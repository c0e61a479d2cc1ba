"""Filters of the query language."""

from datetime import UTC, datetime, timedelta, timezone

import pytest
from hypothesis import given
from hypothesis import strategies as st
from text_harness import TEXTS

from hermes_state.text import Filter, parse
from hermes_state.text.filters import DATE_NAMES, NAMES

NOW = datetime(2026, 3, 15, 14, 30, tzinfo=timezone(timedelta(hours=2)))


@pytest.mark.parametrize(
    ("query", "filters"),
    [
        ("role:user", [Filter(name="role", values=("user",))]),
        ("Role：user", [Filter(name="role", values=("user",))]),
        ("role:user,tool", [Filter(name="role", values=("user", "tool"))]),
        ("role:user role:tool", [Filter(name="role", values=("user", "tool"))]),
        ("role:user OR role:tool", [Filter(name="role", values=("user", "tool"))]),
        ("-source:cron", [Filter(name="source", values=("cron",), negated=True)]),
        ("NOT source:cron", [Filter(name="source", values=("cron",), negated=True)]),
        ('title:"garden plan"', [Filter(name="title", values=("garden plan",))]),
        ("title:“garden plan”", [Filter(name="title", values=("garden plan",))]),
        ("(is:Archived)", [Filter(name="is", values=("archived",))]),
        ("cwd:/home/kim/x", [Filter(name="cwd", values=("/home/kim/x",))]),
        (
            "after:2026-01 before:today",
            [Filter(name="after", values=("2026-01",)), Filter(name="before", values=("today",))],
        ),
    ],
)
def test_filter_is_read(query, filters):
    """A filter is taken out of the text, wherever it stands."""
    parsed = parse(f"redis {query}")

    assert list(parsed.filters) == filters
    assert [leaf.text for leaf in parsed.leaves()] == ["redis"]


@pytest.mark.parametrize(
    "query",
    [
        "foo:bar",
        "is:nonsense",
        "after:soon",
        "xrole:user",
        '"role:user"',
        "a-role:user",
        "ſource:x",
        "ıs:tool",
        "D:\\logs",
        "role:,",
    ],
)
def test_what_is_no_filter_is_text(query):
    """An unknown name or a value that cannot be stays a word to search for."""
    parsed = parse(query)

    assert parsed.filters == ()
    assert list(parsed.leaves())


def test_filter_alone_is_a_query():
    """Filters without words have no node."""
    assert parse("role:tool tool:bash").node is None
    assert len(parse("role:tool tool:bash").filters) == 2


@pytest.mark.parametrize(
    ("value", "moment"),
    [
        ("2026-01-31", datetime(2026, 1, 31, tzinfo=NOW.tzinfo)),
        ("2026-01", datetime(2026, 1, 1, tzinfo=NOW.tzinfo)),
        ("2026-01-31T08:15Z", datetime(2026, 1, 31, 8, 15, tzinfo=UTC)),
        ("30m", NOW - timedelta(minutes=30)),
        ("5h", NOW - timedelta(hours=5)),
        ("2d", NOW - timedelta(days=2)),
        ("1W", NOW - timedelta(weeks=1)),
        ("today", datetime(2026, 3, 15, tzinfo=NOW.tzinfo)),
        ("Yesterday", datetime(2026, 3, 14, tzinfo=NOW.tzinfo)),
    ],
)
def test_date_values(value, moment):
    """Dates count in the time zone of the one who asks."""
    (found,) = parse(f"after:{value}").filters

    assert found.instant(NOW) == moment


@given(st.sampled_from(NAMES), TEXTS)
def test_any_value_is_a_filter_or_text(name, value):
    """No value raises, and a date that was accepted can be resolved."""
    for found in parse(f"{name}:{value}").filters:
        if found.name in DATE_NAMES:
            assert found.instant(NOW).tzinfo
