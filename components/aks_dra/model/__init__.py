"""The values that planning gives: the Plan and its parts."""
