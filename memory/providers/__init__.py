"""Memory providers that ship with the package."""
