"""Builds the .deb, unpacks it into a temporary root, and uses what lies there: tools, manuals, completion, documentation, the sample's matrix."""
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

BUILD = pathlib.Path(sys.argv.pop())
ROOT = pathlib.Path(__file__).resolve().parents[2]
LARGEST_BYTES = 15_000_000
WALK = ("compare-a-conversion", "find-the-bad-layer", "evaluate-accuracy", "write-a-report", "export-activations")
PROGRAM = """#include "base/sha256.h"
#include "devices/device.h"
#include "graph/graph.h"
#include "package/file.h"
int main() {
  dnn::Graph graph;
  graph.add_value("x");
  dnn::DeviceSpec("opencl").device().list({});
  return graph.value_count() == 1 && !dnn::looks_like_package(dnn::as_bytes(dnn::sha256_hex(dnn::as_bytes("x")))) ? 0 : 1;
}
"""


def run(*command, **options):
    done = subprocess.run([str(part) for part in command], capture_output=True, text=True, **options)
    if done.returncode != 0:
        raise AssertionError(f"{command}: exit code {done.returncode}\n{done.stdout}{done.stderr}")
    return done.stdout


def package(folder):
    return pathlib.Path(run(ROOT / "scripts/package", "deb", "--build", BUILD, "--out", folder).strip())


