"""Pulumi's stack and project files, read as Pulumi reads them, with positions."""
