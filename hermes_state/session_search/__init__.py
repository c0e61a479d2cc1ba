"""`session_search`: the tool an agent calls to find, read and browse earlier conversations."""

from hermes_state.session_search.tool import SCHEMA, SessionSearch

__all__ = ["SCHEMA", "SessionSearch"]
