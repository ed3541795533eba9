"""Losses with their gradients: cross entropy in several ways, divergences, and losses of each element."""

import torch
import triton
import triton.language as tl

from .common import LN2, LOG2E, online_softmax, sigmoid, softplus, tanh

_REDUCTION_MODE_NONE: tl.constexpr = tl.constexpr(0)
_REDUCTION_MODE_SUM: tl.constexpr = tl.constexpr(1)
_REDUCTION_MODE_MEAN: tl.constexpr = tl.constexpr(2)
_REDUCTION_MODE_BATCHMEAN: tl.constexpr = tl.constexpr(3)
MAX_FUSED_SIZE = 65536 // 2


@triton.jit
def fused_cross_entropy(
    X_ptr,
    X_stride,
    Y_ptr,
    Y_stride,
    weight_ptr,
    loss_ptr,
    z_loss_ptr,
    loss_stride,
    token_accuracy_ptr,
    token_accuracy_stride,
    n_cols,
    n_non_ignore,
    sum_non_ignore_weight,
    weight_sum,
    ignore_index,
    lse_square_scale: tl.constexpr,
    label_smoothing: tl.constexpr,
    reduction: tl.constexpr,
    softcap,
    RETURN_Z_LOSS: tl.constexpr,
    RETURN_TOKEN_ACCURACY: tl.constexpr,
    BLOCK_SIZE: tl.constexpr,
    HAS_WEIGHT: tl.constexpr,
    HAS_SOFTCAPPING: tl.constexpr,
    HAS_GRADIENTS: tl.constexpr,
):
    """Loss of a row, and in place of its logits their gradient: online softmax, then one more pass."""
    program_id = tl.program_id(0).to(tl.int64)
    # The label comes first: a row that is ignored has no gradient.
    Y_ptr += program_id * Y_stride
    y = tl.load(Y_ptr)
    X_ptr += program_id * X_stride
    if y == ignore_index:
        if HAS_GRADIENTS:
            for i in range(0, n_cols, BLOCK_SIZE):
                X_offsets = i + tl.arange(0, BLOCK_SIZE)
                tl.store(X_ptr + X_offsets, 0.0, mask=X_offsets < n_cols)
        if RETURN_TOKEN_ACCURACY:
            token_accuracy_ptr += program_id * token_accuracy_stride
            tl.store(token_accuracy_ptr, 0.0)
        return
    loss_ptr += program_id * loss_stride
    if RETURN_Z_LOSS:
        z_loss_ptr += program_id * loss_stride
    if RETURN_TOKEN_ACCURACY:
        token_accuracy_ptr += program_id * token_accuracy_stride
    if HAS_WEIGHT:
        weight_y = tl.load(weight_ptr + y).cast(tl.float32)
    m = float("-inf")
    d = 0.0
    argmax_idx = 0
    ori_X_y = tl.load(X_ptr + y).cast(tl.float32)
    if HAS_SOFTCAPPING:
        ori_X_y = softcap * tanh(ori_X_y / softcap)
    scaled_x_sum = 0.0
    eps = label_smoothing / n_cols
    for i in range(0, n_cols, BLOCK_SIZE):
        X_offsets = i + tl.arange(0, BLOCK_SIZE)
        X_block = tl.load(X_ptr + X_offsets, mask=X_offsets < n_cols, other=float("-inf")).cast(tl.float32)
        if HAS_SOFTCAPPING:
            X_block = tl.where(X_offsets < n_cols, softcap * tanh(X_block / softcap), float("-inf"))
        block_max = tl.max(X_block)
        if RETURN_TOKEN_ACCURACY:
            is_max_mask = X_block == block_max
            masked_offsets = tl.where(is_max_mask, X_offsets, n_cols)
            current_min_offset = tl.min(masked_offsets)
            argmax_idx = tl.where(block_max > m, current_min_offset, argmax_idx)
        if label_smoothing > 0:
            if HAS_WEIGHT:
                weight_block = tl.load(weight_ptr + X_offsets, mask=X_offsets < n_cols, other=0.0)
                scaled_x_sum += tl.sum(tl.where(X_offsets < n_cols, -eps * X_block * weight_block, 0.0))
            else:
                scaled_x_sum += tl.sum(tl.where(X_offsets < n_cols, -eps * X_block, 0.0))
        m_new = tl.maximum(m, block_max)
        d = d * tl.exp(m - m_new) + tl.sum(tl.exp(X_block - m_new))
        m = m_new
    lse = m + tl.log(d)
    if HAS_GRADIENTS:
        for i in range(0, n_cols, BLOCK_SIZE):
            X_offsets = i + tl.arange(0, BLOCK_SIZE)
            X_block = tl.load(X_ptr + X_offsets, mask=X_offsets < n_cols, other=float("-inf")).cast(tl.float32)
            if HAS_SOFTCAPPING:
                intermediate = tanh(X_block / softcap)
                X_block = softcap * intermediate
            if not HAS_WEIGHT:
                X_block = tl.exp(X_block - m) / d
                X_block += 2 * lse_square_scale * lse * X_block
                X_block += -eps
                X_block = tl.where(X_offsets != y, X_block, X_block - (1 - label_smoothing))
                if reduction == "mean":
                    X_block = X_block / n_non_ignore
            else:
                weight_block = tl.load(weight_ptr + X_offsets, mask=X_offsets < n_cols)
                softmax_X = tl.exp(X_block - m) / d
                dloss_ori = (1 - label_smoothing) * softmax_X
                dloss_ori = tl.where(X_offsets != y, dloss_ori, dloss_ori - (1 - label_smoothing))
                dloss_ori = dloss_ori * weight_y
                dloss_smooth = eps * (-weight_block + softmax_X * weight_sum)
                dz_loss = 2 * lse_square_scale * lse * softmax_X
                if reduction == "mean":
                    dloss_ori = dloss_ori / sum_non_ignore_weight
                    dloss_smooth = dloss_smooth / sum_non_ignore_weight
                    dz_loss = dz_loss / n_non_ignore
                X_block = dloss_ori + dloss_smooth + dz_loss
            if HAS_SOFTCAPPING:
                X_block = X_block * (1 - intermediate * intermediate)
            tl.store(X_ptr + X_offsets, X_block, mask=X_offsets < n_cols)
    # What is stored above is read by others only.
    tl.debug_barrier()
    loss = lse - ori_X_y
    if HAS_WEIGHT:
        loss = weight_y * loss
    if label_smoothing > 0:
        if HAS_WEIGHT:
            smooth_loss = scaled_x_sum + eps * lse * weight_sum
        else:
            smooth_loss = scaled_x_sum + label_smoothing * lse
        loss = loss * (1 - label_smoothing) + smooth_loss
    z_loss = lse_square_scale * lse * lse
    if reduction == "mean":
        if HAS_WEIGHT:
            loss = loss / sum_non_ignore_weight
        else:
            loss = loss / n_non_ignore
        z_loss = z_loss / n_non_ignore
    loss += z_loss
    tl.store(loss_ptr, loss)
    if RETURN_Z_LOSS:
        tl.store(z_loss_ptr, z_loss)
    if RETURN_TOKEN_ACCURACY:
        is_correct = 1.0 if argmax_idx == y else 0.0
        tl.store(token_accuracy_ptr, is_correct)


