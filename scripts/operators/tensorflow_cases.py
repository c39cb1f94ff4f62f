"""tensorflow_cases: functions of one TensorFlow operator, over its attributes; see scripts/check-operators."""
import os

import numpy as np
from wanted import made
import tensorflow as tf
from tensorflow.python.framework.convert_to_constants import convert_variables_to_constants_v2

R = tf.raw_ops
ROWS = []


def numbers(shape, seed=0, dtype="float32"):
    random = np.random.default_rng(seed)
    if dtype == "bool":
        return random.integers(0, 2, shape).astype(bool)
    if np.dtype(dtype).kind in "iu":
        return random.integers(-20 if np.dtype(dtype).kind == "i" else 0, 20, shape).astype(dtype)
    return random.standard_normal(shape).astype(dtype)


def case(name, shapes, function, dtype="float32", arrays=None):
    """`function` of tensors of these shapes, whose first axis is the batch."""
    shapes = [shapes] if isinstance(shapes, tuple) else shapes
    dtypes = [dtype] * len(shapes) if isinstance(dtype, str) else dtype

    def make(folder):
        values = arrays or [numbers((2, *s), i, d) for i, (s, d) in enumerate(zip(shapes, dtypes))]
        specs = [tf.TensorSpec([None, *s], d, name=f"x{i}") for i, (s, d) in enumerate(zip(shapes, dtypes))]
        module = tf.Module()
        module.run = tf.function(lambda *x: {"y": function(*x)} if not isinstance(function(*x), (list, tuple)) else
                                 {f"y{i}": y for i, y in enumerate(function(*x))}, input_signature=specs)
        got = module.run(*[tf.constant(v) for v in values])
        expected = [np.asarray(got[k]) for k in sorted(got)]
        saved = os.path.join(folder, name + ".savedmodel")
        tf.saved_model.save(module, saved, signatures=module.run)
        frozen = convert_variables_to_constants_v2(module.run.get_concrete_function())
        tf.io.write_graph(frozen.graph.as_graph_def(), folder, name + ".pb", as_text=False)
        return [saved, os.path.join(folder, name + ".pb")], {f"x{i}": v for i, v in enumerate(values)}, expected

    ROWS.append((name, make))


IMAGE, ROW = (7, 6, 4), (3, 4)
weight = numbers((3, 2, 4, 5), 7)
depth = numbers((3, 2, 4, 2), 8)
for padding in ("SAME", "VALID"):
    for strides in ((1, 1), (2, 3)):
        tag = f"{padding.lower()}_{strides[0]}"
        case(f"conv2d_{tag}", IMAGE, lambda x, p=padding, s=strides: R.Conv2D(input=x, filter=weight, strides=[1, *s, 1], padding=p))
        case(f"avgpool_{tag}", IMAGE, lambda x, p=padding, s=strides: R.AvgPool(value=x, ksize=[1, 3, 2, 1], strides=[1, *s, 1], padding=p))
        case(f"maxpool_{tag}", IMAGE, lambda x, p=padding, s=strides: R.MaxPool(input=x, ksize=[1, 3, 2, 1], strides=[1, *s, 1], padding=p))
    case(f"conv2d_dilated_{padding.lower()}", IMAGE, lambda x, p=padding: tf.nn.conv2d(x, weight, 1, p, dilations=2))
    case(f"depthwise_{padding.lower()}", IMAGE, lambda x, p=padding: R.DepthwiseConv2dNative(input=x, filter=depth, strides=[1, 2, 2, 1], padding=p))
    case(f"conv_transpose_{padding.lower()}", IMAGE, lambda x, p=padding: tf.nn.conv2d_transpose(
        x, numbers((3, 3, 5, 4), 3), [2, 14 if p == "SAME" else 15, 12 if p == "SAME" else 13, 5], 2, p))
