"""Copies of databases page by page, in which a page that did not change stays where it was and as it was."""
