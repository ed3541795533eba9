"""Kernel files whose decorators say something, in the ways that people write them: read, and imported, they say the same.

Each has a kernel ``k``; no file needs anything that is not installed everywhere.
"""

from __future__ import annotations

_HEAD = "import itertools\nimport triton\nimport triton.language as tl\nfrom triton import Config\n"
_KERNEL = """
{decorators}
@triton.jit
def k(x, y, n, BLOCK: tl.constexpr, SPLIT: tl.constexpr = 1, EVEN: tl.constexpr = False):
    tl.store(x + tl.arange(0, BLOCK), SPLIT)
"""


def _file(before: str, *decorators: str) -> str:
    return _HEAD + before + "\n" + _KERNEL.format(decorators="\n".join(decorators))


#: Files with ``@triton.autotune``.
TUNED = {
    "a list": _file("", "@triton.autotune(configs=[triton.Config({'BLOCK': 64}, num_warps=2), Config(kwargs={'BLOCK': 128}, num_stages=4)], key=['n'])"),
    "by position": _file("", "@triton.autotune([Config(dict(BLOCK=64, SPLIT=2), 8, 2, 1, 64)], ['n'])"),
    "a comprehension": _file(
        "", "@triton.autotune(configs=[Config({'BLOCK': b}, num_warps=w) for b in [64, 128] for w in [2, 4] if b * w < 512], key=['n'])"
    ),
    "a name": _file("CONFIGS = [Config({'BLOCK': b}) for b in (64, 32)]\nMORE = CONFIGS + [Config({'BLOCK': 16})]", "@triton.autotune(configs=MORE, key=['n'])"),
    "a loop": _file(
        "CONFIGS = []\nfor b in (64, 128):\n    for w in range(1, 3):\n        CONFIGS.append(Config({'BLOCK': b}, num_warps=2 ** w))\n"
        "CONFIGS.append(Config({'BLOCK': 16}))",
        "@triton.autotune(configs=CONFIGS, key=['n'])",
    ),
    "a function": _file(
        "def get():\n    'All of them.'\n    found = []\n    for b, w in itertools.product((64, 128), range(1, 3)):\n"
        "        found.append(Config({'BLOCK': b}, num_warps=2 ** w))\n    return found",
        "@triton.autotune(configs=get(), key=['n'])",
    ),
    "a function with arguments": _file(
        "SIZES: dict = {'small': [32], 'large': [64, 128]}\ndef get(*names, stages=3, **more):\n"
        "    return [Config({'BLOCK': b, **more}, num_stages=stages) for name in names for b in SIZES[name]]",
        "@triton.autotune(configs=get('large', 'small', stages=2, SPLIT=4), key=['n'])",
    ),
    "filtered": _file(
        "def keep(conf):\n    b = conf.kwargs['BLOCK']\n    if b > 64 and conf.num_warps < 4:\n        return False\n    return True\n"
        "configs = [Config({'BLOCK': b}, num_warps=w) for b in [64, 128] for w in [2, 4]]",
        "@triton.autotune(list(filter(keep, configs)), key=['n'])",
    ),
    "hooks": _file(
        "def hook(args):\n    args['x'].zero_()\ndef prune(configs, args, **kw):\n    return configs[:1]",
        "@triton.autotune(configs=[Config({'BLOCK': 64}, pre_hook=hook)], key=['n'], prune_configs_by={'early_config_prune': prune}, reset_to_zero=['x'], restore_value=['y'])",
    ),
    "one left open": _file("", "@triton.autotune(configs=[Config({'BLOCK': 64, 'SPLIT': 2}), Config({'BLOCK': 32})], key=['n'])"),
    "an empty list": _file("", "@triton.autotune(configs=[], key=['n'])"),
    "twice the same": _file("", "@triton.autotune(configs=[Config({'BLOCK': 64}), Config({'BLOCK': 32}), Config({'BLOCK': 64}, num_warps=4)], key=['n'])"),
    "values of all kinds": _file("", "@triton.autotune(configs=[Config({'BLOCK': 64, 'SPLIT': v}) for v in (True, 0.5, 'row', None, -1)], key=['n'])"),
    "constants of the module": _file(
        "class Size:\n    SMALL = 32\n    LARGE = SMALL * 2\nWARPS = tl.constexpr(4)\nBLOCKS = tuple(sorted({Size.LARGE, Size.SMALL}))",
        "@triton.autotune(configs=[Config({'BLOCK': b}, num_warps=8 if b == Size.LARGE else 4) for b in BLOCKS], key=['n'])",
    ),
    "heuristics below": _file(
        "EVENS = {'EVEN': lambda args: args['n'] % args['BLOCK'] == 0}",
        "@triton.autotune(configs=[Config({'BLOCK': triton.next_power_of_2(60)})], key=['n'])",
        "@triton.heuristics(EVENS)",
    ),
    "keywords in a dict": _file(
        "COMMON = dict(num_warps=2)\nCACHE = {'cache_results': True}",
        "@triton.autotune(configs=[Config({'BLOCK': 64}, **COMMON)], key=['n'], **CACHE)",
    ),
    "jit with arguments": _file("", "@triton.autotune(configs=[Config({'BLOCK': 64})], key=['n'])").replace("@triton.jit", "@triton.jit(do_not_specialize=['n'])"),
}  # fmt: skip

#: Files with ``@triton.heuristics``; of y's type ``*f32`` or ``none``, n's value 64 or a multiple of 64, and BLOCK, EVEN is what comes last.
HEURISTICS = {
    "absent": ("{'EVEN': lambda args: args['y'] is None}", {"y": "none"}, {}, True),
    "there": ("{'EVEN': lambda args: args['y'] is None}", {"y": "*f32"}, {}, False),
    "a value": ("{'EVEN': lambda args: args['n'] == 1 and args['BLOCK'] > 32}", {}, {"n": {"eq": 1}}, True),
    "a multiple": ("{'EVEN': lambda a: a['n'] % a['BLOCK'] == 0}", {}, {"n": {"div": 128}}, True),
    "one after the other": ("{'SPLIT': lambda args: args['BLOCK'] // 16, 'EVEN': lambda args: args['SPLIT'] == 4}", {}, {}, True),
    "a function": ("{'EVEN': even}", {"y": "none"}, {}, True),
    "beside an option": ("{'num_warps': lambda args: args['n'] // 32, 'EVEN': lambda args: True}", {}, {}, True),
    "an option": ("dict(EVEN=lambda args: args['num_warps'] == 8)", {}, {}, False),
    "arithmetic": ("{'EVEN': lambda args: min(16, max(1, triton.cdiv(args['BLOCK'], 10)))}", {}, {}, 7),
}  # fmt: skip


def with_heuristics(values: str) -> str:
    """The file of one of :data:`HEURISTICS`."""
    return _file(
        "def even(args):\n    return args['y'] is None or args['n'] > 3", f"@triton.heuristics({values})"
    )
