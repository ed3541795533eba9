"""Convolutions: of images as one matrix product, depthwise ones, causal ones along time."""

import torch
import triton
import triton.language as tl

from .common import apply_activation, silu


def conv2d_output_size(in_size, kernel_size, stride, padding, dilation):
    return (in_size + 2 * padding - dilation * (kernel_size - 1) - 1) // stride + 1


@triton.jit
def conv2d_forward(
    input_pointer, weight_pointer, output_pointer, bias_pointer,
    in_n, input_height, input_width, out_c, out_height, out_width,
    input_n_stride, input_c_stride, input_height_stride, input_width_stride,
    weight_n_stride, weight_c_stride, weight_height_stride, weight_width_stride,
    output_n_stride, output_c_stride, output_height_stride, output_width_stride,
    weight_c: tl.constexpr, weight_height: tl.constexpr, weight_width: tl.constexpr,
    stride_height: tl.constexpr, stride_width: tl.constexpr, padding_height: tl.constexpr, padding_width: tl.constexpr,
    dilation_height: tl.constexpr, dilation_width: tl.constexpr, groups: tl.constexpr,
    BLOCK_NI_HO_WO: tl.constexpr, BLOCK_CI: tl.constexpr, BLOCK_CO: tl.constexpr, ACTIVATION: tl.constexpr,
):
    """Rows are places of the output of all images, columns channels; a product for each place of the weights."""
    pid_ni_ho_wo = tl.program_id(0)
    pid_co = tl.program_id(1)
    pid_group = tl.program_id(2)
    ni_ho_wo_offset = pid_ni_ho_wo * BLOCK_NI_HO_WO + tl.arange(0, BLOCK_NI_HO_WO)
    ni_ho_offset = ni_ho_wo_offset // out_width
    in_n_point_value = ni_ho_offset // out_height
    output_height_point_value = ni_ho_offset % out_height
    output_width_point_value = ni_ho_wo_offset % out_width
    out_per_group_c = out_c // groups
    output_c_offset = pid_co * BLOCK_CO + tl.arange(0, BLOCK_CO)
    input_pointer += (input_n_stride * in_n_point_value + input_c_stride * pid_group * weight_c)[:, None]
    weight_pointer += (weight_n_stride * output_c_offset + weight_n_stride * pid_group * out_per_group_c)[None, :]
    accum = tl.zeros((BLOCK_NI_HO_WO, BLOCK_CO), dtype=tl.float32)
    BLOCK_CI_COUNT = (weight_c + BLOCK_CI - 1) // BLOCK_CI
    for hwc in range(weight_height * weight_width * BLOCK_CI_COUNT):
        c = (hwc % BLOCK_CI_COUNT) * BLOCK_CI
        hw = hwc // BLOCK_CI_COUNT
        h = hw // weight_width
        w = hw % weight_width
        input_c_offset = c + tl.arange(0, BLOCK_CI)
        input_height_offset = h * dilation_height - padding_height + stride_height * output_height_point_value
        input_width_offset = w * dilation_width - padding_width + stride_width * output_width_point_value
        curr_input_pointer = (
            input_pointer
            + (input_c_stride * input_c_offset)[None, :]
            + (input_height_stride * input_height_offset)[:, None]
            + (input_width_stride * input_width_offset)[:, None]
        )
        curr_weight_pointer = (
            weight_pointer + (weight_c_stride * input_c_offset)[:, None] + (weight_height_stride * h) + (weight_width_stride * w)
        )
        input_mask = (
            (in_n_point_value < in_n)[:, None]
            & (input_c_offset < weight_c)[None, :]
            & (0 <= input_height_offset)[:, None]
            & (input_height_offset < input_height)[:, None]
            & (0 <= input_width_offset)[:, None]
            & (input_width_offset < input_width)[:, None]
        )
        weight_mask = (input_c_offset < weight_c)[:, None] & (output_c_offset < out_per_group_c)[None, :]
        input_block = tl.load(curr_input_pointer, mask=input_mask, other=0.0)
        weight_block = tl.load(curr_weight_pointer, mask=weight_mask, other=0.0)
        accum += tl.dot(input_block, weight_block, allow_tf32=False)
    if bias_pointer is not None:
        bias_pointer += (pid_group[None] * out_per_group_c)[None, :] + output_c_offset[None, :]
        mask_bias = (output_c_offset < out_per_group_c)[None, :]
        bias = tl.load(bias_pointer, mask=mask_bias, other=0.0).to(tl.float32)
        accum += bias
    accum = apply_activation(accum, ACTIVATION)
    output_pointer += (
        (output_n_stride * in_n_point_value)[:, None]
        + (output_c_stride * (pid_group * out_per_group_c + output_c_offset))[None, :]
        + (output_height_stride * output_height_point_value)[:, None]
        + (output_width_stride * output_width_point_value)[:, None]
    )
    output_mask = (
        (in_n_point_value < in_n)[:, None]
        & (output_c_offset < out_per_group_c)[None, :]
        & (output_height_point_value < out_height)[:, None]
        & (output_width_point_value < out_width)[:, None]
    )
    tl.store(output_pointer, accum, mask=output_mask)


