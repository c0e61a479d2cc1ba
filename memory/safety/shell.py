"""Commands that steal, open a door or destroy, wherever they stand in a text."""

from __future__ import annotations

import re

from memory.safety.english import SEND, EnglishRule

_NET = r"(?:curl|wget|nc|ncat|netcat|socat|invoke-webrequest|iwr|scp|ftp|tftp)"
_FILES = (
    r"(?:[\w~./$-]*/)?(?:\.env(?:\.\w+)?|id_rsa|id_ed25519|id_ecdsa|\.netrc|\.pgpass|\.git-credentials|\.aws/credentials"
    r"|\.ssh/\S+|\.gnupg\S*|etc/shadow|etc/passwd|auth\.json|credentials\.json|kubeconfig|\.kube/config)(?![\w])"
)
_KEY_VARIABLE = r"\$\{?\w*(?:key|token|secret|passw(?:or)?d|credential)\w*\}?"

_DOOR = "opens a way into the machine"
_DESTROY = "destroys files"


def _rule(rule: str, intent: str, pattern: str, *, negatable: bool = False) -> EnglishRule:
    return EnglishRule(rule, intent, re.compile(pattern, re.IGNORECASE), negatable)


SHELL: tuple[EnglishRule, ...] = (
    _rule(
        "send_secrets",
        SEND,
        rf"\b{_NET}\b[^\n|]*?(?:\s(?:-d|-F|-T|--data\S*|--form|--upload-file|--post-file|--body-file)[= ]?\S*?@?|<\s*)"
        rf"{_FILES}",
    ),
    _rule("send_secrets", SEND, rf"\b(?:cat|base64|tar|xxd|gzip|zip)\b[^\n|]*?{_FILES}[^\n]*?\|[^\n]*?\b{_NET}\b"),
    _rule("send_secrets", SEND, rf"(?:^|[\s;|&`(])(?:env|printenv|history|set)\b[^\n|]{{0,40}}\|[^\n]*?\b{_NET}\b"),
    _rule(
        "send_secrets",
        SEND,
        rf"\b{_NET}\b[^\n]*?(?:\$\(|`)\s*(?:cat|base64|env|printenv|head|tail|<)[^)`]*(?:{_FILES}|env\b)",
    ),
    # A secret in a header is how one logs in; in the address it is on its way to somebody's log.
    _rule("send_secrets", SEND, rf"\b(?:curl|wget)\b[^\n|]*?https?://[^\s\"']*{_KEY_VARIABLE}"),
    _rule("send_secrets", SEND, rf"\bscp\b[^\n|]*?{_FILES}[^\n|]*?\s\S+:"),
    # An image is fetched by whoever shows it: an address with a slot for what was said sends it.
    _rule(
        "send_secrets",
        SEND,
        r"!\[[^\]]*\]\(https?://[^)\s]*(?:\{|<|%7b|\$)[^)\s]*"
        r"(?:data|secret|key|token|conversation|history|memory|prompt|password)",
    ),
    _rule(
        "read_secrets",
        "reads private keys or password files into the conversation",
        r"\b(?:cat|less|more|head|tail|type|get-content|xxd|base64|strings)\s+(?:-\S+\s+)*\S*(?:\.ssh/id_\w+(?!\.pub)\b(?!\.pub)"
        r"|/etc/shadow\b)",
        negatable=True,
    ),
    _rule("open_door", _DOOR, r"/dev/(?:tcp|udp)/[\w.]+/\d+"),
    _rule("open_door", _DOOR, r"\b(?:nc|ncat|netcat)\b[^\n|]*?\s-\w*[ec]\w*\s+\S*(?:sh|bash|cmd)\b"),
    _rule("open_door", _DOOR, r"\bmkfifo\b[^\n]*?\|[^\n]*?\b(?:nc|ncat|netcat|openssl)\b"),
    _rule("open_door", _DOOR, r"(?:>>?|\btee\s+-a)\s*\S*authorized_keys"),
    _rule("open_door", _DOOR, r"\b(?:base64\s+(?:-d|-D|--decode)|xxd\s+-r)\b[^\n]*?\|\s*(?:sudo\s+)?(?:ba|z|da)?sh\b"),
    _rule(
        "destroy",
        _DESTROY,
        r"\brm\s+(?:-\w*\s+)*-\w*(?:rf|fr)\w*\s+(?:--no-preserve-root\s+)?(?:/|~|\$HOME)/?\*?(?=[\s;`'\"]|$)",
        negatable=True,
    ),
)
# Marks by which runtimes and models tell who speaks; in a memory they only serve to speak as somebody else.
FORGED: tuple[EnglishRule, ...] = tuple(
    _rule("forged_speaker", "speaks as the system or the runtime", pattern)
    for pattern in (
        r"<\|(?:im_start|im_end|system|user|assistant|endoftext|eot_id|start_header_id|end_header_id|eom_id)\|>",
        r"\[INST\].*\[/INST\]|^\s*\[/?INST\]|<</?SYS>>|<(?:start|end)_of_turn>",
        r"^\s*</?\s*(?:memory-context|memory-provider-context|system|system-prompt|system-reminder)\s*>",
        r"</\s*(?:memory-context|memory-provider-context|system-prompt|system-reminder)\s*>\s*$",
        r"\[\s*system (?:note|message|override|prompt|instruction)\b[^\]\n]*[:\]]",
        r"^\s*\[\s*(?:system|developer|administrator)\s*\]",
        r"\bBEGIN (?:SYSTEM|ADMIN|DEVELOPER) (?:PROMPT|MESSAGE|INSTRUCTIONS?|OVERRIDE)\b",
    )
)
