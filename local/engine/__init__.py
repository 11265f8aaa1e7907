"""What the engine needs and a bare machine lacks: a Python language host, and the launchers that put our plugins on
PATH.
"""
