"""What a generated package needs at run time: choosing a specialisation, checking a call, loading and launching.

Every generated package carries these files as its own copy, ``_runtime``, so that packages of several versions live in one process.
They import one another relatively, the standard library, and, only where a call needs them, NumPy, ml_dtypes and cuda.bindings.
"""
