"""The commands about MEMORY.md and USER.md."""
