"""torch_cases: PyTorch's functions and modules with each of their arguments; a row is a name, a function and its inputs.

Each is written as TorchScript traced (/trace) and scripted (/script), as an exported program (/pt2) and as that decomposed
(/decomposed); a script wants a function of tensors alone, so that scripted rows are those of `nn`.
"""
import inspect
import os
import warnings

import numpy as np
import torch
import torch.nn.functional as F
from torch import nn
from wanted import wants

warnings.filterwarnings("ignore")


def real(*shape, seed=1):
    return torch.from_numpy(np.random.default_rng(seed).standard_normal(shape).astype("f"))


def whole(*shape, low=-9, high=10, dtype=torch.int32, seed=1, without=None):
    values = np.random.default_rng(seed).integers(low, high, shape)
    if without is not None:
        values[values == without] = 3
    return torch.from_numpy(values).to(dtype)


X, Y, M3, V, IMG, VOL = real(2, 3, 5, 7), real(2, 3, 5, 7, seed=2), real(3, 4, 6), real(2, 4, 9), real(1, 2, 7, 10), real(1, 2, 4, 5, 6)
ROWS = []


def row(name, function, *inputs):
    ROWS.append((name, function, inputs or (X,)))


def module(name, layer, *inputs):
    torch.manual_seed(7)
    for parameter in list(layer.parameters()) + [b for b in layer.buffers() if b.is_floating_point()]:
        with torch.no_grad():
            parameter.add_(torch.randn(parameter.shape) * 0.1)
    for key, buffer in layer.named_buffers():
        if "running_var" in key:
            with torch.no_grad():
                buffer.abs_().add_(0.3)
    row("nn." + name, layer, *inputs)


# Resizing: mode x align_corners x size or factor x recomputed x antialias, over one to three axes.
for axes, image, modes in ((1, V, ("nearest", "nearest-exact", "linear", "area")), (2, IMG, ("nearest", "nearest-exact", "bilinear", "bicubic", "area")),
                           (3, VOL, ("nearest", "nearest-exact", "trilinear", "area"))):
    for mode in modes:
        for corners in (None, False, True) if mode in ("linear", "bilinear", "bicubic", "trilinear") else (None,):
            for how, arguments in (("up", {"size": 11}), ("one", {"size": 1}), ("down", {"size": 3}), ("x2", {"scale_factor": 2.0}),
                                   ("x2.3", {"scale_factor": 2.3}), ("x.7", {"scale_factor": 0.7}),
                                   ("x1.3re", {"scale_factor": 1.3, "recompute_scale_factor": True})):
                for smooth in (False, True) if mode in ("bilinear", "bicubic") else (False,):
                    more = dict(arguments, mode=mode, **({"align_corners": corners} if corners is not None else {}), **({"antialias": True} if smooth else {}))
                    row(f"interpolate{axes}.{mode}.{corners}.{how}{'.aa' if smooth else ''}", lambda x, m=more: F.interpolate(x, **m), image)
