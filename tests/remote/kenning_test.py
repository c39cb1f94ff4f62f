#!/usr/bin/env python3
"""dnn-serve --protocol kenning, byte by byte: transcripts of Kenning 0.8.2 and of 2021, answers to every message type, long messages in
pieces, and clients that lie."""
import json
import functools
import operator
import os
import pathlib
import pty
import select
import socket
import struct
import subprocess
import sys
import tempfile
import threading
import time
import unittest

BIN = pathlib.Path(sys.argv.pop()).resolve() if len(sys.argv) > 1 else pathlib.Path("build/release/bin").resolve()
# Exact in float32: y = [x0 + 2 x1, 3 x0 - x1].
NET = """graph "net" {
 opset 17
 input x: float32[1,2]
 const w: float32[2,2] = {1, 3, 2, -1}
 y: float32[1,2] = MatMul(x, w) @product
 output y
}
""".encode()
# Two inputs and two outputs, in an order that an io_spec may change.
TWO = """graph "two" {
 opset 17
 input a: float32[1]
 input b: float32[1]
 s: float32[1] = Sub(a, b) @sub
 p: float32[1] = Mul(a, b) @mul
 output s
 output p
}
""".encode()
WIDE = b"""graph "wide" {
 opset 17
 input x: float32[1,786432]
 y: float32[1,786432] = Relu(x) @relu
 output y
}
"""
SPEC = b'{"input":[{"name":"x","shape":[1,2],"dtype":"float32"}],"output":[{"name":"y","shape":[1,2],"dtype":"float32"}]}'
DATA, MODEL, PROCESS, OUTPUT, STATS, IO_SPEC, LOGS = 2, 3, 4, 5, 6, 7, 13
REQUEST, TRANSMISSION = 0, 3
SUCCESS, FAIL, HAS_PAYLOAD, FIRST, LAST, IS_KENNING = 1, 2, 8, 16, 32, 64

# Kenning 0.8.2 sends C and is answered S, as its own client and server do, but for the checksum that its server leaves 0.
TRANSCRIPT_2026 = """
S 00
C 07000000000038 00 {spec_size} {spec}
S 07000000C0F6790001000000 02
C 03000000000038 00 {model_size} {model}
S 03000000C0F3790001000000 03
C 02000000000038 00 08000000 0000C03F 00000040
S 02000000C0F4790001000000 05
C 040000000000300000000000
S 04000000C0F1790001000000 06
C 050000000000300000000000
S 05000000C0{sum}790008000000 0000B040 00002040
"""
# Of 2021: length, type, payload, little-endian; PROCESS is answered twice.
TRANSCRIPT_2021 = """
C {model_size_and_type} 0300 {model}
S 02000000 0000
C 0A000000 0200 0000C03F 00000040
S 02000000 0000
C 02000000 0400
S 02000000 0000
S 02000000 0000
C 02000000 0500
S 0A000000 0000 0000B040 00002040
C 02000000 0900
S 02000000 0100
"""


TRANSCRIPTS = pathlib.Path(__file__).resolve().parent / "transcripts"


def transcript(name):
    """The messages of a recording: side, head and payload; a greeting has no payload."""
    lines = [line.split() for line in (TRANSCRIPTS / name).read_text().splitlines() if not line.startswith("#")]
    return [(side, bytes.fromhex(head), bytes.fromhex("".join(rest))) for side, head, *rest in lines]


def exactly(connection, n):
    data = b""
    while len(data) < n:
        part = connection.recv(n - len(data))
        if not part:
            raise EOFError(f"closed after {len(data)} of {n} bytes")
        data += part
    return data


