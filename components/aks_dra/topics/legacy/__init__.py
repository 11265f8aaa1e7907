"""Pods that ask in the old way: the device plugin beside DRA, and extended resources."""
