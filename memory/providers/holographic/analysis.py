"""What a text comes to before it is stored or asked for: tokens, entities, a vector. Pure.

Everything here is worked out before the write lock is taken.
"""

from __future__ import annotations

import hashlib
import unicodedata
from typing import TYPE_CHECKING, NamedTuple

from hermes_state.text import SEGMENTATION
from memory.providers.holographic import algebra, aliases, entities, roles, vector_codec
from memory.providers.holographic.content_words import content_words

if TYPE_CHECKING:
    from collections.abc import Sequence

    from memory.providers.holographic.aliases import Alias
    from memory.providers.holographic.entities import Entity

# Raise the number with every change that gives another vector or other entities for any text.
ENCODING = f"3+{SEGMENTATION}"
_DIGEST_BYTES = 16


class Analysis(NamedTuple):
    """One text, analysed.

    Attributes:
        digest: equal for texts that differ in spacing only.
        entities: in the order of the text, one per key.
        aliases: what it says about two names being one.
        vector: packed; its dimension is the one asked for.
        marked: how many of the entities have a part in the sentence that is known.
    """

    content: str
    digest: bytes
    entities: tuple[Entity, ...]
    aliases: tuple[Alias, ...]
    vector: bytes
    marked: int = 0

    @property
    def keys(self) -> tuple[str, ...]:
        """The entities' keys."""
        return tuple(entity.key for entity in self.entities)

    @property
    def parts(self) -> int:
        """What is bundled in the vector: the content, each entity, and each once more in its part."""
        return 1 + len(self.entities) + self.marked


def analyse(content: str, dim: int) -> Analysis:
    """Analyse the text of a fact."""
    found = tuple(entities.extract(content))
    marked = roles.roles(content, found)
    vector = algebra.encode_fact(
        content_words(content),
        [entity.key for entity in found],
        dim,
        agents=[key for key, role in marked.items() if role == roles.AGENT],
        patients=[key for key, role in marked.items() if role == roles.PATIENT],
    )
    return Analysis(
        content,
        digest(content),
        found,
        tuple(aliases.aliases(content)),
        vector_codec.pack(vector),
        len(marked),
    )


def digest(content: str) -> bytes:
    """Equal for texts that differ in spacing or in how their characters are composed, and in nothing else."""
    plain = " ".join(unicodedata.normalize("NFC", content).split())
    return hashlib.blake2b(plain.encode("utf-8", "surrogatepass"), digest_size=_DIGEST_BYTES).digest()


def tag_words(tags: str) -> tuple[str, ...]:
    """The words of comma-separated tags."""
    return content_words(tags.replace(",", " , "))


def indexed_text(content: str, tags: str) -> str:
    """What full-text search sees of a fact."""
    return f"{content}\n{tags.replace(',', ' , ')}" if tags else content


def joined_tags(tags: str | Sequence[str] | None) -> str:
    """Tags as they are stored: separated by commas, each once, in order."""
    parts = tags.split(",") if isinstance(tags, str) else [str(tag) for tag in tags or ()]
    return ",".join(dict.fromkeys(part.strip() for part in parts if part.strip()))
