"""Claims: what is written, what it asks for, whether any node can give it."""
