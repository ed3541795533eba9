"""Attention on tensor cores, forward and backward: ours beside Triton's, from the same source file, and PyTorch's, in one process.

    python benchmarks/attention.py [--only NAME] [--rounds 21] [--json FILE] [--plot FILE.svg] [--tried] [--dry-run]
    python benchmarks/attention.py --page FILE.json…

One sequence of 16,384, 32 heads, bf16. Needs an NVIDIA GPU, torch and triton. How rows are measured is in ``tuned.py``.  ``--dry-run`` compiles every configuration on both sides and launches nothing: that needs no GPU.
``--page`` measures nothing: it writes docs/attention.md and its picture from figures that were.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

sys.path[:0] = [str(Path(__file__).resolve().parent)]

import torch  # noqa: E402
import triton  # noqa: E402
from launches import Launch  # noqa: E402
from torch.nn.attention import SDPBackend, sdpa_kernel  # noqa: E402
from tuned import Arrays, Config, Row, Run, main  # noqa: E402

HEADS, LENGTH = 32, 16384
LIBRARIES = {"FlashAttention": SDPBackend.FLASH_ATTENTION, "cuDNN": SDPBackend.CUDNN_ATTENTION}
#: Probabilities are rounded to bf16 before they meet the values; relative to a row's largest output. Gradients see that twice.
TOLERANCE, TOLERANCE_BACKWARD = 2e-2, 4e-2
#: The last rows of a causal mask have gradients of few, small terms: all sides, libraries too, lie so far off in bf16.
TOLERANCE_CAUSAL = 1.5e-1
#: The source of all kernels here.
SOURCE = ".flash_attention"


def forward_configs() -> list[Config]:
    return [
        Config({"BLOCK_M": 128, "BLOCK_N": n}, stages, warps)
        for n in (64, 128)
        for warps in (4, 8)
        for stages in (2, 3, 4)
    ]


def backward_configs() -> list[Config]:
    """Rows and keys of the kernel for keys, then of that for queries."""
    names = ("BLOCK_M1", "BLOCK_N1", "BLOCK_M2", "BLOCK_N2")
    return [
        Config(dict(zip(names, blocks, strict=True)), stages, warps)
        for blocks, stages, warps in (
            ((32, 128, 128, 32), 3, 4),
            ((32, 128, 128, 32), 5, 4),
            ((64, 64, 64, 64), 2, 4),
            ((64, 128, 128, 64), 2, 8),
            ((64, 128, 128, 64), 3, 8),
        )
    ]


def scale_of(q: torch.Tensor) -> float:
    return 1 / math.sqrt(q.shape[-1])


def probabilities(q: torch.Tensor, k: torch.Tensor, causal: bool) -> tuple[torch.Tensor, torch.Tensor]:
    """Of one head in float64, and the binary logarithm of what each row was divided by."""
    s = q.double() @ k.double().T
    s *= scale_of(q)
    if causal:
        s.masked_fill_(torch.ones_like(s, dtype=torch.bool).triu_(1), -math.inf)
    lse = torch.logsumexp(s, -1)
    return s.sub_(lse[:, None]).exp_(), lse / math.log(2)


def forward_reference(arrays: Arrays, causal: bool) -> Arrays:
    """A head at a time: its probabilities are 2 GB."""
    out, lse = torch.empty_like(arrays["q"], dtype=torch.float64), torch.empty_like(arrays["lse"])
    for head in range(len(out)):
        p, lse[head] = probabilities(arrays["q"][head], arrays["k"][head], causal)
        out[head] = p @ arrays["v"][head].double()
    return {"o": out, "lse": lse}


def backward_reference(arrays: Arrays, causal: bool) -> Arrays:
    """Gradients of queries, keys and values, a head at a time."""
    q, k, v, do = (arrays[name] for name in ("q", "k", "v", "do"))
    found = {name: torch.empty_like(q, dtype=torch.float64) for name in ("dq", "dk", "dv")}
    for head in range(len(q)):
        p, _ = probabilities(q[head], k[head], causal)
        given = do[head].double()
        found["dv"][head] = p.T @ given
        out = p @ v[head].double()
        ds = given @ v[head].double().T
        ds -= (given * out).sum(-1)[:, None]
        ds *= p
        ds *= scale_of(q)
        found["dq"][head] = ds @ k[head].double()
        found["dk"][head] = ds.T @ q[head].double()
    return found


def tensors(names: str, size: int) -> dict[str, torch.Tensor]:
    return {name: torch.randn(HEADS, LENGTH, size).to(torch.bfloat16) for name in names.split()}


def forward_arrays(size: int) -> Arrays:
    made = tensors("q k v", size)
    return {**made, "o": torch.empty_like(made["q"]), "lse": torch.empty(HEADS, LENGTH)}


def backward_arrays(size: int, causal: bool) -> Arrays:
    """With what the forward pass leaves for the backward one."""
    made = {**tensors("q k v do", size), "lse": torch.empty(HEADS, LENGTH)}
    if not made["q"].is_meta:
        forward = forward_reference(made, causal)
        made |= {"o": forward["o"].to(torch.bfloat16), "lse": forward["lse"]}
    else:
        made["o"] = torch.empty_like(made["q"])
    gradients = {name: torch.empty_like(made["q"]) for name in ("dq", "dk", "dv")}
    return {**made, **gradients, "delta": torch.empty(HEADS, LENGTH)}


def forward_launches(arrays: Arrays, config: Config, causal: bool) -> list[Launch]:
    q = arrays["q"]
    given: dict[str, Any] = {f"{name}_ptr": arrays[name] for name in ("q", "k", "v", "o", "lse")}
    given |= {"scale": scale_of(q), "length": LENGTH}
    for name, row in (("q", "m"), ("k", "n"), ("v", "n"), ("o", "m")):
        given |= {f"stride_{name}h": q.stride(0), f"stride_{name}{row}": q.stride(1)}
    ragged = LENGTH % config.const["BLOCK_N"] != 0
    const = {**config.const, "HEAD_DIM": q.shape[-1], "CAUSAL": causal, "RAGGED": ragged}
    grid = (triton.cdiv(LENGTH, config.const["BLOCK_M"]), HEADS)
    return [Launch(SOURCE, "flash_forward", given, const, grid, config.num_warps, config.num_stages)]


def backward_launches(arrays: Arrays, config: Config, causal: bool) -> list[Launch]:
    q = arrays["q"]
    m1, n1, m2, n2 = config.const.values()

    def launch(
        function: str, pointers: str, block: int, const: Mapping[str, Any], more: Mapping[str, Any]
    ) -> Launch:
        given: dict[str, Any] = {f"{name}_ptr": arrays[name] for name in pointers.split()}
        given |= {"length": LENGTH, "stride_head": q.stride(0), "stride_row": q.stride(1), **more}
        const = {**const, "HEAD_DIM": q.shape[-1]}
        grid = (triton.cdiv(LENGTH, block), HEADS)
        return Launch(SOURCE, function, given, const, grid, config.num_warps, config.num_stages)

    scale = {"scale": scale_of(q)}
    return [
        launch("flash_delta", "o do delta", 128, {"BLOCK_M": 128}, {}),
        launch(
            "flash_backward_keys", "q k v do dk dv lse delta", n1, {"BLOCK_M": m1, "BLOCK_N": n1, "CAUSAL": causal}, scale
        ),
        launch(
            "flash_backward_queries", "q k v do dq lse delta", m2, {"BLOCK_M": m2, "BLOCK_N": n2, "CAUSAL": causal}, scale
        ),
    ]  # fmt: skip


def attend(arrays: Arrays, causal: bool, backend: SDPBackend) -> torch.Tensor:
    """PyTorch's, with a batch of one."""
    q, k, v = (arrays[name][None] for name in ("q", "k", "v"))
    with sdpa_kernel(backend):
        return torch.nn.functional.scaled_dot_product_attention(q, k, v, is_causal=causal)


