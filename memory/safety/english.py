"""Rules for English, by order of words: precise enough to let ordinary notes about prompts, tokens and servers pass."""

from __future__ import annotations

import re
from typing import NamedTuple

# Between two words of one order: spaces, punctuation, or nothing where a word was spelled with spaces.
_S = r"[\W_]{0,4}"
# Words that say nothing by themselves.
_FILL = rf"(?:{_S}(?:all|of|the|your|my|any|and|or|these|those|this|that|other|user|developer|security|given|every|each|previous|prior|safety|system|such|its|their)(?![a-z]))"
# Up to so many words of any kind.
_WORDS = r"(?:\W+\w+){0,%d}?"
_IGNORE = (
    r"(?:ignore|disregard|forget|override|overlook|dismiss|discard|neglect|stop following|pay no attention to"
    r"|(?:do not|don't|no longer) (?:follow|obey|adhere to|listen to))"
)
_EARLIER = r"(?:previous|prior|above|earlier|preceding|foregoing|former|existing|original|initial|past)"
_ORDERS = (
    r"(?:instructions?|prompts?|directives?|directions?|commands?|orders?|guidelines?|messages? and instructions?)"
)
_DESTINATION = (
    r"(?:(?:https?|ftps?|wss?)://|www\.|[\w.+-]+@[\w-]+\.\w+|webhook|pastebin|\b\d{1,3}(?:\.\d{1,3}){3}\b"
    r"|(?:external|remote|my|this|attacker'?s?|following) (?:server|site|url|address|endpoint|host|domain))"
)
_STRONG_SECRETS = (
    r"(?:api[ _-]?keys?|access[ _-]?keys?|secret[ _-]?keys?|private[ _-]?keys?|ssh[ _-]?keys?|secrets|credentials?"
    r"|\.env\b(?: files?)?|id_rsa|id_ed25519|env(?:ironment)? var(?:iable)?s|passwords|cookies|session tokens?|auth tokens?"
    r"|(?:conversation|chat)(?: history| logs?| transcript)?|system prompt|memory (?:file|contents?)|memories"
    r"|(?:user|personal|private|sensitive|confidential) (?:data|information|files?))"
)
_NEGATION = re.compile(
    r"(?:\bnever|\bnot|n't|\bno need to|\bavoid|\bwithout|\brefuse[sd]? to|\binstead of)\W+(?:\w+\W+){0,2}$",
    re.IGNORECASE,
)


class EnglishRule(NamedTuple):
    """One rule.

    Attributes:
        hints: texts of which one is in every match; asking for them first makes the scan cheap.
        negatable: a `never` or `don't` before the match makes it the opposite of an order.
    """

    rule: str
    intent: str
    pattern: re.Pattern[str]
    negatable: bool = True
    hints: tuple[str, ...] = ()

    def may_match(self, text: str) -> bool:
        """Whether it is worth looking closer."""
        return not self.hints or any(hint in text for hint in self.hints)


def is_negated(sentence: str, start: int) -> bool:
    """Whether what begins here is forbidden rather than ordered."""
    return bool(_NEGATION.search(sentence[max(0, start - 60) : start]))


def _rule(rule: str, intent: str, hints: str, pattern: str, *, negatable: bool = True) -> EnglishRule:
    return EnglishRule(rule, intent, re.compile(pattern), negatable, tuple(hints.split("|")))


OVERRIDE = "makes the agent drop its instructions"
ROLE = "makes the agent play somebody without rules"
CONCEAL = "makes the agent hide something from its user"
REVEAL = "makes the agent give away its prompt"
SEND = "makes the agent send secrets away"
_DROP = "ignore|disregard|forget|overrid|overlook|dismiss|discard|neglect|follow|attention|obey|adhere|listen|bypass"
_PEOPLE = "user|human|owner|operator"
CONTROL = "makes the agent take orders from somewhere else"