case("conv2d_explicit", IMAGE, lambda x: R.Conv2D(input=x, filter=weight, strides=[1, 1, 1, 1], padding="EXPLICIT", explicit_paddings=[0, 0, 1, 2, 0, 3, 0, 0]))
case("maxpool_explicit", IMAGE, lambda x: R.MaxPool(input=x, ksize=[1, 3, 2, 1], strides=[1, 2, 2, 1], padding="EXPLICIT", explicit_paddings=[0, 0, 1, 1, 0, 1, 0, 0]))
case("depthwise_explicit", IMAGE, lambda x: R.DepthwiseConv2dNative(input=x, filter=depth, strides=[1, 1, 1, 1], padding="EXPLICIT", explicit_paddings=[0, 0, 1, 2, 0, 3, 0, 0]))
case("conv2d_groups", IMAGE, lambda x: R.Conv2D(input=x, filter=numbers((3, 3, 2, 6)), strides=[1, 1, 1, 1], padding="SAME"))
case("space_to_batch", (8, 6, 4), lambda x: R.BatchToSpaceND(input=R.SpaceToBatchND(input=x, block_shape=[2, 2], paddings=[[0, 0], [0, 0]]), block_shape=[2, 2], crops=[[1, 0], [0, 1]]))
for op in ("Abs", "Acos", "Acosh", "Asin", "Asinh", "Atan", "Atanh", "Ceil", "Cos", "Cosh", "Elu", "Erf", "Erfc", "Exp", "Expm1", "Floor", "IsInf",
           "IsNan", "Log", "Log1p", "LogSoftmax", "Neg", "OnesLike", "Reciprocal", "Relu", "Relu6", "Rint", "Round", "Rsqrt", "Selu", "Sigmoid",
           "Sign", "Sin", "Sinh", "Softmax", "Softplus", "Softsign", "Sqrt", "Square", "Tan", "Tanh", "ZerosLike", "IsFinite", "Lgamma", "Digamma",
           "Erfinv", "Ndtri", "Inv"):
    def one(x, op=op):
        function = getattr(R, op)
        key = {"Softmax": "logits", "LogSoftmax": "logits", "Elu": "features", "Relu": "features", "Relu6": "features", "Selu": "features",
               "Softplus": "features", "Softsign": "features"}.get(op, "x")
        return function(**{key: x})
    case(f"unary_{op.lower()}", ROW, one)
for op in ("Abs", "Neg", "Sign", "Square", "Round"):
    case(f"unary_int_{op.lower()}", ROW, lambda x, op=op: getattr(R, op)(x=x), "int32")
case("leaky_relu", ROW, lambda x: R.LeakyRelu(features=x, alpha=0.3))
for op in ("Add", "AddV2", "Sub", "Mul", "Div", "RealDiv", "DivNoNan", "Maximum", "Minimum", "Pow", "FloorDiv", "FloorMod", "SquaredDifference",
           "Equal", "NotEqual", "Greater", "GreaterEqual", "Less", "LessEqual", "Atan2", "Mod", "TruncateDiv", "TruncateMod", "Xdivy", "Xlogy"):
    case(f"binary_{op.lower()}", [ROW, (4,)] if False else [ROW, ROW], lambda x, y, op=op: getattr(R, op)(x=x, y=y))
for op in ("Add", "Sub", "Mul", "Div", "TruncateDiv", "TruncateMod", "FloorDiv", "FloorMod", "Mod", "Maximum", "BitwiseAnd", "LeftShift", "RightShift"):
    case(f"binary_int_{op.lower()}", [ROW, ROW], lambda x, y, op=op: getattr(R, op)(x=x, y=tf.where(y == 0, tf.ones_like(y), y)), "int32")
case("equal_loose", [ROW, ROW], lambda x, y: R.Equal(x=x, y=y, incompatible_shape_error=False))
for op in ("LogicalAnd", "LogicalOr"):
    case(f"binary_{op.lower()}", [ROW, ROW], lambda x, y, op=op: getattr(R, op)(x=x, y=y), "bool")
case("logical_not", ROW, lambda x: R.LogicalNot(x=x), "bool")
for op in ("Max", "Min", "Mean", "Sum", "Prod"):
    for keep in (False, True):
        case(f"reduce_{op.lower()}_{keep}", ROW, lambda x, op=op, k=keep: getattr(R, op)(input=x, axis=[1, -1], keep_dims=k))
