"""GPU pools: sizes, counts, labels, taints, images."""
