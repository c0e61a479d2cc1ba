"""A store into another store, on either engine, and the proof that both say the same."""
