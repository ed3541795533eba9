"""Files with kernels, a family each. They are read by the compiler like anybody's; only Triton, where it is a peer, runs them."""
