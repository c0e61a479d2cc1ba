"""Archives of a whole home: `docs/archive-format.md`."""
