"""The tests of the language once more, with a GPU as a third target: the same bits there as on the host.

What is left out is left out by name, with its reason: GPUs approximate some functions, and some tests are about the host's memory.
"""

from __future__ import annotations

import inspect
from collections.abc import Iterator
from functools import partial
from importlib import import_module
from types import ModuleType
from typing import Any

import device as gpu
import numpy as np
import pytest

from tests.support import run

from .program import GpuProgram

pytestmark = pytest.mark.gpu

#: The modules of ``tests/language`` that are run.
NAMES = (
    "test_addresses",
    "test_atomics",
    "test_bessel",
    "test_block_copies",
    "test_block_pointers",
    "test_casts",
    "test_combining",
    "test_control",
    "test_descriptor_arguments",
    "test_descriptors",
    "test_dot",
    "test_dot_scaled",
    "test_fp8",
    "test_gather",
    "test_joining",
    "test_libdevice",
    "test_many_axes",
    "test_mapping",
    "test_math_functions",
    "test_memory",
    "test_moves",
    "test_pipelines",
    "test_python",
    "test_random_numbers",
    "test_reductions",
    "test_scans",
    "test_shapes",
    "test_sorting",
    "test_tensor_cores",
    "test_tuple_arguments",
    "test_while",
)

#: exp2, sqrt, divisions and the like are the GPU's own instructions there (tests/gpu/test_library.py holds them to a tolerance).
APPROXIMATE = {
    "test_combining": {"test_softmax", "test_functions_of_the_kernels_own"},
    "test_libdevice": {"test_fast_functions", "test_reciprocals_of_upper_halves"},
    "test_random_numbers": {"test_normal_numbers_are_box_and_mullers"},
    "test_math_functions": {"test_errors_where_a_gpu_approximates"},
    "test_pipelines": {"test_attention"},
    "test_reductions": {"test_softmax"},
    "test_fp8": {"test_quantising_rows"},
}
#: Tensor cores sum floats in an order and with roundings of their own (whole numbers come out exact: test_dot.test_tensor_cores).
SUMMED_ELSEWHERE = {
    "test_dot": {"test_an_f16_accumulator", "test_several_matrices_round_as_one"},
    "test_dot_scaled": {"test_sums_are_those_of_dot"},
    "test_pipelines": {"test_a_loop_that_writes_what_it_reads_is_left_alone"},
    "test_tensor_cores": {
        "test_floats_of_8_bits_that_round",
        "test_tf32_leaves_bits_out",
        "test_three_products_in_a_loop",
        "test_three_products_of_tf32",
    },
}
#: About the host's memory, with pages that fault and bytes beside arrays, and about how it emulates a GPU's copies.
ABOUT_HOST_MEMORY = {
    "test_block_copies": {"test_a_wrong_phase_shows"},
    "test_pipelines": {"test_a_missing_wait_shows"},
    "test_python": {
        "test_what_kernels_may_not_say",
        "test_named_tuples_that_do_more",
        "test_clocks_and_multiprocessors_are_of_gpus",
    },
    "test_addresses": {
        "test_accesses_of_nobody_are_not_reported",
        "test_products_of_a_group",
        "test_what_a_stray_pointer_may_touch",
        "test_what_is_no_address",
    },
    "test_memory": {"test_the_tests_see_a_stray_write", "test_a_pointer_that_is_never_followed"},
}


def taken(module: ModuleType) -> Iterator[tuple[str, Any]]:
    """Tests of a module that run on a GPU, with names of their own."""
    short = module.__name__.rpartition(".")[2]
    left_out = {n for why in (APPROXIMATE, SUMMED_ELSEWHERE, ABOUT_HOST_MEMORY) for n in why.get(short, ())}
    tests = {n: f for n, f in vars(module).items() if n.startswith("test_") and inspect.isfunction(f)}
    assert left_out <= set(tests), f"{short} has no {left_out - set(tests)}"
    for name, function in tests.items():
        if name not in left_out:
            yield f"{short}__{name.removeprefix('test_')}", function


for _name in NAMES:
    globals().update(taken(import_module(f"tests.language.{_name}")))


@pytest.fixture(autouse=True)
def on_the_gpu_too(monkeypatch: pytest.MonkeyPatch, device: gpu.Device, target: str) -> Iterator[None]:
    monkeypatch.setitem(run.COMPARED, target, partial(GpuProgram, device))
    with np.errstate(all="ignore"):
        yield
