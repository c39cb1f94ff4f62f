"""keras_cases: models of one layer or operation, over its arguments; see scripts/check-operators."""
import importlib
import os

import numpy as np
from wanted import made

NAME = os.environ.get("DNN_KERAS", "keras")
keras = importlib.import_module(NAME)
L = keras.layers
OPS = getattr(keras, "ops", None)
ROWS = []


def numbers(shape, seed=0, dtype="float32"):
    random = np.random.default_rng(seed)
    if dtype in ("uint8", "int32"):
        return random.integers(0, 200 if dtype == "uint8" else 9, shape).astype(dtype)
    if dtype == "bool":
        return random.integers(0, 2, shape).astype(bool)
    return random.standard_normal(shape).astype(dtype)


def shake(model):
    """Weights that no initialiser gives, so that each counts."""
    random = np.random.default_rng(99)
    for weight in model.weights:
        value = np.asarray(weight.numpy() if hasattr(weight, "numpy") else weight)
        if value.dtype.kind != "f" or "seed" in getattr(weight, "path", weight.name):
            continue
        value = value + random.standard_normal(value.shape).astype(value.dtype) * 0.2
        weight.assign(np.abs(value) + 0.3 if "variance" in weight.name else value)


def save(name, model, arrays, folder):
    shake(model)
    inputs = {t.name.split(":")[0]: a for t, a in zip(model.inputs, arrays)}
    got = model(arrays if len(arrays) > 1 else arrays[0], training=False)
    expected = list(got.values()) if isinstance(got, dict) else list(got) if isinstance(got, (list, tuple)) else [got]
    files = []
    for extension in (".keras", ".h5"):
        path = os.path.join(folder, name + extension)
        try:
            model.save(path)
            files.append(path)
        except Exception:  # what this file kind of Keras cannot hold
            pass
    return files, inputs, [np.asarray(e) for e in expected]


def case(name, shape, build, dtype="float32", more=(), batch=2):
    """`build` makes a tensor of inputs of these shapes, the batch aside; a batch of 1 where it mixes samples."""
    def make(folder):
        keras.backend.clear_session()
        shapes = [shape, *more]
        tensors = [keras.Input(s, dtype=dtype, name=f"x{i}") for i, s in enumerate(shapes)]
        outputs = build(*tensors)
        model = keras.Model(tensors if len(tensors) > 1 else tensors[0], outputs)
        return save(name, model, [numbers((batch, *s), i, dtype) for i, s in enumerate(shapes)], folder)

    ROWS.append((name, make))


def layer(name, shape, make, dtype="float32", more=()):
    case(name, shape, lambda *t: make()(t[0] if len(t) == 1 else list(t)), dtype, more)


IMAGE, ROW, VOLUME, PLAIN = (7, 6, 4), (9, 4), (5, 6, 4, 3), (6,)

for padding in ("valid", "same"):
    layer(f"conv2d_{padding}", IMAGE, lambda p=padding: L.Conv2D(5, 3, padding=p))
    layer(f"conv2d_{padding}_strides", IMAGE, lambda p=padding: L.Conv2D(5, (3, 2), strides=(2, 3), padding=p))
    layer(f"conv2d_{padding}_dilation", IMAGE, lambda p=padding: L.Conv2D(5, 2, dilation_rate=2, padding=p))
    layer(f"conv1d_{padding}", ROW, lambda p=padding: L.Conv1D(5, 3, padding=p, strides=2))
    layer(f"conv3d_{padding}", VOLUME, lambda p=padding: L.Conv3D(2, 2, padding=p))
    layer(f"depthwise2d_{padding}", IMAGE, lambda p=padding: L.DepthwiseConv2D(3, strides=2, depth_multiplier=2, padding=p))
    layer(f"depthwise1d_{padding}", ROW, lambda p=padding: L.DepthwiseConv1D(3, depth_multiplier=2, padding=p))
    layer(f"separable2d_{padding}", IMAGE, lambda p=padding: L.SeparableConv2D(5, 3, depth_multiplier=2, padding=p, activation="relu"))
    layer(f"separable1d_{padding}", ROW, lambda p=padding: L.SeparableConv1D(5, 3, padding=p))
    layer(f"transpose2d_{padding}", IMAGE, lambda p=padding: L.Conv2DTranspose(3, 3, strides=2, padding=p))
    layer(f"transpose2d_{padding}_output_padding", IMAGE, lambda p=padding: L.Conv2DTranspose(3, 3, strides=2, padding=p, output_padding=1))
    layer(f"transpose2d_{padding}_even", IMAGE, lambda p=padding: L.Conv2DTranspose(3, 4, strides=2, padding=p))
    layer(f"transpose2d_{padding}_short", IMAGE, lambda p=padding: L.Conv2DTranspose(3, 2, strides=3, padding=p))
    layer(f"transpose1d_{padding}", ROW, lambda p=padding: L.Conv1DTranspose(3, 3, strides=2, padding=p))
    layer(f"transpose3d_{padding}", VOLUME, lambda p=padding: L.Conv3DTranspose(2, 2, padding=p))
    layer(f"maxpool2d_{padding}", IMAGE, lambda p=padding: L.MaxPooling2D(3, strides=2, padding=p))
    layer(f"avgpool2d_{padding}", IMAGE, lambda p=padding: L.AveragePooling2D((2, 3), padding=p))
    layer(f"maxpool1d_{padding}", ROW, lambda p=padding: L.MaxPooling1D(2, padding=p))
    layer(f"avgpool1d_{padding}", ROW, lambda p=padding: L.AveragePooling1D(2, strides=1, padding=p))
    layer(f"maxpool3d_{padding}", VOLUME, lambda p=padding: L.MaxPooling3D(2, padding=p))
    layer(f"avgpool3d_{padding}", VOLUME, lambda p=padding: L.AveragePooling3D(2, padding=p))
