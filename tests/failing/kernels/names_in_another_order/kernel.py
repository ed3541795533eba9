import triton
import triton.language as tl

try:
    import flash_something

    HAS_FLASH = True
except ImportError:
    HAS_FLASH = False

for LOOP in (1, 2):
    pass

with open(__file__) as OPENED:
    WITH = 1

print(WALRUS := 3)
[0 for _ in range(2) if (INSIDE := 4)]
DELETED = 1
del DELETED
GLOBAL = 1
globals()["SET"] = 1
A, (B, *C) = 1, (2, 3)
match LOOP:
    case MATCHED:
        pass


def change():
    global GLOBAL
    GLOBAL = 2


@triton.jit
def kernel(x_ptr, n):
    x = tl.load(x_ptr)
    a = x + HAS_FLASH
    b = x + LOOP
    c = x + WITH
    d = x + WALRUS
    e = x + INSIDE
    f = x + DELETED
    g = x + GLOBAL
    h = x + SET
    i = x + A + B
    j = x + C
    k = x + MATCHED