@triton.heuristics({"HAS_SMOOTHING": lambda args: args["smoothing"] > 0.0})
@triton.jit
def cross_entropy_forward(
    loss_ptr, lse_ptr, z_loss_ptr, logits_ptr, labels_ptr, smoothing, logit_scale, lse_square_scale, ignore_index,
    total_classes, class_start_idx, n_cols, logits_row_stride,
    BLOCK_SIZE: tl.constexpr, HAS_SMOOTHING: tl.constexpr, SPLIT: tl.constexpr, PRECOMPUTED_LSE: tl.constexpr,
):
    """Loss of a row, or of this device's part of it (SPLIT: the vocabulary is spread over devices)."""
    row_idx = tl.program_id(0)
    logits_ptr = logits_ptr + row_idx * logits_row_stride.to(tl.int64)
    sum_logits = 0.0
    if not PRECOMPUTED_LSE:
        m_i = -float("inf")
        l_i = 0.0
        for col_offset in range(0, n_cols, BLOCK_SIZE):
            cols = col_offset + tl.arange(0, BLOCK_SIZE)
            logits = tl.load(logits_ptr + cols, mask=cols < n_cols, other=-float("inf")).to(tl.float32) * logit_scale
            if HAS_SMOOTHING:
                sum_logits += tl.sum(tl.where(cols < n_cols, logits, 0.0))
            m_i_new = tl.maximum(m_i, tl.max(logits))
            l_i = tl.exp(m_i - m_i_new) * l_i + tl.sum(tl.exp(logits - m_i_new))
            m_i = m_i_new
        lse = tl.log(l_i) + m_i
        tl.store(lse_ptr + row_idx, lse)
    else:
        lse = tl.load(lse_ptr + row_idx)
    label_idx = tl.load(labels_ptr + row_idx)
    if label_idx == ignore_index:
        loss = 0.0
        z_loss = 0.0
    else:
        label_idx -= class_start_idx
        if label_idx >= 0 and label_idx < n_cols:
            logits_label = tl.load(logits_ptr + label_idx) * logit_scale
            if HAS_SMOOTHING:
                loss = (lse if not SPLIT else 0.0) - smoothing * sum_logits / total_classes - (1 - smoothing) * logits_label
            else:
                loss = (lse if not SPLIT else 0.0) - logits_label
        else:
            # The label lies in another device's part.
            if HAS_SMOOTHING:
                loss = smoothing * ((lse if not SPLIT else 0.0) - sum_logits / total_classes)
            else:
                loss = 0.0
        if not SPLIT:
            z_loss = lse_square_scale * lse * lse
            loss += z_loss
        else:
            z_loss = 0.0
    tl.store(loss_ptr + row_idx, loss)
    if not SPLIT:
        tl.store(z_loss_ptr + row_idx, z_loss)


