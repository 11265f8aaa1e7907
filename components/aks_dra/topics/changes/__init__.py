"""What may become of a stack that lives."""