layer("conv1d_causal", ROW, lambda: L.Conv1D(5, 3, padding="causal", dilation_rate=2))
layer("conv1d_causal_strides", ROW, lambda: L.Conv1D(5, 3, padding="causal", strides=2))
layer("conv2d_groups", IMAGE, lambda: L.Conv2D(6, 3, groups=2))
layer("conv2d_no_bias", IMAGE, lambda: L.Conv2D(5, 3, use_bias=False, activation="swish"))
layer("conv2d_regularised", IMAGE, lambda: L.Conv2D(5, 3, kernel_regularizer="l2", bias_constraint="max_norm", kernel_initializer="he_normal"))
layer("depthwise2d_dilation", IMAGE, lambda: L.DepthwiseConv2D(2, dilation_rate=2, activation="relu"))
layer("separable2d_strides", IMAGE, lambda: L.SeparableConv2D(5, 3, strides=2, use_bias=False))
layer("transpose2d_dilation", IMAGE, lambda: L.Conv2DTranspose(3, 3, dilation_rate=2))
for pool in ("Max", "Average"):
    for n, shape in ((1, ROW), (2, IMAGE), (3, VOLUME)):
        layer(f"global_{pool.lower()}_{n}d", shape, lambda k=f"Global{pool}Pooling{n}D": getattr(L, k)())
        layer(f"global_{pool.lower()}_{n}d_keepdims", shape, lambda k=f"Global{pool}Pooling{n}D": getattr(L, k)(keepdims=True))

for activation in ("linear", "relu", "relu6", "sigmoid", "tanh", "softmax", "log_softmax", "swish", "silu", "gelu", "elu", "selu", "celu",
                   "softplus", "softsign", "exponential", "mish", "leaky_relu", "hard_sigmoid", "hard_silu", "hard_swish", "hard_tanh",
                   "tanh_shrink", "log_sigmoid", "glu", "hard_shrink", "soft_shrink", "squareplus", "sparse_plus", "sparsemax",
                   "threshold", "sparse_sigmoid"):
    layer(f"activation_{activation}", PLAIN, lambda a=activation: L.Activation(a))
layer("dense", PLAIN, lambda: L.Dense(3))
layer("dense_rank3", ROW, lambda: L.Dense(3, activation="relu"))
layer("dense_rank4", IMAGE, lambda: L.Dense(3, use_bias=False))
layer("dense_activation_layer", PLAIN, lambda: L.Dense(3, activation=L.LeakyReLU(0.1)))
layer("dense_float16", PLAIN, lambda: L.Dense(3, dtype="float16"))
layer("dense_float64", PLAIN, lambda: L.Dense(3, dtype="float64"))
layer("dense_mixed_float16", PLAIN, lambda: L.Dense(3, dtype="mixed_float16"))
layer("dense_mixed_bfloat16", PLAIN, lambda: L.Dense(3, dtype="mixed_bfloat16"))
layer("conv2d_mixed_float16", IMAGE, lambda: L.Conv2D(3, 3, dtype="mixed_float16", activation="relu"))
layer("batch_norm_mixed_float16", IMAGE, lambda: L.BatchNormalization(dtype="mixed_float16"))
layer("layer_norm_mixed_float16", IMAGE, lambda: L.LayerNormalization(dtype="mixed_float16"))
layer("einsum_dense", ROW, lambda: L.EinsumDense("abc,cd->abd", output_shape=(None, 5), bias_axes="d"))
layer("einsum_dense_heads", ROW, lambda: L.EinsumDense("abc,cde->abde", output_shape=(None, 2, 5), bias_axes="de", activation="relu"))
layer("einsum_dense_ellipsis", ROW, lambda: L.EinsumDense("...x,xy->...y", output_shape=5, bias_axes="y"))
layer("relu", PLAIN, lambda: L.ReLU())
layer("relu_max", PLAIN, lambda: L.ReLU(max_value=0.5))
layer("relu_slope", PLAIN, lambda: L.ReLU(negative_slope=0.2))
layer("relu_threshold", PLAIN, lambda: L.ReLU(threshold=0.3))
layer("relu_all", PLAIN, lambda: L.ReLU(max_value=1.0, negative_slope=0.2, threshold=0.3))
layer("leaky_relu", PLAIN, lambda: L.LeakyReLU(0.2))
layer("leaky_relu_default", PLAIN, lambda: L.LeakyReLU())
layer("elu", PLAIN, lambda: L.ELU(0.7))
layer("prelu", IMAGE, lambda: L.PReLU())
layer("prelu_shared", IMAGE, lambda: L.PReLU(shared_axes=[1, 2]))
layer("thresholded_relu", PLAIN, lambda: L.ThresholdedReLU(0.5))
layer("softmax", IMAGE, lambda: L.Softmax())
layer("softmax_axis", IMAGE, lambda: L.Softmax(axis=-2))
layer("softmax_axes", IMAGE, lambda: L.Softmax(axis=[1, 2]))
layer("dropout", PLAIN, lambda: L.Dropout(0.3, seed=1))
layer("spatial_dropout_1d", ROW, lambda: L.SpatialDropout1D(0.3))
layer("spatial_dropout_2d", IMAGE, lambda: L.SpatialDropout2D(0.3))
layer("spatial_dropout_3d", VOLUME, lambda: L.SpatialDropout3D(0.3))
layer("alpha_dropout", PLAIN, lambda: L.AlphaDropout(0.3))
layer("gaussian_dropout", PLAIN, lambda: L.GaussianDropout(0.3))
layer("gaussian_noise", PLAIN, lambda: L.GaussianNoise(0.3))
layer("activity_regularization", PLAIN, lambda: L.ActivityRegularization(0.1, 0.2))
layer("identity", PLAIN, lambda: L.Identity())
layer("masking", ROW, lambda: L.Masking())
layer("embedding", (5,), lambda: L.Embedding(10, 4), "int32")
layer("embedding_mask", (5,), lambda: L.Embedding(10, 4, mask_zero=True), "int32")

