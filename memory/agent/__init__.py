"""The reference agent: a turn loop that uses the store, the provider contract and built-in memory."""
