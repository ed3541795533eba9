def k(x):
    pass
