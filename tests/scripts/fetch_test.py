"""scripts/fetch against servers of every kind: with ranges and without, cut off, of changed files, with wrong hashes, gone."""
import fcntl
import hashlib
import http.server
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import threading
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
DATA = bytes(range(256)) * 2000
SHA256 = hashlib.sha256(DATA).hexdigest()


class Server(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"  # which chunks are of

    def do_GET(self):
        kind = self.server.kind
        self.server.asked.append(self.headers.get("Range"))
        if self.path == "/elsewhere.bin":
            self.send_response(302)
            self.send_header("Location", "http://models.invalid/net.bin")
            self.send_header("Content-Length", "0")
            return self.end_headers()
        if self.path == "/missing.bin":
            return self.send_error(404)
        data = self.server.data
        found = re.fullmatch(r"bytes=(\d+)-", self.headers.get("Range", ""))
        ranged = found and kind != "plain" and self.headers.get("If-Range") == self.server.tag
        begin = int(found[1]) if ranged else 0
        self.send_response(206 if ranged else 200)
        if kind != "untagged":
            self.send_header("ETag", self.server.tag)
        if ranged:
            self.send_header("Content-Range", f"bytes {begin}-{len(data) - 1}/{len(data)}")
        self.send_header(*("Transfer-Encoding", "chunked") if kind == "chunked" else ("Content-Length", str(len(data) - begin)))
        self.end_headers()
        cut = self.server.cuts > 0
        part = data[begin:begin + 150_000 if cut else len(data)]
        self.server.cuts -= 1
        self.wfile.write(b"%x\r\n%s\r\n%s" % (len(part), part, b"" if cut else b"0\r\n\r\n") if kind == "chunked" else part)
        self.close_connection = True

    def log_message(self, *_):
        pass


class Fetch(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Server)
        self.server.kind, self.server.cuts, self.server.asked, self.server.data, self.server.tag = "ranges", 0, [], DATA, '"one"'
        threading.Thread(target=self.server.serve_forever, daemon=True).start()
        self.addCleanup(self.server.server_close)
        self.addCleanup(self.server.shutdown)
        self.url = f"http://127.0.0.1:{self.server.server_port}/net.bin"

    def fetch(self, *words):
        return subprocess.run([sys.executable, ROOT / "scripts/fetch", "-o", self.folder, *words], capture_output=True, text=True, timeout=60,
                              env={**os.environ, "DNN_FETCH_PAUSE": "0", "no_proxy": "*"})

    def whole(self, done, code=0):
        self.assertEqual(done.returncode, code, done.stderr)
        self.assertEqual([p.name for p in self.folder.iterdir()], ["net.bin"])
        self.assertEqual((self.folder / "net.bin").read_bytes(), self.server.data)

    def test_whole_and_only_once(self):
        done = self.fetch("--sha256", SHA256, self.url)
        self.whole(done)
        self.assertIn(SHA256, done.stdout)
        again = self.fetch("--sha256", SHA256, self.url)
        self.assertEqual((again.returncode, len(self.server.asked)), (0, 1))
        self.assertIn("is there", again.stdout)
        other = self.fetch("--sha256", "0" * 64, self.url)
        self.assertEqual(other.returncode, 3)
        self.whole(other, 3)

    def test_without_a_hash_says_the_one_it_has(self):
        done = self.fetch("--no-verify", self.url)
        self.whole(done)
        self.assertIn(f"sha256 {SHA256}, which its publisher does not state", done.stdout)

    def test_goes_on_after_cuts(self):
        self.server.cuts = 2
        self.whole(self.fetch("--sha256", SHA256, self.url))
        self.assertEqual(self.server.asked, [None, "bytes=150000-", "bytes=300000-"])

    def test_goes_on_in_another_call(self):
        self.server.cuts, self.server.data = 4, DATA * 4
        done = self.fetch("--no-verify", self.url)
        self.assertEqual(done.returncode, 5)
        self.assertIn("was cut 4 times; 600000 bytes are there, run it again to go on", done.stderr)
        self.assertFalse((self.folder / "net.bin").exists())
        self.whole(self.fetch("--no-verify", self.url))
        self.assertEqual(self.server.asked[4], "bytes=600000-")

    def test_of_two_runs_at_once_one_is_refused(self):
        lock = self.folder / "net.bin.part.lock"
        with open(lock, "w") as file:
            fcntl.flock(file, fcntl.LOCK_EX)
            done = self.fetch("--sha256", SHA256, self.url)
            self.assertEqual((done.returncode, self.server.asked), (5, []))
            self.assertIn("net.bin: another run is fetching it; wait for that, or choose another folder", done.stderr)
        self.whole(self.fetch("--sha256", SHA256, self.url))  # nobody holds the lock that a killed run leaves

    def test_servers_without_ranges_begin_again(self):
        self.server.kind, self.server.cuts = "plain", 2
        self.whole(self.fetch("--sha256", SHA256, self.url))
        self.assertEqual(self.server.asked[1], "bytes=150000-")

    def test_servers_that_do_not_say_how_long_it_is(self):
        self.server.kind, self.server.cuts = "chunked", 2
        self.whole(self.fetch("--no-verify", self.url))
        self.assertEqual(len(self.server.asked), 3)

    def test_servers_that_name_no_version_begin_again(self):
        self.server.kind, self.server.cuts = "untagged", 1
        self.whole(self.fetch("--sha256", SHA256, self.url))
        self.assertEqual(self.server.asked, [None, None])

    def test_files_that_changed_meanwhile_begin_again(self):
        self.server.cuts = 4
        self.server.data = DATA * 4
        self.assertEqual(self.fetch("--no-verify", self.url).returncode, 5)
        self.server.data, self.server.tag = bytes(reversed(DATA)), '"two"'
        self.whole(self.fetch("--no-verify", self.url))

    def test_wrong_hashes_are_not_kept(self):
        done = self.fetch("--sha256", "0" * 64, self.url)
        self.assertEqual(done.returncode, 3)
        self.assertIn(f"its sha256 is {SHA256}, its publisher states {'0' * 64}; not kept", done.stderr)
        self.assertEqual(list(self.folder.iterdir()), [])

    def test_what_is_not_there(self):
        done = self.fetch("--no-verify", self.url.replace("net.bin", "missing.bin"))
        self.assertEqual((done.returncode, done.stderr.count("\n")), (5, 1))
        self.assertIn("the server says 404", done.stderr)
        with http.server.HTTPServer(("127.0.0.1", 0), Server) as closed:
            port = closed.server_port
        done = self.fetch("--no-verify", f"http://127.0.0.1:{port}/net.bin")
        self.assertEqual((done.returncode, done.stderr.count("\n")), (5, 1))
        self.assertIn("is this machine offline?", done.stderr)

    def test_nothing_is_taken_that_nothing_proves(self):
        named = "http://models.invalid/net.bin"
        for words, why in (((self.url,), "no hash of it is known"), ((named,), "it comes over http"), (("--sha256", SHA256, named), "it comes over http"),
                           (("keras/resnet50",), "only its md5 is known"), (("torchvision/resnet101",), "only the beginning of its sha256 is known"),
                           (("slim/resnet_v1_50",), "no hash of it is known")):
            done = self.fetch(*words)
            self.assertEqual((done.returncode, done.stderr.count("\n")), (3, 1), done.stderr)
            self.assertIn(why, done.stderr)
            self.assertIn("--sha256 HEX", done.stderr)
            self.assertIn("--no-verify", done.stderr)
        self.assertEqual((self.server.asked, list(self.folder.iterdir())), ([], []))

    def test_without_verifying_what_is_known_counts_all_the_same(self):
        done = self.fetch("--no-verify", "--sha256", "0" * 64, self.url)
        self.assertEqual(done.returncode, 3)
        self.assertIn("not kept", done.stderr)

    def test_no_server_sends_on_to_http(self):
        for words in (("--sha256", SHA256), ("--no-verify",)):
            done = self.fetch(*words, self.url.replace("net.bin", "elsewhere.bin"))
            self.assertEqual((done.returncode, done.stderr.count("\n")), (3, 1), done.stderr)
            self.assertIn("sends on to http://models.invalid/net.bin, which is not https", done.stderr)

    def test_usage(self):
        for words in ([], ["no-such-name"], ["ftp://host/file"], ["http://127.0.0.1/"], ["http://127.0.0.1/.."], ["--sha256", "12", self.url]):
            self.assertEqual(self.fetch(*words).returncode, 2, words)

    def test_list_is_well_formed(self):
        rows = [line.split("\t") for line in self.fetch("--list").stdout.splitlines()]
        self.assertGreater(len(rows), 20)
        self.assertEqual(len({row[0] for row in rows}), len(rows))
        for name, url, stated, note in rows:
            self.assertRegex(url, r"^https://[\w.]+/\S+[\w]$", name)
            self.assertRegex(stated, r"^(-|md5:[0-9a-f]{32}|sha256:[0-9a-f]{64}|sha256-prefix:[0-9a-f]{8,64}|lfs:https://\S+)$", name)
            self.assertTrue(note, name)


if __name__ == "__main__":
    unittest.main()
