"""from_help: a man page keeps every word of --help, and completion offers every option."""
import gzip
import os
import pathlib
import pty
import select
import shutil
import subprocess
import sys
import tempfile
import unittest

SCRIPT = pathlib.Path(__file__).resolve().parents[2] / "scripts" / "from_help.py"
HELP = """usage: dnn-fake [OPTION]... MODEL

Prints what the suite knows about one model. Reads '-' as standard
input.

Options:
  -o, --output FILE    where the result goes; '-' is standard output, and the
                       line goes on here
      --list-things    print the things
      --level=N        how hard to try
      --opt 0..2       level
      --form a|b|FILE  one of two, or what a file says
      --resize HOW     none, stretch,
                       crop or crop:SIDE
      --precision TYPE
                       compute in bf16, not in int16
      --device NAME    where to run, as cpu, or lib:NAME

Exit codes:
  0 done, 2 usage

Examples:
  dnn-fake model.onnx | jq .
  dnn-fake --level=3 .hidden.onnx
"""


class FromHelp(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        self.tool = pathlib.Path(self.folder.name, "dnn-fake")
        self.tool.write_text(f"#!/bin/sh\n[ \"$1\" = --version ] && echo dnn-fake 1.2.3 && exit\ncat <<'END'\n{HELP}END\n")
        self.tool.chmod(0o755)

    def make(self, *arguments):
        return subprocess.run([sys.executable, SCRIPT, *arguments], capture_output=True, text=True)

    def man(self):
        out = pathlib.Path(self.folder.name, "dnn-fake.1.gz")
        self.assertEqual(self.make("man", self.tool, out).returncode, 0)
        return gzip.decompress(out.read_bytes()).decode()

    def test_man_page_has_its_sections(self):
        page = self.man()
        self.assertTrue(page.startswith('.TH DNN\\-FAKE 1 "" "dnn\\-fake 1.2.3"'), page.splitlines()[0])
        for section in ("NAME", "SYNOPSIS", "DESCRIPTION", "OPTIONS", "EXIT CODES", "EXAMPLES"):
            self.assertIn(f"\n.SH {section}\n", page)
        self.assertIn("dnn\\-fake \\- Prints what the suite knows about one model\n", page)
        self.assertEqual(page.count("\n.TP\n"), 8)

    @unittest.skipUnless(shutil.which("groff"), "no groff here")
    def test_man_page_shows_every_word_of_help(self):
        done = subprocess.run(["groff", "-man", "-Tascii", "-ww", "-P-cbou"], input=self.man(), capture_output=True, text=True)
        self.assertEqual(done.stderr, "")
        shown = " ".join(done.stdout.split()).lower()
        for word in HELP.replace("usage:", "").lower().split():
            self.assertIn(word.rstrip(":"), shown)
        self.assertIn("dnn-fake --level=3 .hidden.onnx", shown)

    def offered(self, out, line):
        """The words that bash offers behind this command line, each as readline puts it in place of the last word."""
        script = f'. "{out}"; COMP_LINE=$1 COMP_POINT=${{#1}} COMP_WORDS=($1); _dnn_tools; printf "%s\\n" "${{COMPREPLY[@]}}"'
        done = subprocess.run(["bash", "-c", script, "bash", line], capture_output=True, text=True, cwd=self.folder.name,
                              env={"PATH": f"{self.folder.name}:/usr/bin:/bin"})
        self.assertEqual(done.stderr, "", line)
        return done.stdout.split()

    def test_bash_completion_offers_options(self):
        out = pathlib.Path(self.folder.name, "completion")
        self.assertEqual(self.make("bash", out, self.tool).returncode, 0)
        self.assertEqual(self.offered(out, "dnn-fake --l"), ["--level", "--list-things"])
        self.assertEqual(self.offered(out, "dnn-fake --fo"), ["--form"])

    def test_bash_completion_offers_the_values_that_help_names(self):
        out = pathlib.Path(self.folder.name, "completion")
        self.assertEqual(self.make("bash", out, self.tool).returncode, 0)
        self.assertEqual(self.offered(out, "dnn-fake --device "), ["cpu", "reference"])
        lister = self.tool.with_name("dnn-infer")
        lister.write_text("#!/bin/sh\n[ $1 = --list-devices ] && printf 'cpu\\tx\\nopencl:0\\ty\\nopencl:1\\tz\\n'\n")
        lister.chmod(0o755)
        pathlib.Path(self.folder.name, "filed").touch()
        for line, values in (("--opt ", ["0", "1", "2"]), ("--form ", ["a", "b"]), ("--resize ", ["none", "stretch", "crop", "crop:"]),
                             ("--resize cr", ["crop", "crop:"]), ("--resize=st", ["stretch"]), ("--resize 'st", ["stretch"]), ("--precision ", ["bf16"]),
                             ("--device ", ["cpu", "opencl:0", "opencl:1"]), ("--device op", ["opencl:0", "opencl:1"]), ("--device opencl:", ["0", "1"]), ("--device=opencl:1", ["1"]),
                             ("--level ", ["filed", "dnn-fake", "dnn-infer", "completion"]), ("--level fi", ["filed"])):
            self.assertEqual(sorted(self.offered(out, "dnn-fake " + line)), sorted(values), line)

    def test_bash_completion_of_the_one_program_offers_tools_and_their_options(self):
        out, program = pathlib.Path(self.folder.name, "completion"), self.tool.with_name("dnn-tools")
        program.symlink_to(self.tool.name)
        self.assertEqual(self.make("bash", out, program, self.tool).returncode, 0)
        for words, offered in (("dnn-tools fa", ["fake"]), ("dnn-tools fake --l", ["--level", "--list-things"]), ("dnn-tools dnn-fake -o", ["-o"]),
                               ("dnn-tools fake --opt ", ["0", "1", "2"])):
            self.assertEqual(self.offered(out, words), offered, words)

    def test_zsh_completion_names_the_tool(self):
        out = pathlib.Path(self.folder.name, "_dnn-tools")
        self.assertEqual(self.make("zsh", out, self.tool).returncode, 0)
        text = out.read_text()
        self.assertTrue(text.startswith("#compdef dnn-fake\n"))
        self.assertIn("dnn-fake) options=(--device --form --level --list-things --opt --output --precision --resize -o) ;;", text)
        self.assertIn("'dnn-fake --resize') values=(none stretch crop crop:) ;;", text)

    def offered_by_zsh(self, line):
        """The words that zsh offers behind this command line, each in place of the last word, by a shell at a terminal."""
        rc, found = pathlib.Path(self.folder.name, ".rc"), pathlib.Path(self.folder.name, ".found")
        rc.write_text(f"""
            fpath=({self.folder.name} $fpath) PS1='ready>' LISTMAX=1000
            autoload -U compinit && compinit -D -u
            compadd() {{ local -a found; builtin compadd -O found "$@"; print -rl -- $found >>{found}; builtin compadd "$@" }}
            """)
        found.write_text("")
        child, terminal = pty.fork()
        if child == 0:
            os.chdir(self.folder.name)
            os.execve("/usr/bin/env", ["env", "-i", f"PATH={self.folder.name}:/usr/bin:/bin", "TERM=dumb", "zsh", "-f", "-i"], {})
        seen = b""

        def answer(text, until):
            nonlocal seen
            os.write(terminal, text)
            while until not in seen:
                self.assertTrue(select.select([terminal], [], [], 20)[0], seen)
                seen += os.read(terminal, 4096)
            seen = b""
        answer(b". ./.rc\n", b"ready>")
        answer(line.encode() + b"\t\x15print done\"\"now\n", b"donenow")  # the tab, then a line in place of this one
        os.close(terminal)
        os.waitpid(child, 0)
        return found.read_text().split()

    @unittest.skipUnless(shutil.which("zsh"), "no zsh here")
    def test_zsh_completion_offers_options_and_values(self):
        program = self.tool.with_name("dnn-tools")
        program.symlink_to(self.tool.name)
        writer = self.tool.with_name("dnn-convert")
        writer.write_text("""#!/bin/sh
            [ $1 = --list-formats ] && printf 'onnx\\t.onnx\\tx\\twrite\\nold\\t.old\\tx\\tread\\n' && exit
            printf 'usage: dnn-convert\\n\\nOptions:\\n  -o, --output FILE  where\\n      --list-formats  print them\\n'
            """)
        writer.chmod(0o755)
        self.assertEqual(self.make("zsh", pathlib.Path(self.folder.name, "_dnn-tools"), program, self.tool, writer).returncode, 0)
        lister = self.tool.with_name("dnn-infer")
        lister.write_text("#!/bin/sh\n[ $1 = --list-devices ] && printf 'cpu\\tx\\nopencl:0\\ty\\nopencl:1\\tz\\n'\n")
        lister.chmod(0o755)
        for line, values in (("dnn-fake --l", ["--level", "--list-things"]), ("dnn-fake --opt ", ["0", "1", "2"]), ("dnn-fake --form ", ["a", "b"]),
                             ("dnn-fake --resize cr", ["crop", "crop:"]), ("dnn-fake --resize=st", ["stretch"]), ("dnn-fake --resize none,st", ["stretch"]),
                             ("dnn-fake --device op", ["opencl:0", "opencl:1"]), ("dnn-tools fa", ["fake"]), ("dnn-tools fake --opt ", ["0", "1", "2"]),
                             ("dnn-fake --level dnn-f", ["dnn-fake"]), ("dnn-convert -o net", ["net.onnx"]),
                             ("dnn-convert -o dnn-f", ["dnn-f.onnx", "dnn-fake"]), ("dnn-convert -o net.o", ["net.onnx"])):
            self.assertEqual(sorted(set(self.offered_by_zsh(line))), sorted(values), line)

    def test_broken_tool_is_an_error(self):
        self.tool.write_text("#!/bin/sh\nexit 70\n")
        self.assertEqual(self.make("man", self.tool, "/dev/null").returncode, 5)


if __name__ == "__main__":
    unittest.main()