@triton.jit
def causal_conv1d_forward(
    x_ptr, w_ptr, bias_ptr, initial_ptr, out_ptr, final_ptr, D, T, stride_xb, stride_xt, stride_xd,
    WIDTH: tl.constexpr, BT: tl.constexpr, BD: tl.constexpr, SILU: tl.constexpr, HAS_INITIAL: tl.constexpr, STORE_FINAL: tl.constexpr,
):
    """Each channel along time with WIDTH weights; what comes before the start is a state, or zeros."""
    batch = tl.program_id(2)
    t = tl.program_id(0) * BT + tl.arange(0, BT)
    d = tl.program_id(1) * BD + tl.arange(0, BD)
    mask_d = d < D
    x_ptr += batch.to(tl.int64) * stride_xb
    acc = tl.zeros((BT, BD), tl.float32)
    for i in tl.static_range(WIDTH):
        at = t - (WIDTH - 1) + i
        w = tl.load(w_ptr + d * WIDTH + i, mask=mask_d, other=0.0).to(tl.float32)
        inside = (at >= 0) & (at < T)
        x = tl.load(x_ptr + at[:, None] * stride_xt + d[None, :] * stride_xd, mask=inside[:, None] & mask_d[None, :], other=0.0).to(tl.float32)
        if HAS_INITIAL:
            before = tl.load(
                initial_ptr + (batch * D + d[None, :]) * (WIDTH - 1) + (at + WIDTH - 1)[:, None],
                mask=(at < 0)[:, None] & mask_d[None, :],
                other=0.0,
            )
            x += before.to(tl.float32)
        acc += x * w[None, :]
    if bias_ptr is not None:
        acc += tl.load(bias_ptr + d, mask=mask_d, other=0.0).to(tl.float32)[None, :]
    if SILU:
        acc = silu(acc)
    mask = (t < T)[:, None] & mask_d[None, :]
    tl.store(out_ptr + batch.to(tl.int64) * stride_xb + t[:, None] * stride_xt + d[None, :] * stride_xd, acc, mask=mask)
    if STORE_FINAL:
        if tl.program_id(0) == 0:
            for i in tl.static_range(WIDTH - 1):
                last = T - (WIDTH - 1) + i
                value = tl.load(x_ptr + last * stride_xt + d * stride_xd, mask=mask_d & (last >= 0), other=0.0)
                if HAS_INITIAL:
                    if last < 0:
                        value = tl.load(initial_ptr + (batch * D + d) * (WIDTH - 1) + last + WIDTH - 1, mask=mask_d, other=0.0)
                tl.store(final_ptr + (batch * D + d) * (WIDTH - 1) + i, value, mask=mask_d)


@triton.jit
def causal_conv1d_update(
    x_ptr, state_ptr, state_indices_ptr, w_ptr, bias_ptr, out_ptr, D, pad_slot, stride_xb, stride_sb,
    WIDTH: tl.constexpr, BD: tl.constexpr, SILU: tl.constexpr,
):
    """One more token of each sequence: the states move on by one place."""
    batch = tl.program_id(0)
    d = tl.program_id(1) * BD + tl.arange(0, BD)
    mask = d < D
    slot = tl.load(state_indices_ptr + batch).to(tl.int64)
    if slot == pad_slot:
        return
    state = state_ptr + slot * stride_sb + d * (WIDTH - 1)
    new = tl.load(x_ptr + batch * stride_xb + d, mask=mask, other=0.0)
    acc = new.to(tl.float32) * tl.load(w_ptr + d * WIDTH + WIDTH - 1, mask=mask, other=0.0)
    for i in tl.static_range(WIDTH - 1):
        old = tl.load(state + i, mask=mask, other=0.0)
        acc += old.to(tl.float32) * tl.load(w_ptr + d * WIDTH + i, mask=mask, other=0.0)
        if i > 0:
            tl.store(state + i - 1, old, mask=mask)
    tl.store(state + WIDTH - 2, new, mask=mask)
    if bias_ptr is not None:
        acc += tl.load(bias_ptr + d, mask=mask, other=0.0)
    if SILU:
        acc = silu(acc)
    tl.store(out_ptr + batch * stride_xb + d, acc, mask=mask)


