"""Markdown and HTML: everything that can be seen is there, and nothing in a text can break out of its place."""

from __future__ import annotations

import io
import re
from html.parser import HTMLParser
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hermes_state.errors import SessionNotFound
from hermes_state.listing import SessionFilter
from hermes_state.transfer import Selection, write_document, write_documents
from hermes_state.transfer.markdown import fenced, prose

if TYPE_CHECKING:
    from pathlib import Path

    from hermes_state.store import SessionDB
    from hermes_state.transfer.reading import Form

FORMS: list[Form] = ["markdown", "html"]
HOSTILE = '</div></details><script>alert(1)</script><img src=x onerror=alert(2)> ``` "quotes" & <b>bold</b>'
PICTURE = "data:image/png;base64,iVBORw0KGgo="


class Page(HTMLParser):
    """Tags, their nesting and the text of a page."""

    VOID = frozenset(("meta", "img", "br"))

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.open: list[str] = []
        self.tags: list[str] = []
        self.attributes: list[tuple[str, str | None]] = []
        self.text = ""

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.attributes += attrs
        if tag not in self.VOID:
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        if "style" not in self.open:
            self.text += data


def document(db: SessionDB, form: Form, selection: Selection | None = None, *, redact: bool = False) -> str:
    out = io.StringIO()
    write_document(db.engine, out, selection or Selection(), form=form, redact=redact)
    return out.getvalue()


def parsed(text: str) -> Page:
    page = Page()
    page.feed(text)
    page.close()
    assert page.open == []
    return page


def conversation(db: SessionDB) -> str:
    """A conversation of two segments with everything in it; the id of its tip."""
    root = db.sessions.create("root", source="cli", title="Redis 升级", model="m", cwd="/w")
    db.messages.append_many(
        root.id,
        [
            {"role": "user", "content": "请把 redis 升级"},
            {"role": "assistant", "content": "", "reasoning": "first look around", "tool_calls": [
                {"id": "c", "function": {"name": "terminal", "arguments": '{"command": "ls ```"}'}}]},
            {"role": "tool", "content": "out ```` put", "tool_call_id": "c"},
            {"role": "user", "content": [{"type": "text", "text": "look"}, {"image_url": {"url": PICTURE}}]},
        ],
    )  # fmt: skip
    db.messages.compact(root.id, [{"role": "user", "content": "the summary"}])
    tip = db.lineage.rotate(root.id, [{"role": "assistant", "content": "going on"}]).child
    db.messages.append(tip.id, role="user", content="taken back")
    db.messages.rewind(tip.id, last=1)
    db.messages.append(tip.id, role="user", content="مرحبا بالعالم")
    return tip.id


@pytest.mark.parametrize("form", FORMS)
def test_a_whole_conversation_is_shown_compacted_marked_and_rewound_not(db: SessionDB, form: Form) -> None:
    tip = conversation(db)
    text = document(db, form, Selection(ids=[tip]))
    for shown in ("Redis 升级", "请把 redis 升级", "first look around", "terminal", "ls ```", "out ```` put", "look",
                  "the summary", "part 2", "going on", "مرحبا بالعالم", "compacted"):  # fmt: skip
        assert shown in text.replace("&quot;", '"'), shown
    assert "taken back" not in text
    assert text.index("请把") < text.index("the summary") < text.index("going on")
    with pytest.raises(SessionNotFound):
        document(db, form, Selection(ids=["nobody"]))


def test_html_is_self_contained_and_lays_out_any_script(db: SessionDB) -> None:
    conversation(db)
    page = parsed(document(db, "html"))
    assert "script" not in page.tags
    assert "link" not in page.tags
    sources = [value for name, value in page.attributes if name in ("src", "href")]
    assert sources == [PICTURE]
    assert ("dir", "auto") in page.attributes
    assert page.tags.count("details") >= 3
    assert "prefers-color-scheme" in document(db, "html")
    assert "default-src &#x27;none&#x27;" in document(db, "html")


@pytest.mark.parametrize("form", FORMS)
def test_an_empty_selection_is_still_a_document(db: SessionDB, form: Form) -> None:
    text = document(db, form, Selection(wanted=SessionFilter(sources=["none"])))
    if form == "html":
        parsed(text)


@settings(max_examples=40)
@given(st.text(alphabet=st.characters(codec=None, exclude_categories=())) | st.just(HOSTILE))
def test_no_text_breaks_out_of_html(db: SessionDB, text: str) -> None:
    session = db.sessions.create(source="cli", display_name=text)
    calls: list[Any] = [{"function": {"name": text, "arguments": text}}, text]
    db.messages.append(session.id, role="assistant", content=text, reasoning=text, tool_calls=calls)
    db.messages.append(
        session.id, role=text.strip("\0 ").replace("\0", "") or "user", content=[{"image_url": text}, text]
    )
    out = document(db, "html", Selection(ids=[session.id]))
    out.encode()
    page = parsed(out)
    assert not {"script", "b2", "iframe"} & set(page.tags)
    assert all(not name.startswith("on") for name, _ in page.attributes)
    assert {value for name, value in page.attributes if name == "src"} <= {PICTURE}


def test_markdown_fences_are_longer_than_what_they_hold() -> None:
    assert fenced("a ```` b").startswith("`````\n")
    assert fenced("plain", "json") == "```json\nplain\n```"
    assert prose("```py\nopen") == "```py\nopen\n```"
    assert prose("````\n```\nstill open") == "````\n```\nstill open\n````"
    assert prose("a <b>x</b> `<code>` ok\n```\n<kept>\n```") == "a &lt;b>x&lt;/b> `<code>` ok\n```\n<kept>\n```"
    assert prose("1 < 2 and a <- b") == "1 < 2 and a <- b"


@given(st.text(alphabet="`~ \na<>/"))
def test_prose_never_leaves_a_fence_open(text: str) -> None:
    fence = ""
    for line in prose(text).split("\n"):
        found = re.match(r" {0,3}(`{3,}|~{3,})", line)
        if fence and found and line.strip().startswith(fence) and not line.strip().strip(fence[0]):
            fence = ""
        elif not fence and found:
            fence = found[1]
    assert fence == ""


@pytest.mark.parametrize("form", FORMS)
def test_secrets_are_taken_out_on_request(db: SessionDB, form: Form) -> None:
    secret = "sk-test-ABCDEF0123456789abcdef"
    session = db.sessions.create(source="cli", title=f"about {secret}")
    db.messages.append(
        session.id,
        role="user",
        content=f"key {secret}",
        reasoning=secret,
        tool_calls=[{"function": {"name": "x", "arguments": secret}}],
    )
    assert secret in document(db, form)
    assert secret not in document(db, form, redact=True)
    assert "[redacted:openai-key:" in document(db, form, redact=True)


@pytest.mark.parametrize("form", FORMS)
def test_each_conversation_gets_a_file_with_a_safe_name(db: SessionDB, tmp_path: Path, form: Form) -> None:
    tip = conversation(db)
    db.sessions.create("../../evil/..", source="cli", title="a/b\\c: 数据库 " + "x" * 60)
    db.sessions.create("plain", source="cli")
    folder = tmp_path / "out" / "docs"
    files = write_documents(db.engine, folder, form=form)
    assert sorted(folder.iterdir()) == sorted(files)
    assert len({file.name for file in files}) == 3
    assert all(file.parent == folder and len(file.name.encode()) < 255 for file in files)
    assert any("Redis-升级" in file.name and tip in file.name for file in files)
    assert all(file.read_text(encoding="utf-8") for file in files)
    assert write_documents(db.engine, folder, form=form) == files