case("reduce_int_mean", ROW, lambda x: R.Mean(input=x, axis=[1]), "int32")
case("reduce_none", ROW, lambda x: R.Sum(input=x, axis=np.zeros(0, "int32"), keep_dims=False))
for op in ("All", "Any"):
    case(f"reduce_{op.lower()}", ROW, lambda x, op=op: getattr(R, op)(input=x, axis=[1]), "bool")
case("euclidean_norm", ROW, lambda x: R.EuclideanNorm(input=x, axis=[1]))
for out in (tf.int32, tf.int64):
    case(f"argmax_{out.name}", ROW, lambda x, o=out: R.ArgMax(input=x, dimension=1, output_type=o))
case("argmin", ROW, lambda x: R.ArgMin(input=x, dimension=-1))
for to in ("float16", "int32", "float64", "uint8", "bool", "bfloat16"):
    case(f"cast_{to}", ROW, lambda x, t=to: tf.cast(R.Cast(x=x, DstT=t), "float32"))
case("cast_truncate", ROW, lambda x: tf.cast(R.Cast(x=x, DstT="float16", Truncate=True), "float32"))
case("cast_int_bool", ROW, lambda x: R.Cast(x=x, DstT="bool"), "int32")
case("clip", ROW, lambda x: R.ClipByValue(t=x, clip_value_min=-0.5, clip_value_max=0.5))
case("clip_arrays", ROW, lambda x: R.ClipByValue(t=x, clip_value_min=np.full(4, -0.5, "f"), clip_value_max=np.full(4, 0.5, "f")))
case("select", [ROW, ROW], lambda x, y: R.SelectV2(condition=x > 0, t=x, e=y))
case("select_old", [ROW, ROW], lambda x, y: R.Select(condition=x > 0, t=x, e=y))
for a in (False, True):
    for b in (False, True):
        case(f"matmul_{a}_{b}", (3, 3), lambda x, a=a, b=b: tf.expand_dims(R.MatMul(a=x[0], b=x[0], transpose_a=a, transpose_b=b), 0), arrays=[numbers((1, 3, 3))])
        case(f"batch_matmul_{a}_{b}", [(3, 3), (3, 3)], lambda x, y, a=a, b=b: R.BatchMatMulV2(x=x, y=y, adj_x=a, adj_y=b))
case("einsum", [(3, 4), (4, 5)], lambda x, y: R.Einsum(inputs=[x, y], equation="abc,acd->abd"))
case("einsum_ellipsis", ROW, lambda x: R.Einsum(inputs=[x, numbers((4, 5))], equation="...c,cd->...d"))
for exclusive in (False, True):
    for reverse in (False, True):
        case(f"cumsum_{exclusive}_{reverse}", ROW, lambda x, e=exclusive, r=reverse: R.Cumsum(x=x, axis=1, exclusive=e, reverse=r))
case("cumprod", ROW, lambda x: R.Cumprod(x=x, axis=1))
for mode in ("REFLECT", "SYMMETRIC"):
    for n in (1, 2):
        case(f"mirror_pad_{mode.lower()}_{n}", IMAGE, lambda x, m=mode, n=n: R.MirrorPad(input=x, paddings=[[0, 0], [n, n], [0, n], [0, 0]], mode=m))
case("pad", IMAGE, lambda x: R.Pad(input=x, paddings=[[0, 0], [1, 2], [0, 1], [0, 0]]))
case("pad_value", IMAGE, lambda x: R.PadV2(input=x, paddings=[[0, 0], [1, 2], [0, 1], [0, 0]], constant_values=0.5))
for training in (False, True):
    case(f"batch_norm_{training}", IMAGE, lambda x, t=training: R.FusedBatchNormV3(
        x=x, scale=numbers((4,), 1), offset=numbers((4,), 2), mean=np.zeros(0, "f") if t else numbers((4,), 3),
        variance=np.zeros(0, "f") if t else abs(numbers((4,), 4)) + 1, is_training=t, epsilon=0.01).y)
