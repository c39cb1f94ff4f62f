"""run: a network on an input of ones through dnn.h, with nothing but Python's own ctypes. python3 run.py MODEL [libdnn-c.so.0]"""
import ctypes
import math
import sys


class Tensor(ctypes.Structure):  # dnn_tensor
    _fields_ = [("name", ctypes.c_char_p), ("shape", ctypes.POINTER(ctypes.c_int64)), ("rank", ctypes.c_size_t),
                ("bytes", ctypes.c_size_t), ("type", ctypes.c_int32)]


class Buffer(ctypes.Structure):  # dnn_buffer
    _fields_ = [("data", ctypes.c_void_p), ("bytes", ctypes.c_size_t)]


class Network:
    """A network whose inputs and outputs are float32."""

    def __init__(self, file, *options, library="libdnn-c.so.0"):
        self.c = ctypes.CDLL(library)
        self.c.dnn_error.restype = ctypes.c_char_p
        self.c.dnn_input.restype = self.c.dnn_output.restype = ctypes.POINTER(Tensor)
        self.handle = ctypes.c_void_p()
        texts = (ctypes.c_char_p * (len(options) + 1))(*[option.encode() for option in options], None)
        self.check(self.c.dnn_load(str(file).encode(), texts, ctypes.byref(self.handle)))
        self.inputs, self.outputs = self.described(self.c.dnn_input), self.described(self.c.dnn_output)

    def check(self, status):
        if status != 0:
            raise RuntimeError(f"{self.c.dnn_error().decode()} (status {status})")

    def described(self, tensor_of):
        tensors = []
        while tensor := tensor_of(self.handle, len(tensors)):
            t = tensor.contents
            if t.type != 1:
                raise TypeError(f"{t.name.decode()} is not float32")
            tensors.append((t.name.decode(), t.shape[: t.rank]))
        return tensors

    def run(self, *inputs):
        """Flat sequences of floats in, lists of floats out."""
        arrays = [(ctypes.c_float * len(values))(*values) for values in inputs]
        results = [(ctypes.c_float * math.prod(shape))() for _, shape in self.outputs]
        buffers = [(Buffer * len(group))(*[Buffer(ctypes.addressof(a), ctypes.sizeof(a)) for a in group]) for group in (arrays, results)]
        self.check(self.c.dnn_run(self.handle, buffers[0], len(arrays), buffers[1], len(results)))
        return [list(result) for result in results]

    def __del__(self):
        if getattr(self, "handle", None):
            self.c.dnn_free(self.handle)


if __name__ == "__main__":
    network = Network(sys.argv[1], "threads=1", **({"library": sys.argv[2]} if len(sys.argv) > 2 else {}))
    scores, = network.run(*([1.0] * math.prod(shape) for _, shape in network.inputs))
    name, shape = network.outputs[0]
    print(f"{name}:", *shape)
    largest = max(range(len(scores)), key=scores.__getitem__)
    print(f"largest: element {largest}, {scores[largest]:.9g}")
