"""scripts/run-docs finds outputs and exit codes that a page states wrongly, and rewrites only these."""
import importlib.machinery
import importlib.util
import pathlib
import subprocess
import sys
import tempfile
import unittest

SCRIPT = pathlib.Path(__file__).resolve().parents[2] / "scripts/run-docs"
sys.path.insert(0, str(SCRIPT.parent))
sys.dont_write_bytecode = True
loader = importlib.machinery.SourceFileLoader("run_docs", str(SCRIPT))
run_docs = importlib.util.module_from_spec(importlib.util.spec_from_loader("run_docs", loader))
loader.exec_module(run_docs)


def page(command, output=None, info=""):
    return f"# Page\n\n```sh{info}\n{command}\n```\n" + ("" if output is None else f"\n```text\n{output}\n```\n") + "\nThe end.\n"


class RunDocs(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.path = pathlib.Path(folder.name, "page.md")
        self.bin = pathlib.Path(folder.name)

    def run_page(self, text, *options):
        self.path.write_text(text)
        done = subprocess.run([sys.executable, SCRIPT, "--bin", self.bin, *options, self.path], capture_output=True, text=True, check=False)
        return done.returncode, done.stdout + done.stderr

    def test_what_is_printed_is_what_the_page_says(self):
        self.assertEqual(self.run_page(page("echo a; echo b >&2", "a\nb"))[0], 0)
        self.assertEqual(self.run_page(page("echo a", "a\nb"))[0], 1)
        self.assertEqual(self.run_page(page("echo a"))[0], 0)

    def test_exit_codes(self):
        self.assertEqual(self.run_page(page("false"))[0], 1)
        self.assertEqual(self.run_page(page("false | cat"))[0], 1)
        self.assertEqual(self.run_page(page("false   # exit 1"))[0], 0)
        self.assertEqual(self.run_page(page("true   # exit 1"))[0], 1)

    def test_blocks_of_a_page_share_a_folder(self):
        self.assertEqual(self.run_page(page("echo 1 > file") + page("cat file", "1"))[0], 0)

    def test_the_project_is_there(self):
        self.assertEqual(self.run_page(page("test -e tests/sample/shapes.onnx"))[0], 0)

    def test_a_block_that_does_not_run_says_why(self):
        self.assertEqual(self.run_page(page("false", info=" not-run: no network"))[0], 0)
        self.assertEqual(self.run_page(page("true", info=" not-run") + page("true"))[0], 1)

    def test_a_command_that_nobody_runs_is_found(self):
        text = page("true") + "\n```\ndnn-cat x.dnns\n```\n"
        status, said = self.run_page(text)
        self.assertEqual(status, 1)
        self.assertIn("page.md:10: a command in a block that is not ```sh: dnn-cat x.dnns", said)
        self.assertEqual(self.run_page(page("true") + "\n```\nmodel.onnx\n```\n\ndnn-cat shows streams.\n")[0], 0)

    def test_times_vary_and_other_numbers_do_not(self):
        self.assertTrue(run_docs.agrees("3 samples in 12.25 s", "3 samples in 0.5 s"))
        self.assertFalse(run_docs.agrees("4 samples in 0.5 s", "3 samples in 0.5 s"))
        table = "run  isa     top-1 %  mean ms\nA    avx512    90.31     1.25"
        self.assertTrue(run_docs.agrees(table, "run  isa  top-1 %  mean ms\nA    avx2  90.31  0.5"))
        self.assertFalse(run_docs.agrees(table, "run  isa  top-1 %  mean ms\nA    avx2  90.32  0.5"))

    def test_tables_may_be_broken_elsewhere(self):
        split = "run  isa  top-1 %\nA    avx2  90.31\n\nrun  F1 %  mean ms\nA    80.5  2.5\nlatency of A: of a batch"
        whole = "run  isa  top-1 %  F1 %  mean ms\nA  avx512  90.31  80.5  1.5\nlatency of A: of a batch"
        self.assertTrue(run_docs.agrees(split, whole))
        self.assertFalse(run_docs.agrees(split, whole.replace("80.5", "80.6")))
        self.assertFalse(run_docs.agrees(split, whole.replace("of a batch", "of a sample")))

    def test_dots_stand_for_any_lines(self):
        for output in ("...", "1\n...", "1\n...\n3", "...\n3", "1\n2\n...\n3"):
            self.assertTrue(run_docs.agrees(output, "1\n2\n3\n"), output)
        self.assertFalse(run_docs.agrees("2\n...", "1\n2\n3\n"))

    def test_rebase_rewrites_outputs_alone(self):
        wrong = page("seq 9", "1\n...\n8") + page("echo '1 s'", "2 s")
        self.assertEqual(self.run_page(wrong, "--rebase")[0], 0)
        self.assertEqual(self.path.read_text(), page("seq 9", "1\n...\n9") + page("echo '1 s'", "2 s"))

    def test_a_build_without_the_tool_is_skipped(self):
        code, output = self.run_page(page("dnn-convert --version"))
        self.assertEqual((code, output), (77, "this build has no dnn-convert\n"))


if __name__ == "__main__":
    unittest.main()