case("batch_norm_average", IMAGE, lambda x: R.FusedBatchNormV3(x=x, scale=numbers((4,), 1), offset=numbers((4,), 2), mean=numbers((4,), 3),
                                                              variance=abs(numbers((4,), 4)) + 1, is_training=False, exponential_avg_factor=0.5).y)
case("bias_add", IMAGE, lambda x: R.BiasAdd(value=x, bias=numbers((4,))))
case("bias_add_first", IMAGE, lambda x: R.BiasAdd(value=x, bias=numbers((7,)), data_format="NCHW"))
case("lrn", IMAGE, lambda x: R.LRN(input=x, depth_radius=1, bias=2.0, alpha=0.5, beta=0.7))
for op in ("ResizeBilinear", "ResizeNearestNeighbor", "ResizeBicubic", "ResizeArea"):
    for corners, centres in ((False, False), (True, False), (False, True)):
        if op == "ResizeArea" and centres:
            continue
        more = {} if op == "ResizeArea" else {"half_pixel_centers": centres}
        for size in ((5, 9), (1, 1), (14, 3)):
            case(f"{op.lower()}_{corners}_{centres}_{size[0]}", IMAGE,
                 lambda x, op=op, c=corners, m=more, s=size: getattr(R, op)(images=x, size=list(s), align_corners=c, **m))
case("depth_to_space", (3, 3, 8), lambda x: R.DepthToSpace(input=x, block_size=2))
case("space_to_depth", (4, 6, 3), lambda x: R.SpaceToDepth(input=x, block_size=2))
case("strided_slice", IMAGE, lambda x: x[:, 1:-1, ::2, 3])
case("strided_slice_negative", IMAGE, lambda x: x[:, -3:, ::-1])
case("strided_slice_new", ROW, lambda x: x[:, tf.newaxis, ..., 1:])
case("slice", IMAGE, lambda x: R.Slice(input=x, begin=[0, 1, 2, 0], size=[-1, 3, -1, 2]))
case("gather", ROW, lambda x: R.GatherV2(params=x, indices=[2, 0], axis=1))
case("gather_batch", [ROW, (2,)], lambda x, y: R.GatherV2(params=x, indices=y, axis=1, batch_dims=1), ["float32", "int32"],
     [numbers((2, 3, 4)), np.array([[0, 1], [2, 0]], "int32")])
case("gather_nd", ROW, lambda x: R.GatherNd(params=x[0], indices=[[[0, 1], [1, 2]]]), arrays=[numbers((1, 3, 4))])
case("reverse", ROW, lambda x: R.ReverseV2(tensor=x, axis=[1]))
case("tile", ROW, lambda x: R.Tile(input=x, multiples=[1, 2, 3]))
case("transpose", IMAGE, lambda x: R.Transpose(x=x, perm=[0, 3, 1, 2]))
case("split", (3, 4), lambda x: R.Split(axis=2, value=x, num_split=2))
case("split_v", (3, 4), lambda x: R.SplitV(value=x, size_splits=[1, -1], axis=2, num_split=2))
case("pack", [ROW, ROW], lambda x, y: R.Pack(values=[x, y], axis=1))
case("unpack", ROW, lambda x: R.Unpack(value=x, num=3, axis=1))
case("concat", [ROW, ROW], lambda x, y: R.ConcatV2(values=[x, y], axis=-1))
case("add_n", [ROW, ROW], lambda x, y: R.AddN(inputs=[x, y]))
case("squeeze", (1, 4), lambda x: R.Squeeze(input=x, axis=[1]))
case("expand_dims", ROW, lambda x: R.ExpandDims(input=x, axis=-1))
for k in (True, False):
    case(f"top_k_{k}", (6,), lambda x, s=k: tf.reduce_sum(R.TopKV2(input=x, k=3, sorted=s).values, 1))
case("scatter_nd", (3,), lambda x: R.ScatterNd(indices=[[1], [3], [1]], updates=x[0], shape=[5]), arrays=[numbers((1, 3))])
for reduction in ("Update", "Add", "Max", "Min"):
    case(f"tensor_scatter_{reduction}", ROW, lambda x, f=getattr(R, f"TensorScatter{reduction}"): f(
        tensor=x[0], indices=[[0, 2], [2, 1], [0, 2]], updates=[0.5, -1.0, 2.0]), arrays=[numbers((1, 3, 4))])