class Package(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(cls.folder.cleanup)
        cls.deb, cls.root = package(cls.folder.name), pathlib.Path(cls.folder.name, "root")
        run("dpkg-deb", "-x", cls.deb, cls.root)
        cls.tools = sorted(path.stem for path in ROOT.glob("tools/dnn-*.cc"))

    def test_control_file(self):
        fields = dict(re.findall(r"^ ?([\w-]+): (.*)$", run("dpkg-deb", "-f", self.deb), re.MULTILINE))
        self.assertEqual(fields["Package"], "dnn-tools")
        depends = [row.split()[0] for row in fields["Depends"].split(", ")]
        for package in ("gcc", "libc6-dev", "ocl-icd-libopencl1") + ("libc6", "libstdc++6"):
            self.assertIn(package, depends)
        self.assertEqual([package for package in depends if "mpi" in package], [])  # its module is loaded for --mpi alone

    def test_is_small_and_says_what_it_takes_up(self):
        self.assertLess(self.deb.stat().st_size, LARGEST_BYTES)
        said = int(run("dpkg-deb", "-f", self.deb, "Installed-Size"))
        size = sum(path.stat().st_size for path in self.root.rglob("*") if path.is_file() and not path.is_symlink())
        self.assertLess(abs(said - size / 1024), 1024)

    def test_two_builds_are_equal(self):
        with tempfile.TemporaryDirectory() as other:
            self.assertEqual(package(other).read_bytes(), self.deb.read_bytes())

    def test_source_archive_is_the_commit(self):
        if not (ROOT / ".git").exists():
            self.skipTest("no git checkout")
        archives = []
        for name in ("first", "second"):
            folder = pathlib.Path(self.folder.name, name)
            folder.mkdir()
            archives.append(pathlib.Path(run(ROOT / "scripts/package", "source", "--out", folder).strip()))
        self.assertEqual(archives[0].read_bytes(), archives[1].read_bytes())
        run("tar", "-xf", archives[0], "-C", self.folder.name)
        root = pathlib.Path(self.folder.name, archives[0].name.removesuffix(".tar.xz"))
        files = {path.relative_to(root).as_posix() for path in root.rglob("*") if not path.is_dir() or path.is_symlink()}
        self.assertEqual(files, set(run("git", "ls-tree", "-rz", "--name-only", "HEAD", cwd=ROOT).strip("\0").split("\0")))
        header = root / "commit.h"
        run("cmake", f"-DSOURCE={root}", f"-DHEADER={header}", "-P", root / "cmake/version.cmake")
        self.assertIn(f'"{run("git", "rev-parse", "HEAD", cwd=ROOT)[:12]}"', header.read_text())

    def test_programs_do_not_name_the_folder_of_the_build(self):
        for path in (self.root / "usr/bin/dnn-tools", self.root / "usr/lib/libdnn-c.so.0"):
            program = path.read_bytes()
            self.assertNotIn(str(ROOT).encode(), program, path)
            self.assertEqual(re.findall(rb"[\w./-]*/lib/[a-z]+/[\w/]+\.(?:cc|h)\b", program), [], path)

    def test_checksums_hold(self):
        run("dpkg-deb", "--control", self.deb, self.root.with_name("control"))
        self.assertNotIn("FAILED", run("md5sum", "--check", "--quiet", self.root.with_name("control") / "md5sums", cwd=self.root))

    def test_every_tool_is_there_and_runs(self):
        self.assertEqual(sorted(path.name for path in (self.root / "usr/bin").glob("*")), sorted([*self.tools, "dnn-tools"]))
        for tool in [*self.tools, "dnn-tools"]:
            self.assertTrue(run(self.root / "usr/bin" / tool, "--version").startswith(tool + " "), tool)
            self.assertIn(tool, run(self.root / "usr/bin" / tool, "--help"))

    def test_every_tool_has_its_manual_and_completion(self):
        for tool in [*self.tools, "dnn-tools"]:
            page = run("gzip", "-dc", self.root / f"usr/share/man/man1/{tool}.1.gz")
            self.assertIn(".SH SYNOPSIS", page)
            link = self.root / "usr/share/bash-completion/completions" / tool
            self.assertEqual(link.resolve().name, "dnn-tools")
            self.assertIn(f"{tool}) options='", link.read_text())

    def test_completion_offers_values(self):
        """Levels, precisions, presets, passes, metrics, formats and devices, as the tools have them."""
        def offered(line):
            script = f'. "{self.root}/usr/share/bash-completion/completions/dnn-tools"; COMP_LINE=$1 COMP_POINT=${{#1}} COMP_WORDS=($1); _dnn_tools; ' \
                     'printf "%s\\n" "${COMPREPLY[@]}"'
            return run("bash", "-c", script, "bash", line, env={**os.environ, "PATH": f"{self.root}/usr/bin:{os.environ['PATH']}"},
                       cwd=self.folder.name).split()

        def listed(tool, option, column):
            return [line.split("\t")[column] for line in run(self.root / "usr/bin" / tool, option).splitlines()]
        self.assertEqual(offered("dnn-infer -O "), list("01234"))
        self.assertEqual(offered("dnn-infer --precision "), ["bf16", "f16"])
        self.assertEqual(offered("dnn-localize --precision "), ["float16", "bfloat16", "int8"])
        for tool in ("branch", "compile", "convert", "infer", "localize", "prune", "quantize", "train"):
            self.assertEqual(offered(f"dnn-{tool} --preprocess imagenet-"), ["imagenet-torch", "imagenet-tf", "imagenet-caffe"], tool)
        passes = listed("dnn-compile", "--list-passes", 1)
        self.assertEqual(offered("dnn-compile --pass +"), ["+" + name for name in passes])
        self.assertEqual(offered("dnn-infer --pass +fuse-ops,-"), ["+fuse-ops,-" + name for name in passes])
        self.assertEqual(offered("dnn-eval --require "), listed("dnn-eval", "--list-metrics", 0))
        self.assertEqual(offered("dnn-report --format "), ["html", "rst", "md"])
        self.assertEqual(offered("dnn-convert -o out/net.o"), ["out/net.onnx"])
        self.assertLessEqual({"net.onnx", "net.tflite", "net.keras", "net.pt2"}, set(offered("dnn-convert -o net")))
        devices = listed("dnn-infer", "--list-devices", 0)
        self.assertEqual(offered("dnn-infer --device cp"), ["cpu"])
        self.assertLessEqual({"cpu", "reference"}, set(devices))
        self.assertEqual([name for name in offered("dnn-infer --device opencl") if name in devices], [name for name in devices if name.startswith("opencl")])

    def test_library_is_installed_apart_and_links_through_pkg_config(self):
        if not shutil.which("pkg-config"):
            self.skipTest("no pkg-config here")
        developers = {path.name for path in self.root.rglob("*") if path.suffix in (".a", ".h", ".pc")}
        self.assertEqual(developers, {"dnn.h", "dnn-c.pc"})  # the C interface comes with the tools
        prefix = pathlib.Path(self.folder.name, "prefix")
        run("cmake", "--install", BUILD, "--component", "development", "--prefix", prefix)
        config = next(prefix.rglob("dnn.pc"))
        flags = run("pkg-config", "--cflags", "--libs", "dnn", env={**os.environ, "PKG_CONFIG_PATH": config.parent}).split()
        source = pathlib.Path(self.folder.name, "program.cc")
        source.write_text(PROGRAM)
        run("g++", source, "-o", source.with_suffix(""), *flags)
        run(source.with_suffix(""))

    def test_documentation_is_there(self):
        for page in ROOT.glob("docs/**/*.md"):
            self.assertTrue((self.root / "usr/share/doc/dnn-tools" / page.relative_to(ROOT)).is_file(), page)

    def test_links_of_pages_lead_somewhere(self):
        pages = self.root / "usr/share/doc/dnn-tools"
        for page in pages.rglob("*.md"):
            for link in re.findall(r"\]\(([^)#\s]+)", page.read_text()):
                self.assertTrue("://" in link or (page.parent / link).exists(), f"{page.relative_to(pages)}: {link}")

    def test_pages_are_true_of_what_is_installed(self):
        pages = self.root / "usr/share/doc/dnn-tools"
        run(ROOT / "scripts/run-docs", "--bin", self.root / "usr/bin", "--files", self.root / "usr/share/dnn-tools", pages / "README.md",
            pages / "docs/tutorial.md", *(pages / "docs/howto" / f"{name}.md" for name in WALK))

    def test_the_matrix_runs_on_its_sample(self):
        share, out = self.root / "usr/share/dnn-tools", pathlib.Path(self.folder.name, "out")
        environment = {**os.environ, "PATH": f"{self.root}/usr/bin:{os.environ['PATH']}", "XDG_CACHE_HOME": self.folder.name + "/cache"}
        said = run("make", "-f", share / "Makefile.experiments", "all", f"MODELS={share}/tests/sample/shapes.onnx", "OPTS=0", "DEVICES=reference",
                   f"OUT={out}", "BIN=", cwd=self.folder.name, env=environment)
        self.assertIn(f"report: {out}/report.html", said)
        self.assertTrue((out / "report.html").is_file())

    def test_c_program_links_through_pkg_config(self):
        if not shutil.which("pkg-config"):
            self.skipTest("no pkg-config here")
        flags = run("pkg-config", "--cflags", "--libs", "dnn-c", env={**os.environ, "PKG_CONFIG_PATH": self.root / "usr/lib/pkgconfig"}).split()
        program = pathlib.Path(self.folder.name, "run_c")
        run("cc", "-std=c99", ROOT / "docs/howto/programs/run.c", "-o", program, *flags)
        environment = {**os.environ, "LD_LIBRARY_PATH": self.root / "usr/lib", "XDG_CACHE_HOME": self.folder.name}
        self.assertIn("largest: element", run(program, ROOT / "tests/sample/shapes.onnx", env=environment))

    def test_adapters_are_where_the_tools_look(self):
        frameworks = (ROOT / "lib/devices/frameworks.def").read_text()
        names = {path.name for path in (self.root / "usr/share/dnn-tools/adapters").glob("*")}
        self.assertEqual(set(re.findall(r'"(run_\w+\.py)"', frameworks)) - names, set())
        self.assertEqual({"adapter.py", "records.py", "__pycache__"} & names, {"adapter.py", "records.py"})
        environment = {k: v for k, v in os.environ.items() if k != "DNN_ADAPTERS"}
        done = subprocess.run([self.root / "usr/bin/dnn-infer", "--device", "lib:onnxruntime", "-q", "--fill", "ones",
                               ROOT / "tests/cli/data/tiny.txt"], capture_output=True,
                              env={**environment, "DNN_PYTHON_ONNXRUNTIME": "false"})
        self.assertEqual((done.returncode, done.stderr.decode()),
                         (5, "dnn-infer: error: lib:onnxruntime: its process ended with code 1\n"))

    def test_licence_is_there(self):
        self.assertIn("Apache License", (self.root / "usr/share/doc/dnn-tools/copyright").read_text())


if __name__ == "__main__":
    for program in ("dpkg-deb", "dpkg-shlibdeps"):
        if not shutil.which(program):
            print(f"SKIP: no {program} here")
            sys.exit(77)
    unittest.main()
