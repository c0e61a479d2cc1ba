"""What hermes-state does, on a store of its own: `make demo`.

Conversations in four scripts are written through the library, as an agent would; then the installed command finds and
shows them; an agent is told something on one day and knows it on the next; at last the home is backed up, proven, lost,
restored as another user at another place, and searched again. Every line under a `$` is what that command printed.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from datetime import UTC, datetime, timedelta
from pathlib import Path

from hermes_state import SessionDB
from memory.agent import Surface, open_agent
from memory.agent.model.scripted import Asked, ScriptedModel, call
from memory.settings import MemorySettings

# (session id, source, title, what was said); the id says when.
CONVERSATIONS = [
    (
        "20260109_091500_5f2c",
        "cli",
        "redis upgrade",
        [
            ("user", "请把 redis 升级到 7.2，先检查 lib/util.rs 里的连接池"),
            ("assistant", "连接池没有问题。蓝绿部署 (blue-green) 已准备好，db-07 先切换。"),
            ("user", "为什么 db-07 上的升级失败了？"),
            ("assistant", "磁盘空间不足：/var/lib/redis 只剩 2%。清理后重试成功，现在是 7.2.4。"),
        ],
    ),
    (
        "20260112_183000_a91e",
        "telegram",
        "رحلة القاهرة",
        [
            ("user", "أريد السفر إلى القاهرة في الربيع، ما هي أفضل الفنادق قرب النيل؟"),
            ("assistant", "حجزت لك ثلاث ليال في فندق قرب النيل، والقطار إلى الإسكندرية صباح الخميس."),
        ],
    ),
    (
        "20260120_101000_07bd",
        "cli",
        None,
        [
            ("user", "この設定ファイルは古いので直してください"),
            ("assistant", "設定ファイルを新しい形式に書き直しました。再起動が必要です。"),
        ],
    ),
    (
        "20260203_140500_c3d8",
        "discord",
        "garden census",
        [
            ("user", "How many tulips did we count by the canal last spring?"),
            ("assistant", "214 tulips in 19 beds; the census of 3 May missed the bed behind the boathouse."),
        ],
    ),
]
TOUR = [
    ("search", "升级", "失败"),
    ("search", "القاهرة"),
    ("search", "設定ファイル"),
    ("search", "how many tulips were there?", "--conversations"),
    ("sessions", "list"),
    ("sessions", "show", "redis upgrade", "--no-pager"),
    ("sessions", "stats"),
]


def write(home: Path) -> None:
    """The library's part: the same few lines, whatever the script."""
    with SessionDB.open(home=home) as db:
        for session_id, source, title, turns in CONVERSATIONS:
            at = datetime.strptime(session_id[:15], "%Y%m%d_%H%M%S").replace(tzinfo=UTC)
            db.sessions.create(session_id, source=source, title=title, model="demo-model", started_at=at)
            messages = [
                {"role": role, "content": text, "created_at": at + timedelta(minutes=n)}
                for n, (role, text) in enumerate(turns)
            ]
            db.messages.append_many(session_id, messages)
            db.usage.record(
                session_id, model="demo-model", api_calls=len(turns) // 2, input_tokens=1200, output_tokens=300,
                estimated_cost_usd=0.01,
            )  # fmt: skip


def show(*args: str) -> None:
    """Run the installed command and let it print."""
    typed = " ".join(f'"{arg}"' if " " in arg else arg for arg in args)
    print(f"\n$ hermes-state {typed}", flush=True)
    program = Path(sys.executable).with_name("hermes-state")
    subprocess.run([program, *args], check=True)


def talk(home: Path) -> None:
    """An agent with a memory, on two days. The model is a script; everything else is what `hermes-state chat` runs."""
    print("\nA chat on Monday and one on Tuesday (a scripted model, the real memory):")
    save = call("memory", action="add", target="user", content="Is vegan; 喜欢乌龙茶")

    def knows(asked: Asked) -> str:
        return "Tofu, and oolong with it: you are vegan." if "vegan" in asked.system else "I don't know you yet."

    surface = Surface(recall=print, notice=print)
    for day, said, script in (
        ("Monday", "Remember that I am vegan, 我喜欢乌龙茶", [save, "I will, 好的."]),
        ("Tuesday", "What would I like for lunch?", [knows]),
    ):
        print(f"\n{day} › {said}")
        with (
            SessionDB.open(home=home) as db,
            open_agent(db, home, ScriptedModel(script), MemorySettings(), surface=surface).agent as agent,
        ):
            print(agent.turn(said).text)
    show("memory", "list")


def move(home: Path, folder: Path) -> None:
    """Ann's home is backed up and lost; Bob restores it at another place and finds the same."""
    archive, user = folder / "backup.tar.zst", folder / "bob"
    (home / "work").mkdir()
    (home / "config.yaml").write_text(f"terminal:\n  cwd: {home}/work   # where the agent works\n")
    show("backup", str(archive))
    show("verify", str(archive))
    print(f"\n$ rm -r {home}")
    shutil.rmtree(home)
    user.mkdir()
    os.environ |= {"HOME": str(user), "USER": "bob", "HERMES_HOME": str(user / ".hermes")}
    show("restore", str(archive))
    show("search", "升级", "失败")


def main() -> None:
    with tempfile.TemporaryDirectory(prefix="hermes-state-demo-") as folder:
        home = Path(folder) / "ann" / ".hermes"
        write(home)
        os.environ["HERMES_HOME"] = str(home)
        print(f"{len(CONVERSATIONS)} conversations in four scripts are in {home}/hermes_state.db")
        for args in TOUR:
            show(*args)
        talk(home)
        move(home, Path(folder))


if __name__ == "__main__":
    main()