BOXES = np.float32([[0, 0, 2, 2], [0, 1, 2, 3], [0, 0.5, 2, 2.5], [3, 3, 5, 5], [5, 5, 4, 4], [0, 0, 2, 1]])
for threshold in (0.25, 0.5, 0.6):  # 0.5 and 0.6 are overlaps of these boxes
    suppressed = {"max_output_size": 4, "iou_threshold": threshold, "score_threshold": -0.5}
    case(f"nms_v3_{threshold}", (6,), lambda x, a=suppressed: R.NonMaxSuppressionV3(boxes=BOXES, scores=x[0], **a), arrays=[numbers((1, 6))])
    case(f"nms_v4_{threshold}", (6,), lambda x, a=suppressed: list(R.NonMaxSuppressionV4(boxes=BOXES, scores=x[0], pad_to_max_output_size=True, **a)), arrays=[numbers((1, 6))])
    case(f"nms_v5_{threshold}", (6,), lambda x, a=suppressed: list(R.NonMaxSuppressionV5(boxes=BOXES, scores=x[0], soft_nms_sigma=0.0, **a)), arrays=[numbers((1, 6))])
UNUSUAL = {
    "atan2": lambda x: R.Atan2(y=x, x=x[:, ::-1]), "xlogy": lambda x: R.Xlogy(x=tf.nn.relu(x), y=tf.abs(x)), "xdivy": lambda x: R.Xdivy(x=tf.nn.relu(x), y=x),
    "mul_no_nan": lambda x: R.MulNoNan(x=x, y=tf.nn.relu(x)), "is_finite": lambda x: R.IsFinite(x=x / tf.nn.relu(x)), "lin_space": lambda x: x + R.LinSpace(start=-1.0, stop=1.0, num=4),
    "expm1_small": lambda x: R.Expm1(x=x * 1e-3), "log1p_small": lambda x: R.Log1p(x=x * 1e-3),
    "matrix_band_part": lambda x: R.MatrixBandPart(input=x, num_lower=1, num_upper=0), "diag_part": lambda x: R.MatrixDiagPartV3(input=x, k=1, padding_value=0.0), "set_diag": lambda x: R.MatrixSetDiagV3(input=x, diagonal=tf.ones((2, 3)), k=0),
    "clip_scalar": lambda x: R.ClipByValue(t=x, clip_value_min=0.5, clip_value_max=-0.5), "snapshot": lambda x: R.Snapshot(input=x), "invert_permutation": lambda x: tf.gather(x, R.InvertPermutation(x=[2, 0, 1]), axis=1),
    "roll_two": lambda x: R.Roll(input=x, shift=[1, -1], axis=[1, 2]), "unsorted_segment_sum": lambda x: R.UnsortedSegmentSum(data=x, segment_ids=[1, 0], num_segments=3), "segment_max": lambda x: R.SegmentMax(data=x, segment_ids=[0, 1]),
    "bucketize": lambda x: R.Bucketize(input=x, boundaries=[-0.5, 0.0, 0.5]), "cross": lambda x: R.Cross(a=x[..., :3], b=x[:, ::-1, :3]), "euclidean": lambda x: R.EuclideanNorm(input=x, axis=[1], keep_dims=True),
    "softmax_loss": lambda x: R.SoftmaxCrossEntropyWithLogits(features=x[:, 0], labels=x[:, 1])[0], "in_top_k": lambda x: R.InTopKV2(predictions=x[:, 0], targets=[1, 2], k=2), "one_hot_axis": lambda x: R.OneHot(indices=tf.argmax(x, 2), depth=4, on_value=2.0, off_value=-1.0, axis=1),
    "where_indices": lambda x: R.Where(condition=x > 0), "cumprod_reverse": lambda x: R.Cumprod(x=x, axis=1, exclusive=True, reverse=True), "cumsum_exclusive": lambda x: R.Cumsum(x=x, axis=2, exclusive=True, reverse=True), "cumulative_logsumexp": lambda x: R.CumulativeLogsumexp(x=x, axis=1),
    "bitwise": lambda x: R.BitwiseXor(x=tf.cast(x * 9, tf.int32), y=5), "left_shift": lambda x: R.LeftShift(x=tf.cast(x * 9, tf.int32), y=2), "invert": lambda x: R.Invert(x=tf.cast(x * 9, tf.int32)), "next_after": lambda x: R.NextAfter(x1=x, x2=2.0),
    "approximate_equal": lambda x: R.ApproximateEqual(x=x, y=x + 1e-6), "slice_update": lambda x: R.TensorStridedSliceUpdate(input=x, begin=[0, 1, 0], end=[2, 2, 4], strides=[1, 1, 2], value=tf.zeros((2, 1, 2))), "broadcast_args": lambda x: tf.broadcast_to(x, R.BroadcastArgs(s0=[2, 3, 4], s1=[1, 4])),
    "batch_matmul_adjoint": lambda x: R.BatchMatMulV3(x=x, y=x, Tout=tf.float32, adj_y=True), "parallel_concat": lambda x: R.ConcatV2(values=[x, x], axis=-1), "stop_gradient": lambda x: R.StopGradient(input=x), "unravel": lambda x: R.UnravelIndex(indices=tf.argmax(tf.reshape(x, (2, 12)), 1), dims=[3, 4]),
    "mirror_symmetric": lambda x: R.MirrorPad(input=x, paddings=[[0, 0], [2, 1], [1, 3]], mode="SYMMETRIC"), "gather_batch_axis": lambda x: R.GatherV2(params=x, indices=[[0, 2], [1, 1]], axis=1, batch_dims=1), "erfinv": lambda x: R.Erfinv(x=tf.tanh(x)), "lgamma": lambda x: R.Lgamma(x=tf.abs(x) + 0.5),
    "non_max_padded": lambda x: tf.image.non_max_suppression_padded(tf.abs(x[0]), x[0, :, 0], 2)[0], "softsign": lambda x: R.Softsign(features=x * 9), "unique": lambda x: R.Unique(x=tf.cast(x[0, 0] * 2, tf.int32))[0], "sparse_to_dense": lambda x: x[0] + R.SparseToDense(sparse_indices=[[0, 1], [2, 2]], output_shape=[3, 4], sparse_values=2.0, default_value=0.0),
}
for name, function in UNUSUAL.items():
    case(f"unusual_{name}", ROW, function, arrays=[numbers((2, 3, 4))])
