"""From what a stack is to what it shall be: comparing with an earlier stack, and moving a pool to DRA in steps."""
