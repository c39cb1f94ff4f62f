"""tflite_cases: TensorFlow functions through TFLiteConverter, and each operator that dnn-convert writes as TFLite in TFLite itself.

The first are rows of ROWS: a name, a function, its inputs; their quantised forms (/int8) where a row asks for them. The second
(written/...) are graphs in the text form by type: the interpreter must load what is written, and compute what our reader does.
"""
import os
import subprocess

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
os.environ["CUDA_VISIBLE_DEVICES"] = ""
import numpy as np
import tensorflow as tf
from wanted import wants

ROWS = []


def real(*shape, seed=1):
    return np.random.default_rng(seed).standard_normal(shape).astype("f")


def whole(*shape, low=-9, high=10, dtype="int32", seed=1, without=None):
    values = np.random.default_rng(seed).integers(low, high, shape)
    if without is not None:
        values[values == without] = 3
    return values.astype(dtype)


X, Y = real(1, 7, 9, 4), real(1, 7, 9, 4, seed=2)
W, DW, B = real(3, 3, 4, 5, seed=3), real(3, 3, 4, 2, seed=4), real(5, seed=5)


def row(name, function, *inputs, int8=False):
    ROWS.append((name, function, inputs or (X,), False))
    if int8:
        ROWS.append((name + "/int8", function, inputs or (X,), True))


for stride in (1, 2):
    for padding in ("SAME", "VALID"):
        row(f"conv2d.{stride}.{padding}", lambda x, s=stride, p=padding: tf.nn.relu6(tf.nn.conv2d(x, W, s, p) + B), int8=True)
        row(f"depthwise.{stride}.{padding}", lambda x, s=stride, p=padding: tf.nn.depthwise_conv2d(x, DW, (1, s, s, 1), p), int8=True)
        row(f"max_pool.{stride}.{padding}", lambda x, s=stride, p=padding: tf.nn.max_pool2d(x, 3, s, p), int8=True)
        row(f"avg_pool.{stride}.{padding}", lambda x, s=stride, p=padding: tf.nn.avg_pool2d(x, 3, s, p), int8=True)
for padding in ("SAME", "VALID"):
    row(f"conv2d.dilated.{padding}", lambda x, p=padding: tf.nn.conv2d(x, W, 1, p, dilations=2), int8=True)
    row(f"depthwise.dilated.{padding}", lambda x, p=padding: tf.nn.depthwise_conv2d(x, DW, (1, 1, 1, 1), p, dilations=(2, 2)))
    for size in ((14, 18), (13, 17)):
        if padding == "SAME":
            row(f"conv_transpose.{padding}.{size}", lambda x, s=size: tf.nn.conv2d_transpose(x, real(3, 3, 2, 4), (1, *s, 2), 2, "SAME"))
    row(f"conv_transpose.{padding}.whole", lambda x: tf.nn.conv2d_transpose(x, real(3, 3, 2, 4), (1, 15, 19, 2), 2, "VALID"), int8=True)
row("conv2d.grouped", lambda x: tf.nn.conv2d(x, real(3, 3, 2, 6), 1, "SAME"))
for size in ((14, 18), (5, 11), (1, 1), (20, 4), (13, 17)):
    for corners, centres in ((False, False), (True, False), (False, True)):
        row(f"resize_bilinear.{size}.{corners}.{centres}", lambda x, s=size, a=corners, h=centres: tf.raw_ops.ResizeBilinear(images=x, size=s, align_corners=a, half_pixel_centers=h), int8=size == (14, 18))
        row(f"resize_nearest.{size}.{corners}.{centres}", lambda x, s=size, a=corners, h=centres: tf.raw_ops.ResizeNearestNeighbor(images=x, size=s, align_corners=a, half_pixel_centers=h), int8=size == (14, 18))
for n in (27, 41, 49, 100):
    row(f"resize_nearest.wide.{n}", lambda x, n=n: (tf.raw_ops.ResizeNearestNeighbor(images=x, size=(n, 7)), tf.raw_ops.ResizeNearestNeighbor(images=x, size=(n, 7), half_pixel_centers=True),
                                                    tf.raw_ops.ResizeNearestNeighbor(images=x, size=(n, 7), align_corners=True)), real(1, 49, 3, 1))
