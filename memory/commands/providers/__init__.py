"""The commands about providers: which there are, which one is used, how it is doing, and whether it behaves."""
