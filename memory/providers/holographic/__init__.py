"""Facts as text, entities and phase vectors: the holographic memory provider."""
