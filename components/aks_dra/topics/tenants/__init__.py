"""Who may use which class, and how much of it."""