class Client2026:
    """The 12-byte header."""

    def __init__(self, port):
        self.socket = socket.create_connection(("127.0.0.1", port), 30)
        self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        assert exactly(self.socket, 1) == b"\0"
        self.logs = b""

    def send(self, kind, payload=b"", flow=REQUEST, piece=1 << 20):
        pieces = [payload[i : i + piece] for i in range(0, len(payload), piece)] or [b""]
        for i, part in enumerate(pieces):
            flags = (FIRST if i == 0 else 0) | (LAST if i == len(pieces) - 1 else 0) | (HAS_PAYLOAD if part else 0)
            self.socket.sendall((kind | flow << 38).to_bytes(5, "little") + b"\0" + struct.pack("<HI", flags, len(part)) + part)

    def receive(self):
        """The next message that is no log: type, flags, payload."""
        whole = b""
        while True:
            head = exactly(self.socket, 12)
            kind, flags, size = int.from_bytes(head[:5], "little"), *struct.unpack("<HI", head[6:])
            payload = exactly(self.socket, size)
            total = 0
            for byte in head + payload if size < 1000 else b"":
                total ^= byte
            assert size >= 1000 or total == 0x4B
            if kind & 0x3FFFFFFFFF == LOGS:
                self.logs += payload
                continue
            whole += payload
            if flags & LAST:
                return kind & 0x3FFFFFFFFF, flags, whole

    def ask(self, kind, payload=b"", **options):
        self.send(kind, payload, **options)
        return self.receive()


class ClientOnLine(Client2026):
    """A serial line: short messages with checksums, a ping that opens."""

    def __init__(self, master):
        self.master, self.logs = master, b""

    def write(self, data):
        os.write(self.master, data)

    def send(self, kind, payload=b"", flags=0, damage=0):
        pieces = [payload[i : i + 124] for i in range(0, len(payload), 124)] or [b""]
        for i, part in enumerate(pieces):
            all_flags = flags | (FIRST if i == 0 else 0) | (LAST if i == len(pieces) - 1 else 0) | (HAS_PAYLOAD if part else 0)
            head = kind.to_bytes(5, "little") + b"\0" + struct.pack("<HI", all_flags, len(part))
            total = functools.reduce(operator.xor, head + part) ^ 0x4B ^ damage
            self.write(head[:5] + bytes([total]) + head[6:] + part)

    def exactly(self, n, limit=20):
        data = b""
        while len(data) < n:
            if not select.select([self.master], [], [], limit)[0]:
                raise TimeoutError(f"{len(data)} of {n} bytes")
            data += os.read(self.master, n - len(data))
        return data

    def receive(self, limit=20):
        whole = b""
        while True:
            head = self.exactly(12, limit)
            kind, flags, size = int.from_bytes(head[:5], "little"), *struct.unpack("<HI", head[6:])
            assert size <= 124, size
            payload = self.exactly(size)
            assert functools.reduce(operator.xor, head + payload) == 0x4B
            if kind & 0x3FFFFFFFFF == LOGS:
                self.logs += payload
                continue
            whole += payload
            if flags & LAST:
                return kind & 0x3FFFFFFFFF, flags, whole

    def ask(self, kind, payload=b"", **options):
        self.send(kind, payload, **options)
        return self.receive()

    def open(self):
        """As Kenning does: a ping each second, six times."""
        for _ in range(6):
            self.send(0, flags=SUCCESS)
            try:
                return self.receive(limit=1)
            except TimeoutError:
                pass
        raise TimeoutError("nobody answers a ping")

    def run(self, x):
        assert self.ask(DATA, struct.pack("<2f", *x))[1] & SUCCESS
        assert self.ask(PROCESS)[1] & SUCCESS
        return struct.unpack("<2f", self.ask(OUTPUT)[2])


class Client2021:
    """As REMOTE's letter has the client: it takes answers with recv(), and would fail where one holds two messages, which it counts."""

    def __init__(self, port):
        self.socket = socket.create_connection(("127.0.0.1", port), 30)
        self.rest, self.joined = b"", 0

    def send(self, kind, payload=b""):
        self.socket.sendall(struct.pack("<IH", len(payload) + 2, kind) + payload)

    def confirmation(self):
        data, self.rest = self.rest or self.socket.recv(4096), b""
        while len(data) < 4 or len(data) < 4 + int.from_bytes(data[:4], "little"):
            data += self.socket.recv(4096)
        size = int.from_bytes(data[:4], "little")
        if len(data) != 4 + size:
            self.joined += 1
            data, self.rest = data[:4 + size], data[4 + size:]
        return int.from_bytes(data[4:6], "little") == 0, data[6:]

    def ask(self, kind, payload=b""):
        self.send(kind, payload)
        return self.confirmation()


