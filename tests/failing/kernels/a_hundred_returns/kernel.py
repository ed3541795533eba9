import triton
import triton.language as tl


@triton.jit
def kernel(x_ptr, n):
    offs = tl.arange(0, 16)
    x = tl.load(x_ptr + offs, mask=offs < n)
    if n == 0:
        return
    if n == 1:
        return
    if n == 2:
        return
    if n == 3:
        return
    if n == 4:
        return
    if n == 5:
        return
    if n == 6:
        return
    if n == 7:
        return
    if n == 8:
        return
    if n == 9:
        return
    if n == 10:
        return
    if n == 11:
        return
    if n == 12:
        return
    if n == 13:
        return
    if n == 14:
        return
    if n == 15:
        return
    if n == 16:
        return
    if n == 17:
        return
    if n == 18:
        return
    if n == 19:
        return
    if n == 20:
        return
    if n == 21:
        return
    if n == 22:
        return
    if n == 23:
        return
    if n == 24:
        return
    if n == 25:
        return
    if n == 26:
        return
    if n == 27:
        return
    if n == 28:
        return
    if n == 29:
        return
    if n == 30:
        return
    if n == 31:
        return
    if n == 32:
        return
    if n == 33:
        return
    if n == 34:
        return
    if n == 35:
        return
    if n == 36:
        return
    if n == 37:
        return
    if n == 38:
        return
    if n == 39:
        return
    if n == 40:
        return
    if n == 41:
        return
    if n == 42:
        return
    if n == 43:
        return
    if n == 44:
        return
    if n == 45:
        return
    if n == 46:
        return
    if n == 47:
        return
    if n == 48:
        return
    if n == 49:
        return
    if n == 50:
        return
    if n == 51:
        return
    if n == 52:
        return
    if n == 53:
        return
    if n == 54:
        return
    if n == 55:
        return
    if n == 56:
        return
    if n == 57:
        return
    if n == 58:
        return
    if n == 59:
        return
    if n == 60:
        return
    if n == 61:
        return
    if n == 62:
        return
    if n == 63:
        return
    if n == 64:
        return
    if n == 65:
        return
    if n == 66:
        return
    if n == 67:
        return
    if n == 68:
        return
    if n == 69:
        return
    if n == 70:
        return
    if n == 71:
        return
    if n == 72:
        return
    if n == 73:
        return
    if n == 74:
        return
    if n == 75:
        return
    if n == 76:
        return
    if n == 77:
        return
    if n == 78:
        return
    if n == 79:
        return
    if n == 80:
        return
    if n == 81:
        return
    if n == 82:
        return
    if n == 83:
        return
    if n == 84:
        return
    if n == 85:
        return
    if n == 86:
        return
    if n == 87:
        return
    if n == 88:
        return
    if n == 89:
        return
    if n == 90:
        return
    if n == 91:
        return
    if n == 92:
        return
    if n == 93:
        return
    if n == 94:
        return
    if n == 95:
        return
    if n == 96:
        return
    if n == 97:
        return
    if n == 98:
        return
    if n == 99:
        return
    if n == 100:
        return
    if n == 101:
        return
    if n == 102:
        return
    if n == 103:
        return
    if n == 104:
        return
    if n == 105:
        return
    if n == 106:
        return
    if n == 107:
        return
    if n == 108:
        return
    if n == 109:
        return
    if n == 110:
        return
    if n == 111:
        return
    if n == 112:
        return
    if n == 113:
        return
    if n == 114:
        return
    if n == 115:
        return
    if n == 116:
        return
    if n == 117:
        return
    if n == 118:
        return
    if n == 119:
        return
