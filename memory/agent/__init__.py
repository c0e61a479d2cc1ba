"""The reference agent."""