for name in "abs ceil cos exp floor round rsqrt sigmoid sign sin sqrt square tanh negative".split():
    row(name, lambda x, f=getattr(tf, name, getattr(tf.math, name, None)): f(x), np.abs(X) + 0.1 if name in ("rsqrt", "sqrt") else X, int8=name in ("sigmoid", "tanh", "abs"))
row("log", lambda x: (tf.math.log(x), tf.math.log1p(x)), np.abs(X) + 0.1)
for name in "relu relu6 elu gelu leaky_relu softplus swish selu softsign".split():
    row("nn." + name, lambda x, f=getattr(tf.nn, name): f(x), int8=name in ("relu", "relu6", "leaky_relu"))
row("gelu.tanh", lambda x: tf.nn.gelu(x, True))
row("hard_swish", lambda x: x * tf.nn.relu6(x + 3) * (1 / 6), int8=True)
row("relu_n1", lambda x: tf.clip_by_value(x, -1.0, 1.0), int8=True)
row("prelu", lambda x: tf.nn.relu(x) + tf.constant([0.1, 0.2, -0.3, 0.4]) * (x - tf.abs(x)) * 0.5)
row("softmax", lambda x: (tf.nn.softmax(x), tf.nn.log_softmax(x)), int8=True)
row("l2_normalize", lambda x: tf.math.l2_normalize(x, -1), int8=True)
row("lrn", lambda x: tf.nn.local_response_normalization(x, 2, 1.5, 0.3, 0.6))
for name in "add subtract multiply divide maximum minimum pow squared_difference floordiv floormod equal not_equal less less_equal greater greater_equal".split():
    f = getattr(tf, name, getattr(tf.math, name, None))
    row(name, lambda x, y, f=f: f(x, y), np.abs(X) + 0.1 if name == "pow" else X, Y, int8=name in ("add", "subtract", "multiply", "maximum", "minimum"))
    if name not in ("divide", "squared_difference"):
        row(name + ".int32", lambda x, y, f=f: f(x, y), whole(3, 8, low=0 if name == "pow" else -9, high=4 if name == "pow" else 10), whole(3, 8, seed=2, low=0 if name == "pow" else -9, high=4 if name == "pow" else 10, without=0))