layer("batch_norm", IMAGE, lambda: L.BatchNormalization())
layer("batch_norm_axis", IMAGE, lambda: L.BatchNormalization(axis=1))
layer("batch_norm_plain", IMAGE, lambda: L.BatchNormalization(center=False, scale=False, epsilon=0.1))
layer("batch_norm_momentum", PLAIN, lambda: L.BatchNormalization(momentum=0.5))
layer("batch_norm_renorm", PLAIN, lambda: L.BatchNormalization(renorm=True))
case("batch_norm_training", IMAGE, lambda x: L.BatchNormalization()(x, training=True))
case("batch_norm_inference", IMAGE, lambda x: L.BatchNormalization()(x, training=False))
case("dropout_inference", PLAIN, lambda x: L.Dropout(0.5)(x, training=False))
layer("group_norm", IMAGE, lambda: L.GroupNormalization(2))
layer("group_norm_instance", IMAGE, lambda: L.GroupNormalization(-1, epsilon=0.1, scale=False))
layer("group_norm_axis", IMAGE, lambda: L.GroupNormalization(3, axis=2))
layer("layer_norm", IMAGE, lambda: L.LayerNormalization())
layer("layer_norm_axes", IMAGE, lambda: L.LayerNormalization(axis=[-2, -1], epsilon=0.1))
layer("layer_norm_first", IMAGE, lambda: L.LayerNormalization(axis=1))
layer("layer_norm_plain", IMAGE, lambda: L.LayerNormalization(center=False, scale=False))
layer("layer_norm_rms", IMAGE, lambda: L.LayerNormalization(rms_scaling=True))
layer("rms_norm", IMAGE, lambda: L.RMSNormalization())
layer("unit_norm", IMAGE, lambda: L.UnitNormalization())
layer("unit_norm_axes", IMAGE, lambda: L.UnitNormalization(axis=[1, 3]))
layer("spectral_norm", PLAIN, lambda: L.SpectralNormalization(L.Dense(3)))
layer("normalization", IMAGE, lambda: L.Normalization(mean=[0.1, 0.2, 0.3, 0.4], variance=[1.0, 2.0, 3.0, 4.0]))
layer("normalization_invert", IMAGE, lambda: L.Normalization(mean=[0.1, 0.2, 0.3, 0.4], variance=[1.0, 2.0, 3.0, 4.0], invert=True))
layer("normalization_scalar", IMAGE, lambda: L.Normalization(axis=None, mean=0.1, variance=2.0))
layer("rescaling", IMAGE, lambda: L.Rescaling(0.5, 0.1))
layer("rescaling_channels", IMAGE, lambda: L.Rescaling([0.5, 1.0, 2.0, 3.0], [0.1, 0.2, 0.3, 0.4]))
layer("rescaling_uint8", IMAGE, lambda: L.Rescaling(1 / 255.0), "uint8")
for how in ("bilinear", "nearest", "bicubic", "lanczos3", "area"):
    layer(f"resizing_{how}", IMAGE, lambda h=how: L.Resizing(5, 9, interpolation=h))
layer("resizing_antialias", IMAGE, lambda: L.Resizing(3, 3, antialias=True))
layer("resizing_crop", IMAGE, lambda: L.Resizing(4, 8, crop_to_aspect_ratio=True))
layer("resizing_pad", IMAGE, lambda: L.Resizing(4, 8, pad_to_aspect_ratio=True, fill_value=1.0))
layer("center_crop", IMAGE, lambda: L.CenterCrop(4, 3))
layer("center_crop_odd", IMAGE, lambda: L.CenterCrop(4, 4))
layer("center_crop_larger", IMAGE, lambda: L.CenterCrop(9, 9))
for name, make in {"brightness": lambda: L.RandomBrightness(0.2), "contrast": lambda: L.RandomContrast(0.2), "flip": lambda: L.RandomFlip(),
                   "rotation": lambda: L.RandomRotation(0.2), "translation": lambda: L.RandomTranslation(0.2, 0.2),
                   "zoom": lambda: L.RandomZoom(0.2), "crop": lambda: L.RandomCrop(4, 4)}.items():
    layer(f"random_{name}", IMAGE, make)
for how in ("nearest", "bilinear", "bicubic"):
    layer(f"upsampling2d_{how}", IMAGE, lambda h=how: L.UpSampling2D((2, 3), interpolation=h))