def float32(x):
    return struct.unpack("<f", struct.pack("<f", x))[0]


class Server:
    """A server of Kenning that has NET for its runtime, for one client: of 2021, or of 0.8.2, whose statistics lack the device's time."""

    def __init__(self, year, refuses=None):
        self.year, self.refuses, self.seen = year, refuses, []
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.port = self.listener.getsockname()[1]
        self.thread = threading.Thread(target=self.serve, daemon=True)
        self.thread.start()

    def serve(self):
        connection, _ = self.listener.accept()
        with connection:
            connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            if self.year == 2026:
                connection.sendall(b"\0" + self.message(LOGS, b"\x05hello", flags=IS_KENNING))
            try:
                while True:
                    self.answer(connection, *self.receive(connection))
            except EOFError:
                pass

    def receive(self, connection):
        if self.year == 2021:
            size, kind = struct.unpack("<IH", exactly(connection, 6))
            return kind, exactly(connection, size - 2)
        whole = b""
        while True:
            head = exactly(connection, 12)
            kind, (flags, size) = int.from_bytes(head[:5], "little"), struct.unpack("<HI", head[6:])
            whole += exactly(connection, size if flags & HAS_PAYLOAD else 0)
            if flags & LAST:
                return kind, whole

    def message(self, kind, payload, flags=SUCCESS | IS_KENNING):
        head = (kind | TRANSMISSION << 38).to_bytes(5, "little") + b"\0"
        return head + struct.pack("<HI", flags | HAS_PAYLOAD | FIRST | LAST, len(payload)) + payload

    def answer(self, connection, kind, payload):
        self.seen.append((kind, payload))
        if kind == DATA:
            x = struct.unpack("<2f", payload)
            self.outputs = struct.pack("<2f", float32(x[0] + 2 * x[1]), float32(float32(3 * x[0]) - x[1]))
        bring = {OUTPUT: lambda: self.outputs, STATS: lambda: b'{"target_inference_step":[0.25]}' if self.year == 2021 else b"{}"}
        brought = bring.get(kind, lambda: b"")()
        fails = kind == self.refuses
        if self.year == 2021:
            connection.sendall(struct.pack("<IH", len(brought) + 2, 1 if fails else 0) + brought)
            if kind == PROCESS:
                time.sleep(0.01)
                connection.sendall(struct.pack("<IH", 2, 0))
        else:
            connection.sendall(self.message(kind, brought or b"\6", (FAIL if fails else SUCCESS) | IS_KENNING))