row("div.int32", lambda x, y: (tf.raw_ops.Div(x=x, y=y), x // y, x % y, tf.math.truncatediv(x, y), tf.math.truncatemod(x, y)), whole(3, 8), whole(3, 8, seed=2, without=0))
row("broadcast", lambda x: (x + tf.constant([1.0, 2, 3, 4]), tf.broadcast_to(x, (2, 7, 9, 4)), x * 2.5))
row("logical", lambda x: (tf.logical_and(x > 0, x < 1), tf.logical_or(x > 1, x < 0), tf.logical_not(x > 0)))
row("where", lambda x, y: (tf.where(x > 0, x, y), tf.where(x > 0, x, tf.zeros_like(x) - 1)), X, Y)
row("select.rows", lambda x, y: tf.raw_ops.Select(condition=tf.constant([True, False, True]), x=x, y=y), real(3, 4), real(3, 4, seed=2))
row("cast", lambda x: (tf.cast(x * 9, tf.int32), tf.cast(x > 0, tf.float32), tf.cast(tf.cast(x * 9, tf.int32), tf.int64), tf.cast(x, tf.bool)))
for name in "sum mean max min prod".split():
    row("reduce_" + name, lambda x, f=getattr(tf, "reduce_" + name): (f(x, (1, 2)), f(x, 3, keepdims=True), f(x)), int8=name in ("mean", "max", "sum"))
    row("reduce_" + name + ".int32", lambda x, f=getattr(tf, "reduce_" + name): f(x, 1), whole(3, 5))
row("reduce_any", lambda x: (tf.reduce_any(x > 1, -1), tf.reduce_all(x > -1, 1)))
row("arg_max", lambda x: (tf.argmax(x, 3), tf.argmin(x, 1, tf.int32)), int8=True)
row("top_k", lambda x: tuple(tf.math.top_k(x, 2)))
row("cumsum", lambda x: (tf.cumsum(x, 1), tf.cumsum(x, 2, True, True)))
row("one_hot", lambda x: (tf.one_hot(x, 5), tf.one_hot(x, 4, 2.0, -1.0, axis=0)), whole(6, low=-2, high=6))
row("matmul", lambda x, y: (x @ y, tf.linalg.matmul(x, x, transpose_b=True), tf.linalg.matmul(x, x, transpose_a=True)), real(2, 4, 6), real(2, 6, 5))
row("dense", lambda x: tf.nn.relu(x @ real(6, 5) + B), real(4, 6), int8=True)
row("dense.3", lambda x: tf.tensordot(x, real(6, 5), 1) + B, real(2, 4, 6), int8=True)
row("concat", lambda x, y: (tf.concat((x, y), 3), tf.concat((x, y), 1)), X, Y, int8=True)
row("pad", lambda x: (tf.pad(x, [[0, 0], [1, 2], [0, 1], [0, 0]]), tf.pad(x, [[0, 0], [1, 2], [0, 1], [0, 0]], constant_values=1.5)), int8=True)
row("mirror_pad", lambda x: (tf.pad(x, [[0, 0], [2, 3], [1, 1], [0, 0]], "REFLECT"), tf.pad(x, [[0, 0], [2, 1], [1, 3], [0, 0]], "SYMMETRIC"), tf.pad(x, [[0, 0], [1, 1], [1, 1], [0, 0]], "SYMMETRIC")))
row("slice", lambda x: (x[:, 1:5:2, ::-1], x[:, 1], x[:, :, -1, tf.newaxis], x[..., 1:3], tf.slice(x, [0, 1, 2, 0], [1, 3, -1, 2]), x[:, tf.newaxis, ..., 0]), int8=True)
row("split", lambda x: (*tf.split(x, 2, 3), *tf.split(x, [3, 4], 1), *tf.unstack(x, axis=3)))
row("stack", lambda x, y: (tf.stack((x, y), 1), tf.stack((x, y), -1)), X, Y)
row("reshape", lambda x: (tf.reshape(x, (7, -1)), tf.expand_dims(x, 2), tf.squeeze(x, 0), tf.transpose(x, (0, 3, 1, 2)), tf.reshape(x, (1, 63, 4))), int8=True)
row("tile", lambda x: (tf.tile(x, (1, 2, 1, 3)), tf.repeat(x, 2, 1)))
row("gather", lambda x: (tf.gather(x, [2, 0], axis=3), tf.gather_nd(x, [[0, 1, 2], [0, 6, 0]])))
row("gather.batch", lambda x: tf.gather(x, tf.constant([[1, 0]]), axis=1, batch_dims=1))
row("scatter_nd", lambda x: tf.scatter_nd([[1], [3], [1]], x, (5, 3)), real(3, 3))
for name in ("sum", "max", "min", "prod"):
    row(f"segment_{name}", lambda x, f=getattr(tf.math, f"unsorted_segment_{name}"): (f(x, [1, -1, 3, 1], 5), f(x, [[2, 0, 2], [0, 1, -1], [1, 1, 2], [0, 0, 0]], 4)), real(4, 3))
BOXES = np.float32([[0, 0, 2, 2], [0, 1, 2, 3], [0, 0.5, 2, 2.5], [3, 3, 5, 5], [5, 5, 4, 4], [0, 0, 2, 1]])
for threshold in (0.25, 0.5, 0.6):  # 0.5 and 0.6 are overlaps of these boxes
    row(f"nms_{threshold}", lambda x, t=threshold: tf.raw_ops.NonMaxSuppressionV4(boxes=BOXES, scores=x, max_output_size=4, iou_threshold=t, score_threshold=-0.5, pad_to_max_output_size=True), real(6))
    row(f"nms_soft_{threshold}", lambda x, t=threshold: tf.raw_ops.NonMaxSuppressionV5(boxes=BOXES, scores=x, max_output_size=4, iou_threshold=t, score_threshold=-0.5, soft_nms_sigma=0.0, pad_to_max_output_size=True), real(6))
row("reverse", lambda x: (tf.reverse(x, (1,)), tf.reverse_sequence(x, [5], 1, 0)))
row("depth_to_space", lambda x: (tf.nn.depth_to_space(x, 2), tf.nn.space_to_depth(x[:, :6, :8], 2)), int8=True)
row("space_to_batch", lambda x: (tf.space_to_batch(x, (2, 3), [[1, 0], [0, 0]]), tf.batch_to_space(tf.space_to_batch(x, (2, 3), [[1, 0], [0, 0]]), (2, 3), [[1, 0], [0, 0]])))
row("add_n", lambda x, y: tf.add_n([x, y, x]), X, Y)
row("fill", lambda x: (tf.fill((2, 3), 1.5) + tf.reduce_sum(x), tf.zeros_like(x) + x, tf.range(4.0) + x[0, 0, 0]))
row("shape", lambda x: tf.cast(tf.shape(x), tf.float32) + tf.reduce_sum(x) * 0)
row("batch_norm", lambda x: tf.nn.batch_normalization(x, real(4), np.abs(real(4)) + 0.1, real(4, seed=2), real(4, seed=3), 1e-3))
row("layer_norm", lambda x: (x - tf.reduce_mean(x, -1, keepdims=True)) * tf.math.rsqrt(tf.math.reduce_variance(x, -1, keepdims=True) + 1e-3))
row("atan2", lambda x, y: tf.math.atan2(x, y), X, Y)
row("unusual", lambda x: (tf.linalg.diag(x[0, 0]), tf.math.segment_sum(x[0], [0, 0, 1, 1, 2, 2, 3])))


def flat(value):
    return [value] if tf.is_tensor(value) else [t for v in value for t in flat(v)]


def converted(function, inputs, int8):
    @tf.function(input_signature=[tf.TensorSpec(x.shape, x.dtype) for x in inputs])
    def call(*x):
        return function(*x)

    converter = tf.lite.TFLiteConverter.from_concrete_functions([call.get_concrete_function()])
    if int8:
        converter.optimizations = [tf.lite.Optimize.DEFAULT]
        converter.target_spec.supported_ops = [tf.lite.OpsSet.TFLITE_BUILTINS_INT8]
        converter.representative_dataset = lambda: ([x * k for x in inputs] for k in (np.float32(1), np.float32(0.7)))
    return converter.convert()


def interpreted(data, inputs):
    """(arrays of the outputs, the size of one step of each: 0 where it is not made of quantised numbers)"""
    kind = tf.lite.experimental.OpResolverType.BUILTIN_WITHOUT_DEFAULT_DELEGATES
    interpreter = tf.lite.Interpreter(model_content=data, experimental_op_resolver_type=kind)
    interpreter.allocate_tensors()
    details = sorted(interpreter.get_input_details(), key=lambda d: d["name"])
    for detail, x in zip(details if len(details) > 1 else interpreter.get_input_details(), inputs):
        interpreter.set_tensor(detail["index"], x)
    interpreter.invoke()
    names = [d["name"] for d in (details if len(details) > 1 else interpreter.get_input_details())]
    tensors = interpreter.get_tensor_details()
    scales = [t["quantization"][0] for t in tensors]
    return [interpreter.get_tensor(d["index"]).copy() for d in interpreter.get_output_details()], names, max(scales + [0])


FLOAT = "Abs Ceil Cos Elu Exp Floor Gelu HardSigmoid HardSwish Identity LeakyRelu Log LogSoftmax Mish Neg Reciprocal Relu Round Sigmoid Sign Sin Softmax Softplus Sqrt Swish Tanh".split()
PAIRS = "Add Sub Mul Div Max Min Pow Equal Greater GreaterOrEqual Less LessOrEqual".split()
NUMBERS = {"float32": "float32", "int32": "int32", "int64": "int64"}


def graphs():
    """(name, graph in the text form, shapes and types of the inputs)"""
    for op in FLOAT:
        for kind in ("float32", "int32") if op in ("Abs", "Neg", "Sign", "Identity", "Relu") else ("float32",):
            yield f"{op}/{kind}", f"y = {op}(x)", kind, 1
        yield f"{op}/int8", f"d = DequantizeLinear(x, s, z)\nf = {op}(d)\ny = QuantizeLinear(f, t, z)", "int8", 1
        yield f"{op}/uint8", f"d = DequantizeLinear(x, s, u)\nf = {op}(d)\ny = QuantizeLinear(f, t, u)", "uint8", 1
    for op in ("Relu", "Abs", "Neg"):  # what a division makes infinite stays so
        yield f"Reciprocal.{op}/int8", f"d = DequantizeLinear(x, s, z)\nr = Reciprocal(d)\nf = {op}(r)\ny = QuantizeLinear(f, t, z)", "int8", 1
    for op in PAIRS:
        for kind in ("float32", "int32", "int64"):
            yield f"{op}/{kind}", f"y = {op}(x, x2)", kind, 2
        for kind, zero in (("int8", "z"), ("uint8", "u")):
            end = f"y = QuantizeLinear(f, t, {zero})" if op in "Add Sub Mul Div Max Min Pow".split() else "y = Identity(f)"
            yield f"{op}/{kind}", f"d = DequantizeLinear(x, s, {zero})\ne = DequantizeLinear(x2, s, {zero})\nf = {op}(d, e)\n{end}", kind, 2
    for op in ("ReduceMax", "ReduceMean", "ReduceMin", "ReduceProd", "ReduceSum"):
        for kind in ("float32", "int32"):
            yield f"{op}/{kind}", f"y = {op}(x, one)", kind, 1
        for kind, zero in (("int8", "z"), ("uint8", "u")):
            yield f"{op}/{kind}", f"d = DequantizeLinear(x, s, {zero})\nf = {op}(d, one)\ny = QuantizeLinear(f, t, {zero})", kind, 1
    moves = {"Concat": "Concat(x, x) {axis = 1}", "Expand": "Expand(x, wide)", "Expand5": "Expand(x, wide5)", "Flatten": "Flatten(x)", "Gather": "Gather(x, at) {axis = 1}", "Pad": "Pad(x, pads)",
             "Reshape": "Reshape(x, flat)", "Slice": "Slice(x, one, two, one)", "Squeeze": "Squeeze(x, zero)", "Tile": "Tile(x, twice)", "Transpose": "Transpose(x) {perm = [0, 2, 3, 1]}",
             "Transpose5": "Unsqueeze(x, zero)\ny = Transpose(y5) {perm = [0, 1, 4, 3, 2]}", "Unsqueeze": "Unsqueeze(x, zero)", "Where": "Where(yes, x, x)", "ArgMax": "ArgMax(x) {axis = 1, keepdims = 0}", "ArgMin": "ArgMin(x) {axis = 1, keepdims = 0}",
             "Shape": "Shape(x)", "Clip": "Clip(x, low, high)"}
    for op, text in moves.items():
        for kind in ("float32", "int32", "int64", "bool", "int8", "uint8"):
            if op == "Clip" and kind != "float32" or op.startswith("Arg") and kind in ("bool", "int64"):
                continue
            body = text.replace("Unsqueeze(x, zero)\ny", "y5 = Unsqueeze(x, zero)\ny") if op == "Transpose5" else "y = " + text
            yield f"{op}/{kind}", body.replace("y = y5 =", "y5 ="), kind, 1
    for op in ("And", "Or"):
        yield f"{op}/bool", f"y = {op}(x, x2)", "bool", 2
    yield "Not/bool", "y = Not(x)", "bool", 1
    for a in ("float32", "int32", "int64", "bool", "int8", "uint8"):
        for number, b in ((1, "float32"), (6, "int32"), (7, "int64"), (9, "bool"), (2, "uint8"), (3, "int8")):
            if a != b:
                yield f"Cast.{b}/{a}", f"y = Cast(x) {{to = {number}}}", a, 1
    windows = {"Conv": "Conv(x, w)", "Conv.dilated": "Conv(x, w) {dilations = [2, 1]}", "Conv.groups": "Conv(x, g) {group = 2}", "Conv.depthwise": "Conv(x, dw) {group = 4}", "Conv.depthwise.dilated": "Conv(x, dw) {group = 4, dilations = [2, 1]}",
               "ConvTranspose": "ConvTranspose(x, w)", "AveragePool": "AveragePool(x) {kernel_shape = [2, 2]}", "MaxPool": "MaxPool(x) {kernel_shape = [2, 2]}", "LRN": "LRN(x) {size = 3}", "DepthToSpace": "DepthToSpace(x) {blocksize = 2}",
               "SpaceToDepth": "SpaceToDepth(x) {blocksize = 2}", "Resize.nearest": 'Resize(x, _, up) {coordinate_transformation_mode = "asymmetric", nearest_mode = "floor"}', "Resize.linear": 'Resize(x, _, up) {mode = "linear"}',
               "Resize.linear.asymmetric": 'Resize(x, _, up) {mode = "linear", coordinate_transformation_mode = "asymmetric"}', "PRelu": "PRelu(x, slope)", "Gemm": "Reshape(x, row)\ny = Gemm(x0, m)", "MatMul": "MatMul(x, mm)", "Split": "Split(x, halves) {axis = 1}"}
    for op, text in windows.items():
        body = text.replace("Reshape(x, row)\ny", "x0 = Reshape(x, row)\ny") if op == "Gemm" else "y = " + text
        body = body.replace("y = Split", "y, y2 = Split")
        yield f"{op}/float32", body, "float32", 1


CONSTS = """const s: float32[] = {0.05}
const t: float32[] = {0.1}
const z: int8[] = {3}
const u: uint8[] = {120}
const zero: int64[1] = {0}
const one: int64[1] = {1}
const two: int64[1] = {3}
const wide: int64[4] = {2, 4, 4, 6}
const wide5: int64[5] = {2, 1, 4, 4, 6}
const at: int64[2] = {2, 0}
const pads: int64[8] = {0, 0, 1, 2, 0, 0, 1, 0}
const flat: int64[2] = {1, 96}
const row: int64[2] = {4, 24}
const twice: int64[4] = {1, 2, 1, 2}
const halves: int64[2] = {1, 3}
const yes: bool[1] = {true}
const low: float32[] = {-0.5}
const high: float32[] = {0.75}
const up: float32[4] = {1, 1, 2, 2}
const w: float32[4,4,2,2] = random(1)
const g: float32[4,2,2,2] = random(2)
const dw: float32[4,1,2,2] = random(3)
const m: float32[24,5] = random(4)
const mm: float32[6,3] = random(5)
const slope: float32[4,1,1] = {0.1, 0.2, 0.3, -0.4}
"""


def written(folder, wanted):
    tool = os.path.join(os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))), "build", "release", "bin", "dnn-convert")
    for name, body, kind, n in graphs():
        name = "written/" + name
        if not wants(name, wanted):
            continue
        text, model = os.path.join(folder, "written.txt"), os.path.join(folder, "written.tflite")
        inputs = "".join(f"input x{i or ''}: {kind}[1,4,4,6]\n".replace("x1", "x2") for i in range(n))
        used = "".join(line + "\n" for line in CONSTS.split("\n") if line and any(word.strip("(),[]{}") == line.split()[1].rstrip(":") for word in body.replace("(", " ").replace(")", " ").split()))
        outputs = "output y\noutput y2" if "y, y2" in body else "output y"
        with open(text, "w") as file:
            file.write('graph "g" {\n  opset 28\n' + inputs + used + body + "\n" + outputs + "\n}\n")
        done = subprocess.run([tool, "-q", text, "-o", model], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        reason = done.stderr.decode(errors="replace").strip().split("\n")[-1]
        if done.returncode:  # 1: the certificate says that two roundings of numbers in scales of their own are apart
            yield {"name": name, "state": "refused" if done.returncode in (1, 4) else "wrong", "reason": reason}
            continue
        generator = np.random.default_rng(3)
        arrays = [np.abs(generator.standard_normal((1, 4, 4, 6))).astype("f") * (1 if "Cast.u" in name else 2) - (0 if "Cast.u" in name else 1.5) if kind == "float32" else generator.integers(1, 9, (1, 4, 4, 6)).astype(kind) if kind != "bool" else generator.standard_normal((1, 4, 4, 6)) > 0 for _ in range(n)]
        try:
            outputs, names, step = interpreted(open(model, "rb").read(), arrays)
        except Exception as error:
            yield {"name": name, "state": "wrong", "reason": "TFLite refuses it: " + str(error).split("\n")[0]}
            continue
        yield {"name": name, "model": model, "inputs": list(zip(names, arrays)), "outputs": outputs,
               "steps": [1.01 * step if o.dtype.kind == "f" and step else 1 if o.dtype.itemsize == 1 and kind in ("int8", "uint8") else 0 for o in outputs]}


def cases(folder, wanted, _):
    for name, function, inputs, int8 in ROWS:
        if not wants(name, wanted):
            continue
        path = os.path.join(folder, "case.tflite")
        try:
            data = converted(function, inputs, int8)
            outputs, names, step = interpreted(data, inputs)
        except Exception as error:
            yield {"name": name, "error": str(error).strip().split("\n")[0]}
            continue
        with open(path, "wb") as file:
            file.write(data)
        yield {"name": name, "model": path, "inputs": list(zip(names, inputs)), "outputs": outputs,
               "steps": [2.01 * step if int8 and o.dtype.kind == "f" else 0 for o in outputs]}
    yield from written(folder, wanted)
