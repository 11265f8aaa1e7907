"""What a rule may look at: settings, facts, the plan so far, what the stack was, what a subscription offers."""