layer("upsampling1d", ROW, lambda: L.UpSampling1D(3))
layer("upsampling3d", VOLUME, lambda: L.UpSampling3D(2))
layer("zero_padding1d", ROW, lambda: L.ZeroPadding1D((1, 2)))
layer("zero_padding2d", IMAGE, lambda: L.ZeroPadding2D(((1, 2), (0, 3))))
layer("zero_padding3d", VOLUME, lambda: L.ZeroPadding3D(1))
layer("cropping1d", ROW, lambda: L.Cropping1D((1, 2)))
layer("cropping2d", IMAGE, lambda: L.Cropping2D(((1, 2), (0, 3))))
layer("cropping3d", VOLUME, lambda: L.Cropping3D(1))
layer("flatten", IMAGE, lambda: L.Flatten())
layer("flatten_first", IMAGE, lambda: L.Flatten(data_format="channels_first"))
layer("reshape", IMAGE, lambda: L.Reshape((14, -1)))
layer("permute", IMAGE, lambda: L.Permute((3, 1, 2)))
layer("repeat_vector", PLAIN, lambda: L.RepeatVector(3))
for n, kind in (("add", "Add"), ("subtract", "Subtract"), ("multiply", "Multiply"), ("average", "Average"), ("maximum", "Maximum"),
                ("minimum", "Minimum"), ("concatenate", "Concatenate")):
    layer(f"merge_{n}", IMAGE, lambda k=kind: getattr(L, k)(), more=(IMAGE,))
layer("merge_add_three", IMAGE, lambda: L.Add(), more=(IMAGE, IMAGE))
layer("merge_add_broadcast", IMAGE, lambda: L.Add(), more=((1, 1, 4),))
layer("concatenate_axis", IMAGE, lambda: L.Concatenate(axis=1), more=(IMAGE,))
layer("dot", ROW, lambda: L.Dot(axes=2), more=(ROW,))
layer("dot_axes", ROW, lambda: L.Dot(axes=(1, 1), normalize=True), more=(ROW,))
layer("dot_plain", PLAIN, lambda: L.Dot(axes=1), more=(PLAIN,))
layer("attention", ROW, lambda: L.Attention(), more=((6, 4),))
layer("attention_scale", ROW, lambda: L.Attention(use_scale=True), more=((6, 4),))
layer("attention_concat", ROW, lambda: L.Attention(score_mode="concat"), more=((6, 4),))
case("attention_causal", ROW, lambda x: L.Attention()([x, x], use_causal_mask=True))
layer("additive_attention", ROW, lambda: L.AdditiveAttention(), more=((6, 4),))
case("mha", ROW, lambda x: L.MultiHeadAttention(2, 3)(x, x))
case("mha_value_key", ROW, lambda x, y, z: L.MultiHeadAttention(2, 3, value_dim=5)(x, y, key=z), more=((6, 5), (6, 7)))
case("mha_no_bias", ROW, lambda x: L.MultiHeadAttention(2, 3, use_bias=False, output_shape=5)(x, x))
case("mha_causal", ROW, lambda x: L.MultiHeadAttention(2, 3)(x, x, use_causal_mask=True))
case("mha_scores", ROW, lambda x: L.MultiHeadAttention(2, 3)(x, x, return_attention_scores=True)[1])
case("mha_axes", (3, 4, 5), lambda x: L.MultiHeadAttention(2, 3, attention_axes=(2,))(x, x))
case("attention_masks", ROW, lambda x, y, q, v: L.Attention(use_scale=True)([x, y], mask=[q > 0, v > -0.9]), more=((6, 4), ROW[:1], (6,)))
case("attention_masks_causal", ROW, lambda x, v: L.Attention()([x, x], mask=[None, v > -0.9], use_causal_mask=True), more=(ROW[:1],))
case("attention_scores", ROW, lambda x, y: L.Attention()([x, y], return_attention_scores=True), more=((6, 4),))
case("attention_concat_scale", ROW, lambda x, y: L.Attention(score_mode="concat", use_scale=True)([x, y]), more=((6, 4),))
case("additive_attention_plain", ROW, lambda x, y, q: L.AdditiveAttention(use_scale=False)([x, y], mask=[q > 0, None]), more=((6, 4), ROW[:1]))
case("additive_attention_causal", ROW, lambda x: L.AdditiveAttention()([x, x], use_causal_mask=True))
case("mha_mask", ROW, lambda x, y, m: L.MultiHeadAttention(2, 3)(x, y, attention_mask=m > -0.9), more=((6, 4), (ROW[0], 6)))
case("mha_mask_heads", ROW, lambda x, y, m: L.MultiHeadAttention(2, 3, dropout=0.1)(x, y, attention_mask=m > -0.9), more=((6, 4), (2, ROW[0], 6)))
case("mha_value_mask", ROW, lambda x, y, m: L.MultiHeadAttention(2, 3)(x, y, value_mask=m > -0.9, use_causal_mask=True), more=((6, 4), (6,)))
case("mha_both", ROW, lambda x, y: list(L.MultiHeadAttention(2, 3)(x, y, return_attention_scores=True)), more=((6, 4),))
case("gqa_causal", ROW, lambda x, y: L.GroupQueryAttention(3, 4, 2, use_bias=False)(x, y, use_causal_mask=True), more=((6, 4),))
case("gqa", ROW, lambda x: L.GroupQueryAttention(3, 4, 2)(x, x))

layer("time_distributed_dense", ROW, lambda: L.TimeDistributed(L.Dense(3, activation="relu")))
layer("time_distributed_conv", VOLUME, lambda: L.TimeDistributed(L.Conv2D(2, 2)))
for kind in ("LSTM", "GRU", "SimpleRNN"):
    layer(f"{kind.lower()}", ROW, lambda k=kind: getattr(L, k)(3))
    layer(f"{kind.lower()}_sequences", ROW, lambda k=kind: getattr(L, k)(3, return_sequences=True, go_backwards=True))
    layer(f"{kind.lower()}_plain", ROW, lambda k=kind: getattr(L, k)(3, use_bias=False, activation="relu"))