ENGLISH: tuple[EnglishRule, ...] = (
    _rule(
        "override_instructions", OVERRIDE, _DROP,
        rf"(?<![a-z]){_IGNORE}(?:{_FILL}{{0,4}}|{_WORDS % 3}){_S}{_EARLIER}{_FILL}{{0,3}}{_S}{_ORDERS}",
    ),
    _rule(
        "override_instructions", OVERRIDE, _DROP,
        rf"(?<![a-z])(?:{_IGNORE}|bypass){_WORDS % 2}{_S}(?:your|the system|all system|system){_FILL}{{0,3}}{_S}(?:{_ORDERS}|rules|guardrails|restrictions|training|programming|safety)",
    ),
    _rule(
        "override_instructions", OVERRIDE, "ignore|disregard|forget",
        rf"(?<![a-z])(?:ignore|disregard|forget)(?:{_FILL}{{0,2}}){_S}(?:all|any|every){_FILL}{{0,3}}{_S}(?:instructions?|directives?|guidelines)\b(?! (?:for|from|in|on|about|of) )",
    ),
    _rule(
        "override_instructions", OVERRIDE, _DROP,
        rf"(?<![a-z])(?:{_IGNORE}){_FILL}{{0,2}}{_S}(?:everything|anything|all|whatever|the text|the instructions?|instructions)\W+(?:(?:that|which|you|i|we|was|were|has|have|been|are|is)\W+){{0,4}}(?:above|before this|(?:told|said|instructed|given|learned|know)(?: (?:so far|before|earlier|previously|until now))?\s*$)",
    ),
    _rule(
        "override_instructions", OVERRIDE, "void|null|cancel|revoked|superseded|overrid|no longer",
        rf"(?<![a-z]){_EARLIER}{_FILL}{{0,2}} (?:instructions?|prompts?|directives?|guidelines?)(?: \w+){{0,3}}? (?:are|is|were) (?:now )?(?:void|null|cancelled|canceled|revoked|superseded|overridden|no longer (?:valid|apply|in effect|binding))",
    ),
    _rule(
        "override_instructions", OVERRIDE, "instruction|system",
        r"(?<![a-z])(?:new|updated|real|actual|true) (?:system (?:prompt|instructions?|message)|instructions? (?:from|by) (?:the )?(?:system|developers?|administrator))\b",
    ),
    _rule(
        "override_instructions", OVERRIDE, "above|preceding|foregoing",
        r"(?<![a-z])(?:ignore|disregard|forget)\W+(?:all |everything |anything )?(?:of )?(?:the )?(?:above|preceding|foregoing)(?:\s*$|\W+(?:and|then|instead)\b)",
    ),
    _rule(
        "override_instructions", OVERRIDE, "instruction|order|directive",
        r"(?<![a-z])(?:new|updated|revised) (?:instructions?|orders?|directives?)\s*:\s*(?:you|from now|ignore|disregard|forget|do not|never|always)\b",
    ),
    _rule(
        "role_hijack", ROLE, "now on|henceforth|starting now",
        r"(?<![a-z])(?:from now on|henceforth|starting now)\W+you(?: are|'re| will be| will act as| act as) (?:dan\b|(?:an? )?(?:\w+ )?(?:unrestricted|unfiltered|uncensored|jailbroken|unaligned|evil|amoral)\b)",
    ),
    _rule(
        "role_hijack", ROLE, "you",
        r"(?<![a-z])you(?: are|'re| will be| must be) (?:now|from now on|henceforth) (?:dan\b|(?:an? )?(?:\w+ )?(?:unrestricted|unfiltered|uncensored|jailbroken|unaligned|evil|amoral)\b|(?:no longer|not) (?:bound|limited|restricted|subject)|free (?:from|of) |in (?:dan|god|jailbreak|unrestricted|admin|debug|maintenance) mode)",
    ),
    _rule(
        "role_hijack", ROLE, "without|no|free|unbound",
        r"(?<![a-z])(?:pretend|act|behave|respond|answer|role-?play|imagine|operate)\W+(?:\w+\W+){0,6}?(?:no|without(?: any)?|free (?:of|from)|unbound by)\W+(?:\w+\W+){0,2}?(?:restrictions|rules|guidelines|limitations|censorship|guardrails|safety (?:rules|filters|guidelines|measures)|ethical|content polic(?:y|ies)|moral)",
    ),
    _rule(
        "role_hijack", ROLE, "now|mode",
        r"(?<![a-z])(?:do anything now|jail ?break mode|(?:enable|enter|activate|switch (?:to|into)|turn on)(?: \w+){0,2} (?:dan|god|jailbreak|unrestricted|unfiltered|uncensored) mode)",
    ),
    _rule(
        "role_hijack", ROLE, "obey",
        r"(?<![a-z])you (?:must|will|shall) (?:now |always |only )?obey (?:me|only|all|every|whoever|the)\b",
    ),
    _rule(
        "conceal_from_user", CONCEAL, _PEOPLE,
        r"(?:do not|don't|never|must not) (?:ever )?(?:tell|inform|notify|alert|warn) (?:the |your )?(?:user|human|owner|operator)s?\b(?:\s*$|\s*[,:)]| (?:about|of) (?:this|it|these)\b)",
        negatable=False,
    ),
    _rule(
        "conceal_from_user", CONCEAL, _PEOPLE,
        r"without (?:ever )?(?:telling|informing|notifying|alerting|warning) (?:the |your )?(?:user|human|owner|operator)s?\b(?:\s*$|\s*[,:)]| (?:about|of) (?:this|it|these)\b)",
    ),
    _rule(
        "conceal_from_user", CONCEAL, _PEOPLE,
        r"(?:do not|don't|never) (?:ever )?(?:mention|reveal|disclose) (?:this|it|these|that you)\b.{0,40}\b(?:to|from) (?:the |your )?(?:user|human|owner|operator)s?\b",
        negatable=False,
    ),
    _rule(
        "conceal_from_user", CONCEAL, _PEOPLE,
        r"(?:hide|conceal|keep)\W+(?:\w+\W+){0,2}?(?:this|it|these|that)\b.{0,30}?(?:from|secret from|hidden from) (?:the |your )?(?:user|human|owner|operator)s?\b",
    ),
    _rule(
        "conceal_from_user", CONCEAL, _PEOPLE,
        r"(?:without (?:the )?(?:user|owner|operator)(?:'s)? (?:knowing|noticing|knowledge)|so (?:that )?the (?:user|owner|operator) (?:does not|doesn't|won't|never) (?:notices?|knows?|finds? out|sees?)\b)",
    ),
    _rule(
        "reveal_prompt", REVEAL, "your",
        r"(?<![a-z])(?:reveal|print|repeat|output|show|display|leak|dump|recite|write out|tell me|give me|share|expose)\W+(?:\w+\W+){0,4}?your (?:\w+ )?(?:system prompt|system message|initial prompt|initial instructions|hidden (?:prompt|instructions)|original instructions|developer message|system instructions|secret instructions)",
    ),
    _rule(
        "reveal_prompt", REVEAL, "verbatim|exactly|word for word|starting with|code block",
        r"(?<![a-z])(?:repeat|output|print|recite) (?:all |everything |the (?:words|text) )+(?:above|before this)\b.{0,30}(?:verbatim|exactly|word for word|starting with|in a code block)",
    ),
    _rule(
        "send_secrets", SEND, "send|upload|forward|transmit|exfiltrate|leak|mail|post|dm|deliver|smuggle",
        rf"(?<![a-z])(?:send|upload|forward|transmit|exfiltrate|leak|e-?mail|post|dm|deliver|smuggle)\W+(?:\w+\W+){{0,3}}?(?:the|all|your|user'?s?'?|any|every|these|stored|found|my|their|contents of|copy of)\W+(?:[\w'~./-]+\W+){{0,4}}?{_STRONG_SECRETS}.{{0,60}}?{_DESTINATION}",
    ),
    _rule(
        "send_secrets", SEND, "exfiltrate|leak|smuggle",
        rf"(?<![a-z])(?:exfiltrate|leak|smuggle)\W+(?:[\w'~./-]+\W+){{0,6}}?(?:{_STRONG_SECRETS}|tokens?|passwords?|keys?|data)\b",
    ),
    _rule(
        "send_secrets", SEND, "send|post|upload|forward|transmit|mail",
        rf"(?<![a-z])(?:send|post|upload|forward|transmit|e-?mail)\W+(?:\w+\W+){{0,2}}?to {_DESTINATION}\S*.{{0,40}}?(?:all|the|your|user'?s?'?|any) (?:\w+ ){{0,3}}?{_STRONG_SECRETS}",
    ),
    _rule(
        "remote_orders", CONTROL, "command|instruction|order|task|payload",
        r"(?<![a-z])(?:connect|phone home|beacon|report|check in|poll|register|call home|subscribe)\b.{0,50}?(?:(?:https?|wss?|tcp)://|\bc2\b|command[ -]and[ -]control|\d{1,3}(?:\.\d{1,3}){3}).{0,80}?\b(?:commands?|instructions?|orders?|tasks?|tasking|payloads?)\b",
    ),
    _rule(
        "remote_orders", CONTROL, "http",
        r"(?<![a-z])(?:fetch|download|retrieve|pull|load|curl|wget)\b.{0,60}?https?://\S+.{0,60}?\b(?:follow|obey|execute|carry out|do)\b.{0,25}?(?:instructions?|commands?|orders?|directives?|whatever|what it says|everything it says)",
    ),
    _rule(
        "remote_orders", CONTROL, "http",
        r"(?<![a-z])(?:(?:obey|execute|carry out)\b|follow (?:all|any|every|whatever|new|further))\b.{0,25}?(?:instructions?|commands?|orders?|directives?)\b.{0,25}?\b(?:from|at|in) https?://",
    ),
    _rule("remote_orders", CONTROL, "register|enrol|join", r"\b(?:register|enrol|join)\w* (?:yourself |itself )?(?:as (?:an? )?(?:node|agent|bot|implant|zombie)|(?:with|to) (?:the )?(?:c2|botnet|command server|swarm controller))\b"),
)  # fmt: skip
