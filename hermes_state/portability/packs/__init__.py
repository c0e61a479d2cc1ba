"""Packs: chosen conversations, memories, settings and skills as text. `docs/pack-format.md`."""
