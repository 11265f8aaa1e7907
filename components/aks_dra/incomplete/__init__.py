"""What can be said for certain of a stack of which something could not be read."""
