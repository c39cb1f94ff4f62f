#!/usr/bin/env python3
"""Connections that are cut, stall, repeat, exchange or change what crosses them, and clients that mean harm: nothing is lost or counted twice,
nobody else waits, and the server goes on."""
import hashlib
import os
import random
import signal
import socket
import struct
import subprocess
import threading
import time
import unittest

from raw_client import RawClient, number_at_end
from remote_case import BIN, RemoteCase

HEAD = 32


class Proxy:
    """A TCP port that leads to another, through `change`: what becomes of the bytes of a direction ("up" or "down") from a place on.
    `change(connection, direction, at, bytes)` returns the bytes to hand on, or None to cut the connection."""

    def __init__(self, port, change):
        self.to, self.change, self.connections = port, change, 0
        self.passed = {"up": 0, "down": 0}
        self.ends = []
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.port = self.listener.getsockname()[1]
        threading.Thread(target=self.accept, daemon=True).start()

    def accept(self):
        while True:
            try:
                client, _ = self.listener.accept()
            except OSError:
                return
            try:
                server = socket.create_connection(("127.0.0.1", self.to))
            except OSError:
                client.close()
                continue
            number, self.connections = self.connections, self.connections + 1
            self.ends += [client, server]
            for end in (client, server):
                end.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            for source, sink, direction in ((client, server, "up"), (server, client, "down")):
                threading.Thread(target=self.carry, args=(number, source, sink, direction), daemon=True).start()

    def carry(self, number, source, sink, direction):
        at = 0
        try:
            while data := source.recv(65536):
                handed = self.change(number, direction, at, data)
                at += len(data)
                self.passed[direction] += len(data)
                if handed is None:
                    break
                if isinstance(handed, tuple):  # the last of this connection
                    sink.sendall(handed[0])
                    break
                sink.sendall(handed)
        except OSError:
            pass
        for end in (source, sink):
            try:
                end.shutdown(socket.SHUT_RDWR)
            except OSError:
                pass

    def close(self):
        self.listener.close()
        for end in self.ends:
            end.close()


class Frames:
    """Bytes of one direction as the frames that they are."""

    def __init__(self):
        self.waiting = b""

    def take(self, data):
        self.waiting += data
        whole = []
        while len(self.waiting) >= HEAD:
            size, _, payload, flags, _ = struct.unpack("<IQIIQ", self.waiting[4:HEAD])
            length = HEAD + size + payload + (16 if flags & 1 else 0)
            if len(self.waiting) < length:
                break
            whole.append(self.waiting[:length])
            self.waiting = self.waiting[length:]
        return whole