case("unusual_reverse_sequence", ROW, lambda x: R.ReverseSequence(input=x[0], seq_lengths=[2, 3, 1], seq_dim=1, batch_dim=0)[tf.newaxis], arrays=[numbers((1, 3, 4))])
case("unusual_l2_loss", ROW, lambda x: tf.reshape(R.L2Loss(t=x), (1,)), arrays=[numbers((1, 3, 4))])
IMAGES = {
    "crop_and_resize": lambda x: R.CropAndResize(image=x, boxes=[[0.1, 0.2, 0.8, 0.9], [0, 0, 1, 1.2]], box_ind=[0, 1], crop_size=[3, 4], extrapolation_value=0.5), "extract_patches": lambda x: R.ExtractImagePatches(images=x, ksizes=[1, 2, 3, 1], strides=[1, 2, 1, 1], rates=[1, 1, 1, 1], padding="SAME"),
    "max_pool_argmax": lambda x: R.MaxPoolWithArgmax(input=x, ksize=[1, 2, 2, 1], strides=[1, 2, 2, 1], padding="VALID")[1], "dilation2d": lambda x: R.Dilation2D(input=x, filter=tf.ones((2, 2, 4)), strides=[1, 1, 1, 1], rates=[1, 1, 1, 1], padding="SAME"),
    "resize_bicubic": lambda x: R.ResizeBicubic(images=x, size=[4, 9], half_pixel_centers=True), "adjust_contrast": lambda x: R.AdjustContrastv2(images=x, contrast_factor=1.5), "rgb_to_hsv": lambda x: R.RGBToHSV(images=tf.sigmoid(x[..., :3])),
    "data_format_permute": lambda x: R.Transpose(x=x, perm=R.DataFormatVecPermute(x=[0, 1, 2, 3], src_format="NHWC", dst_format="NCHW")), "avg_pool_first_uneven": lambda x: R.AvgPool(value=x, ksize=[1, 3, 2, 1], strides=[1, 2, 2, 1], padding="SAME"), "lrn_one": lambda x: R.LRN(input=x, depth_radius=1, bias=2.0, alpha=0.5, beta=0.5),
    "depthwise_multiplier": lambda x: R.DepthwiseConv2dNative(input=x, filter=numbers((2, 3, 4, 2)), strides=[1, 2, 2, 1], padding="SAME"), "max_pool_explicit": lambda x: R.MaxPool(input=-abs(x), ksize=[1, 3, 3, 1], strides=[1, 2, 2, 1], padding="EXPLICIT", explicit_paddings=[0, 0, 1, 0, 1, 1, 0, 0]),
}
for name, function in IMAGES.items():
    case(f"unusual_{name}", IMAGE, function, arrays=[numbers((2, *IMAGE))])
