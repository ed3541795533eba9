"""Calls of the kernels of ``sources``, a module for each file there."""
