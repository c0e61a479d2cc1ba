"""What hermes-state does, on a store of its own: `make demo`.

Conversations in four scripts are written through the library, as an agent would; then the installed command finds and
shows them. Every line under a `$` is what that command printed.
"""

from __future__ import annotations

import os
import shlex
import subprocess
import sys
import tempfile
from datetime import UTC, datetime, timedelta
from pathlib import Path

from hermes_state import SessionDB

NOW = datetime.now(UTC)
CONVERSATIONS = [
    ("cli", "redis upgrade", 9, [
        ("user", "请把 redis 升级到 7.2，先检查 lib/util.rs 里的连接池"),
        ("assistant", "连接池没有问题。蓝绿部署 (blue-green) 已准备好，db-07 先切换。"),
        ("user", "为什么 db-07 上的升级失败了？"),
        ("assistant", "磁盘空间不足：/var/lib/redis 只剩 2%。清理后重试成功，现在是 7.2.4。"),
    ]),
    ("telegram", "خطة السفر", 6, [
        ("user", "أريد السفر إلى القاهرة في الربيع، ما هي أفضل الفنادق قرب النيل؟"),
        ("assistant", "حجزت لك ثلاث ليال في فندق قرب النيل، والقطار إلى الإسكندرية صباح الخميس."),
    ]),
    ("cli", None, 3, [
        ("user", "この設定ファイルは古いので直してください"),
        ("assistant", "設定ファイルを新しい形式に書き直しました。再起動が必要です。"),
    ]),
    ("discord", "garden census", 1, [
        ("user", "How many tulips did we count by the canal last spring?"),
        ("assistant", "214 tulips in 19 beds; the census of 3 May missed the bed behind the boathouse."),
    ]),
]  # fmt: skip


def write(home: Path) -> None:
    """The library's part: a few lines, whatever the script."""
    with SessionDB.open(home=home) as db:
        for source, title, days_ago, turns in CONVERSATIONS:
            at = NOW - timedelta(days=days_ago)
            session = db.sessions.create(source=source, title=title, model="demo-model", started_at=at)
            messages = [
                {"role": role, "content": text, "created_at": at + timedelta(minutes=n)}
                for n, (role, text) in enumerate(turns)
            ]
            db.messages.append_many(session.id, messages)
            db.usage.record(
                session.id, model="demo-model", input_tokens=1200, output_tokens=300, estimated_cost_usd=0.01
            )
        # A long conversation is compressed: it goes on in a child session, and is still one conversation.
        first = db.sessions.resolve("redis upgrade")
        db.lineage.rotate(
            first.id, [{"role": "user", "content": "[summary] redis runs 7.2.4; db-07 needed disk space"}]
        )


def show(*args: str) -> None:
    """Run the installed command and let it print."""
    print(f"\n$ hermes-state {shlex.join(args)}", flush=True)
    program = Path(sys.executable).with_name("hermes-state")
    subprocess.run([program, *args], check=True)


def main() -> None:
    with tempfile.TemporaryDirectory(prefix="hermes-state-demo-") as folder:
        home = Path(folder)
        write(home)
        os.environ["HERMES_HOME"] = str(home)
        print(f"{len(CONVERSATIONS)} conversations in four scripts are in {home}/hermes_state.db")
        show("search", "升级", "失败")
        show("search", "القاهرة")
        show("search", "設定ファイル")
        show("search", "how many tulips were there?", "--conversations")
        show("sessions", "list")
        show("sessions", "show", "redis upgrade", "--no-pager")
        show("sessions", "stats")


if __name__ == "__main__":
    main()
