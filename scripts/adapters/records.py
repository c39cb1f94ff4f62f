"""records: streams in plain Python: records, which are maps, one after another as msgpack; schemas/records says what each holds.

A tensor is a map {"dtype": "float32", "shape": [1, 3], "data": bytes}. Those of more than 16 MiB travel in parts, which
read_record() puts together and write_prediction() makes.
"""
import struct

PART = 1 << 24


def pack(value):
    """One value as msgpack."""
    if value is None:
        return b"\xc0"
    if isinstance(value, bool):
        return b"\xc3" if value else b"\xc2"
    if isinstance(value, int):
        return struct.pack(">Bq", 0xd3, value)
    if isinstance(value, float):
        return struct.pack(">Bd", 0xcb, value)
    if isinstance(value, str):
        data = value.encode("utf-8", "replace")
        return struct.pack(">BI", 0xdb, len(data)) + data
    if isinstance(value, (bytes, bytearray, memoryview)):
        return struct.pack(">BI", 0xc6, len(value)) + bytes(value)
    if isinstance(value, (list, tuple)):
        return struct.pack(">BI", 0xdd, len(value)) + b"".join(pack(v) for v in value)
    if isinstance(value, dict):
        return struct.pack(">BH", 0xde, len(value)) + b"".join(pack(k) + pack(v) for k, v in value.items())
    raise TypeError(f"{type(value).__name__} is nothing that a record holds")


def take(file, n):
    data = file.read(n)
    if len(data) != n:
        raise EOFError("the stream ends within a record")
    return data


NUMBERS = {0xca: ">f", 0xcb: ">d", 0xcc: ">B", 0xcd: ">H", 0xce: ">I", 0xcf: ">Q", 0xd0: ">b", 0xd1: ">h", 0xd2: ">i", 0xd3: ">q"}
SIZES = {0xc4: ">B", 0xc5: ">H", 0xc6: ">I", 0xd9: ">B", 0xda: ">H", 0xdb: ">I", 0xdc: ">H", 0xdd: ">I", 0xde: ">H", 0xdf: ">I"}


def number(file, form):
    return struct.unpack(form, take(file, struct.calcsize(form)))[0]


def unpack(file, first):
    """The value whose first byte was read already."""
    if first < 0x80:
        return first
    if first >= 0xe0:
        return first - 0x100
    if first in (0xc0, 0xc2, 0xc3):
        return {0xc0: None, 0xc2: False, 0xc3: True}[first]
    if first in NUMBERS:
        return number(file, NUMBERS[first])
    if first < 0xc0:
        size = first & (0x1f if first >= 0xa0 else 0x0f)
        kind = "text" if first >= 0xa0 else "list" if first >= 0x90 else "map"
    elif first in SIZES:
        size = number(file, SIZES[first])
        kind = "bytes" if first < 0xd9 else "text" if first < 0xdc else "list" if first < 0xde else "map"
    else:
        raise ValueError(f"byte {first:#x} begins nothing that a record holds")
    if kind == "bytes":
        return take(file, size)
    if kind == "text":
        return take(file, size).decode("utf-8", "replace")
    if kind == "list":
        return [unpack(file, take(file, 1)[0]) for _ in range(size)]
    return {unpack(file, take(file, 1)[0]): unpack(file, take(file, 1)[0]) for _ in range(size)}


def read_record(file):
    """The next record, or None at the end; a tensor that came in parts is one."""
    whole = None
    while True:
        first = file.read(1)
        if not first:
            return None
        record = unpack(file, first[0])
        if "total" not in record:
            return record
        if whole is None:
            whole = {**record, "data": bytearray()}
        whole["data"] += record["data"]
        if len(whole["data"]) >= record["total"]:
            whole["data"] = bytes(whole["data"])
            return {k: v for k, v in whole.items() if k not in ("offset", "total")}


def write_record(file, record):
    file.write(pack(record))
    file.flush()


def write_prediction(file, sample, outputs, latency_ns):
    """What a run gave: {name: tensor}, those that are large ahead of it."""
    small = {}
    large = sum(len(t.get("data", b"")) for t in outputs.values()) > PART
    for name, tensor in outputs.items():
        if not large:
            small[name] = tensor
            continue
        data, head = tensor.get("data", b""), {"type": "tensor", "name": name, "sample": sample, "role": "output",
                                               "attach": "prediction", "dtype": tensor["dtype"], "shape": tensor["shape"]}
        if len(data) <= PART:
            file.write(pack({**head, "data": data}))
            continue
        for at in range(0, len(data), PART):
            file.write(pack({**head, "offset": at, "total": len(data), "data": data[at:at + PART]}))
    write_record(file, {"type": "prediction", "sample": sample, "top_k": [], "outputs": small, "latency_ns": latency_ns})
