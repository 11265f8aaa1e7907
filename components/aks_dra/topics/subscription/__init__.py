"""What a subscription offers."""
