"""Facts of some 80 bytes by the ten thousand, four of five English and one Chinese, and what is asked of them."""

from __future__ import annotations

from random import Random
from typing import Any

SEED = 20261130
_FIRST = [
    "Alice",
    "Boris",
    "Carla",
    "Dmitri",
    "Elena",
    "Farid",
    "Greta",
    "Hiro",
    "Ines",
    "Jonas",
    "Karin",
    "Leila",
    "Marco",
    "Nadia",
    "Oscar",
    "Petra",
]
_LAST = [
    "Novak",
    "Okafor",
    "Lindqvist",
    "Moreau",
    "Tanaka",
    "Haddad",
    "Silva",
    "Kowalski",
    "Berg",
    "Castillo",
    "Duarte",
    "Fischer",
]
_VERB = ["maintains", "reviewed", "rewrote", "deployed", "measured", "repaired", "migrated", "documented"]
_TOOL = ["redis", "postgres", "nginx", "kafka", "docker", "terraform", "ansible", "celery", "grafana", "vault"]
_ADJECTIVE = ["new", "old", "flaky", "public", "internal", "fast", "nightly", "shared"]
_NOUN = ["cluster", "pipeline", "service", "dashboard", "gateway", "queue", "importer", "scheduler"]
_PROJECT = ["Apollo", "Borealis", "Cygnus", "Draco", "Eridani", "Fornax", "Gemini", "Hydra"]
_NAMES = ["王伟", "李娜", "张敏", "凯聪", "陈静", "刘洋", "周杰", "孙悦"]
_VERBS = ["喜欢", "负责", "整理", "维护", "检查", "更新"]
_THINGS = ["美式咖啡", "净值报表", "数据库", "共享盘", "发票系统", "会议记录"]


def facts(count: int, seed: int = SEED) -> list[str]:
    """So many different facts."""
    rng = Random(seed)
    return [_fact(rng, number) for number in range(count)]


def _fact(rng: Random, number: int) -> str:
    if number % 5 == 4:
        who, does, what = rng.choice(_NAMES), rng.choice(_VERBS), rng.choice(_THINGS)
        return f"{who}{does}{what}，项目是{rng.choice(_PROJECT)}，编号{number}，每周五下午检查一次"
    person = f"{rng.choice(_FIRST)} {rng.choice(_LAST)}"
    what = f"{rng.choice(_TOOL)} for the {rng.choice(_ADJECTIVE)} {rng.choice(_NOUN)}"
    return f"{person} {rng.choice(_VERB)} {what} of Project {rng.choice(_PROJECT)} ticket {number}"


def calls(kind: str, count: int, seed: int = SEED) -> list[dict[str, Any]]:
    """So many calls of `fact_store` of one kind; see `KINDS`."""
    rng = Random(f"{kind}:{seed}")
    return [KINDS[kind](rng) for _ in range(count)]


def _person(rng: Random) -> str:
    return f"{rng.choice(_FIRST)} {rng.choice(_LAST)}"


def _sentence(rng: Random) -> str:
    return (
        f"Who {rng.choice(_VERB)} {rng.choice(_TOOL)} for the {rng.choice(_ADJECTIVE)} {rng.choice(_NOUN)}"
        f" of Project {rng.choice(_PROJECT)}?"
    )


KINDS = {
    "search, 2 English words": lambda rng: _search(f"{rng.choice(_TOOL)} {rng.choice(_NOUN)}"),
    "search, English sentence": lambda rng: _search(_sentence(rng)),
    "search, Chinese word": lambda rng: _search(rng.choice(_THINGS)),
    "search, Chinese question": lambda rng: _search(f"谁{rng.choice(_VERBS)}{rng.choice(_THINGS)}？"),
    "probe a person": lambda rng: {"action": "probe", "entity": _person(rng)},
    "probe a project": lambda rng: {"action": "probe", "entity": f"Project {rng.choice(_PROJECT)}"},
    "related": lambda rng: {"action": "related", "entity": _person(rng)},
    "reason, 2 entities": lambda rng: {
        "action": "reason",
        "entities": [_person(rng), f"Project {rng.choice(_PROJECT)}"],
    },
    "list": lambda rng: {"action": "list", "limit": 10 + rng.randrange(3)},
    "contradict": lambda _: {"action": "contradict"},
}


def _search(query: str) -> dict[str, Any]:
    return {"action": "search", "query": query, "limit": 10}