class Kenning(unittest.TestCase):
    def connect(self, kind, port):
        client = kind(port)
        self.addCleanup(client.socket.close)
        return client

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        self.environment = {k: v for k, v in os.environ.items() if not k.startswith("DNN_")}
        self.environment.update(XDG_CACHE_HOME=str(self.folder / "cache"), XDG_CONFIG_HOME=str(self.folder / "config"))

    def serve(self, *options):
        server = subprocess.Popen([BIN / "dnn-serve", "--protocol", "kenning", "--tcp", "127.0.0.1:0", *options], env=self.environment,
                                  stdout=subprocess.PIPE, text=True)
        def end():
            server.terminate()
            server.wait()
            server.stdout.close()
        self.addCleanup(end)
        return int(server.stdout.readline().rsplit(":", 1)[1])

    def replay(self, transcript, connection):
        for line in transcript.split("\n"):
            if line.startswith("C "):
                connection.sendall(bytes.fromhex(line[2:]))
            elif line:
                wanted = bytes.fromhex(line[2:])
                got = exactly(connection, len(wanted))
                while len(got) >= 12 and got[0] == LOGS:  # which speak of versions and processors
                    size = struct.unpack("<I", got[8:12])[0]
                    got += exactly(connection, 12 + size - len(got)) if len(got) < 12 + size else b""
                    got = got[12 + size :]
                    got += exactly(connection, len(wanted) - len(got))
                self.assertEqual(got.hex(), wanted.hex(), line)

    def test_a_transcript_of_2026(self):
        little = lambda n: struct.pack("<I", n).hex()
        answer = bytes.fromhex("05000000C000790008000000" "0000B04000002040")
        total = 0x4B
        for byte in answer:
            total ^= byte
        text = TRANSCRIPT_2026.format(spec_size=little(len(SPEC)), spec=SPEC.hex(), model_size=little(len(NET)), model=NET.hex(), sum=f"{total:02x}")
        with socket.create_connection(("127.0.0.1", self.serve()), 30) as connection:
            self.replay(text, connection)

    def test_a_transcript_of_2021(self):
        text = TRANSCRIPT_2021.format(model_size_and_type=struct.pack("<I", len(NET) + 2).hex(), model=NET.hex())
        with socket.create_connection(("127.0.0.1", self.serve()), 30) as connection:
            self.replay(text, connection)

    def follow(self, name, send, receive):
        """Sends what the client of a recording sent; each answer is that of the recording, but for checksums, logs, and times."""
        for side, head, payload in transcript(name):
            if side == "C":
                send(head + payload)
            elif len(head) == 12 and head[0] != LOGS:
                kind, flags, got = receive()
                self.assertEqual((kind, flags), (head[0], struct.unpack("<H", head[6:8])[0]))
                if kind != STATS:
                    self.assertEqual(got.hex(), payload.hex())
        return got

    def test_the_transcript_of_kennings_own_client_and_server(self):
        client = self.connect(Client2026, self.serve())
        stats = self.follow("kenning_client_and_server.txt", client.socket.sendall, client.receive)
        self.assertEqual(len(json.loads(stats)["target_inference_step"]), 2)

    def test_the_transcript_of_kennings_own_client_of_serial_lines(self):
        client = self.line()
        self.follow("kenning_uart_client.txt", client.write, client.receive)

    def test_the_transcript_of_our_client_and_kennings_server(self):
        recorded = transcript("dnn_infer_and_server.txt")
        (self.folder / "net.tflite").write_bytes(next(payload for side, head, payload in recorded if side == "C" and head[0] == MODEL))
        wrong = []
        def serve(listener):
            connection, _ = listener.accept()
            with connection:
                for side, head, payload in recorded:
                    if side == "S":
                        connection.sendall(head + payload)
                    elif (got := exactly(connection, len(head + payload))) != head + payload:
                        wrong.append((head, got))
                        return
        with socket.create_server(("127.0.0.1", 0)) as listener:
            thread = threading.Thread(target=serve, args=(listener,), daemon=True)
            thread.start()
            done = subprocess.run([BIN / "dnn-infer", "--device", f"kenning://127.0.0.1:{listener.getsockname()[1]}", "-n", "2", "--warmup", "0",
                                   "--fill", "random", "--outputs", "net.tflite"], cwd=self.folder, env=self.environment, capture_output=True, timeout=60)
            thread.join(10)
        self.assertEqual((wrong, done.returncode), ([], 0), done.stderr)
        records = [json.loads(line) for line in subprocess.run([BIN / "dnn-cat", "-"], input=done.stdout, capture_output=True, check=True).stdout.splitlines()]
        self.assertIn("protocol_inference_step", records[0]["latency_contains"])  # 0.8.2 says no time of the device
        self.assertEqual(self.outputs(records)[0]["y"]["data"], "kEf8Pq30G0A=")

    def test_a_client_of_2021(self):
        client = self.connect(Client2021, self.serve())
        self.assertEqual(client.ask(PROCESS), (False, b""))  # there is no model
        self.assertEqual(client.ask(MODEL, NET), (True, b""))
        for n in range(20):
            self.assertEqual(client.ask(DATA, struct.pack("<2f", n, 1)), (True, b""))
            self.assertEqual(client.ask(PROCESS), (True, b""))
            self.assertEqual(client.confirmation(), (True, b""))
            self.assertEqual(client.ask(OUTPUT), (True, struct.pack("<2f", n + 2, 3 * n - 1)))
        # The server lets time pass between two answers; a loaded machine may wake the client only after both.
        self.assertLess(client.joined, 10)
        done, stats = client.ask(STATS)
        self.assertTrue(done)
        self.assertEqual(len(json.loads(stats)["target_inference_step"]), 20)

    def test_statistics_and_logs(self):
        client = self.connect(Client2026, self.serve())
        self.assertEqual(client.ask(IO_SPEC, SPEC)[1:], (SUCCESS | HAS_PAYLOAD | FIRST | LAST | IS_KENNING, b"\x02"))
        client.ask(MODEL, NET)
        for _ in range(3):
            client.ask(DATA, struct.pack("<2f", 1, 2))
            client.ask(PROCESS)
        kind, flags, stats = client.ask(STATS)
        self.assertEqual((kind, flags & (SUCCESS | FAIL)), (STATS, SUCCESS))
        stats = json.loads(stats)
        self.assertEqual({name: len(values) for name, values in stats.items()},
                         {"target_inference_step": 3, "target_inference_step_timestamp": 3})
        self.assertTrue(all(0 < seconds < 10 for seconds in stats["target_inference_step"]))
        self.assertIn(b"dnn-serve ", client.logs)

    def test_the_order_of_an_io_spec(self):
        client = self.connect(Client2026, self.serve())
        spec = {"input": [{"name": "ignored", "shape": [[1], [2]]}],
                "processed_input": [{"name": "a", "shape": [1], "dtype": "float32", "order": 1}, {"name": "b", "shape": [1], "dtype": "float32", "order": 0}],
                "output": [{"name": "p", "shape": [1], "dtype": "float32"}, {"name": "s", "shape": [1], "dtype": "float32"}]}
        client.ask(IO_SPEC, json.dumps(spec).encode())
        client.ask(MODEL, TWO)
        client.ask(DATA, struct.pack("<2f", 3, 10))  # b, a
        client.ask(PROCESS)
        self.assertEqual(client.ask(OUTPUT)[2], struct.pack("<2f", 30, 7))

    def test_every_type_is_answered(self):
        client = self.connect(Client2026, self.serve())
        for kind in (*range(8, 13), 99, (1 << 38) - 1):
            answered, flags, action = client.ask(kind, b"x")
            self.assertEqual((answered, flags & (SUCCESS | FAIL | IS_KENNING)), (kind, FAIL | IS_KENNING))
            self.assertEqual(len(action), 1)
        for kind in (0, 1, 13):
            client.send(kind)
        self.assertEqual(client.receive()[0], 0)
        for kind, payload in ((PROCESS, b""), (OUTPUT, b""), (DATA, b"12345678"), (IO_SPEC, b"{"), (IO_SPEC, b"[]"),
                              (IO_SPEC, b'{"input":3}'), (MODEL, b""), (MODEL, b"no model")):
            client = self.connect(Client2026, self.serve()) if kind == MODEL else client
            answered, flags, _ = client.ask(kind, payload) if kind != PROCESS else (client.receive(), client.ask(kind))[1]
            self.assertEqual((answered, flags & (SUCCESS | FAIL)), (kind, FAIL), payload)
        client.ask(MODEL, NET)
        self.assertEqual(client.ask(DATA, b"123456789")[1] & FAIL, FAIL)
        self.assertIn(b"inputs of 9 bytes; the model's are 8", client.logs)
        self.assertEqual(client.ask(DATA, struct.pack("<2f", 1, 2))[1] & SUCCESS, SUCCESS)

    def test_long_messages_in_pieces(self):
        client = self.connect(Client2026, self.serve())
        client.ask(MODEL, WIDE, piece=7)
        data = struct.pack("<3f", -1, 2, 3) * 262144
        for piece in (1 << 20, 999, 3 << 20):
            self.assertEqual(client.ask(DATA, data, piece=piece)[1] & SUCCESS, SUCCESS)
        client.ask(PROCESS)
        self.assertEqual(client.ask(OUTPUT)[2], struct.pack("<3f", 0, 2, 3) * 262144)

    def line(self, *options):
        """The client's end of a serial line that is served."""
        master, slave = pty.openpty()
        path = os.ttyname(slave)
        server = subprocess.Popen([BIN / "dnn-serve", *(options or ("--protocol", "kenning", "--serial", path))], env=self.environment,
                                  stdout=subprocess.PIPE, text=True)
        def end():
            server.kill()
            server.wait()
            server.stdout.close()
            os.close(slave)
            os.close(master)
        self.addCleanup(end)
        self.assertIn(path, server.stdout.readline())
        return ClientOnLine(master)

    def test_a_serial_line(self):
        client = self.line()
        client.write(b"\0\x07noise" * 5)  # of a line that is being set up
        kind, flags, _ = client.open()
        self.assertEqual((kind, flags & (SUCCESS | FAIL | IS_KENNING)), (0, SUCCESS | IS_KENNING))
        self.assertEqual(client.ask(IO_SPEC, bytes(356))[1] & SUCCESS, SUCCESS)  # Kenning's structure
        self.assertEqual(client.ask(MODEL, NET)[1] & SUCCESS, SUCCESS, client.logs)
        self.assertEqual(client.run((1, 2)), (5, 1))
        # A message that was damaged on the way is denied, and sent again.
        self.assertEqual(client.ask(DATA, struct.pack("<2f", 3, 4), damage=1), (DATA, FAIL | FIRST | LAST | IS_KENNING, b""))
        self.assertEqual(struct.unpack("<2f", client.ask(OUTPUT)[2]), (5, 1))
        self.assertEqual(client.run((3, 4)), (11, 5))
        stats = client.ask(STATS)[2]
        name, kind, nanoseconds = struct.unpack("<32sQQ", stats)
        self.assertEqual((name.rstrip(b"\0"), kind), (b"target_inference_step", 2))
        self.assertGreater(nanoseconds, 0)
        # A ping closes; the next client opens anew, and finds nothing of the last one.
        self.assertEqual(client.ask(0, flags=FAIL)[1] & SUCCESS, SUCCESS)
        client.open()
        self.assertEqual(client.ask(PROCESS)[1] & FAIL, FAIL)
        client.ask(MODEL, NET)
        # So does one after a client that is gone: without a word, and within a message.
        client.open()
        self.assertEqual(client.ask(PROCESS)[1] & FAIL, FAIL)
        client.write(MODEL.to_bytes(5, "little") + b"\0" + struct.pack("<HI", FIRST | LAST | HAS_PAYLOAD, 100) + b"half")
        client.open()
        client.ask(MODEL, NET)
        self.assertEqual(client.run((1, 2)), (5, 1))

    def test_a_scenario_says_where_to_listen(self):
        def served(scenario, *options, code=0):
            (self.folder / "s.json").write_text(scenario if isinstance(scenario, str) else json.dumps(scenario))
            return subprocess.run([BIN / "dnn-serve", "--config", self.folder / "s.json", *options, *(("--probe",) if code == 0 else ())],
                                  env=self.environment, capture_output=True, text=True, timeout=30)
        with socket.create_server(("127.0.0.1", 0)) as taken:
            port = taken.getsockname()[1]
        scenario = {"model_wrapper": {"type": "X"}, "runtime": {"type": "kenning.runtimes.tflite.TFLiteRuntime"},
                    "protocol": {"type": "NetworkProtocol", "parameters": {"host": "127.0.0.1", "port": port, "packet_size": 32768}}}
        (self.folder / "s.json").write_text(json.dumps(scenario))
        server = subprocess.Popen([BIN / "dnn-serve", "--config", self.folder / "s.json"], env=self.environment, stdout=subprocess.PIPE, text=True)
        self.addCleanup(lambda: (server.kill(), server.wait(), server.stdout.close()))
        self.assertTrue(server.stdout.readline().endswith(f":{port}\n"))
        client = self.connect(Client2026, port)
        self.assertEqual(client.ask(MODEL, NET)[1] & SUCCESS, SUCCESS)
        for wrong, said, code in (("{", "no JSON object", 3), ({"protocol": 3}, "'protocol' is no object", 3),
                                  ({"runtime": {}}, "nothing says where to listen", 4),
                                  ({"protocol": {"type": "ROS2Protocol"}}, "protocol ROS2Protocol is not served", 4),
                                  ({"protocol": {"type": "UARTProtocol"}}, "names no serial line", 3),
                                  ({"protocol": {"type": "NetworkProtocol", "parameters": {"port": 70000}}}, "no number from 0 to 65535", 3),
                                  ({"protocol": {"type": "NetworkProtocol", "parameters": {"host": 1}}}, "'host' is no text", 3)):
            done = served(wrong, code=code)
            self.assertEqual(done.returncode, code, done.stderr)
            self.assertIn(said, done.stderr)
            self.assertIn("s.json", done.stderr)
        done = served(scenario, "--tcp", "127.0.0.1:0", code=2)
        self.assertEqual((done.returncode, done.stderr.count("\n")), (2, 1), done.stderr)

    def test_a_scenario_of_a_serial_line(self):
        master, slave = pty.openpty()
        self.addCleanup(os.close, master)
        self.addCleanup(os.close, slave)
        scenario = {"runtime_protocol": {"type": "kenning.protocols.uart.UARTProtocol", "parameters": {"port": os.ttyname(slave), "baudrate": 115200}}}
        (self.folder / "s.json").write_text(json.dumps(scenario))
        server = subprocess.Popen([BIN / "dnn-serve", "--config", self.folder / "s.json"], env=self.environment, stdout=subprocess.PIPE, text=True)
        self.addCleanup(lambda: (server.kill(), server.wait(), server.stdout.close()))
        self.assertIn(os.ttyname(slave), server.stdout.readline())
        client = ClientOnLine(master)
        client.open()
        client.ask(MODEL, NET)
        self.assertEqual(client.run((1, 2)), (5, 1))

    def test_a_package_is_a_model(self):
        (self.folder / "net.txt").write_bytes(NET)
        subprocess.run([BIN / "dnn-compile", "-q", "--keep-source", "net.txt", "-o", "net.dnnpkg"], cwd=self.folder, env=self.environment, check=True)
        client = self.connect(Client2026, self.serve())
        self.assertEqual(client.ask(MODEL, (self.folder / "net.dnnpkg").read_bytes())[1] & SUCCESS, SUCCESS, client.logs)
        client.ask(DATA, struct.pack("<2f", 1, 2))
        client.ask(PROCESS)
        self.assertEqual(client.ask(OUTPUT)[2], struct.pack("<2f", 5, 1))

    def test_who_lies_is_dropped_and_the_next_is_served(self):
        port = self.serve("--max-upload", "100000", "--stall", "1")
        too_long = (MODEL).to_bytes(5, "little") + b"\0" + struct.pack("<HI", FIRST | LAST | HAS_PAYLOAD, 100001)
        later = (MODEL).to_bytes(5, "little") + b"\0" + struct.pack("<HI", LAST | HAS_PAYLOAD, 1) + b"x"
        twice = ((MODEL).to_bytes(5, "little") + b"\0" + struct.pack("<HI", FIRST | HAS_PAYLOAD, 1) + b"x") * 2
        empty = (MODEL).to_bytes(5, "little") + b"\0" + struct.pack("<HI", FIRST, 0) + (MODEL).to_bytes(5, "little") + b"\0" + struct.pack("<HI", 0, 0)
        stalled = too_long[:7]
        for lie in (too_long, later, twice, empty, stalled, os.urandom(5) + b"\0\0\0" + os.urandom(8)):
            client = self.connect(Client2026, port)
            client.socket.sendall(lie)
            start = time.monotonic()
            try:
                while client.socket.recv(4096):
                    pass
            except ConnectionResetError:
                pass  # closed over bytes that nobody read
            self.assertLess(time.monotonic() - start, 10)
            client.socket.close()
        for head in (b"\1\0\0\0\0\0", struct.pack("<IH", 100003, MODEL)):
            client = self.connect(Client2021, port)
            client.socket.sendall(head)
            self.assertEqual(client.socket.recv(4096), b"")
            client.socket.close()
        client = self.connect(Client2026, port)
        client.ask(MODEL, NET)
        client.ask(DATA, struct.pack("<2f", 1, 2))
        client.ask(PROCESS)
        self.assertEqual(client.ask(OUTPUT)[2], struct.pack("<2f", 5, 1))

    def infer(self, device, model="net.txt", code=0):
        (self.folder / "net.txt").write_bytes(NET)
        done = subprocess.run([BIN / "dnn-infer", "--device", device, "--fill", "random", "--outputs", "-n", "3", model], cwd=self.folder,
                              env=self.environment, capture_output=True, timeout=60)
        self.assertEqual(done.returncode, code, done.stderr)
        if code != 0:
            return [], done.stderr.decode()
        lines = subprocess.run([BIN / "dnn-cat", "-"], input=done.stdout, capture_output=True, check=True).stdout.splitlines()
        return [json.loads(line) for line in lines], done.stderr.decode()

    def outputs(self, records):
        return [r["outputs"] for r in records if r.get("outputs")]

    def test_our_client_and_their_servers(self):
        here = self.outputs(self.infer("reference")[0])
        self.assertTrue(here)
        for year, wire, latency in ((2021, "", 250_000_000), (2026, "", None), (2021, "/2021", 250_000_000), (2026, "/2026", None)):
            server = Server(year)
            self.addCleanup(server.listener.close)
            records, _ = self.infer(f"kenning://127.0.0.1:{server.port}{wire}")
            self.assertEqual(self.outputs(records), here)
            kinds = [kind for kind, _ in server.seen]
            self.assertEqual(kinds[: 1 + (year == 2026)], [MODEL] if year == 2021 else [IO_SPEC, MODEL])
            self.assertIn(NET, [payload for _, payload in server.seen])
            self.assertIn(str(year), records[0]["host"]["server"])
            predictions = [r for r in records if r["type"] == "prediction"]
            self.assertEqual(len(predictions), 3)
            for prediction in predictions:
                self.assertGreater(prediction["latency_ns"], 0)
                if latency:
                    self.assertEqual(prediction["latency_ns"], latency)
            if year == 2026:
                self.assertEqual(kinds.count(STATS), 1)  # what says nothing is not asked again
                spec = json.loads(server.seen[0][1])
                self.assertEqual(spec["input"], [{"name": "x", "shape": [1, 2], "dtype": "float32", "order": 0}])

    def test_our_client_and_our_server(self):
        here = self.outputs(self.infer("cpu")[0])
        for options in ([], ["--protocol", "kenning-2021"], ["--protocol", "kenning-2026"]):
            records, _ = self.infer(f"kenning://127.0.0.1:{self.serve(*options)}")
            self.assertEqual(self.outputs(records), here)
            self.assertIn("target_inference_step", records[0]["latency_contains"])

    def test_what_our_client_is_refused(self):
        for year in (2021, 2026):
            server = Server(year, refuses=MODEL)
            self.addCleanup(server.listener.close)
            self.assertIn("refuses the model net.txt", self.infer(f"kenning://127.0.0.1:{server.port}", code=4)[1])
        self.assertIn("write it as", self.infer("kenning://127.0.0.1", code=2)[1])
        self.assertIn("write it as", self.infer("kenning://127.0.0.1:1/2019", code=2)[1])
        self.assertIn("cannot connect", self.infer("kenning://127.0.0.1:1", code=5)[1])

    def test_what_it_does_not_listen_at(self):
        for options, said in ((["--tcp", "0.0.0.0:0"], "forward the port by ssh -L"), (["--unix", "x"], "is for --tcp"),
                              (["--tcp", "127.0.0.1:0", "--key", "k"], "knows no keys")):
            done = subprocess.run([BIN / "dnn-serve", "--protocol", "kenning", *options], cwd=self.folder, env=self.environment,
                                  capture_output=True, text=True, timeout=60)
            self.assertEqual(done.returncode, 2)
            self.assertIn(said, done.stderr)


if __name__ == "__main__":
    unittest.main()
