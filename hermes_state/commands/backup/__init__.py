"""The commands about archives of a whole home: one module each."""
