"""How a GPU is shared: MIG, time-slicing, MPS, shares."""
