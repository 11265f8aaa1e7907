"""NVIDIA's charts: releases, values, gates, images, the driver."""
