"""The test pool and its smoke test."""