@triton.heuristics({"HAS_SMOOTHING": lambda args: args["smoothing"] > 0.0})
@triton.jit
def cross_entropy_backward(
    dlogits_ptr, dloss_ptr, logits_ptr, lse_ptr, labels_ptr, smoothing, logit_scale, lse_square_scale, ignore_index,
    total_classes, class_start_idx, n_cols, logits_row_stride, dlogits_row_stride, dloss_row_stride,
    BLOCK_SIZE: tl.constexpr, HAS_SMOOTHING: tl.constexpr,
):
    row_idx = tl.program_id(0)
    col_block_idx = tl.program_id(1)
    logits_ptr = logits_ptr + row_idx * logits_row_stride.to(tl.int64)
    dlogits_ptr = dlogits_ptr + row_idx * dlogits_row_stride.to(tl.int64)
    col_offsets = col_block_idx * BLOCK_SIZE + tl.arange(0, BLOCK_SIZE)
    label_idx = tl.load(labels_ptr + row_idx)
    if label_idx != ignore_index:
        dloss = tl.load(dloss_ptr + row_idx * dloss_row_stride)
    else:
        dloss = 0.0
    logits = tl.load(logits_ptr + col_offsets, mask=col_offsets < n_cols, other=-float("inf")).to(tl.float32) * logit_scale
    lse = tl.load(lse_ptr + row_idx)
    probs = tl.exp(logits - lse)
    probs += 2.0 * lse_square_scale * lse * probs
    label_idx -= class_start_idx
    if HAS_SMOOTHING:
        smooth_positive = 1.0 - smoothing
        smooth_negative = smoothing / total_classes
        probs = tl.where(col_offsets == label_idx, probs - smooth_positive, probs) - smooth_negative
    else:
        probs = tl.where(col_offsets == label_idx, probs - 1.0, probs)
    tl.store(dlogits_ptr + col_offsets, (dloss * logit_scale) * probs, mask=col_offsets < n_cols)


@triton.jit
def chunked_logsumexp(
    logits_ptr, lse_ptr, picked_ptr, labels_ptr, stride_row, VOCAB, N_CHUNKS: tl.constexpr, BLOCK: tl.constexpr,
    DO_SOFTCAPPING: tl.constexpr, SOFTCAP: tl.constexpr,
):
    """logsumexp of a chunk of a very long row; the first chunk's program keeps the label's logit."""
    row = tl.program_id(0)
    chunk = tl.program_id(1)
    logits_ptr += row * stride_row.to(tl.int64)
    offsets = chunk * BLOCK + tl.arange(0, BLOCK)
    mask = offsets < VOCAB
    x = tl.load(logits_ptr + offsets, mask=mask, other=-float("inf")).to(tl.float32)
    if DO_SOFTCAPPING:
        x = tl.where(mask, SOFTCAP * tanh(x / SOFTCAP), -float("inf"))
    c = tl.max(x, 0)
    lse = c + tl.log(tl.sum(tl.exp(x - c), 0))
    if chunk == 0:
        label = tl.load(labels_ptr + row).to(tl.int32)
        if label != -100:
            z = tl.load(logits_ptr + label).to(tl.float32)
            if DO_SOFTCAPPING:
                z = SOFTCAP * tanh(z / SOFTCAP)
        else:
            z = 0.0
        tl.store(picked_ptr + row, z)
    tl.store(lse_ptr + row * N_CHUNKS + chunk, lse)


