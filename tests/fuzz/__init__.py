"""What the manifest reader and the kernel front end make of input that nobody wrote: ``python -m tests.fuzz 600``.

``manifests.py`` and ``kernels.py`` make the input, ``held.py`` says what must hold of what comes out, whatever goes in.
"""
