"""Kernels as public projects write them, each with what it should compute: what the compiler is tried on beside its own library."""