@triton.jit
def selective_log_softmax(
    logits_ptr, index_ptr, out_ptr, entropy_ptr, temperature, L, stride_b, stride_l, V, PART: tl.constexpr,
    BLOCK: tl.constexpr, NUM_STAGES: tl.constexpr,
):
    """log softmax at one index a token, and the row's entropy: two values at once along lanes, combined at the end."""
    pid = tl.program_id(0).to(tl.int64)
    b = pid // L
    t = pid % L
    logits_ptr += b * stride_b + t * stride_l
    m = tl.full((BLOCK,), -float("inf"), tl.float32)
    s = tl.zeros((BLOCK,), tl.float32)
    for start in tl.range(0, V, BLOCK, num_stages=NUM_STAGES):
        cols = start + tl.arange(0, BLOCK)
        x = tl.load(logits_ptr + cols, cols < V, other=-float("inf")).to(tl.float32) / temperature
        m, s = online_softmax(m, s, x, tl.where(cols < V, 1.0, 0.0))
    top, total = tl.reduce((m, s), axis=0, combine_fn=online_softmax)
    lse = top + tl.log(total)
    if PART == "entropy":
        entropy = tl.zeros((BLOCK,), tl.float32)
        for start in tl.range(0, V, BLOCK, num_stages=NUM_STAGES):
            cols = start + tl.arange(0, BLOCK)
            x = tl.load(logits_ptr + cols, cols < V, other=0.0).to(tl.float32) / temperature
            entropy += tl.where(cols < V, tl.exp(x - lse) * (lse - x), 0.0)
        tl.store(entropy_ptr + pid, tl.sum(entropy, 0))
    index = tl.load(index_ptr + pid)
    tl.store(out_ptr + pid, tl.load(logits_ptr + index).to(tl.float32) / temperature - lse)


@triton.jit
def kl_div_forward(
    y_ptr, y_stride, gt_ptr, gt_stride, loss_ptr, loss_stride, n_cols, eps,
    BLOCK_SIZE: tl.constexpr, log_target: tl.constexpr = False, reduction: tl.constexpr = _REDUCTION_MODE_BATCHMEAN,
):
    pid = tl.program_id(0).to(tl.int64)
    y_ptr += pid * y_stride
    gt_ptr += pid * gt_stride
    loss_ptr += pid * loss_stride
    base_offsets = tl.arange(0, BLOCK_SIZE)
    loss_sum = 0.0
    for i in range(0, n_cols, BLOCK_SIZE):
        offsets = i + base_offsets
        mask = offsets < n_cols
        y = tl.load(y_ptr + offsets, mask=mask, other=0.0)
        y_true = tl.load(gt_ptr + offsets, mask=mask, other=0.0)
        # y are logarithms; targets are when that is said.
        if not log_target:
            loss = y_true * (tl.log(tl.maximum(y_true, eps)) - y)
        else:
            loss = tl.exp(y_true) * (y_true - y)
        if reduction == _REDUCTION_MODE_NONE:
            tl.store(loss_ptr + offsets, loss, mask=mask)
        else:
            loss_sum += tl.sum(loss, axis=0)
    if reduction != _REDUCTION_MODE_NONE:
        tl.store(loss_ptr, loss_sum)


