"""Kernels that stream memory, as public projects write them, on a GPU: ours beside Triton's, from the same source files, in one process.

    python benchmarks/streaming.py [--rounds 21] [--json FILE] [--only NAME] [--dry-run]

Needs an NVIDIA GPU, torch and triton; the kernels are those of ``tests/kernels/sources``, compiled here for one size each. Both sides get the same
constants, warps, and alignments.  What they write is compared first.  Then both run in turn, ``--rounds`` times; what is quoted is the median
of theirs over ours and its 95 % interval.  ``--dry-run`` compiles every case on both sides and launches nothing: that needs no GPU.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE)]

import torch  # noqa: E402
import triton  # noqa: E402
from gpu_timing import TOLERANCE, Case, measure, relative_error, report  # noqa: E402
from launches import TYPES, Launch, compile_both, compiled, our_runs, poison, their_runs  # noqa: E402

import teenybuild  # noqa: E402

F32, BF16, I8, I64 = torch.float32, torch.bfloat16, torch.int8, torch.int64
#: Elements of a row, for most cases, and of a whole array: 256 MB of f32 or bf16, several times any L2.
COLUMNS = 4096
ELEMENTS = {F32: 1 << 26, BF16: 1 << 27}
#: Elements of a block, for kernels that are not about rows.
BLOCK = 1024
#: Programs that share all rows where each has several: one for each multiprocessor, and a few for each.
ONE_EACH, FEW_EACH = 132, 1024
#: The results of two compilers may lie as far apart as both together may from the truth; a number that is rounded to a whole one may be the next.
APART = {F32: 2 * TOLERANCE["f32"], BF16: 2 * TOLERANCE["bf16"], I8: 1.01 / 127}


def normal(dtype: torch.dtype, *shape: int) -> torch.Tensor:
    return torch.randn(*shape).to(dtype)


def rows_of(dtype: torch.dtype, columns: int = COLUMNS) -> torch.Tensor:
    """Rows that are a whole array."""
    return normal(dtype, ELEMENTS[dtype] // columns, columns)


def flat(dtype: torch.dtype) -> torch.Tensor:
    return normal(dtype, ELEMENTS[dtype])


def layer_norm(residual: bool = False) -> Launch:
    x = rows_of(BF16)
    rows = len(x)
    arguments = {
        "X": x,
        "Y": torch.empty_like(x),
        "W": normal(BF16, COLUMNS),
        "B": normal(BF16, COLUMNS),
        "RESIDUAL": torch.randn_like(x) if residual else None,
        **dict.fromkeys(("X1", "W1", "B1", "Y1")),
        "RESIDUAL_OUT": torch.empty_like(x) if residual else None,
        **dict.fromkeys(("ROWSCALE", "SEEDS", "DROPOUT_MASK", "DROPOUT_MASK1")),
        "Mean": torch.empty(rows),
        "Rstd": torch.empty(rows),
        "stride_x_row": COLUMNS,
        "stride_y_row": COLUMNS,
        "stride_res_row": COLUMNS if residual else 0,
        "stride_res_out_row": COLUMNS if residual else 0,
        "stride_x1_row": 0,
        "stride_y1_row": 0,
        "M": rows,
        "N": COLUMNS,
        "eps": 1e-5,
        "dropout_p": 0.0,
    }
    const = {
        "zero_centered_weight": False,
        "IS_RMS_NORM": False,
        "BLOCK_N": COLUMNS,
        "HAS_RESIDUAL": residual,
        "STORE_RESIDUAL_OUT": residual,
        "HAS_WEIGHT": True,
        "HAS_BIAS": True,
        **dict.fromkeys(("HAS_DROPOUT", "STORE_DROPOUT_MASK", "HAS_ROWSCALE", "HAS_X1", "HAS_W1", "HAS_B1"), False),
    }  # fmt: skip
    return Launch(".norms", "norm_forward", arguments, const, (rows,), 8)


def layer_norm_residual() -> Launch:
    return layer_norm(residual=True)


def layer_norm_backward() -> Launch:
    x = rows_of(BF16)
    rows = len(x)
    arguments = {
        "X": x,
        "W": normal(BF16, COLUMNS),
        "B": None,
        "Y": None,
        "DY": torch.randn_like(x),
        "DX": torch.empty_like(x),
        "DW": torch.empty(FEW_EACH, COLUMNS),
        "DB": torch.empty(FEW_EACH, COLUMNS),
        **dict.fromkeys(("DRESIDUAL", "DX_IN", "SEEDS")),
        "Mean": torch.randn(rows) / 64,
        "Rstd": 1 + torch.rand(rows) / 64,
        "stride_x_row": COLUMNS,
        "stride_y_row": 0,
        "stride_dy_row": COLUMNS,
        "stride_dx_row": COLUMNS,
        "stride_dres_row": 0,
        "stride_dres_in_row": 0,
        "M": rows,
        "N": COLUMNS,
        "eps": 1e-5,
        "dropout_p": 0.0,
        "rows_per_program": triton.cdiv(rows, FEW_EACH),
    }
    const = {
        "IS_RMS_NORM": False,
        "BLOCK_N": COLUMNS,
        "HAS_WEIGHT": True,
        "HAS_BIAS": True,
        **dict.fromkeys(("HAS_DRESIDUAL", "STORE_DRESIDUAL", "HAS_DROPOUT", "RECOMPUTE_OUTPUT"), False),
    }
    return Launch(".norms", "norm_backward", arguments, const, (FEW_EACH,), 8)


def rms_norm() -> Launch:
    x = rows_of(BF16)
    arguments = {
        "Y_ptr": torch.empty_like(x),
        "Y_row_stride": COLUMNS,
        "X_ptr": x,
        "X_row_stride": COLUMNS,
        "W_ptr": normal(BF16, COLUMNS),
        "W_row_stride": 1,
        "RSTD_ptr": torch.empty(len(x)),
        "RSTD_row_stride": 1,
        "n_cols": COLUMNS,
        "eps": 1e-6,
        "offset": 0.0,
    }
    const = {"casting_mode": 0, "elementwise_affine": True, "BLOCK_SIZE": COLUMNS}
    return Launch(".norms", "rms_norm_forward", arguments, const, (len(x),), 8)


def rms_norm_backward() -> Launch:
    x = rows_of(F32)
    arguments = {
        "dY_ptr": torch.randn_like(x),
        "dY_row_stride": COLUMNS,
        "dX_ptr": torch.empty_like(x),
        "dX_row_stride": COLUMNS,
        "X_ptr": x,
        "X_row_stride": COLUMNS,
        "W_ptr": normal(F32, COLUMNS),
        "W_row_stride": 1,
        "RSTD_ptr": 1 + torch.rand(len(x)) / 64,
        "RSTD_row_stride": 1,
        "dW_ptr": torch.empty(ONE_EACH, COLUMNS),
        "dW_row_stride": COLUMNS,
        "n_rows": len(x),
        "n_cols": COLUMNS,
        "offset": 0.0,
        "rows_per_program": triton.cdiv(len(x), ONE_EACH),
    }
    const = {"X_dtype": "tl.float32", "casting_mode": 1, "BLOCK_SIZE": COLUMNS}
    return Launch(".norms", "rms_norm_backward", arguments, const, (ONE_EACH,), 8)


def fused_add_rms_norm() -> Launch:
    x = rows_of(BF16)
    arguments = {
        "input_ptr": x,
        "residual_ptr": torch.randn_like(x),
        "weight_ptr": normal(BF16, COLUMNS),
        "input_row_stride": COLUMNS,
        "residual_row_stride": COLUMNS,
        "n_cols": COLUMNS,
        "eps": 1e-6,
    }
    const = {"BLOCK_SIZE": COLUMNS, "num_stages": 1}
    return Launch(".norms", "fused_add_rms_norm", arguments, const, (len(x),), 8)


#: Words of a vocabulary, no power of two, and the block that holds a row of it.
WORDS, WORDS_BLOCK = 32000, 32768


def cross_entropy() -> Launch:
    rows = 2048
    arguments = {
        "loss_ptr": torch.empty(rows),
        "lse_ptr": torch.empty(rows),
        "z_loss_ptr": torch.empty(rows),
        "logits_ptr": normal(F32, rows, WORDS),
        "labels_ptr": torch.randint(WORDS, (rows,)),
        "smoothing": 0.0,
        "logit_scale": 1.0,
        "lse_square_scale": 1e-4,
        "ignore_index": -100,
        "total_classes": WORDS,
        "class_start_idx": 0,
        "n_cols": WORDS,
        "logits_row_stride": WORDS,
    }
    const = {"BLOCK_SIZE": WORDS_BLOCK, "HAS_SMOOTHING": False, "SPLIT": False, "PRECOMPUTED_LSE": False}
    return Launch(".losses", "cross_entropy_forward", arguments, const, (rows,), 16)


def cross_entropy_backward() -> Launch:
    rows = 4096
    logits = normal(BF16, rows, WORDS)
    arguments = {
        "dlogits_ptr": torch.empty_like(logits),
        "dloss_ptr": torch.randn(rows),
        "logits_ptr": logits,
        "lse_ptr": torch.full((rows,), 10.9),
        "labels_ptr": torch.randint(WORDS, (rows,)),
        "smoothing": 0.1,
        "logit_scale": 1.0,
        "lse_square_scale": 1e-4,
        "ignore_index": -100,
        "total_classes": WORDS,
        "class_start_idx": 0,
        "n_cols": WORDS,
        "logits_row_stride": WORDS,
        "dlogits_row_stride": WORDS,
        "dloss_row_stride": 1,
    }
    const = {"BLOCK_SIZE": 4096, "HAS_SMOOTHING": True}
    return Launch(".losses", "cross_entropy_backward", arguments, const, (rows, triton.cdiv(WORDS, 4096)), 8)


def kl_div() -> Launch:
    x = rows_of(F32)
    arguments = {
        "y_ptr": torch.log_softmax(x, -1),
        "y_stride": COLUMNS,
        "gt_ptr": torch.softmax(torch.randn_like(x), -1),
        "gt_stride": COLUMNS,
        "loss_ptr": torch.empty(len(x)),
        "loss_stride": 1,
        "n_cols": COLUMNS,
        "eps": 1e-10,
    }
    const = {"BLOCK_SIZE": COLUMNS, "log_target": False, "reduction": 3}
    return Launch(".losses", "kl_div_forward", arguments, const, (len(x),), 8)


def smooth_l1() -> Launch:
    x = flat(F32)
    arguments = {
        "x_ptr": x,
        "y_ptr": torch.randn_like(x),
        "loss_ptr": torch.empty_like(x),
        "dx_ptr": torch.empty_like(x),
        "beta": 0.5,
        "n": len(x),
    }
    const = {"BLOCK": BLOCK, "HUBER": False}
    return Launch(".losses", "smooth_l1", arguments, const, (triton.cdiv(len(x), BLOCK),), 4)


def adamw() -> Launch:
    master = flat(F32)
    arguments = {
        "param_ptr": master.to(BF16),
        "grad_ptr": normal(BF16, len(master)),
        "exp_avg_ptr": torch.randn_like(master),
        "exp_avg_sq_ptr": torch.rand_like(master),
        "max_exp_avg_sq_ptr": None,
        "master_ptr": master,
        "found_inf_ptr": None,
        "grad_scale_ptr": None,
        "lr": 1e-3,
        "beta1": 0.9,
        "beta2": 0.999,
        "eps": 1e-8,
        "weight_decay": 0.01,
        "bias_correction1": 0.5,
        "bias_correction2_sqrt": 0.1,
        "n_elements": len(master),
        "seed": 7,
    }
    const = {
        "AMSGRAD": False,
        "MAXIMIZE": False,
        "DECOUPLED": True,
        "STOCHASTIC": False,
        "BLOCK_SIZE": BLOCK,
    }
    return Launch(".optimizers", "adamw_step", arguments, const, (triton.cdiv(len(master), BLOCK),), 4)


def sgd() -> Launch:
    param = flat(F32)
    arguments = {
        "param_ptr": param,
        "grad_ptr": torch.randn_like(param),
        "buffer_ptr": torch.randn_like(param),
        "lr": 1e-3,
        "momentum": 0.9,
        "dampening": 0.1,
        "weight_decay": 0.01,
        "n_elements": len(param),
        "first_step": False,
    }
    const = {"NESTEROV": True, "BLOCK_SIZE": BLOCK}
    return Launch(".optimizers", "sgd_momentum", arguments, const, (triton.cdiv(len(param), BLOCK),), 4)


def swiglu() -> Launch:
    a = rows_of(BF16)
    arguments = {"a_ptr": a, "b_ptr": torch.randn_like(a), "c_ptr": torch.empty_like(a), "stride": COLUMNS}
    const = {"n_cols": COLUMNS, "BLOCK_SIZE": COLUMNS}
    return Launch(".activations", "swiglu_forward", arguments, const, (len(a),), 8)


def swiglu_backward() -> Launch:
    a = rows_of(BF16)
    arguments = {"dc_ptr": torch.randn_like(a), "a_ptr": a, "b_ptr": torch.randn_like(a), "stride": COLUMNS}
    const = {"n_cols": COLUMNS, "BLOCK_SIZE": COLUMNS}
    return Launch(".activations", "swiglu_backward", arguments, const, (len(a),), 8)


def geglu() -> Launch:
    # The inner size of a 7B model: no power of two, so a third of the block is masked off.
    columns = 11008
    a = rows_of(BF16, columns)
    arguments = {"a": a, "b": torch.randn_like(a), "c": torch.empty_like(a), "stride": columns}
    const = {"n_cols": columns, "BLOCK_SIZE": triton.next_power_of_2(columns)}
    return Launch(".activations", "geglu_forward", arguments, const, (len(a),), 16)


def geglu_backward() -> Launch:
    a = rows_of(F32)
    arguments = {"dc": torch.randn_like(a), "a": a, "b": torch.randn_like(a), "stride": COLUMNS}
    const = {"n_cols": COLUMNS, "BLOCK_SIZE": COLUMNS}
    return Launch(".activations", "geglu_backward", arguments, const, (len(a),), 8)


def dropout() -> Launch:
    x = flat(F32)
    arguments = {
        "x_ptr": x,
        "output_ptr": torch.empty_like(x),
        "n_elements": len(x),
        "p": 0.1,
        "seed": 12345,
    }
    return Launch(
        ".dropout", "seeded_dropout", arguments, {"BLOCK_SIZE": BLOCK}, (triton.cdiv(len(x), BLOCK),), 4
    )


def rope() -> Launch:
    batch, length, heads, kv_heads, size = 8, 4096, 32, 8, 128
    tokens = batch * length
    arguments = {
        "q_ptr": normal(BF16, tokens, heads, size),
        "q_row_stride": heads * size,
        "k_ptr": normal(BF16, tokens, kv_heads, size),
        "k_row_stride": kv_heads * size,
        **angles(length, size),
        "sl": length,
    }
    const = {
        "bs": batch,
        "cos_bs": 1,
        "n_qh": heads,
        "n_kh": kv_heads,
        "hd": size,
        "pad_n_qh": heads,
        "pad_n_kh": kv_heads,
        "pad_hd": size,
        "BLOCK_SIZE": heads,
        "BACKWARD_PASS": False,
    }
    return Launch(".rotary", "rope_in_place", arguments, const, (tokens,), 4)


def angles(length: int, size: int) -> dict[str, Any]:
    turns = torch.rand(length, size // 2) * 6.28
    return {
        "cos": turns.cos(),
        "cos_row_stride": size // 2,
        "sin": turns.sin(),
        "sin_row_stride": size // 2,
    }


def rotary() -> Launch:
    batch, length, heads, size = 8, 4096, 32, 128
    x = normal(BF16, batch, length, heads, size)
    table = angles(length, size)
    strides = (length * heads * size, heads * size, size, 1)
    axes = ("batch", "seqlen", "nheads", "headdim")
    arguments = {
        "OUT": torch.empty_like(x),
        "X": x,
        "COS": table["cos"],
        "SIN": table["sin"],
        "CU_SEQLENS": None,
        "SEQLEN_OFFSETS": 0,
        "seqlen": length,
        "nheads": heads,
        "seqlen_ro": length,
        **{f"stride_{of}_{axis}": s for of in ("out", "x") for axis, s in zip(axes, strides, strict=True)},
    }
    const = {
        "ROTARY_DIM": size,
        "IS_SEQLEN_OFFSETS_TENSOR": False,
        "IS_VARLEN": False,
        "INTERLEAVED": False,
        "CONJUGATE": False,
        "BLOCK_H": 2,
        "BLOCK_M": 8,
    }
    return Launch(".rotary", "rotary_general", arguments, const, (heads // 2, length // 8, batch), 4)


def embedding() -> Launch:
    # As many words looked up as there are: what is read at least is about what the table holds.
    table = rows_of(BF16)
    rows = len(table)
    arguments = {
        "embeddings_ptr": table,
        "indices_ptr": torch.randint(rows, (rows,)),
        "output_ptr": torch.empty_like(table),
        "n_elements": rows,
    }
    const = {"embedding_dim": COLUMNS, "BLOCK_SIZE_M": 128, "BLOCK_SIZE_N": 128}
    return Launch(".embedding", "embedding_forward", arguments, const, (rows // 128, COLUMNS // 128), 4)


def log_softmax() -> Launch:
    x = rows_of(F32)
    arguments = {"out_ptr": torch.empty_like(x), "in_ptr": x, "row_stride": COLUMNS, "n_cols": COLUMNS}
    return Launch(".softmax", "log_softmax_long", arguments, {"BLOCK": 2048, "LOG": True}, (len(x),), 8)


def softmax_persistent() -> Launch:
    x = rows_of(F32)
    arguments = {
        "out_ptr": torch.empty_like(x),
        "in_ptr": x,
        "in_stride": COLUMNS,
        "out_stride": COLUMNS,
        "n_rows": len(x),
        "n_cols": COLUMNS,
    }
    const = {"BLOCK": COLUMNS, "num_stages": 2}
    return Launch(".softmax", "softmax_persistent", arguments, const, (4 * ONE_EACH,), 8)


def softmax_backward() -> Launch:
    x = rows_of(BF16)
    arguments = {
        "dx_ptr": torch.empty_like(x),
        "y_ptr": torch.softmax(x.float(), -1).to(BF16),
        "dy_ptr": torch.randn_like(x),
        "stride": COLUMNS,
        "n_rows": len(x),
        "n_cols": COLUMNS,
        "scale": 0.125,
    }
    const = {"BM": 1, "BN": COLUMNS, "LOG": False}
    return Launch(".softmax", "softmax_backward", arguments, const, (len(x),), 8)


def cumsum() -> Launch:
    x = rows_of(F32)
    arguments = {"in_ptr": x, "out_ptr": torch.empty_like(x), "row_stride": COLUMNS, "n_cols": COLUMNS}
    const = {"REVERSE": False, "EXCLUSIVE": False, "BLOCK": 1024}
    return Launch(".scans", "cumsum_rows", arguments, const, (len(x),), 4)


def quantise_rows() -> Launch:
    x = rows_of(BF16)
    arguments = {
        "x_ptr": x,
        "q_ptr": torch.empty_like(x, dtype=I8),
        "scale_ptr": torch.empty(len(x)),
        "n_cols": COLUMNS,
        "stride_x": COLUMNS,
        "stride_q": COLUMNS,
    }
    return Launch(".quantise", "quantise_rows", arguments, {"BLOCK": COLUMNS, "LONG": False}, (len(x),), 8)


def transpose() -> Launch:
    x = rows_of(F32, 8192)
    rows, columns = x.shape
    arguments = {
        "x_ptr": x,
        "y_ptr": torch.empty(columns, rows),
        "M": rows,
        "N": columns,
        "stride_xm": columns,
        "stride_yn": rows,
    }
    return Launch(".copies", "transpose_2d", arguments, {"BM": 64, "BN": 64}, (rows // 64, columns // 64), 4)


LAUNCHES: dict[str, Callable[[], Launch]] = {
    "layer norm": layer_norm,
    "layer norm + residual": layer_norm_residual,
    "layer norm backward": layer_norm_backward,
    "rms norm": rms_norm,
    "rms norm backward": rms_norm_backward,
    "add + rms norm": fused_add_rms_norm,
    "cross entropy": cross_entropy,
    "cross entropy backward": cross_entropy_backward,
    "KL divergence": kl_div,
    "smooth L1": smooth_l1,
    "AdamW": adamw,
    "SGD": sgd,
    "SwiGLU": swiglu,
    "SwiGLU backward": swiglu_backward,
    "GEGLU": geglu,
    "GEGLU backward": geglu_backward,
    "dropout": dropout,
    "RoPE in place": rope,
    "rotary": rotary,
    "embedding": embedding,
    "log softmax": log_softmax,
    "softmax, persistent": softmax_persistent,
    "softmax backward": softmax_backward,
    "cumsum": cumsum,
    "quantise rows": quantise_rows,
    "transpose": transpose,
}


def made(name: str, device: str) -> Launch:
    """A launch with its arrays on a device. Only while they are made: a default device costs time at every call of torch."""
    with torch.device(device):
        return LAUNCHES[name]()


def traffic(artifact: teenybuild.Artifact, launch: Launch) -> int:
    """Bytes of the arrays, twice where they are both read and written."""
    sizes = {"read": 1, "write": 1, "readwrite": 2}
    return sum(
        sizes.get(row["access"], 0) * launch.arguments[row["name"]].nbytes
        for row in artifact.abi["arguments"]
        if row["kind"] == "pointer"
    )


def apart(ours: torch.Tensor, theirs: torch.Tensor) -> float:
    """How far results are apart, in parts of what is allowed: 1.0 is the most."""
    columns = COLUMNS if ours.numel() % COLUMNS == 0 else ours.shape[-1]
    a, b = ours.view(-1, columns), theirs.view(-1, columns)
    # A piece at a time: float64 takes several times the memory.
    pieces = zip(a.split(2048), b.split(2048), strict=True)
    return max(relative_error(x, y.double()) for x, y in pieces) / APART[ours.dtype]


def case(name: str, launch: Launch, directory: Path) -> Case:
    """Both sides, ready to run on a device."""
    artifact = compiled(launch, directory)
    our_run, their_run = our_runs(launch, artifact, directory), their_runs(launch)
    access = {row["name"]: row["access"] for row in artifact.abi["arguments"] if row["kind"] == "pointer"}
    written = [name for name, how in access.items() if "write" in how]

    # In-place kernels change their arguments whenever they run, so those that are timed drift: that costs no time. The check begins with these.
    before = {name: launch.arguments[name].clone() for name in written}

    def check() -> float:
        results: list[dict[str, torch.Tensor]] = []
        for side, run in enumerate((our_run, their_run)):
            outputs = {name: before[name].clone() for name in written}
            for name in written:
                if access[name] == "write":
                    poison(outputs[name], (0x5A, 0x25)[side])
            run({**launch.arguments, **outputs})()
            torch.cuda.synchronize()
            results.append(outputs)
        before.clear()
        return max(apart(results[0][name], results[1][name]) for name in written)

    size = traffic(artifact, launch)
    return Case(name, size, our_run(launch.arguments), their_run(launch.arguments), check, 1.0)


def dry_run(names: list[str], directory: Path) -> None:
    """Compiles both sides of every case."""
    for name in names:
        # Arrays with shapes and no memory.
        launch = made(name, "meta")
        artifact = compile_both(launch, directory)
        rows = artifact.abi["arguments"]
        written = [row["name"] for row in rows if "write" in str(row["access"])]
        print(f"{name:34} {traffic(artifact, launch) / 1e6:7.0f} MB, writes {', '.join(written)}", flush=True)


def cases(names: list[str], directory: Path) -> Iterator[Case]:
    for name in names:
        launch = made(name, "cuda")
        arrays = [value for value in launch.arguments.values() if isinstance(value, torch.Tensor)]
        largest = max(arrays, key=lambda array: array.numel())
        yield case(f"{name}, {TYPES[largest.dtype]}", launch, directory)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=21)
    parser.add_argument("--json", type=Path)
    parser.add_argument("--only", choices=LAUNCHES)
    parser.add_argument("--dry-run", action="store_true", help="compile both sides and launch nothing")
    arguments = parser.parse_args()
    names = [arguments.only] if arguments.only else list(LAUNCHES)
    with tempfile.TemporaryDirectory() as raw:
        if arguments.dry_run:
            dry_run(names, Path(raw))
            return 0
        torch.manual_seed(1)
        print(f"{torch.cuda.get_device_name(0)}, torch {torch.__version__}, triton {triton.__version__}")
        return report(*measure(cases(names, Path(raw)), arguments.rounds), arguments.json)


if __name__ == "__main__":
    raise SystemExit(main())
