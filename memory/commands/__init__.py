"""Commands of the memory layer: `hermes-state memory …` and `hermes-state chat`."""
