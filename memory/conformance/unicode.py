"""Checks of texts: every script, hostile code points, and recall outside Latin."""

from __future__ import annotations

from typing import TYPE_CHECKING

from memory.conformance.hooks import judged
from memory.conformance.probe import TEA, recalls, remembering, tell

if TYPE_CHECKING:
    from collections.abc import Iterator

    from memory.conformance.probe import Check
    from memory.conformance.subject import Subject

TEXTS = {
    "Chinese": "我每天早上喝绿茶,不加糖。",
    "Japanese": "設定ファイルは古いので更新してください。",
    "Korean": "회의는 매주 화요일 오후 세 시입니다.",
    "Arabic": "اسم الخادم db-07 ويعمل جيدا.",
    "Hindi": "मुझे सुबह की चाय पसंद है।",
    "emoji": "👨‍👩‍👧‍👦 und 🇩🇪 und 👍🏽",
    "Persian": "می‌خواهم کتاب بخوانم",
    "a lone surrogate": "half a pair: \ud83d",
    "NUL": "before\0after",
    "1 MB": "word " * 200_000,
}


def every_text(subject: Subject) -> Iterator[tuple[str, str]]:
    """Any text can be told and asked."""
    instance = subject.started()
    for what, text in TEXTS.items():
        for hook, outcome in (
            ("sync_turn", instance.remember(text, text)),
            ("prefetch", instance.call("prefetch", text[:500])),
        ):
            for rule, found in judged(hook, outcome, f"given {what}, "):
                yield ("unicode.raises" if rule == "hooks.raises" else rule), found
            if outcome.hung:
                return


def chinese_recall(subject: Subject) -> Iterator[tuple[str, str]]:
    """A provider that recalls English recalls Chinese as well."""
    instance = remembering(subject)
    tell(instance, TEA)
    if not recalls(instance, TEA):
        yield "unicode.recall", f"told {TEA.said!r} and asked {TEA.question!r}, it recalls nothing of it"


CHECKS: tuple[Check, ...] = (every_text, chinese_recall)