@triton.jit
def causal_conv1d_backward(
    x_ptr, w_ptr, dy_ptr, dx_ptr, dw_ptr, db_ptr, D, T, stride_b, stride_t, WIDTH: tl.constexpr, BT: tl.constexpr, BD: tl.constexpr,
):
    """dx, and by atomics the gradients of weights and bias."""
    batch = tl.program_id(1)
    d = tl.program_id(0) * BD + tl.arange(0, BD)
    mask_d = d < D
    base = batch.to(tl.int64) * stride_b
    db = tl.zeros((BD,), tl.float32)
    for first in range(0, T, BT):
        t = first + tl.arange(0, BT)
        mask = (t < T)[:, None] & mask_d[None, :]
        dy = tl.load(dy_ptr + base + t[:, None] * stride_t + d[None, :], mask=mask, other=0.0).to(tl.float32)
        db += tl.sum(dy, axis=0)
        dx = tl.zeros((BT, BD), tl.float32)
        for i in tl.static_range(WIDTH):
            w = tl.load(w_ptr + d * WIDTH + i, mask=mask_d, other=0.0).to(tl.float32)
            # The output that this weight brought this input to, and the input it brought to this output.
            later = t + (WIDTH - 1) - i
            after = tl.load(dy_ptr + base + later[:, None] * stride_t + d[None, :], mask=(later < T)[:, None] & mask_d[None, :], other=0.0)
            dx += after.to(tl.float32) * w[None, :]
            earlier = t - (WIDTH - 1) + i
            x = tl.load(x_ptr + base + earlier[:, None] * stride_t + d[None, :], mask=(earlier >= 0)[:, None] & mask, other=0.0)
            tl.atomic_add(dw_ptr + d * WIDTH + i, tl.sum(x.to(tl.float32) * dy, axis=0), mask=mask_d)
        tl.store(dx_ptr + base + t[:, None] * stride_t + d[None, :], dx, mask=mask)
    tl.atomic_add(db_ptr + d, db, mask=mask_d)


@triton.jit
def depthwise_conv2d(
    x_ptr, w_ptr, b_ptr, y_ptr, C, H, W, OH, OW, KH: tl.constexpr, KW: tl.constexpr, SH: tl.constexpr, SW: tl.constexpr,
    PH: tl.constexpr, PW: tl.constexpr, BLOCK: tl.constexpr,
):
    plane = tl.program_id(1)
    channel = plane % C
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    oh, ow = at // OW, at % OW
    acc = tl.zeros((BLOCK,), tl.float32) + tl.load(b_ptr + channel)
    for i in tl.static_range(KH):
        for j in tl.static_range(KW):
            ih, iw = oh * SH - PH + i, ow * SW - PW + j
            inside = (ih >= 0) & (ih < H) & (iw >= 0) & (iw < W) & (at < OH * OW)
            x = tl.load(x_ptr + plane.to(tl.int64) * H * W + ih * W + iw, mask=inside, other=0.0).to(tl.float32)
            acc += x * tl.load(w_ptr + (channel * KH + i) * KW + j)
    tl.store(y_ptr + plane.to(tl.int64) * OH * OW + at, acc, mask=at < OH * OW)


def causal_conv1d(x, weight, bias=None, activation=None):
    b, t, d = x.shape
    y = torch.empty_like(x)
    grid = (triton.cdiv(t, 16), triton.cdiv(d, 32), b)
    causal_conv1d_forward[grid](
        x, weight, bias, None, y, None, d, t, *x.stride(), WIDTH=weight.shape[1], BT=16, BD=32, SILU=activation == "silu",
        HAS_INITIAL=False, STORE_FINAL=False,
    )
    return y
