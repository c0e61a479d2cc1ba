"""Repositories: many snapshots of homes in one folder, each stored as what changed. See docs/repository-format.md."""