@triton.jit
def kl_div_backward(
    target_ptr, target_stride, new_grads_ptr, new_grads_stride, n_cols, BLOCK_SIZE: tl.constexpr,
    log_target: tl.constexpr = False,
):
    pid = tl.program_id(0).to(tl.int64)
    target_ptr += pid * target_stride
    new_grads_ptr += pid * new_grads_stride
    offsets = tl.arange(0, BLOCK_SIZE)
    mask = offsets < n_cols
    for i in range(0, n_cols, BLOCK_SIZE):
        offsets = i + tl.arange(0, BLOCK_SIZE)
        mask = offsets < n_cols
        target = tl.load(target_ptr + offsets, mask=mask, other=0.0)
        if not log_target:
            res = target * -1
        else:
            res = -tl.exp(target)
        tl.store(new_grads_ptr + offsets, res, mask=mask)


@triton.jit
def jensen_shannon(
    X_ptr, X_stride, Y_ptr, Y_stride, loss_ptr, loss_stride, dX_ptr, dX_stride, label_ptr,
    beta: tl.constexpr, n_non_ignore: int, ignore_index: tl.constexpr, n_cols, BLOCK_SIZE: tl.constexpr,
    HAS_LABEL: tl.constexpr,
):
    """beta KL(Y, M) + (1 - beta) KL(X, M) of logarithms, M their mixture; its gradient with respect to X."""
    pid = tl.program_id(0).to(tl.int64)
    X_ptr += pid * X_stride
    dX_ptr += pid * dX_stride
    Y_ptr += pid * Y_stride
    loss_ptr += pid * loss_stride
    label_ptr += pid
    if HAS_LABEL:
        label = tl.load(label_ptr)
        if label == ignore_index:
            for i in range(0, n_cols, BLOCK_SIZE):
                offsets = i + tl.arange(0, BLOCK_SIZE)
                tl.store(dX_ptr + offsets, 0.0, mask=offsets < n_cols)
            return
    for i in range(0, n_cols, BLOCK_SIZE):
        offsets = i + tl.arange(0, BLOCK_SIZE)
        mask = offsets < n_cols
        X = tl.load(X_ptr + offsets, mask=mask, other=float("-inf")).to(tl.float32)
        Y = tl.load(Y_ptr + offsets, mask=mask, other=float("-inf")).to(tl.float32)
        if beta == 0.0:
            Y_max = tl.max(Y, axis=0)
            Y_prob = tl.exp(Y - Y_max) * tl.exp(Y_max)
            loss = Y_prob * (Y - X)
            dX = -Y_prob
        elif beta == 1.0:
            X_max = tl.max(X, axis=0)
            X_prob = tl.exp(X - X_max) * tl.exp(X_max)
            loss = X_prob * (X - Y)
            dX = loss + X_prob
        else:
            max_val = tl.maximum(tl.max(X, axis=0), tl.max(Y, axis=0))
            exp_max = tl.exp(max_val)
            Q = tl.exp(X - max_val) * exp_max
            P = tl.exp(Y - max_val) * exp_max
            beta_P = beta * P
            one_minus_beta_Q = (1 - beta) * Q
            M = beta_P + one_minus_beta_Q
            log_M = tl.log(M)
            loss = beta_P * Y + one_minus_beta_Q * X - M * log_M
            dX = one_minus_beta_Q * (X - log_M)
        scale = 1.0 / n_non_ignore
        loss = loss * scale
        dX = dX * scale
        tl.store(loss_ptr + offsets, loss, mask=mask)
        tl.store(dX_ptr + offsets, dX, mask=mask)


@triton.jit
def mse_loss(x_ptr, y_ptr, loss_ptr, dx_ptr, n_elements, scale, BLOCK_SIZE: tl.constexpr):
    """Gradient, and the loss by one atomic addition a program."""
    block_start = tl.program_id(axis=0).to(tl.int64) * BLOCK_SIZE
    offsets = block_start + tl.arange(0, BLOCK_SIZE)
    mask = offsets < n_elements
    x = tl.load(x_ptr + offsets, mask=mask, other=0.0).to(tl.float32)
    y = tl.load(y_ptr + offsets, mask=mask, other=0.0).to(tl.float32)
    d = x - y
    tl.store(dx_ptr + offsets, 2.0 * scale * d, mask=mask)
    tl.atomic_add(loss_ptr, tl.sum(d * d) * scale, sem="relaxed")


