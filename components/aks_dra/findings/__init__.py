"""What is wrong, where, why, and what to write instead: the value that every rule gives and every report shows."""