class Faults(RemoteCase):
    def port_of(self, address):
        return int(address.rsplit(":", 1)[1])

    def proxy(self, address, change):
        proxy = Proxy(self.port_of(address), change)
        self.addCleanup(proxy.close)
        return proxy

    def package(self):
        package = self.folder / "cut.dnnpkg"
        if not package.exists():
            self.run_tool("dnn-compile", self.folder / "net.txt", "-o", package)
        return package

    def predictions(self, stream):
        return self.comparable(stream)[1]

    def test_a_connection_cut_at_each_of_200_places(self):
        """An upload, a trace and three runs go on over a new connection wherever the first is cut, and nothing is there twice."""
        store = self.folder / "cut-store"
        server, address = self.serve("--tcp", "127.0.0.1:0", "--key", self.folder / "cut.key", "--store", store)
        package = self.package()
        options = ["--trace", "--outputs", "-n", "3", "--key", self.folder / "cut.key"]
        local = self.predictions(self.infer("cpu", *options[:-2], model=package).stdout)
        whole = self.proxy(address, lambda connection, direction, at, data: data)
        self.infer(f"tcp://127.0.0.1:{whole.port}/cpu", *options, model=package)
        cuts, again = {"up": [], "down": []}, 0
        for i in range(200):
            direction = ("up", "down")[i % 2]
            cuts[direction].append(1 + (i // 2) * (whole.passed[direction] - 2) // 99)
        for direction, places in cuts.items():
            self.assertEqual(len(set(places)), 100, "a run is too short to be cut in so many places")
            for place in places:
                with self.subTest(direction=direction, place=place):
                    for kept in store.iterdir():
                        kept.unlink()
                    def change(connection, of, at, data):
                        if connection > 0 or of != direction or at + len(data) < place:
                            return data
                        return (data[:place - at],)
                    proxy = self.proxy(address, change)
                    run = self.infer(f"tcp://127.0.0.1:{proxy.port}/cpu", *options, model=package)
                    self.assertEqual(self.predictions(run.stdout), local)
                    again += proxy.connections - 1
                    proxy.close()
        self.assertGreaterEqual(again, 198)  # of the last exchange, which closes the session, nobody needs the end
        self.assertIsNone(server.poll())

    def test_an_upload_cut_at_each_of_200_places_goes_on(self):
        """One upload, over 201 connections; what came in whole frames does not come again."""
        self.serve("--unix", self.folder / "r.sock", "--store", self.folder / "resumed")
        data = random.Random(1).randbytes(8_000_000)
        name = hashlib.sha256(data).hexdigest()
        part = self.folder / "resumed" / f"{name}.part"
        draw, frame, held = random.Random(2), 10_000, 0
        for cut in range(201):
            client = RawClient(self.folder / "r.sock")
            client.hello()
            client.send({"op": "have", "sha256": name, "bytes": len(data)})
            at = number_at_end(client.receive()[0])
            self.assertEqual(at, held)
            client.send({"op": "put", "at": at})
            target = len(data) if cut == 200 else (cut + 1) * len(data) // 202 + draw.randrange(frame)
            while held + frame <= target or (cut == 200 and held < len(data)):
                client.send({"op": "data"}, data[held:held + frame])
                held = min(held + frame, len(data))
            if cut == 200:
                self.assertIn(b"done", client.receive()[0])
            else:  # a frame that does not arrive whole
                client.socket.sendall((b"DNS1" + struct.pack("<IQIIQ", 9, client.sent, frame, 0, 0) + b"x" * 500)[:draw.randrange(1, 500)])
            client.socket.close()
            if cut < 200:
                deadline = time.monotonic() + 10
                while part.stat().st_size != held:
                    self.assertLess(time.monotonic(), deadline)
                    time.sleep(0.002)
        self.assertEqual((self.folder / "resumed" / f"{name}.dnnpkg").read_bytes(), data)

    def test_frames_that_are_repeated_exchanged_changed_or_of_another_time(self):
        """With a key none of them is believed, on either side, and both say so at once."""
        server, address = self.serve("--tcp", "127.0.0.1:0", "--key", self.folder / "f.key", "--store", self.folder / "f")
        options = ["--outputs", "-n", "3", "--key", self.folder / "f.key"]
        expected = self.predictions(self.infer("cpu", *options[:-2]).stdout)
        recorded = {"up": [], "down": []}
        def record(connection, direction, at, data):
            recorded[direction].append(data)
            return data
        self.infer(f"tcp://127.0.0.1:{self.proxy(address, record).port}/cpu", *options)
        earlier = {direction: Frames().take(b"".join(parts)) for direction, parts in recorded.items()}
        def repeat(frames, n): return frames[:n] + [frames[n - 1]] + frames[n:]
        def exchange(frames, n): return frames[:n - 1] + [frames[n], frames[n - 1]] + frames[n + 1:]
        def leave_out(frames, n): return frames[:n - 1] + frames[n:]
        def change(frames, n): return frames[:n - 1] + [frames[n - 1][:-20] + bytes([frames[n - 1][-20] ^ 1]) + frames[n - 1][-19:]] + frames[n:]
        for direction in ("up", "down"):
            for place in (2, 3, 5):
                for what in (repeat, exchange, leave_out, change, "earlier"):
                    if what is exchange and direction == "down":
                        continue  # answers come one at a time
                    with self.subTest(direction=direction, place=place, what=getattr(what, "__name__", what)):
                        self.tamper(address, direction, place, what, earlier, options, expected)
        self.assertIsNone(server.poll())
        self.assertEqual(self.predictions(self.infer(f"{address}/cpu", *options).stdout), expected)

    def tamper(self, address, direction, place, what, earlier, options, expected):
        frames, passed, state = Frames(), [], {"held": None}
        def handle(connection, of, at, data):
            if connection > 0 or of != direction:
                return data
            out = b""
            for frame in frames.take(data):
                passed.append(frame)
                n = len(passed)
                if what == "earlier":
                    out += earlier[direction][n - 1] if n == place else frame
                elif what.__name__ == "exchange" and n == place:
                    state["held"] = frame
                elif what.__name__ == "exchange" and n == place + 1:
                    out += frame + state["held"]
                elif what.__name__ != "exchange" and n == place:
                    out += b"".join(what(passed, n)[n - 1:])
                else:
                    out += frame
            return out
        proxy = Proxy(self.port_of(address), handle)
        self.environment["DNN_ADAPTER_TIMEOUT"] = "3"
        start = time.monotonic()
        try:
            run = subprocess.run([BIN / "dnn-infer", "--device", f"tcp://127.0.0.1:{proxy.port}/cpu", *map(str, options), self.folder / "net.txt",
                                  "--fill", "random", "--threads", "2"], env=self.environment, capture_output=True, timeout=60)
        finally:
            del self.environment["DNN_ADAPTER_TIMEOUT"]
            proxy.close()
        self.assertLess(time.monotonic() - start, 20)
        # A frame that does not come, or is held back, is waited for; any other is refused. In no case is something else computed.
        self.assertIn(run.returncode, (3, 5), run.stderr)
        self.assertTrue(run.stderr)

    def test_64_clients_one_of_them_hostile(self):
        server, address = self.serve("--tcp", "127.0.0.1:0", "--clients", 64, "--stall", 2, "--store", self.folder / "many")
        before = self.infer(f"{address}/cpu", "--outputs").stdout
        clients = [RawClient(address) for _ in range(62)]
        for client in clients:
            self.addCleanup(client.socket.close)
            client.hello()
        over, failures, longest = threading.Event(), [], [0.0]
        def ask(mine):
            try:
                while not over.is_set():
                    for client in mine:
                        start = time.monotonic()
                        client.send({"op": "ping"})
                        assert b"done" in client.receive()[0]
                        longest[0] = max(longest[0], time.monotonic() - start)
                    time.sleep(0.01)
            except Exception as failure:  # to be told in the test's own thread
                failures.append(failure)
        askers = [threading.Thread(target=ask, args=(clients[i::4],)) for i in range(4)]
        for asker in askers:
            asker.start()
        try:
            draw = random.Random(3)
            for attack in self.attacks(draw) * 2:
                client = RawClient(address)
                try:
                    self.attack(client, attack)
                except (OSError, EOFError):
                    pass  # it is thrown out
                client.socket.close()
            during = self.infer(f"{address}/cpu", "--outputs").stdout
        finally:
            over.set()
            for asker in askers:
                asker.join(30)
        self.assertEqual(failures, [])
        self.assertLess(longest[0], 2)
        self.assertIsNone(server.poll())
        self.assertEqual(self.predictions(during), self.predictions(before))

    def attacks(self, draw):
        head = lambda *fields: b"DNS1" + struct.pack("<IQIIQ", *fields)
        deep = b"\x91" * 900_000
        return [draw.randbytes(100_000), b"GET / HTTP/1.1\r\n\r\n", b"DNS1" + b"\xff" * 28, head(2**31, 0, 0, 0, 0), head(9, 0, 2**31, 0, 0),
                head(9, 0, 9, 0, 2**63), head(0, 0, 0, 0, 0), head(1, 0, 0, 1, 0) + b"\x80" + bytes(16), head(1, 7, 0, 0, 0) + b"\x80",
                head(len(deep), 0, 0, 0, 0) + deep, head(5, 0, 0, 0, 0) + b"\xdf\xff\xff\xff\xff", "slow", "upload", "sessions", "half", "silent"]

    def attack(self, client, attack):
        client.socket.settimeout(0.2)
        if isinstance(attack, bytes):
            client.socket.sendall(attack)
            return client.exactly(1)
        client.socket.settimeout(5)
        client.hello()
        if attack == "slow":
            for byte in b"DNS1\x09\0\0\0":
                client.socket.sendall(bytes([byte]))
                time.sleep(0.02)
        elif attack == "upload":  # as much as it takes, of other bytes than named, and a place that is none
            client.send({"op": "have", "sha256": "0" * 64, "bytes": 2**62})
            client.receive()
            client.send({"op": "have", "sha256": "../" * 21 + "0", "bytes": 5})
            client.receive()
            client.send({"op": "have", "sha256": "1" * 64, "bytes": 5})
            client.receive()
            client.send({"op": "put", "at": 0})
            client.send({"op": "data"}, b"123456789")
        elif attack == "sessions":
            for name in ("exec:touch x", "ssh://board/cpu", "cpu", "\0"):
                client.send({"op": "open", "sha256": "2" * 64, "device": name, "isa": "", "threads": 2**40})
                client.receive()
            for op in ("run", "trace", "profiled", "close", "used", "sample", "usage", "put", "nothing"):
                client.send({"op": op, "session": 2**63, "every_ms": 0})
                client.receive()
        elif attack == "half":
            client.send({"op": "ping"})
            client.socket.shutdown(socket.SHUT_WR)
            client.receive()

    def test_slow_loris_is_dropped_by_the_deadline(self):
        _, address = self.serve("--tcp", "127.0.0.1:0", "--stall", 1)
        client = RawClient(address)
        self.addCleanup(client.socket.close)
        client.hello()
        client.send({"op": "ping"})
        client.receive()
        start = time.monotonic()
        with self.assertRaises((OSError, EOFError)):  # a byte at a time renews no deadline
            for byte in b"DNS1" + bytes(28) * 10:
                client.socket.sendall(bytes([byte]))
                time.sleep(0.1)
        self.assertLess(time.monotonic() - start, 10)

    def test_a_stopped_server_is_given_up_by_the_deadline(self):
        server, address = self.serve("--tcp", "127.0.0.1:0", "--key", self.folder / "stop.key")
        self.environment["DNN_ADAPTER_TIMEOUT"] = "2"
        self.addCleanup(self.environment.pop, "DNN_ADAPTER_TIMEOUT", None)
        run = subprocess.Popen([BIN / "dnn-infer", "--device", f"{address}/cpu", "--key", self.folder / "stop.key", self.folder / "net.txt", "--fill",
                                "zeros", "-n", "100000000"], env=self.environment, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
        time.sleep(1)
        children = self.children_of(server)
        for pid in children:
            os.kill(pid, signal.SIGSTOP)
        start = time.monotonic()
        message = run.communicate(timeout=60)[1]
        self.assertLess(time.monotonic() - start, 15)
        self.assertEqual(run.returncode, 5, message)
        self.assertIn(b"nothing came within 2 s", message)
        for pid in children:
            os.kill(pid, signal.SIGCONT)

    def test_a_client_killed_within_a_run_stops_the_work(self):
        _, address = self.serve("--unix", self.folder / "k.sock")
        run = subprocess.Popen([BIN / "dnn-infer", "--device", f"{address}/cpu", self.folder / "net.txt", "--fill", "zeros", "-n", "100000000"],
                               env=self.environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        time.sleep(0.5)
        run.kill()
        run.wait()
        self.infer(f"{address}/cpu")

    def test_a_request_that_takes_too_long(self):
        """It ends its process, and its client is told; others go on."""
        server, address = self.serve("--unix", self.folder / "l.sock", "--max-run", "0.3")
        slow = self.folder / "slow.txt"
        slow.write_text("""graph "slow" {
 opset 17
 input x: float32[700,700,64]
 input w: float32[700,64,700]
 y: float32[700,700,700] = MatMul(x, w) @product
 z: float32[700,700,700] = MatMul(y, y) @product2
 output z
}
""")
        refused = self.run_tool("dnn-infer", "--device", f"{address}/cpu", slow, "--fill", "random", "--threads", "1", code=5)
        self.assertIn(b"took more than 0.3 s, the server's limit (--max-run)", refused.stderr)
        self.infer(f"{address}/cpu")
        self.assertIsNone(server.poll())


if __name__ == "__main__":
    unittest.main(verbosity=2)