layer("gru_before", ROW, lambda: L.GRU(3, reset_after=False))
layer("lstm_bidirectional", ROW, lambda: L.Bidirectional(L.LSTM(3, return_sequences=True)))
layer("gru_bidirectional_sum", ROW, lambda: L.Bidirectional(L.GRU(3), merge_mode="sum"))
for mode in ("mul", "ave", None):
    case(f"simplernn_bidirectional_{mode}", ROW, lambda x, m=mode: L.Bidirectional(L.SimpleRNN(3, return_sequences=True), merge_mode=m)(x))
case("simplernn_bidirectional_both", ROW,
     lambda x: L.Bidirectional(L.SimpleRNN(3, return_sequences=True, return_state=True), merge_mode=None)(x))
case("gru_bidirectional_other", ROW, lambda x: L.Bidirectional(L.GRU(3), backward_layer=L.LSTM(2, go_backwards=True))(x))
case("lstm_bidirectional_state", ROW, lambda x: L.Bidirectional(L.LSTM(3, return_state=True))(x))
case("lstm_bidirectional_dropout", ROW, lambda x: L.Bidirectional(L.LSTM(3, dropout=0.5))(x))
layer("time_distributed_norm", VOLUME, lambda: L.TimeDistributed(L.BatchNormalization()))
layer("time_distributed_twice", VOLUME, lambda: L.TimeDistributed(L.TimeDistributed(L.Dense(2))))
layer("time_distributed_model", VOLUME, lambda: L.TimeDistributed(keras.Sequential([L.Input(VOLUME[1:]), L.Conv2D(2, 2), L.Flatten(), L.Dense(3)])))
for kind in ("LSTM", "GRU", "SimpleRNN"):
    case(f"{kind.lower()}_state", ROW, lambda x, k=kind: getattr(L, k)(3, return_state=True, return_sequences=True)(x))
    case(f"{kind.lower()}_backwards_state", ROW, lambda x, k=kind: getattr(L, k)(3, return_state=True, go_backwards=True)(x))


def handed_on(x, kind):
    """A decoder that begins where an encoder ended."""
    states = getattr(L, kind)(3, return_state=True)(x)[1:]
    return getattr(L, kind)(3, return_sequences=True)(x, initial_state=states)


for kind in ("LSTM", "GRU", "SimpleRNN"):
    case(f"{kind.lower()}_initial", ROW, lambda x, k=kind: handed_on(x, k))
layer("rnn_cells", ROW, lambda: L.RNN([L.LSTMCell(3), L.GRUCell(2)]))
layer("conv_lstm_2d", (3, 5, 5, 2), lambda: L.ConvLSTM2D(2, 3, padding="same"))


def shared(x, y):
    dense = L.Dense(6)
    return L.Add()([dense(x), dense(dense(y))])


def nested(x):
    inner = keras.Sequential([keras.Input(PLAIN), L.Dense(4, activation="relu"), L.BatchNormalization()])
    return L.Dense(2)(inner(x))


def twice(x, y):
    a, b = keras.Input(PLAIN), keras.Input(PLAIN)
    inner = keras.Model([a, b], [L.Subtract()([a, b]), L.Dense(3)(a)])
    first, second = inner([x, y])
    third, _ = inner([y, x])
    return L.Concatenate()([first, second, third])


case("shared_layer", PLAIN, shared, more=(PLAIN,))
case("nested_sequential", PLAIN, nested)
case("nested_functional", PLAIN, twice, more=(PLAIN,))
case("two_outputs", PLAIN, lambda x: [L.Dense(2)(x), L.Activation("relu")(x)])


def sequential(name, shape, layers):
    def make(folder):
        keras.backend.clear_session()
        model = keras.Sequential([keras.Input(shape), *layers()])
        return save(name, model, [numbers((2, *shape))], folder)

    ROWS.append((name, make))


sequential("sequential", PLAIN, lambda: [L.Dense(3, activation="relu"), L.Dense(2)])
sequential("sequential_of_models", PLAIN, lambda: [keras.Sequential([keras.Input(PLAIN), L.Dense(3)]), nested_functional(), L.Dense(2)])


def nested_functional():
    i = keras.Input((3,))
    return keras.Model(i, L.Add()([L.Dense(3)(i), i]))


