"""Stand-ins for NVIDIA's three charts: their value names, their refusals, the objects that matter for allocation."""
