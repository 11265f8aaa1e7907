"""What the nodes of a pool publish."""