@triton.jit
def smooth_l1(x_ptr, y_ptr, loss_ptr, dx_ptr, beta, n, BLOCK: tl.constexpr, HUBER: tl.constexpr = False):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = offsets < n
    d = tl.load(x_ptr + offsets, mask=mask).to(tl.float32) - tl.load(y_ptr + offsets, mask=mask).to(tl.float32)
    near = tl.abs(d) < beta
    loss = tl.where(near, 0.5 * d * d / beta, tl.abs(d) - 0.5 * beta)
    slope = tl.where(near, d / beta, tl.where(d > 0, 1.0, -1.0))
    if HUBER:
        loss *= beta
        slope *= beta
    tl.store(loss_ptr + offsets, loss, mask=mask)
    tl.store(dx_ptr + offsets, slope, mask=mask)


@triton.jit
def focal_loss(
    logits_ptr, targets_ptr, weight_ptr, loss_ptr, grad_ptr, gamma: tl.constexpr, alpha, n, classes,
    BLOCK: tl.constexpr, HAS_WEIGHT: tl.constexpr,
):
    """Sigmoid focal loss of one-hot targets given as class indices, gamma a whole number."""
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = at < n * classes
    row, label = at // classes, at % classes
    x = tl.load(logits_ptr + at, mask=mask, other=0.0).to(tl.float32)
    hot = tl.load(targets_ptr + row, mask=mask, other=-1) == label
    p = sigmoid(x)
    log_p = -softplus(-x)
    log_q = -softplus(x)
    power_q, power_p = 1.0, 1.0
    for _ in tl.static_range(gamma):
        power_q *= 1.0 - p
        power_p *= p
    positive = -alpha * power_q * log_p
    negative = -(1.0 - alpha) * power_p * log_q
    d_positive = alpha * power_q * (gamma * p * log_p - (1.0 - p))
    d_negative = (1.0 - alpha) * power_p * (p - gamma * (1.0 - p) * log_q)
    loss = tl.where(hot, positive, negative)
    grad = tl.where(hot, d_positive, d_negative)
    if HAS_WEIGHT:
        w = tl.load(weight_ptr + label, mask=mask, other=0.0)
        loss *= w
        grad *= w
    tl.store(loss_ptr + at, loss, mask=mask)
    tl.store(grad_ptr + at, grad, mask=mask)


@triton.jit
def bce_with_logits(
    x_ptr, y_ptr, pos_weight_ptr, loss_ptr, dx_ptr, N, stride_m, HAS_POS_WEIGHT: tl.constexpr, BLOCK_N: tl.constexpr,
):
    """Binary cross entropy of a row of logits, its mean, in base 2 inside."""
    row = tl.program_id(0)
    total = 0.0
    for start in tl.range(0, N, BLOCK_N):
        cols = start + tl.arange(0, BLOCK_N)
        mask = cols < N
        at = row * stride_m + cols
        x = tl.load(x_ptr + at, mask=mask, other=0.0).to(tl.float32)
        y = tl.load(y_ptr + at, mask=mask, other=0.0).to(tl.float32)
        w = tl.load(pos_weight_ptr + cols, mask=mask, other=0.0).to(tl.float32) if HAS_POS_WEIGHT else 1.0
        log_weight = 1.0 + (w - 1.0) * y
        tail = LN2 * tl.log2(1.0 + tl.exp2(-LOG2E * tl.abs(x))) + tl.maximum(-x, 0.0)
        total += tl.sum(tl.where(mask, (1.0 - y) * x + log_weight * tail, 0.0))
        tl.store(dx_ptr + at, ((1.0 - y) - log_weight * sigmoid(-x)) / N, mask=mask)
    tl.store(loss_ptr + row, total / N)


class CrossEntropyFunction(torch.autograd.Function):
    @staticmethod
    def forward(ctx, logits, labels, smoothing=0.0, ignore_index=-100):
        rows, cols = logits.shape
        losses = torch.empty(rows, dtype=torch.float32, device=logits.device)
        lse, z = torch.empty_like(losses), torch.empty_like(losses)
        block = min(triton.next_power_of_2(cols), MAX_FUSED_SIZE)
        with torch.cuda.device(logits.device.index):
            cross_entropy_forward[(rows,)](
                losses, lse, z, logits, labels, smoothing, 1.0, 0.0, ignore_index, cols, 0, cols, logits.stride(0),
                BLOCK_SIZE=block, SPLIT=False, PRECOMPUTED_LSE=False, num_warps=16 if block > 16384 else 8,
            )
        ctx.save_for_backward(logits, lse, labels)
        return losses
