"""What `make up`, `make status` and `make down` do, in parts: the engine, recovery, the comparison, the tables."""