def forward_library(backend: SDPBackend, causal: bool) -> Callable[[Arrays], Run]:
    return lambda arrays: lambda: {"o": attend(arrays, causal, backend)[0]}


def backward_library(backend: SDPBackend, causal: bool) -> Callable[[Arrays], Run]:
    def library(arrays: Arrays) -> Run:
        names = ("q", "k", "v")
        leaves = {name: arrays[name].detach().requires_grad_() for name in names}
        out = attend(leaves, causal, backend)

        def run() -> Arrays:
            found = torch.autograd.grad(
                out, [leaves[name] for name in names], arrays["do"][None], retain_graph=True
            )
            return {f"d{name}": gradient for name, gradient in zip(names, found, strict=True)}

        return run

    return library


def libraries(
    make: Callable[[SDPBackend, bool], Callable[[Arrays], Run]], causal: bool
) -> dict[str, Callable[[Arrays], Run]]:
    return {name: make(backend, causal) for name, backend in LIBRARIES.items()}


def named(what: str, causal: bool, size: int) -> str:
    return f"attention_{what}{'_causal' if causal else ''}_{size}"


def flops(products: int, causal: bool, size: int) -> float:
    """Of so many products of queries and keys or their like; half of each where only the past is seen."""
    return 2.0 * products * HEADS * LENGTH**2 * size / (2 if causal else 1)


def forward(causal: bool, size: int) -> Row:
    return Row(
        named("forward", causal, size),
        flops(2, causal, size),
        lambda: forward_arrays(size),
        # Libraries do not give the logarithms.
        ("o",),
        forward_configs(),
        lambda arrays, config: forward_launches(arrays, config, causal),
        lambda arrays: forward_reference(arrays, causal),
        TOLERANCE,
        libraries(forward_library, causal),
    )


def backward(causal: bool, size: int) -> Row:
    return Row(
        named("backward", causal, size),
        flops(5, causal, size),
        lambda: backward_arrays(size, causal),
        ("dq", "dk", "dv"),
        backward_configs(),
        lambda arrays, config: backward_launches(arrays, config, causal),
        lambda arrays: backward_reference(arrays, causal),
        TOLERANCE_CAUSAL if causal else TOLERANCE_BACKWARD,
        libraries(backward_library, causal),
    )


def rows() -> Iterator[Row]:
    makers: Sequence[Callable[[bool, int], Row]] = (forward, backward)
    for make in makers:
        for size in (128, 64):
            for causal in (False, True):
                yield make(causal, size)


if __name__ == "__main__":
    raise SystemExit(main("attention", rows, __doc__, figure="attention_"))
