"""A client of dnn-serve that is none of ours: for what our own does not do."""
import hashlib
import socket
import struct


def msgpack(value):
    """The little of msgpack that requests need."""
    if isinstance(value, dict):
        return bytes([0x80 | len(value)]) + b"".join(msgpack(k) + msgpack(v) for k, v in value.items())
    if isinstance(value, str):
        return b"\xd9" + bytes([len(value)]) + value.encode()
    return b"\xcf" + struct.pack(">Q", value)


def number_at_end(answer):
    """The msgpack integer that an answer ends with."""
    for lead, size in ((0xCF, 8), (0xCE, 4), (0xCD, 2), (0xCC, 1)):
        if len(answer) > size and answer[-size - 1] == lead:
            return int.from_bytes(answer[-size:], "big")
    return answer[-1]


class RawClient:
    """The protocol as docs/reference/serve.md has it, written a second time, for what our own client does not do."""

    def __init__(self, path):
        """`path`: a Unix socket's, or the address that a server printed."""
        if str(path).startswith("tcp://"):
            host, port = str(path)[len("tcp://"):].rsplit(":", 1)
            self.socket = socket.create_connection((host, int(port)), 20)
        else:
            self.socket = socket.socket(socket.AF_UNIX)
            self.socket.settimeout(20)
            self.socket.connect(str(path))
        self.sent = 0

    def send(self, message, payload=b""):
        text = msgpack(message)
        self.socket.sendall(b"DNS1" + struct.pack("<IQIIQ", len(text), self.sent, len(payload), 0, 0) + text + payload)
        self.sent += 1

    def receive(self):
        head = self.exactly(32)
        size, _, payload, _, rest = struct.unpack("<IQIIQ", head[4:])
        assert rest == 0
        return self.exactly(size), self.exactly(payload)

    def exactly(self, n):
        data = b""
        while len(data) < n:
            part = self.socket.recv(n - len(data))
            if not part:
                raise EOFError
            data += part
        return data

    def hello(self):
        self.send({"op": "hello", "protocol": 1, "version": "0", "nonce": "0" * 64})
        return self.receive()

    def upload(self, data, whole=True):
        """A package; or its bytes as the part of one that is longer. Its name."""
        name = hashlib.sha256(data).hexdigest()
        self.send({"op": "have", "sha256": name, "bytes": len(data) + (not whole)})
        if b"error" in (answer := self.receive()[0]):
            raise ValueError(answer)
        self.send({"op": "put", "at": 0})
        for i in range(0, len(data), 500_000):
            self.send({"op": "data"}, data[i:i + 500_000])
        if whole:
            assert b"done" in self.receive()[0]
        return name
