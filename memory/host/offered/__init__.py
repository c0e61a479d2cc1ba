"""The modules behind the names; `memory.host.importing` says which is which."""
