"""big_model: a model of as many megabytes as asked for, for benchmarks of what carries models."""
import random


def field(number, value):
    """A field of a protobuf message: a number, or bytes."""
    def varint(n):
        out = b""
        while n > 127:
            out += bytes([n & 127 | 128])
            n >>= 7
        return out + bytes([n])
    if isinstance(value, int):
        return varint(number << 3) + varint(value)
    if isinstance(value, str):
        value = value.encode()
    return varint(number << 3 | 2) + varint(len(value)) + value


def tensor_type(*shape):
    dims = b"".join(field(1, field(1, extent)) for extent in shape)
    return field(1, field(1, 1) + field(2, dims))


def write_big(path, megabytes):
    """A product with a matrix of so many megabytes, as ONNX."""
    rows, columns = 1000, megabytes * 250
    weights = random.Random(1).randbytes(1 << 20).replace(b"\x7f", b"\x3f").replace(b"\xff", b"\xbf")
    raw = bytearray(rows * columns * 4)
    for at in range(0, len(raw), len(weights)):
        part = at.to_bytes(4, "little") + weights[4:len(raw) - at]  # no two alike
        raw[at:at + len(part)] = part
    initializer = field(1, rows) + field(1, columns) + field(2, 1) + field(8, "w") + field(9, bytes(raw))
    node = field(1, "x") + field(1, "w") + field(2, "y") + field(3, "product") + field(4, "MatMul")
    graph = (field(1, node) + field(2, "big") + field(5, initializer) + field(11, field(1, "x") + field(2, tensor_type(1, rows)))
             + field(12, field(1, "y") + field(2, tensor_type(1, columns))))
    path.write_bytes(field(1, 8) + field(8, field(2, 17)) + field(7, graph))
