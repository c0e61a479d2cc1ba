"""What a text comes to before it is stored or asked for: tokens, entities, a vector. Pure.

Everything here is worked out before the write lock is taken.
"""

from __future__ import annotations

import hashlib
import unicodedata
from typing import TYPE_CHECKING, NamedTuple

from hermes_state.text import SEGMENTATION, is_stopword, segment
from hermes_state.text.segment import BOUNDARY
from memory.providers.holographic import algebra, aliases, entities, vector_codec

if TYPE_CHECKING:
    from collections.abc import Sequence

    from memory.providers.holographic.aliases import Alias
    from memory.providers.holographic.entities import Entity

# Raise the number with every change that gives another vector, other entities or other slots for any text.
ENCODING = f"1+{SEGMENTATION}"
# Words of a text that go into its vector; a bundle of more says less about each than noise does.
MAX_TOKENS = 256
_DIGEST_BYTES = 16


class Analysis(NamedTuple):
    """One text, analysed.

    Attributes:
        digest: equal for texts that differ in spacing only.
        entities: in the order of the text, one per key.
        aliases: what it says about two names being one.
        vector: packed; its dimension is the one asked for.
    """

    content: str
    digest: bytes
    entities: tuple[Entity, ...]
    aliases: tuple[Alias, ...]
    vector: bytes

    @property
    def keys(self) -> tuple[str, ...]:
        """The entities' keys."""
        return tuple(entity.key for entity in self.entities)

    @property
    def parts(self) -> int:
        """What is bundled in the vector: the content, and each entity."""
        return 1 + len(self.entities)


def analyse(content: str, dim: int) -> Analysis:
    """Analyse the text of a fact."""
    found = tuple(entities.extract(content))
    vector = algebra.encode_fact(tokens(content), [entity.key for entity in found], dim)
    return Analysis(
        content,
        digest(content),
        found,
        tuple(aliases.aliases(content)),
        vector_codec.pack(vector),
    )


def digest(content: str) -> bytes:
    """Equal for texts that differ in spacing or in how their characters are composed, and in nothing else."""
    plain = " ".join(unicodedata.normalize("NFC", content).split())
    return hashlib.blake2b(plain.encode("utf-8", "surrogatepass"), digest_size=_DIGEST_BYTES).digest()


def tokens(text: str) -> list[str]:
    """The words of a text that say what it is about, and the pairs of characters of scripts without spaces.

    Words without a subject count only where there are no others.
    """
    words, grams = segment(text)
    spoken = [word for word in words if word != BOUNDARY]
    paired = set("".join(grams))
    every = [word for word in spoken if word not in paired] + [gram for gram in grams if gram != BOUNDARY]
    return ([word for word in every if not is_stopword(word)] or every or spoken)[:MAX_TOKENS]


def tag_tokens(tags: str) -> list[str]:
    """The words of comma-separated tags."""
    return tokens(tags.replace(",", " , "))


def indexed_text(content: str, tags: str) -> str:
    """What full-text search sees of a fact."""
    return f"{content}\n{tags.replace(',', ' , ')}" if tags else content


def joined_tags(tags: str | Sequence[str] | None) -> str:
    """Tags as they are stored: separated by commas, each once, in order."""
    parts = tags.split(",") if isinstance(tags, str) else [str(tag) for tag in tags or ()]
    return ",".join(dict.fromkeys(part.strip() for part in parts if part.strip()))
