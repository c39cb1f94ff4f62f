#!/usr/bin/env python3
"""A network gives the same bits through dnn-serve as on this machine: over ssh, a Unix socket, TCP with and without a key, a serial
line; and no client that is cut off, stalls, lies or has another key keeps the next from its answer."""
import fcntl
import hashlib
import os
import pty
import signal
import socket
import stat
import subprocess
import time
import unittest

from raw_client import RawClient, number_at_end
from remote_case import BIN, NET, SAMPLE, RemoteCase


class Remote(RemoteCase):
    def raw_client(self, path):
        client = RawClient(path)
        self.addCleanup(client.socket.close)
        return client

    def ways(self):
        """Device and options of each transport."""
        _, unix = self.serve("--unix", self.folder / "s.sock")
        _, tcp = self.serve("--tcp", "127.0.0.1:0")
        _, keyed = self.serve("--tcp", "127.0.0.1:0", "--key", self.folder / "key")
        self.assertEqual(stat.S_IMODE((self.folder / "key").stat().st_mode), 0o600)
        self.assertEqual(stat.S_IMODE((self.folder / "s.sock").stat().st_mode), 0o600)
        return [("ssh://me@board:22/cpu", []), (f"{unix}/cpu", []), (f"{tcp}/cpu", []), (f"{keyed}/cpu", ["--key", self.folder / "key"])]

    def test_same_bits_over_every_transport(self):
        ways = self.ways()
        for level in ("0", "3"):
            local = self.infer("cpu", "-O", level, "--outputs")
            for device, key in ways:
                there = self.infer(device, "-O", level, "--outputs", "-n", "2", *key)
                self.assertIn(b"transport ms", there.stderr)
                expected, records = self.comparable(local.stdout)
                found, of_there = self.comparable(there.stdout)
                self.assertEqual(found, expected, device)
                self.assertEqual([r for r in of_there if r.get("outputs")], [r for r in records if r.get("outputs")], device)
                header, *predictions = self.records(there.stdout)
                self.assertEqual(header["device"], device)
                self.assertIn("server", header["host"])
                self.assertTrue(all(p["latency_ns"] > 0 and p["transport_ns"] > 0 for p in predictions if p["type"] == "prediction"))
        images = ["--preprocess", "imagenet-torch", SAMPLE / "shapes.onnx", SAMPLE / "images"]
        local = self.run_tool("dnn-infer", *images, "--threads", "2")
        for device, key in ways:
            there = self.run_tool("dnn-infer", "--device", device, *key, *images, "--threads", "2")
            self.assertEqual(self.comparable(there.stdout)[1], self.comparable(local.stdout)[1], device)

    def test_trace_and_profile(self):
        local = self.infer("cpu", "-O", "3", "--trace")
        for device, key in self.ways():
            there = self.infer(device, "-O", "3", "--trace", *key)
            self.assertEqual(self.comparable(there.stdout)[1], self.comparable(local.stdout)[1], device)
            self.assertIn(b"conv", self.infer(device, "--profile", *key).stderr)
        devices = self.run_tool("dnn-infer", "--list-devices", "--device", "ssh://me@board/cpu").stdout
        self.assertIn(b"cpu\t", devices)
        self.assertEqual(devices, self.run_tool("dnn-serve", "--probe").stdout)

    def test_localize_says_the_same(self):
        models = ["-q", "--preprocess", "imagenet-torch", SAMPLE / "shapes.onnx", SAMPLE / "shapes_wrong.onnx", SAMPLE / "images" / "star"]
        local = self.run_tool("dnn-localize", "--device", "cpu", *models, code=1)
        there = self.run_tool("dnn-localize", "--device", "ssh://me@board/cpu", *models, code=1)
        self.assertEqual(there.stdout, local.stdout)

    def test_a_real_sshd(self):
        """Runs, traces, profiles and localises over an sshd of its own."""
        sshd = self.start_sshd()
        for level in ("0", "3"):
            local, there = (self.infer(device, "-O", level, "--trace", "--outputs") for device in ("cpu", "ssh://board/cpu"))
            self.assertEqual(self.comparable(there.stdout), self.comparable(local.stdout))
        self.assertIn(b"conv", self.infer("ssh://board/cpu", "--profile").stderr)
        devices = self.run_tool("dnn-infer", "--list-devices", "--device", "ssh://board/cpu").stdout
        self.assertEqual(devices, self.run_tool("dnn-serve", "--probe").stdout)
        models = ["-q", "--preprocess", "imagenet-torch", SAMPLE / "shapes.onnx", SAMPLE / "shapes_wrong.onnx", SAMPLE / "images" / "star"]
        local, there = (self.run_tool("dnn-localize", "--device", device, *models, code=1) for device in ("cpu", "ssh://board/cpu"))
        self.assertEqual(there.stdout, local.stdout)
        self.assertIn("Permission denied", self.refused("ssh://nobody-of-ours@board/cpu"))
        sshd.kill()
        sshd.wait()
        self.assertIn("Connection refused", self.refused("ssh://board/cpu"))

    def test_a_serial_line(self):
        here, there = self.serial_line()
        server, address = self.serve("--serial", there)
        self.assertEqual(address, f"serial:{there}")
        for level in ("0", "3"):
            local, remote = (self.infer(device, "-O", level, "--trace", "--outputs") for device in ("cpu", f"serial:{here}/cpu"))
            self.assertEqual(self.comparable(remote.stdout), self.comparable(local.stdout))
        self.assertIn(b"conv", self.infer(f"serial:{here}:921600/cpu", "--profile").stderr)
        devices = self.run_tool("dnn-infer", "--list-devices", "--device", f"serial:{here}").stdout
        self.assertEqual(devices, self.run_tool("dnn-serve", "--probe").stdout)
        server.send_signal(signal.SIGTERM)
        self.assertEqual(server.wait(10), 0)
        self.serve("--serial", there, "--key", self.folder / "line")
        self.infer(f"serial:{here}/cpu", "--key", self.folder / "line")
        self.assertIn("wants a key", self.refused(f"serial:{here}/cpu"))
        self.assertIn("another process uses this line", self.run_tool("dnn-serve", "--serial", there, code=5).stderr.decode())

    def test_a_serial_line_with_rests_of_others(self):
        here, there = self.serial_line()
        self.serve("--serial", there)
        opener = lambda path, flags: os.open(path, flags | os.O_NOCTTY)
        with open(here, "r+b", buffering=0, opener=opener) as line:
            line.write(b"login: \r\n" + bytes(range(256)) + b"DNS?0123")  # noise, and a call that is cut off
        self.infer(f"serial:{here}/cpu")
        with open(here, "r+b", buffering=0, opener=opener) as line:  # a client that goes within a frame
            for _ in range(2):  # the first ends the talk before
                line.write(b"DNS?" + b"0" * 28)
                time.sleep(1)
            seen = b""
            while not seen.endswith(b"DNS!" + b"0" * 28):
                seen += line.read(1)
            line.write(b"DNS1" + b"\0" * 7)
        self.infer(f"serial:{here}/cpu")
        client = subprocess.Popen([BIN / "dnn-infer", "--device", f"serial:{here}/cpu", self.folder / "net.txt", "--fill", "random", "-n", "1000000"],
                                  env=self.environment, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
        client.stdout.read(1000)  # one that is ended within its run
        client.kill()
        client.wait()
        client.stdout.close()
        self.infer(f"serial:{here}/cpu")

    def test_a_serial_line_that_is_pulled_out(self):
        master, slave = pty.openpty()
        self.addCleanup(os.close, slave)
        server, _ = self.serve("--serial", os.ttyname(slave))
        os.close(master)
        self.assertEqual(server.wait(20), 5)

    def test_nobody_at_the_other_end(self):
        here, _ = self.serial_line()
        self.assertIn("no answer within", self.refused(f"serial:{here}/cpu"))

    def refused(self, device):
        return self.infer(device, code=5).stderr.decode()

    def test_a_package_crosses_once(self):
        self.run_tool("dnn-compile", self.folder / "net.txt", "-o", self.folder / "once.dnnpkg")
        _, address = self.serve("--unix", self.folder / "o.sock", "--store", self.folder / "once")
        for _ in range(2):
            self.infer(address, model=self.folder / "once.dnnpkg")
        files = list((self.folder / "once").iterdir())
        self.assertEqual([f.name for f in files], [hashlib.sha256(files[0].read_bytes()).hexdigest() + ".dnnpkg"])

    def test_code_of_an_unknown_client_is_not_run(self):
        _, address = self.serve("--tcp", "127.0.0.1:0")
        header = self.records(self.infer(address).stdout)[0]
        plain = self.infer("cpu").stdout
        self.assertEqual(self.comparable(self.infer(address, "--outputs").stdout)[1],
                         self.comparable(self.infer("cpu", "--outputs").stdout)[1])
        self.assertNotIn("server", self.records(plain)[0]["host"])
        self.assertEqual(header["isa"], self.records(plain)[0]["isa"])

    def test_keys(self):
        _, address = self.serve("--tcp", "127.0.0.1:0", "--key", self.folder / "right")
        self.serve("--tcp", "127.0.0.1:0", "--key", self.folder / "wrong")
        self.assertIn(b"is not that of the server", self.infer(address, "--key", self.folder / "wrong", code=5).stderr)
        self.assertIn(b"wants a key", self.infer(address, code=5).stderr)
        self.assertIn(b"there is no such key", self.infer(address, "--key", self.folder / "none", code=5).stderr)
        _, open_to_all = self.serve("--tcp", "127.0.0.1:0")
        self.assertIn(b"started without --key", self.infer(open_to_all, "--key", self.folder / "right", code=5).stderr)
        self.infer(address, "--key", self.folder / "right")

    def test_an_upload_goes_on_where_it_was_cut_off(self):
        server, address = self.serve("--unix", self.folder / "u.sock", "--store", self.folder / "uploads", "--max-upload", 3_000_000)
        data = os.urandom(2_500_000)
        name = hashlib.sha256(data).hexdigest()
        def begin():
            client = self.raw_client(self.folder / "u.sock")
            client.hello()
            client.send({"op": "have", "sha256": name, "bytes": len(data)})
            answer = client.receive()[0]
            return client, number_at_end(answer)
        client, at = begin()
        self.assertEqual(at, 0)
        other, beside = begin()  # of the same package at the same time: from the first byte, in a file of its own
        self.assertEqual(beside, 0)
        client.send({"op": "put", "at": 0})
        client.send({"op": "data"}, data[:1_000_000])
        client.socket.sendall(b"DNS1" + b"\0" * 7)  # cut off within a frame
        client.socket.close()
        other.socket.close()
        part = self.folder / "uploads" / f"{name}.part"
        self.wait_until(lambda: part.exists() and part.stat().st_size == 1_000_000 and not self.is_locked(part))
        client, at = begin()
        self.assertEqual(at, 1_000_000)
        client.send({"op": "put", "at": at})
        for i in range(at, len(data), 500_000):
            client.send({"op": "data"}, data[i:i + 500_000])
        self.assertIn(b"done", client.receive()[0])
        self.assertEqual((self.folder / "uploads" / f"{name}.dnnpkg").read_bytes(), data)
        self.assertFalse(part.exists())
        # Other bytes than the name says are dropped, and no size is believed beyond the limit.
        name = hashlib.sha256(b"other").hexdigest()
        client, at = begin()
        self.assertEqual(at, 0)
        client.send({"op": "put", "at": at})
        for i in range(0, len(data), 500_000):
            client.send({"op": "data"}, data[i:i + 500_000])
        self.assertIn(b"another SHA-256", client.receive()[0])
        self.assertFalse((self.folder / "uploads" / f"{name}.part").exists())
        client.send({"op": "have", "sha256": name, "bytes": 3_000_001})
        self.assertIn(b"--max-upload", client.receive()[0])
        client.send({"op": "have", "sha256": "../../../../etc/passwd" + "0" * 42, "bytes": 10})
        self.assertIn(b"no SHA-256", client.receive()[0])
        client.send({"op": "open", "sha256": hashlib.sha256(data).hexdigest(), "device": "cpu", "isa": "", "threads": 1})
        self.assertIn(b"error", client.receive()[0])  # no package at all
        client.send({"op": "facts", "device": "exec:touch planted"})
        self.assertIn(b"runs packages", client.receive()[0])
        client.send({"op": "ping"})
        self.assertIn(b"done", client.receive()[0])
        self.assertIsNone(server.poll())

    def test_no_client_stalls_another(self):
        server, address = self.serve("--unix", self.folder / "h.sock", "--clients", 9, "--stall", 1, "--idle", 60)
        silent = [self.raw_client(self.folder / "h.sock") for _ in range(3)]  # say nothing
        begun = []
        for junk in (b"DNS1", b"\0" * 31, b"GET / HTTP/1.1\r\n\r\n" + b"x" * 64, b"DNS1" + b"\xff" * 60):
            client = self.raw_client(self.folder / "h.sock")
            client.socket.sendall(junk)
            begun.append(client)
        slow = self.raw_client(self.folder / "h.sock")
        slow.hello()
        slow.send({"op": "ping"})
        slow.receive()
        slow.socket.sendall(b"D")
        self.infer(address)
        self.assertIn(b"one frame", slow.receive()[0])  # dropped, and told why
        with self.assertRaises(EOFError):
            slow.exactly(1)
        self.assertIn(b"error", begun[2].receive()[0])
        for client in silent + begun:
            client.socket.close()
        self.assertIsNone(server.poll())

    def test_too_many_clients_are_told(self):
        _, address = self.serve("--unix", self.folder / "m.sock", "--clients", 2)
        held = [self.raw_client(self.folder / "m.sock") for _ in range(2)]
        for client in held:
            client.hello()
            client.send({"op": "ping"})
            client.receive()
        self.assertIn(b"serves 2 clients already", self.infer(address, code=5).stderr)
        held[0].socket.close()
        self.wait_until(lambda: subprocess.run([BIN / "dnn-infer", "--device", address, self.folder / "net.txt", "--fill", "zeros"],
                                               env=self.environment, capture_output=True).returncode == 0)

    def test_who_has_no_key_holds_nobody_up(self):
        """Whoever has no key can say hello; it gives way to who has it."""
        _, address = self.serve("--tcp", "127.0.0.1:0", "--key", self.folder / "held", "--clients", 2)
        for _ in range(3):
            self.raw_client(address).hello()
            self.raw_client(address)
        self.infer(address, "--key", self.folder / "held")

    def test_unfinished_uploads_are_held_to_a_limit(self):
        self.serve("--unix", self.folder / "p.sock", "--store", self.folder / "parts", "--max-store", 3_000_000)
        def leave(data):
            client = self.raw_client(self.folder / "p.sock")
            client.hello()
            part = self.folder / "parts" / f"{client.upload(data, whole=False)}.part"
            self.wait_until(lambda: part.stat().st_size == len(data))
            return client, part
        client, first = leave(bytes(2_000_000))
        _, second = leave(b"1" * 2_000_000)
        third = self.raw_client(self.folder / "p.sock")
        third.hello()
        with self.assertRaisesRegex(ValueError, "max-store"):  # others are at it
            third.upload(b"2", whole=False)
        client.socket.close()
        self.wait_until(lambda: not self.is_locked(first))
        third.upload(b"2", whole=False)
        self.assertFalse(first.exists())
        self.assertTrue(second.exists())

    def test_a_stranger_has_a_store_of_its_own_and_no_file_of_the_servers(self):
        _, address = self.serve("--tcp", "127.0.0.1:0", "--store", self.folder / "apart")
        self.infer(address)
        self.assertEqual([p.name for p in (self.folder / "apart").iterdir()], ["strangers"])
        # A package whose model is to lie beside it, where the stranger's own unfinished upload does.
        name = hashlib.sha256(NET.encode()).hexdigest()
        (self.folder / f"{name}.part").write_text(NET)
        own_key = {**self.environment, "XDG_CONFIG_HOME": str(self.folder / "stranger")}
        subprocess.run([BIN / "dnn-compile", self.folder / f"{name}.part", "-o", self.folder / "beside.dnnpkg"], env=own_key, check=True)
        client, other = self.raw_client(address), self.raw_client(address)
        client.hello()
        other.hello()
        self.assertEqual(other.upload(NET.encode(), whole=False), name)
        package = client.upload((self.folder / "beside.dnnpkg").read_bytes())
        self.wait_until(lambda: (self.folder / "apart" / "strangers" / f"{name}.part").stat().st_size == len(NET))
        client.send({"op": "open", "sha256": package, "device": "cpu", "isa": "", "threads": 1})
        self.assertIn(b"does not hold its model's weights", client.receive()[0])

    @unittest.skipIf(os.geteuid() != 0, "only root can be another user")
    def test_a_socket_of_another_user_is_refused(self):
        listener = socket.socket(socket.AF_UNIX)
        self.addCleanup(listener.close)
        listener.bind(str(self.folder / "other.sock"))
        os.seteuid(65534)
        try:
            listener.listen()  # as whom it is served
        finally:
            os.seteuid(0)
        self.assertIn(b"user 65534 serves there, not you", self.infer(f"unix:{self.folder}/other.sock", code=5).stderr)

    def test_two_clients_at_once(self):
        _, address = self.serve("--unix", self.folder / "t.sock")
        runs = [subprocess.Popen([BIN / "dnn-infer", "--device", address, "--outputs", self.folder / "net.txt", "--fill", "random", "--threads", "1",
                                  "-n", "50"], env=self.environment, stdout=subprocess.PIPE) for _ in range(2)]
        streams = [run.communicate(timeout=120)[0] for run in runs]
        self.assertEqual([run.returncode for run in runs], [0, 0])
        self.assertEqual(*(self.comparable(stream)[1] for stream in streams))

    def test_ends_cleanly(self):
        for end in (signal.SIGTERM, signal.SIGINT):
            server, address = self.serve("--unix", self.folder / "e.sock")
            client = self.raw_client(self.folder / "e.sock")
            client.hello()
            server.send_signal(end)
            self.assertEqual(server.wait(20), 0)
            self.assertFalse((self.folder / "e.sock").exists())
            with self.assertRaises((EOFError, ConnectionResetError)):
                client.receive()
        # A socket that a killed server left is replaced; one that is listened at is not.
        server, _ = self.serve("--unix", self.folder / "e.sock")
        server.kill()
        server.wait()
        server, address = self.serve("--unix", self.folder / "e.sock")
        self.assertTrue(address)
        self.run_tool("dnn-serve", "--unix", self.folder / "e.sock", code=5)

    def test_a_dead_server_is_said(self):
        server, address = self.serve("--unix", self.folder / "d.sock")
        run = subprocess.Popen([BIN / "dnn-infer", "--device", address, self.folder / "net.txt", "--fill", "zeros", "-n", "100000000"],
                               env=self.environment, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
        time.sleep(1)
        server.terminate()
        message = run.communicate(timeout=60)[1]
        self.assertEqual(run.returncode, 5, message)
        self.assertIn(b"closed the connection", message)

    def is_locked(self, path):
        with open(path) as file:
            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
                return False
            except OSError:
                return True

    def wait_until(self, holds):
        for _ in range(200):
            if holds():
                return
            time.sleep(0.05)
        self.fail("it never came true")


if __name__ == "__main__":
    unittest.main(verbosity=2)
