"""Why a database is not copied page by page."""


class Unfit(Exception):
    """The database is not as these modules know databases: let SQLite copy it, which also tells what is damaged."""
