"""The reference documents, written from settings and examples so that they cannot go stale."""