case("top_k_indices", (6,), lambda x: R.TopKV2(input=x, k=3).indices)
for axis in (-1, 1):
    case(f"one_hot_{axis}", (3,), lambda x, a=axis: R.OneHot(indices=x, depth=5, on_value=2.0, off_value=-1.0, axis=a), "int32",
         [np.array([[0, 1, 4], [2, 7, -1]], "int32")])
case("broadcast_to", (1, 4), lambda x: R.BroadcastTo(input=x[:1], shape=[1, 3, 4]), arrays=[numbers((1, 1, 4))])
case("fake_quant_args", ROW, lambda x: R.FakeQuantWithMinMaxArgs(inputs=x, min=-1.0, max=2.0))
case("fake_quant_narrow", ROW, lambda x: R.FakeQuantWithMinMaxArgs(inputs=x, min=-1.0, max=2.0, narrow_range=True))
case("fake_quant_bits", ROW, lambda x: R.FakeQuantWithMinMaxArgs(inputs=x, min=-1.0, max=2.0, num_bits=4))
case("fake_quant_channel", ROW, lambda x: R.FakeQuantWithMinMaxVarsPerChannel(inputs=x, min=np.full(4, -1.0, "f"), max=np.full(4, 2.0, "f")))
case("check_numerics", ROW, lambda x: R.CheckNumerics(tensor=x, message="no number"))
case("ensure_shape", ROW, lambda x: tf.ensure_shape(x, [None, 3, 4]))
case("reshape", ROW, lambda x: R.Reshape(tensor=x, shape=[-1, 12]))
case("shape", ROW, lambda x: R.Reshape(tensor=x, shape=tf.stack([tf.shape(x)[0], 4, 3])))
case("range", ROW, lambda x: x + R.Range(start=0.0, limit=4.0, delta=1.0))
case("fill", ROW, lambda x: x + R.Fill(dims=[4], value=2.0))
case("roll", ROW, lambda x: R.Roll(input=x, shift=[1], axis=[2]))
case("conv3d", (4, 4, 4, 2), lambda x: R.Conv3D(input=x, filter=numbers((2, 2, 2, 2, 3)), strides=[1, 1, 1, 1, 1], padding="SAME"))
case("matrix_diag", ROW, lambda x: tf.linalg.band_part(x, -1, 0))


def printing(x):
    tf.print("printed", output_stream="file:///dev/null")
    return x + 1.0


def asserting(x):
    tf.debugging.assert_greater(x, -100.0)
    return x + 1.0


def writing(x):
    with tf.control_dependencies([R.WriteFile(filename="/dev/null", contents="x")]):
        return tf.identity(x + 1.0)


case("effect_print_file", ROW, printing)
case("effect_assert", ROW, asserting)
case("effect_write", ROW, writing)
case("effect_python", ROW, lambda x: tf.numpy_function(lambda v: v, [x], tf.float32))


def cases(folder, wanted, _):
    return made(ROWS, folder, wanted)
