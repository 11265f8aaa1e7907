"""Device classes: the package's own, those of the stack file, those that a chart brings."""