row("interpolate.factors", lambda x: F.interpolate(x, scale_factor=(0.1, 0.02), mode="bilinear"), real(1, 2, 10, 50))
row("interpolate.23rows", lambda x: F.interpolate(x, scale_factor=2.3), real(1, 2, 10, 50))
# Integers: floor, truncation, remainders, promotion.
I, J = whole(4, 9), whole(4, 9, seed=2, without=0)
for kind in (torch.int32, torch.int64, torch.uint8, torch.int8):
    a, b = (whole(4, 9, low=0 if kind == torch.uint8 else -9, dtype=kind), whole(4, 9, low=1, dtype=kind, seed=2))
    tag = str(kind).split(".")[1]
    row(f"div.floor.{tag}", lambda x, y: torch.div(x, y, rounding_mode="floor"), a, b)
    row(f"div.trunc.{tag}", lambda x, y: torch.div(x, y, rounding_mode="trunc"), a, b)
    row(f"div.true.{tag}", lambda x, y: x / y, a, b)
    row(f"floordiv.{tag}", lambda x: x // 3, a)
    row(f"remainder.{tag}", lambda x, y: x % y, a, b)
    row(f"fmod.{tag}", lambda x, y: torch.fmod(x, y), a, b)
    row(f"sum.{tag}", lambda x: x.sum(1), a)
    row(f"prod.{tag}", lambda x: x[:, :4].prod(1), a)
    row(f"cumsum.{tag}", lambda x: x.cumsum(1), a)
    row(f"mul.wraps.{tag}", lambda x, y: x * y * 100 * 100 * 100, a, b)
    row(f"exp.{tag}", lambda x: torch.exp(x * 0.1) + torch.sqrt(x.abs().float()) + torch.ceil(x), a)
    row(f"amax.{tag}", lambda x: (x.amax(1), x.argmax(1), x.max()), a)
row("div.floor.negative", lambda x, y: (x // y, x % y, torch.fmod(x, y)), I, J)
row("div.floor.least", lambda x, y: torch.div(x, y, rounding_mode="floor"), torch.tensor([-2**31, -2**31, 2**31 - 1, -7], dtype=torch.int32),
    torch.tensor([3, -3, -2, 2], dtype=torch.int32))
row("div.floor.real", lambda x, y: (torch.div(x, y, rounding_mode="floor"), torch.div(x, y, rounding_mode="trunc"), x % y, torch.fmod(x, y), x // 0.1, x // 2), X, Y)
row("div.floor.zero", lambda x, y: torch.div(x, y, rounding_mode="floor"), torch.tensor([1., -1., 0.]), torch.tensor([0., 0., 0.]))
row("promote.u8i8", lambda x, y: x + y, whole(3, 4, low=0, dtype=torch.uint8), whole(3, 4, dtype=torch.int8))
row("promote.i32f", lambda x, y: x * y, whole(3, 4), real(3, 4))
row("promote.i32i64", lambda x, y: x * y, whole(3, 4), whole(3, 4, dtype=torch.int64))
row("promote.bool", lambda x: ((x > 0) * (x < 1), (x > 0) + 1, (x > 0) | (x < -1), (x > 0) & (x < 1), (x > 0) ^ (x < 1), ~(x > 0)))
row("cast", lambda x: ((x * 9).to(torch.int32), (x * 9).to(torch.int64), x.bool(), x.double() * 2, (x * 9).to(torch.int8).float()))
row("double", lambda x: (x.double() * 0.1 + 0.3, x.double().clamp(-0.1, 0.7), torch.sinc(x.double()), torch.nan_to_num(x.double() / 0.3)))
row("bitwise", lambda x, y: (x & y, x | y, x ^ y, ~x), I, J)
row("shift", lambda x: (x << 2, x >> 1), I)
row("shift.tensor", lambda x, y: torch.bitwise_left_shift(x, y), I, whole(4, 9, low=0, high=5, seed=3))
row("abs.neg.sign", lambda x: (x.abs(), -x, x.sign()), I)
row("pow.int", lambda x: (x ** 2, x ** 3), I)
row("compare", lambda x, y: (x == y, x != y, x < y, x <= y, x > y, x >= y, x > 2, x == 2.5), I, J)
# Element by element.
for name in ("abs acos acosh asin asinh atan atanh ceil cos cosh erf exp expm1 exp2 floor frac log log1p log2 log10 neg reciprocal round rsqrt sigmoid sign "
             "sin sinh sqrt square tan tanh trunc isnan isinf isfinite logical_not erfc lgamma digamma sgn signbit deg2rad rad2deg positive sinc logit i0").split():
    row(name, lambda x, f=getattr(torch, name): f(x), X.abs() * 0.8 + 0.1 if name in ("log", "log2", "log10", "log1p", "rsqrt", "sqrt", "asin", "acos", "atanh", "lgamma", "digamma", "logit") else X.abs() + 1 if name == "acosh" else X)
for name in ("add sub mul div maximum minimum atan2 fmod remainder pow logical_and logical_or logical_xor eq ne lt le gt ge hypot copysign fmax fmin floor_divide "
             "true_divide logaddexp xlogy heaviside").split():
    row(name, lambda x, y, f=getattr(torch, name): f(x, y), X.abs() + 0.1 if name in ("pow", "xlogy") else X, Y.abs() if name in ("pow", "xlogy") else Y)
row("add.alpha", lambda x, y: (torch.add(x, y, alpha=2.5), torch.sub(x, y, alpha=0.5), torch.rsub(x, y, alpha=3)), X, Y)
row("add.alpha.int", lambda x, y: (torch.add(x, y, alpha=2), torch.rsub(x, 5)), I, J)
row("addcmul", lambda x, y: (torch.addcmul(x, x, y, value=0.5), torch.addcdiv(x, x, y.abs() + 1, value=0.5)), X, Y)
row("lerp", lambda x, y: (torch.lerp(x, y, 0.3), torch.lerp(x, y, y.abs())), X, Y)
row("clamp", lambda x: (x.clamp(-0.5, 0.7), x.clamp(min=0.1), x.clamp(max=0.1), x.clip(-1, 1)))
row("clamp.tensor", lambda x, y: (torch.clamp(x, min=y), torch.clamp(x, y, y + 1)), X, Y)
row("clamp.int", lambda x: (x.clamp(-3, 4), x.clamp(min=0)), I)
row("where", lambda x, y: (torch.where(x > 0, x, y), torch.where(x > 0, x, 1.5), torch.where(x > 0, 2.0, 0.0)), X, Y)
row("where.int", lambda x: (torch.where(x > 0, x, 1), torch.where(x > 0, 1, 0)), I)
row("masked_fill", lambda x: (x.masked_fill(x > 0, 2.5), x.masked_fill(x > 0, float("-inf"))))
row("masked_fill.int", lambda x: x.masked_fill(x > 0, 2), I)
row("nan_to_num", lambda x: torch.nan_to_num(x / x.round()), X)
row("round.decimals", lambda x: torch.round(x, decimals=1))
# Activations.
for name, layer in {"CELU": nn.CELU(0.7), "ELU": nn.ELU(0.6), "GELU": nn.GELU(), "GELUtanh": nn.GELU("tanh"), "GLU": nn.GLU(3), "Hardshrink": nn.Hardshrink(0.4),
                    "Hardsigmoid": nn.Hardsigmoid(), "Hardswish": nn.Hardswish(), "Hardtanh": nn.Hardtanh(-0.3, 0.9), "LeakyReLU": nn.LeakyReLU(0.3),
                    "LogSigmoid": nn.LogSigmoid(), "LogSoftmax": nn.LogSoftmax(1), "Mish": nn.Mish(), "PReLU": nn.PReLU(3), "PReLU1": nn.PReLU(), "RReLU": nn.RReLU(),
                    "ReLU": nn.ReLU(), "ReLU6": nn.ReLU6(), "SELU": nn.SELU(), "SiLU": nn.SiLU(), "Sigmoid": nn.Sigmoid(), "Softmax": nn.Softmax(2),
                    "Softmax2d": nn.Softmax2d(), "Softmin": nn.Softmin(1), "Softplus": nn.Softplus(), "Softplus2": nn.Softplus(2, 0.5), "Softplus3": nn.Softplus(0.5, 3),
                    "Softshrink": nn.Softshrink(0.3), "Softsign": nn.Softsign(), "Tanh": nn.Tanh(), "Tanhshrink": nn.Tanhshrink(), "Threshold": nn.Threshold(0.2, -3)}.items():
    layer.eval()
    row("nn." + name, layer, real(2, 3, 6, 8) if name == "GLU" else X)
row("softmax.dtype", lambda x: torch.softmax(x, 1, dtype=torch.float64))
row("elu.scales", lambda x: (F.elu(x, 0.5), torch.ops.aten.elu(x, 0.5, 1.2, 1.0)))
# Reductions.
for name in "sum mean amax amin prod logsumexp".split():
    f = getattr(torch, name)
    for dim, keep in ((1, False), (-1, True)):
        row(f"{name}.{dim}.{keep}", lambda x, f=f, d=dim, k=keep: f(x, d, keepdim=k))
row("sum.dims", lambda x: (x.sum((1, 3)), x.mean((0, 2), keepdim=True), x.sum(), x.mean(), x.amax(), x.prod()))
row("sum.dtype", lambda x: (x.sum(1, dtype=torch.float64), x.mean(1, dtype=torch.float64), x.prod(1, dtype=torch.float64)))
row("argmax", lambda x: (x.argmax(1), x.argmin(2, keepdim=True), x.argmax(), torch.argmax(x, None, keepdim=True)))
row("max.dim", lambda x: (*x.max(1), *x.min(2, keepdim=True), x.max(), x.min()))
row("max.other", lambda x, y: (torch.max(x, y), torch.min(x, y)), X, Y)
row("var", lambda x: (x.var(1), x.var((1, 2), unbiased=False), x.std(2, keepdim=True), x.var(), torch.std(x, 1, correction=0)))
row("var_mean", lambda x: torch.var_mean(x, (2, 3), correction=0, keepdim=True))
row("norm", lambda x: (x.norm(dim=1), x.norm(2, 1, True), torch.linalg.vector_norm(x, 1, 2), torch.linalg.vector_norm(x, float("inf"), (1, 2)), x.norm(), torch.linalg.vector_norm(x, 3.0, 1, keepdim=True)))
row("normalize", lambda x: (F.normalize(x, dim=1), F.normalize(x, 1.0, 2), F.cosine_similarity(x, x + 1, 1)))
row("cumsum", lambda x: (x.cumsum(1), torch.cumprod(x, 2)))
row("any.all", lambda x: ((x > 0).any(1), (x > -3).all(2, keepdim=True), (x > 0).any(), (x > 0).all()))
row("topk", lambda x: (*x.topk(2, 1), *x.topk(3, 2, largest=False)))
row("sort", lambda x: (*x.sort(1), *x.sort(2, descending=True), x.argsort(3)))
row("median", lambda x: x.median(1).values)
row("count", lambda x: ((x > 0).sum(), torch.count_nonzero(x > 0, 1)))
# Matrices.
row("matmul", lambda x, y: (x @ y, x.matmul(y), torch.bmm(x, y), x @ y[0], x[0, 0] @ y[0]), M3, real(3, 6, 5))
row("addmm", lambda x, y, z: (torch.addmm(z, x, y), torch.addmm(z, x, y, beta=0.5, alpha=2), torch.mm(x, y)), real(4, 6), real(6, 5), real(4, 5))
row("baddbmm", lambda x, y, z: torch.baddbmm(z, x, y, beta=0.5, alpha=2), M3, real(3, 6, 5), real(3, 4, 5))
row("baddbmm1", lambda x, y, z: torch.baddbmm(z, x, y), M3, real(3, 6, 5), real(3, 4, 5))
row("einsum", lambda x, y: (torch.einsum("bij,bjk->bik", x, y), torch.einsum("bij->bj", x), torch.einsum("bij,bjk", x, y)), M3, real(3, 6, 5))
row("outer", lambda x: (torch.outer(x, x), torch.dot(x, x), torch.mv(torch.outer(x, x), x)), real(5))
module("Linear", nn.Linear(6, 5), M3)
module("Linear.nobias", nn.Linear(6, 5, bias=False), real(4, 6))
module("Bilinear", nn.Bilinear(6, 6, 3), real(4, 6), real(4, 6, seed=2))
# Convolutions.
module("Conv1d", nn.Conv1d(4, 6, 3, 2, 1), V)
module("Conv2d", nn.Conv2d(3, 6, 3, (2, 1), (1, 0), (1, 2), 3), X)
module("Conv2d.same", nn.Conv2d(3, 4, 3, padding="same", dilation=2), X)
module("Conv2d.same4", nn.Conv2d(3, 4, (2, 4), padding="same"), X)
module("Conv2d.same4d", nn.Conv2d(3, 4, (2, 4), padding="same", dilation=(1, 3)), real(2, 3, 5, 12))
module("Conv2d.valid", nn.Conv2d(3, 4, 3, padding="valid"), X)
module("Conv2d.reflect", nn.Conv2d(3, 4, 3, padding=2, padding_mode="reflect"), X)
module("Conv2d.replicate", nn.Conv2d(3, 4, 3, padding=1, padding_mode="replicate"), X)
module("Conv2d.circular", nn.Conv2d(3, 4, 3, padding=1, padding_mode="circular"), X)
module("Conv2d.image", nn.Conv2d(3, 4, 3), real(3, 8, 8))
module("Conv3d", nn.Conv3d(2, 4, 3, padding=1), VOL)
module("ConvTranspose1d", nn.ConvTranspose1d(4, 3, 3, 2, 1, 1), V)
module("ConvTranspose2d", nn.ConvTranspose2d(3, 6, 3, 2, 1, (1, 0), 3), X)
module("ConvTranspose2d.dilated", nn.ConvTranspose2d(3, 4, 3, dilation=2), X)
module("ConvTranspose3d", nn.ConvTranspose3d(2, 3, 2, 2), VOL)
# Pooling.
for mode in (False, True):
    module(f"MaxPool2d.ceil{mode}", nn.MaxPool2d(3, 2, 1, ceil_mode=mode), real(1, 2, 8, 10))
    module(f"AvgPool2d.ceil{mode}", nn.AvgPool2d(3, 2, 1, ceil_mode=mode), real(1, 2, 8, 10))
    module(f"AvgPool2d.nopad{mode}", nn.AvgPool2d(3, 2, 1, ceil_mode=mode, count_include_pad=False), real(1, 2, 8, 10))
module("AvgPool2d.0.nopad", nn.AvgPool2d(2, count_include_pad=False), X)
module("AvgPool2d.divisor", nn.AvgPool2d(2, divisor_override=3), X)
module("MaxPool1d", nn.MaxPool1d(3, 2), V)
module("MaxPool2d.dilated", nn.MaxPool2d(2, 1, 0, 2), X)
module("MaxPool3d", nn.MaxPool3d(2), VOL)
module("AvgPool1d", nn.AvgPool1d(3, 2, 1), V)
module("AvgPool3d", nn.AvgPool3d(2, 2), VOL)
module("LPPool2d", nn.LPPool2d(2, 2), X)
row("max_pool2d.indices", lambda x: F.max_pool2d(x, 2, return_indices=True))
for size in (1, 3, (2, None)):
    module(f"AdaptiveAvgPool2d.{size}", nn.AdaptiveAvgPool2d(size), X)
    module(f"AdaptiveMaxPool2d.{size}", nn.AdaptiveMaxPool2d(size), X)
module("AdaptiveAvgPool1d", nn.AdaptiveAvgPool1d(4), V)
module("AdaptiveAvgPool3d", nn.AdaptiveAvgPool3d((3, 2, 4)), VOL)
module("AdaptiveMaxPool1d", nn.AdaptiveMaxPool1d(3), V)
# Normalisation.
module("BatchNorm1d", nn.BatchNorm1d(4), V)
module("BatchNorm2d", nn.BatchNorm2d(3, eps=0.01, momentum=0.3), X)
module("BatchNorm2d.plain", nn.BatchNorm2d(3, affine=False), X)
module("BatchNorm2d.untracked", nn.BatchNorm2d(3, track_running_stats=False), X)
module("BatchNorm3d", nn.BatchNorm3d(2), VOL)
module("InstanceNorm2d", nn.InstanceNorm2d(3, affine=True), X)
module("InstanceNorm2d.tracked", nn.InstanceNorm2d(3, track_running_stats=True), X)
module("GroupNorm", nn.GroupNorm(2, 4), V)
module("GroupNorm.plain", nn.GroupNorm(3, 3, affine=False, eps=0.1), X)
module("LayerNorm", nn.LayerNorm((5, 7)), X)
module("LayerNorm.plain", nn.LayerNorm(7, elementwise_affine=False), X)
module("LayerNorm.nobias", nn.LayerNorm(7, bias=False), X)
module("RMSNorm", nn.RMSNorm(7), X)
module("LocalResponseNorm", nn.LocalResponseNorm(3, 0.2, 0.6, 1.5), X)
module("Dropout", nn.Dropout(0.3), X)
module("AlphaDropout", nn.AlphaDropout(0.3), X)
# Moving elements.
row("view", lambda x: (x.view(2, 15, 7), x.reshape(-1, 7), x.flatten(1), x.flatten(1, 2), x.view(6, -1), x.unflatten(3, (7, 1)), x.ravel()))
row("permute", lambda x: (x.permute(0, 2, 3, 1), x.transpose(1, 2), x.mT, x[0, 0].t(), x.swapaxes(0, 1), x.movedim(1, 3)))
row("squeeze", lambda x: (x.unsqueeze(1), x.unsqueeze(-1).squeeze(), x[:1].squeeze(0), x.squeeze(1), x[:, :1].squeeze((0, 1))))
row("slice", lambda x: (x[:, 1], x[..., 2:6:2], x[:, -1:], x[:, :, None, 1:], x.narrow(2, 1, 3), x.select(3, -2), x[:, 1:-1]))
row("split", lambda x: (*x.split(2, 3), *x.chunk(2, 2), *x.split((1, 4), 2), *x.unbind(1), *x.tensor_split(3, 3)))
row("cat", lambda x, y: (torch.cat((x, y), 1), torch.stack((x, y), 2), torch.hstack((x, y)), torch.vstack((x, y))), X, Y)
row("cat.types", lambda x, y: torch.cat((x, y), 0), real(2, 3), whole(2, 3))
row("expand", lambda x: (x[:, :1].expand(2, 3, 5, 7), x[:1].expand(4, -1, -1, -1), x[0].expand(2, 3, 5, 7), x[:, :1].expand_as(x), torch.broadcast_to(x, (2, 2, 3, 5, 7))))
row("repeat", lambda x: (x.repeat(1, 2, 1, 1), x.tile(2), x.repeat(2, 1, 1, 1, 1), x.repeat_interleave(2, 1)))
row("flip", lambda x: (x.flip(1), x.flip((2, 3)), x.roll(2, 1), x.roll((1, -2), (2, 3)), x.roll(3), torch.rot90(x, 1, (2, 3))))
row("pad", lambda x: (F.pad(x, (1, 2)), F.pad(x, (1, 2, 0, 1), value=3.5), F.pad(x, (1, 2, 2, 1), "reflect"), F.pad(x, (1, 2, 2, 1), "replicate"), F.pad(x, (1, 2, 2, 1), "circular"), F.pad(x, (-1, -1))))
row("pad.1d", lambda x: (F.pad(x, (1, 2), "reflect"), F.pad(x, (1, 2), "replicate"), F.pad(x, (1, 2), "circular")), V)
row("pad.3d", lambda x: (F.pad(x, (1, 1, 1, 1, 1, 1), "reflect"), F.pad(x, (1, 2, 1, 1, 1, 1), "replicate")), VOL)
row("tril", lambda x: (x.tril(), x.triu(1), x.tril(-1)))
row("index", lambda x: (x[:, [2, 0]], x[..., torch.tensor([1, -1])], x.index_select(1, torch.tensor([2, 1]))))
row("index.many", lambda x: (x[[0, 1], [2, 0]], x[:, [0, 2], [1, 3]], x[[0, 1], :, [1, 2]]))
row("index.mask", lambda x: x[x > 0])
row("gather", lambda x, i: torch.gather(x, 1, i), real(3, 5), torch.tensor([[0, 2], [4, 1], [3, 3]]))
row("take_along", lambda x, i: torch.take_along_dim(x, i, 1), real(3, 5), torch.tensor([[0, 2], [4, 1], [3, 3]]))
for reduction in ("sum", "prod", "amax", "amin"):
    row(f"scatter_reduce_{reduction}", lambda x, i, u, r=reduction: x.scatter_reduce(1, i, u, r), real(3, 5), torch.tensor([[0, 2], [4, 4], [3, 3]]), real(3, 2))
row("scatter", lambda x, i, u: (x.scatter(1, i, u), x.scatter(1, i, 2.5), x.scatter_add(1, i, u)), real(3, 5), torch.tensor([[0, 2], [4, 1], [3, 3]]), real(3, 2))
row("embedding", lambda i: F.embedding(i, real(6, 4), padding_idx=1), torch.tensor([[0, 1], [5, 1]]))
row("one_hot", lambda i: F.one_hot(i, 5), torch.tensor([0, 3, 1]))
module("PixelShuffle", nn.PixelShuffle(2), real(1, 8, 3, 4))
module("PixelUnshuffle", nn.PixelUnshuffle(2), real(1, 2, 6, 8))
module("ChannelShuffle", nn.ChannelShuffle(2), real(1, 8, 3, 4))
module("Unfold", nn.Unfold((2, 3), 1, 1, (2, 1)), X)
module("Fold", nn.Fold((4, 5), (2, 2)), real(1, 12, 12))
row("unfold", lambda x: x.unfold(2, 3, 2))
row("diagonal", lambda x: (x.diagonal(0, 2, 3), torch.diag_embed(x[0, 0])))
row("make", lambda x: (torch.zeros(2, 3) + x.new_zeros(3), torch.ones_like(x), torch.full((2,), 1.5), torch.arange(5), torch.arange(1.0, 3.0, 0.5), torch.zeros_like(x, dtype=torch.int32), x.new_full((2,), 3), torch.eye(3), torch.linspace(0, 1, 5)))
row("in_place", lambda x: x.clone().add_(1).mul_(2).relu_().clamp_(max=3))
row("copy_slice", lambda x: _sliced(x))
row("meshgrid", lambda x: torch.meshgrid(x, x, indexing="ij"), real(4))
row("grid_sample", lambda x, g: F.grid_sample(x, g, align_corners=False), IMG, real(1, 3, 4, 2) * 0.5)
row("affine_grid", lambda t: F.affine_grid(t, (1, 2, 4, 5), align_corners=False), real(1, 2, 3))
row("cdist", lambda x, y: torch.cdist(x, y), real(2, 4, 3), real(2, 5, 3))
# Attention and recurrence.
row("sdpa", lambda q: (F.scaled_dot_product_attention(q, q, q), F.scaled_dot_product_attention(q, q, q, scale=0.3), F.scaled_dot_product_attention(q, q, q, attn_mask=torch.ones(5, 5, dtype=torch.bool).tril())), real(2, 2, 5, 4))
row("sdpa.causal", lambda q: F.scaled_dot_product_attention(q, q, q, is_causal=True), real(2, 2, 5, 4))
row("sdpa.gqa", lambda q, k: F.scaled_dot_product_attention(q, k, k, enable_gqa=True), real(2, 4, 5, 4), real(2, 2, 5, 4))


class Self(nn.Module):
    def __init__(self, **more):
        super().__init__()
        self.a = nn.MultiheadAttention(8, 2, batch_first=True, **more)

    def forward(self, x):
        return self.a(x, x, x, need_weights=True)


module("MultiheadAttention", Self(), real(2, 5, 8))
module("TransformerEncoderLayer", nn.TransformerEncoderLayer(8, 2, 16, batch_first=True), real(2, 5, 8))
module("TransformerEncoderLayer.pre", nn.TransformerEncoderLayer(8, 2, 16, batch_first=True, norm_first=True, activation="gelu"), real(2, 5, 8))
module("LSTM", nn.LSTM(6, 4, 2, bidirectional=True, batch_first=True), real(2, 5, 6))
module("GRU", nn.GRU(6, 4), real(5, 2, 6))
module("RNN", nn.RNN(6, 4, nonlinearity="relu"), real(5, 2, 6))
module("LSTMCell", nn.LSTMCell(6, 4), real(2, 6))
module("GRUCell", nn.GRUCell(6, 4), real(2, 6))
module("weight_norm", nn.utils.parametrizations.weight_norm(nn.Conv2d(3, 4, 3)), X)
module("spectral_norm", nn.utils.parametrizations.spectral_norm(nn.Linear(7, 4)).eval(), X)
module("Upsample", nn.Upsample(scale_factor=(2, 1.5), mode="bilinear", align_corners=True), IMG)
module("Flatten", nn.Sequential(nn.Flatten(), nn.Unflatten(1, (7, 15))), X)

UNUSUAL = {
    "avg_pool2d_divisor": lambda x: F.avg_pool2d(x, (3, 2), 2, 1, True, False, 5),
    "max_pool1d_dilated": lambda x: F.max_pool1d(x[0], 3, 2, 1, 2, True),
    "max_pool3d": lambda x: F.max_pool3d(x, 2, 1, (0, 1, 1), ceil_mode=True),
    "lp_pool2d": lambda x: F.lp_pool2d(x.abs() + 0.1, 2.0, 3, 2),
    "lp_pool1d_3": lambda x: F.lp_pool1d(x[0].abs() + 0.1, 3.0, 2),
    "adaptive_max_pool2d_odd": lambda x: F.adaptive_max_pool2d(x, (3, 2)),
    "adaptive_avg_pool1d_odd": lambda x: F.adaptive_avg_pool1d(x[0], 4),
    "max_unpool2d": lambda x: F.max_unpool2d(*F.max_pool2d(x, 2, 2, return_indices=True), 2, 2),
    "pad_circular": lambda x: F.pad(x, (1, 2, 2, 1), "circular"),
    "pad_replicate_3d": lambda x: F.pad(x, (1, 2, 0, 1, 1, 1), "replicate"),
    "pad_negative": lambda x: F.pad(x, (-1, 2, 1, -1), value=0.5),
    "fold": lambda x: F.fold(F.unfold(x, (2, 3), 1, (1, 0), 2), (5, 7), (2, 3), 1, (1, 0), 2),
    "pixel_unshuffle": lambda x: F.pixel_unshuffle(x[:, :, :4, :6], 2),
    "channel_shuffle": lambda x: F.channel_shuffle(x.transpose(1, 3)[:, :6], 3),
    "local_response_norm": lambda x: F.local_response_norm(x, 3, 0.1, 0.6, 1.5),
    "cosine_similarity": lambda x: F.cosine_similarity(x, x.flip(1), 1, 1e-4),
    "pairwise_distance": lambda x: F.pairwise_distance(x[0, 0], x[1, 1], 1.0, 1e-3, True),
    "normalize_inf": lambda x: F.normalize(x, float("inf"), 2),
    "bilinear": lambda x: F.bilinear(x[0, 0], x[0, 1, :, :4], real(3, 7, 4), real(3)),
    "glu": lambda x: F.glu(x[..., :6], -1),
    "rrelu": lambda x: F.rrelu(x, 0.1, 0.5),
    "threshold": lambda x: F.threshold(x, 0.3, -2.0),
    "hardshrink": lambda x: F.hardshrink(x, 0.7),
    "softshrink": lambda x: F.softshrink(x, 0.7),
    "logsigmoid": lambda x: F.logsigmoid(x * 30),
    "celu": lambda x: F.celu(x, 0.3),
    "hardtanh": lambda x: F.hardtanh(x, -0.3, 0.8),
    "softmin": lambda x: F.softmin(x, 1),
    "logit": lambda x: torch.logit(x.sigmoid(), 0.2),
    "instance_norm": lambda x: F.instance_norm(x, weight=real(3), bias=real(3), eps=0.1),
    "addbmm": lambda x: torch.addbmm(real(5, 2), x[0], real(3, 7, 2), beta=0.5, alpha=2.0),
    "addmv": lambda x: torch.addmv(real(5), x[0, 0], real(7), beta=0.5, alpha=2.0),
    "addr": lambda x: torch.addr(x[0, 0], real(5), real(7), beta=0.5, alpha=2.0),
    "addcdiv": lambda x: torch.addcdiv(x, x.flip(0), x.abs() + 1, value=0.3),
    "index_put": lambda x: x.index_put((torch.tensor([0, 1]), torch.tensor([2, 0])), torch.tensor(3.0)),
    "index_put_add": lambda x: x.index_put((torch.tensor([0, 0]),), torch.ones(3, 5, 7), True),
    "index_add": lambda x: x.index_add(1, torch.tensor([0, 2, 0]), x * 0.5, alpha=2.0),
    "index_fill": lambda x: x.index_fill(2, torch.tensor([0, -1]), 2.5),
    "index_copy": lambda x: x.index_copy(1, torch.tensor([2, 0]), x[:, :2] * 2),
    "masked_scatter": lambda x: torch.masked_scatter(x, x > 0, x.flip(3)),
    "take": lambda x: torch.take(x, torch.tensor([[0, 3], [-1, 8]])),
    "roll": lambda x: torch.roll(x, (1, -2), (2, 3)),
    "roll_flat": lambda x: torch.roll(x, 3),
    "rot90": lambda x: torch.rot90(x, 3, [2, 3]),
    "diag_embed": lambda x: torch.diag_embed(x[0, 0], 1),
    "trace": lambda x: torch.trace(x[0, 0]),
    "cross": lambda x: torch.cross(x, x.flip(2), dim=1),
    "kron": lambda x: torch.kron(x[0, 0], real(2, 3)),
    "tensordot": lambda x: torch.tensordot(x, x.flip(0), ([1, 3], [1, 3])),
    "select_scatter": lambda x: torch.select_scatter(x, x[:, 0] * 2, 1, 2),
    "slice_scatter": lambda x: torch.slice_scatter(x, x[:, :, :2] * 2, 2, 1, 5, 2),
    "diagonal_scatter": lambda x: torch.diagonal_scatter(x[0, 0], torch.ones(5), 1),
    "bucketize": lambda x: torch.bucketize(x, torch.tensor([-1.0, 0.0, 0.5]), right=True),
    "cummax": lambda x: torch.cummax(x, 2)[0],
    "logcumsumexp": lambda x: torch.logcumsumexp(x, 3),
    "diff": lambda x: torch.diff(x, 2, 3),
    "aminmax": lambda x: torch.aminmax(x, dim=2, keepdim=True),
    "kthvalue": lambda x: torch.kthvalue(x, 2, 3),
    "quantile": lambda x: torch.quantile(x, 0.3, 3),
    "nanmean": lambda x: torch.nanmean(x, 2),
    "std_mean": lambda x: torch.std_mean(x, (1, 3), correction=0, keepdim=True),
    "count_nonzero": lambda x: torch.count_nonzero(x.relu(), 2),
    "frac": lambda x: torch.frac(x * 3),
    "fmod": lambda x: torch.fmod(x * 5, -1.3),
    "remainder": lambda x: torch.remainder(x * 5, -1.3),
    "floor_divide": lambda x: torch.floor_divide(x * 5, -1.3),
    "heaviside": lambda x: torch.heaviside(x.relu(), torch.tensor(0.25)),
    "hypot": lambda x: torch.hypot(x, x.flip(0)),
    "copysign": lambda x: torch.copysign(x.flip(0), x),
    "sinc": lambda x: torch.sinc(x),
    "xlogy": lambda x: torch.xlogy(x.relu(), x.abs()),
    "exp2": lambda x: torch.exp2(x),
    "expm1": lambda x: torch.expm1(x * 1e-3),
    "log1p": lambda x: torch.log1p(x.abs() * 1e-3),
    "square_rsqrt": lambda x: torch.rsqrt(torch.square(x) + 0.1),
    "deg2rad": lambda x: torch.deg2rad(x * 90),
    "atan2": lambda x: torch.atan2(x, x.flip(0)),
    "logaddexp": lambda x: torch.logaddexp(x, x.flip(0)),
    "trunc_int": lambda x: torch.div((x * 9).int(), 4, rounding_mode="trunc"),
    "narrow": lambda x: torch.narrow(x, 3, 2, 4),
    "unflatten": lambda x: torch.unflatten(x[..., :6], 3, (2, -1)),
    "movedim": lambda x: torch.movedim(x, (0, 3), (2, 0)),
    "swapaxes": lambda x: torch.swapaxes(x, 1, -1),
    "hsplit": lambda x: torch.hsplit(x, 3),
    "tensor_split": lambda x: torch.tensor_split(x, [1, 3], 2),
    "repeat_interleave": lambda x: torch.repeat_interleave(x, 2, 1),
    "tile": lambda x: torch.tile(x, (2, 1)),
    "vstack": lambda x: torch.vstack([x[0], x[1]]),
    "block_diag": lambda x: torch.block_diag(x[0, 0], x[0, 1]),
    "prod": lambda x: torch.prod(x, 2, keepdim=True),
    "logsumexp": lambda x: torch.logsumexp(x, (1, 3), True),
    "argsort": lambda x: torch.argsort(x, 2, True),
    "msort": lambda x: torch.msort(x),
    "isclose": lambda x: torch.isclose(x, x + 1e-6),
    "signbit": lambda x: torch.signbit(x),
    "renorm": lambda x: torch.renorm(x, 2, 1, 0.5),
    "polar_angle": lambda x: torch.linalg.vector_norm(x, 3, (1, 2)),
    "matrix_norm": lambda x: torch.linalg.matrix_norm(x, "fro"),
    "embedding_bag": lambda x: F.embedding_bag(torch.tensor([[0, 2], [1, 1]]), x[0, 0], mode="mean"),
    "group_norm_plain": lambda x: F.group_norm(x, 3),
    "conv_transpose1d": lambda x: F.conv_transpose1d(x[0], real(3, 2, 3), None, 2, 1, 1, 1, 2),
    "conv1d_same": lambda x: F.conv1d(x[0, :, :], real(4, 5, 4), padding="same") if x.shape[1] == 5 else F.conv1d(x[0].transpose(0, 1), real(4, 3, 4), padding="same"),
    "mse_loss": lambda x: F.mse_loss(x, x.flip(0)),
    "smooth_l1": lambda x: F.smooth_l1_loss(x, x.flip(0), beta=0.5, reduction="none"),
    "cross_entropy": lambda x: F.cross_entropy(x, torch.ones(2, 5, 7, dtype=torch.long), label_smoothing=0.1),
    "alpha_dropout": lambda x: F.alpha_dropout(x, 0.5, False),
    "bool_any_dims": lambda x: torch.any(x > 1, dim=(1, 2)),
    "clamp_min_int": lambda x: (x * 9).int().clamp(min=2),
    "rsub": lambda x: torch.rsub(x, 2.0, alpha=3),
    "cdist_1": lambda x: torch.cdist(x[0], x[1], 1.0),
    "triu_int": lambda x: torch.triu((x * 9).int(), -1),
    "linspace": lambda x: x + torch.linspace(-1, 1, 7),
    "searchsorted": lambda x: torch.searchsorted(torch.tensor([-1.0, 0.0, 0.5]), x),
    "inverse_softplus": lambda x: F.softplus(x, 2.0, 1.0),
    "gelu_tanh": lambda x: F.gelu(x * 3, approximate="tanh"),
    "mish": lambda x: F.mish(x * 20),
    "stack_negative": lambda x: torch.stack([x, x * 2], -2),
    "dist": lambda x: torch.dist(x, x.flip(0), 1.5),
    "interpolate_nearest_exact": lambda x: F.interpolate(x, (3, 9), mode="nearest-exact"),
    "interpolate_area": lambda x: F.interpolate(x, (2, 3), mode="area"),
    "grid_bicubic": lambda x: F.grid_sample(x, real(2, 3, 4, 2), mode="bicubic", padding_mode="reflection", align_corners=False),
    "sdpa_mask": lambda x: F.scaled_dot_product_attention(x, x, x, attn_mask=x[..., :5] > -1),
}
for name, function in UNUSUAL.items():
    row(f"unusual_{name}", function)



def _sliced(x):
    y = x.clone()
    y[:, 1] = 0.5
    return y


class Call(nn.Module):
    def __init__(self, function):
        super().__init__()
        self.function = function

    def forward(self, *x):
        y = self.function(*x)
        return tuple(y) if isinstance(y, list) else y


def flat(value):
    if isinstance(value, torch.Tensor):
        return [value]
    values = value.values() if isinstance(value, dict) else value
    return [t for v in values if v is not None for t in flat(v)]


def made(form, layer, inputs, path):
    if form == "trace":
        torch.jit.trace(layer, inputs, check_trace=False).save(path)
    elif form == "script":
        torch.jit.script(layer).save(path)
    else:
        program = torch.export.export(layer, inputs, strict=False)
        torch.export.save(program.run_decompositions() if form == "decomposed" else program, path)


def cases(folder, wanted, forms):
    torch.set_num_threads(1)
    for name, function, inputs in ROWS:
        if not wants(name, wanted):
            continue
        layer = (function if isinstance(function, nn.Module) else Call(function)).eval()
        with torch.no_grad():
            try:
                outputs = [t.detach().numpy() for t in flat(layer(*inputs))]
            except Exception as error:  # what this version of torch does not compute is no case
                yield {"name": name, "error": str(error).split("\n")[0]}
                continue
            for form in ("trace", "script", "pt2", "decomposed"):
                if forms and form not in forms.split(","):
                    continue
                if form == "script" and not isinstance(function, nn.Module):
                    continue
                if form in ("trace", "script") and any(t.dtype != torch.float32 for t in inputs):
                    continue  # TorchScript does not say an input's type
                path = os.path.join(folder, "case.pt" if form in ("trace", "script") else "case.pt2")
                try:
                    made(form, layer, inputs, path)
                except Exception as error:
                    yield {"name": f"{name}/{form}", "error": str(error).split("\n")[0]}
                    continue
                # A script does not say its inputs' shapes: the user does.
                names = list(inspect.signature(layer.forward).parameters) if form == "script" else [""] * len(inputs)
                yield {"name": f"{name}/{form}", "model": path, "inputs": [(n, t.numpy()) for n, t in zip(names, inputs)], "outputs": outputs, "shapes": form == "script"}