def operators():
    """Python's operators on tensors, in every Keras: a number or an array on either side."""
    channels = np.array([1.0, -2.0, 3.0, 0.5], "float32")
    case("op_add_number", IMAGE, lambda x: (x + 3.0) * 0.5)
    case("op_add_whole", IMAGE, lambda x: x + 3)
    case("op_reverse_sub", IMAGE, lambda x: 3.0 - x)
    case("op_reverse_div", IMAGE, lambda x: 3.0 / (x * x + 1.0))
    case("op_divide", IMAGE, lambda x: x / 2)
    case("op_negative", IMAGE, lambda x: -x)
    case("op_power", IMAGE, lambda x: x**2)
    case("op_array", IMAGE, lambda x: x * channels)
    case("op_array_add", IMAGE, lambda x: channels + x)
    case("op_tensors", IMAGE, lambda x, y: x * y - x, more=(IMAGE,))
    case("op_floor_divide", IMAGE, lambda x: x // 0.3)
    case("op_modulo", IMAGE, lambda x: x % 0.3)
    case("op_slice", IMAGE, lambda x: x[:, 1:, ::2])
    case("op_slice_negative", IMAGE, lambda x: x[:, -3:-1, ..., 1])
    case("op_slice_reverse", IMAGE, lambda x: x[..., ::-1])
    case("op_new_axis", PLAIN, lambda x: x[:, None, :3])
    case("op_compare", IMAGE, lambda x: x > 0.5)
    case("op_int_divide", PLAIN, lambda x: x / 2, "int32")
    case("op_int_scale", PLAIN, lambda x: x * 0.5, "int32")


operators()
if OPS is not None:
    one = {"abs": [], "absolute": [], "all": [], "any": [], "amax": [], "amin": [], "arccos": [], "arcsin": [], "arctan": [], "arctanh": [],
           "arccosh": [], "arcsinh": [], "ceil": [], "celu": [], "cos": [], "cosh": [], "elu": [], "erf": [], "exp": [], "expm1": [],
           "floor": [], "gelu": [], "hard_sigmoid": [], "hard_silu": [], "hard_tanh": [], "isfinite": [], "isinf": [], "isnan": [],
           "leaky_relu": [], "log": [], "log10": [], "log1p": [], "log2": [], "log_sigmoid": [], "log_softmax": [], "logical_not": [],
           "logsumexp": [], "max": [], "mean": [], "min": [], "negative": [], "ones_like": [], "prod": [], "reciprocal": [], "relu": [],
           "relu6": [], "round": [], "rsqrt": [], "selu": [], "sigmoid": [], "sign": [], "silu": [], "sin": [], "sinh": [], "softmax": [],
           "softplus": [], "softsign": [], "sqrt": [], "square": [], "squeeze": [], "std": [], "sum": [], "tan": [], "tanh": [],
           "tanh_shrink": [], "transpose": [], "tril": [], "triu": [], "trunc": [], "var": [], "zeros_like": [], "argmax": [], "argmin": [],
           "cumsum": [], "cumprod": [], "ravel": [], "sort": [], "argsort": [], "copy": [], "stop_gradient": [], "normalize": []}
    for name in one:
        if hasattr(OPS, name):
            case(f"ops_{name}", (3, 4), lambda x, f=getattr(OPS, name): f(x), batch=1)
    for name in ("max", "min", "mean", "sum", "prod", "std", "var", "logsumexp", "any", "all", "amax"):
        case(f"ops_{name}_axis", (3, 4), lambda x, f=getattr(OPS, name): f(x, axis=-1))
        case(f"ops_{name}_axes_kept", (3, 4), lambda x, f=getattr(OPS, name): f(x, axis=(1, 2), keepdims=True))
    case("ops_max_initial", (3, 4), lambda x: OPS.max(x, axis=1, initial=0.5))
    case("ops_min_initial", (3, 4), lambda x: OPS.min(x, axis=1, initial=-0.5))
    case("ops_prod_dtype", (3, 4), lambda x: OPS.prod(x, axis=1, dtype="float16"))
    for name in ("argmax", "argmin", "cumsum", "cumprod", "sort", "argsort", "flip"):
        case(f"ops_{name}_axis", (3, 4), lambda x, f=getattr(OPS, name): f(x, axis=1))
    for name in ("argmax", "argmin", "cumsum", "cumprod", "sort", "argsort", "softmax", "log_softmax"):
        case(f"ops_{name}_none", (3, 4), lambda x, f=getattr(OPS, name): f(x, axis=None), batch=1)
    case("ops_argmax_kept", (3, 4), lambda x: OPS.argmax(x, axis=1, keepdims=True))
    for name in ("add", "subtract", "multiply", "divide", "true_divide", "maximum", "minimum", "power", "equal", "not_equal", "greater",
                 "greater_equal", "less", "less_equal", "floor_divide", "mod", "arctan2", "logaddexp", "logical_and", "logical_or"):
        case(f"ops_{name}", (3, 4), lambda x, y, f=getattr(OPS, name): f(x, y), more=((3, 4),))
        case(f"ops_{name}_number", (3, 4), lambda x, f=getattr(OPS, name): f(x, 0.5))
        case(f"ops_{name}_array", (3, 4), lambda x, f=getattr(OPS, name): f(x, np.array([0.5, 1, 2, -1], "float32")))
    case("ops_add_list", (3, 4), lambda x: OPS.add(x, [1.0, 2.0, 3.0, 4.0]))
    case("ops_add_float64", (3, 4), lambda x: OPS.add(x, np.array([0.1, 1, 2, -1])))
    case("ops_maximum_int", PLAIN, lambda x: OPS.maximum(x, 3), "int32")
    case("ops_add_int_float", PLAIN, lambda x: OPS.add(x, 0.5), "int32")
    case("ops_exp_int", PLAIN, lambda x: OPS.exp(x), "int32")
    case("ops_mean_int", PLAIN, lambda x: OPS.mean(x, axis=1), "int32")
    case("ops_sum_int", PLAIN, lambda x: OPS.sum(x, axis=1), "int32")
    case("ops_elu_alpha", (3, 4), lambda x: OPS.elu(x, alpha=0.3))
    case("ops_celu_alpha", (3, 4), lambda x: OPS.celu(x, alpha=0.3))
    case("ops_leaky_relu_slope", (3, 4), lambda x: OPS.leaky_relu(x, negative_slope=0.3))
    case("ops_gelu_exact", (3, 4), lambda x: OPS.gelu(x, approximate=False))
    case("ops_softmax_axis", (3, 4), lambda x: OPS.softmax(x, axis=1))
    case("ops_softmax_axes", (3, 4), lambda x: OPS.softmax(x, axis=(1, 2)))
    case("ops_log_softmax_axis", (3, 4), lambda x: OPS.log_softmax(x, axis=1))
    case("ops_round_decimals", (3, 4), lambda x: OPS.round(x, decimals=1))
    case("ops_clip", (3, 4), lambda x: OPS.clip(x, -0.5, 0.5))
    case("ops_where", (3, 4), lambda x, y: OPS.where(x > 0, x, y), more=((3, 4),))
    case("ops_where_number", (3, 4), lambda x: OPS.where(x > 0, x, 0.25))
    case("ops_cast", (3, 4), lambda x: OPS.cast(x, "int32"))
    case("ops_cast_float16", (3, 4), lambda x: OPS.cast(x, "float16"))
    case("ops_concatenate", (3, 4), lambda x, y: OPS.concatenate([x, y], axis=1), more=((2, 4),))
    case("ops_stack", (3, 4), lambda x, y: OPS.stack([x, y], axis=1), more=((3, 4),))
    case("ops_split", (3, 4), lambda x: OPS.split(x, 2, axis=2)[1])
    case("ops_reshape", (3, 4), lambda x: OPS.reshape(x, (-1, 2, 6)))
    case("ops_transpose_axes", (3, 4), lambda x: OPS.transpose(x, (0, 2, 1)))
    case("ops_swapaxes", (3, 4), lambda x: OPS.swapaxes(x, 1, 2))
    case("ops_moveaxis", (3, 4), lambda x: OPS.moveaxis(x, 1, 2))
    case("ops_expand_dims", (3, 4), lambda x: OPS.expand_dims(x, -1))
    case("ops_squeeze_axis", (1, 4), lambda x: OPS.squeeze(x, 1))
    case("ops_repeat", (3, 4), lambda x: OPS.repeat(x, 2, axis=1))
    case("ops_tile", (3, 4), lambda x: OPS.tile(x, (1, 2, 1)))
    case("ops_take", (3, 4), lambda x: OPS.take(x, [0, 2], axis=1))
    case("ops_flip", (3, 4), lambda x: OPS.flip(x, axis=2))
    case("ops_roll", (3, 4), lambda x: OPS.roll(x, 1, axis=2))
    case("ops_pad", (3, 4), lambda x: OPS.pad(x, ((0, 0), (1, 2), (0, 1))))
    case("ops_pad_value", (3, 4), lambda x: OPS.pad(x, ((0, 0), (1, 2), (0, 1)), constant_values=0.5))
    case("ops_pad_reflect", (3, 4), lambda x: OPS.pad(x, ((0, 0), (1, 2), (0, 1)), mode="reflect"))
    case("ops_pad_symmetric", (3, 4), lambda x: OPS.pad(x, ((0, 0), (1, 2), (0, 1)), mode="symmetric"))
    case("ops_matmul", (3, 4), lambda x, y: OPS.matmul(x, y), more=((4, 5),))
    case("ops_einsum", (3, 4), lambda x, y: OPS.einsum("abc,acd->abd", x, y), more=((4, 5),))
    case("ops_tensordot", (3, 4), lambda x: OPS.tensordot(x, np.ones((4, 2), "float32"), axes=1))
    case("ops_one_hot", (3,), lambda x: OPS.one_hot(x, 10), "int32")
    case("ops_top_k", (6,), lambda x: list(OPS.top_k(x, 3)))
    case("ops_top_k_rows", (3, 6), lambda x: list(OPS.top_k(OPS.round(x), 4)))
    case("ops_top_k_one", (6,), lambda x: OPS.top_k(x, 1)[1])
    case("ops_norm", (3, 4), lambda x: OPS.norm(x, axis=-1))
    case("ops_average_pool", IMAGE, lambda x: OPS.average_pool(x, 2, strides=1, padding="same"))
    case("ops_max_pool", IMAGE, lambda x: OPS.max_pool(x, 2))
    case("ops_conv", IMAGE, lambda x: OPS.conv(x, np.ones((3, 3, 4, 2), "float32"), strides=2, padding="same"))
    case("ops_resize", IMAGE, lambda x: OPS.image.resize(x, (5, 9)))
    case("ops_resize_antialias", IMAGE, lambda x: OPS.image.resize(x, (5, 4), antialias=True))
    case("ops_rgb_to_grayscale", (4, 4, 3), lambda x: OPS.image.rgb_to_grayscale(x))
    case("ops_broadcast_to", (1, 4), lambda x: OPS.broadcast_to(x, (1, 3, 4)), batch=1)
    case("ops_batch_normalization", IMAGE, lambda x: OPS.batch_normalization(x, np.ones(4, "float32"), np.ones(4, "float32") * 2, axis=-1))
    case("ops_dot_product_attention", (3, 2, 4), lambda x: OPS.dot_product_attention(x, x, x))
    case("ops_meshgrid", (3,), lambda x: OPS.meshgrid(x[0], x[0])[0], batch=1)
    case("ops_depth_to_space", (3, 3, 4), lambda x: OPS.depth_to_space(x, 2))

    unusual = {"hard_shrink": {}, "soft_shrink": {}, "threshold": {"threshold": 0.2, "default_value": -3.0}, "squareplus": {"b": 2}, "sparse_plus": {}, "sparse_sigmoid": {},
               "sparsemax": {}, "glu": {"axis": 1}, "cbrt": {}, "exp2": {}, "sinc": {}, "signbit": {}, "deg2rad": {}, "rad2deg": {}, "nan_to_num": {"nan": 1.0}, "isposinf": {}, "isneginf": {},
               "diff": {"axis": 1}, "median": {"axis": 1}, "quantile": {"q": 0.3, "axis": 2}, "percentile": {"q": 30.0, "axis": 1}, "trace": {"axis1": 1, "axis2": 2}, "diagonal": {"axis1": 1, "axis2": 2}, "rot90": {"axes": (1, 2)},
               "count_nonzero": {"axis": 1}, "erfinv": {}, "unstack": {"axis": 1}, "moveaxis": {"source": (1, 2), "destination": (2, 1)}, "ptp": {"axis": 1}, "nansum": {"axis": 1}, "nanmax": {"axis": 1},
               "rms_normalization": {}, "layer_normalization": {}, "logaddexp2": {"x2": 0.5}, "hypot": {"x2": 0.5}, "heaviside": {"x2": 0.5}, "fmod": {"x2": 0.7}, "remainder": {"x2": 0.7}, "trapezoid": {"axis": 1},
               "array_split": {"indices_or_sections": 2, "axis": 2}, "digitize": {"bins": np.array([-0.5, 0.0, 0.5])}, "round": {"decimals": -1}, "roll": {"shift": (1, 2), "axis": (1, 2)}, "swapaxes": {"axis1": -1, "axis2": -2}, "average": {"axis": 1, "weights": np.array([1.0, 2.0, 3.0], "float32")}}
    for name, arguments in unusual.items():
        if hasattr(OPS, name):
            case(f"ops_unusual_{name}", (3, 4), lambda x, f=getattr(OPS, name), a=arguments: f(x, **a))
    case("ops_unusual_cross", (5, 3), lambda x, y: OPS.cross(x, y), more=((5, 3),))
    case("ops_unusual_take_along_axis", (3, 4), lambda x: OPS.take_along_axis(x, OPS.argsort(x, axis=2), axis=2))
    case("ops_unusual_scatter_update", (3, 4), lambda x: OPS.scatter_update(x, [[0, 1], [1, 2]], OPS.ones((2, 4))), batch=2)
    case("ops_unusual_slice_update", (3, 4), lambda x: OPS.slice_update(x, (0, 1, 2), OPS.ones((2, 1, 2))), batch=2)
    case("ops_unusual_slice", (3, 4), lambda x: OPS.slice(x, (0, 1, 1), (2, 2, 3)), batch=2)
    case("ops_unusual_select", (3, 4), lambda x, y: OPS.select([x > 0.5, y > 0], [x, y], default=-1.0), more=((3, 4),))
    case("ops_unusual_hstack", (3, 4), lambda x, y: OPS.hstack([x, y]), more=((3, 4),))
    case("ops_unusual_multi_hot", (3,), lambda x: OPS.multi_hot(x, 10), "int32")
    case("ops_unusual_one_hot_axis", (3,), lambda x: OPS.one_hot(x, 10, axis=1), "int32")
    case("ops_unusual_in_top_k", (5,), lambda x: OPS.in_top_k(OPS.argmax(x, axis=1), x, 2))
    case("ops_unusual_bitwise", (5,), lambda x: OPS.bitwise_and(OPS.left_shift(x, 2), 12), "int32")
    case("ops_unusual_clip_int", (5,), lambda x: OPS.clip(x, 2, 4), "int32")
    case("ops_unusual_logical_xor", (5,), lambda x: OPS.logical_xor(x > 0, x > 0.5))
    case("ops_unusual_norm_1", (3, 4), lambda x: OPS.norm(x, ord=1, axis=-1, keepdims=True))
    case("ops_unusual_norm_inf", (3, 4), lambda x: OPS.norm(x, ord=np.inf, axis=1))
    case("ops_unusual_normalize_3", (3, 4), lambda x: OPS.normalize(x, axis=1, order=3))
    case("ops_unusual_depthwise_conv", IMAGE, lambda x: OPS.depthwise_conv(x, np.ones((3, 3, 4, 2), "float32"), strides=2, padding="same"))
    case("ops_unusual_separable_conv", IMAGE, lambda x: OPS.separable_conv(x, np.ones((3, 3, 4, 1), "float32"), np.ones((1, 1, 4, 2), "float32")))
    case("ops_unusual_conv_transpose", IMAGE, lambda x: OPS.conv_transpose(x, np.ones((3, 3, 2, 4), "float32"), 2, padding="same"))
    case("ops_unusual_extract_patches", IMAGE, lambda x: OPS.image.extract_patches(x, (2, 3), strides=(2, 2)))
    case("ops_unusual_pad_images", IMAGE, lambda x: OPS.image.pad_images(x, 1, 2, target_height=11, target_width=12))
    case("ops_unusual_crop_images", IMAGE, lambda x: OPS.image.crop_images(x, 1, 1, target_height=3, target_width=4))
    case("ops_unusual_attention_causal", (3, 2, 4), lambda x: OPS.dot_product_attention(x, x, x, is_causal=True, scale=0.3))
    case("ops_unusual_space_to_depth", (4, 6, 3), lambda x: OPS.space_to_depth(x, 2))
    case("ops_unusual_max_pool_same", IMAGE, lambda x: OPS.max_pool(x, 3, strides=2, padding="same", data_format="channels_last"))
    case("ops_unusual_group_norm", IMAGE, lambda x: L.GroupNormalization(2, center=False, axis=-1)(x))
    case("ops_unusual_einsum_ellipsis", (3, 4), lambda x: OPS.einsum("...ij,kj->...ik", x, np.ones((2, 4), "float32")))
    case("ops_unusual_arange", (3, 4), lambda x: x + OPS.arange(4, dtype="float32"))
    case("ops_unusual_full_like", (3, 4), lambda x: OPS.full_like(x, 2.5))
    case("ops_unusual_cumsum_int", (5,), lambda x: OPS.cumsum(x, axis=1), "int32")
    case("ops_unusual_mean_axes", (3, 4), lambda x: OPS.mean(x, axis=(-1, 1)))
    case("ops_unusual_segment_sum", (4,), lambda x: OPS.segment_sum(x, OPS.convert_to_tensor(np.array([0, 1, 0])), 3), batch=3)


def cases(folder, wanted, _):
    return made(ROWS, folder, wanted)
