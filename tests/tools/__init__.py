"""Upstream programs that the tests ask, and how to ask them."""
