"""Workloads on a planned fleet: the plan's nodes and devices on a control plane, and the real scheduler's word.

The scheduler decides; this package publishes, asks, explains what it said, and takes everything away again. Without a
control plane only necessary conditions are answered (`aks_dra.simulate.necessary`).
"""
