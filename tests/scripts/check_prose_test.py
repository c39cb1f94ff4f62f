"""scripts/check-prose finds each kind of breach, and leaves code, tables and generated parts alone."""
import importlib.machinery
import importlib.util
import pathlib
import sys
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "scripts"))
loader = importlib.machinery.SourceFileLoader("check_prose", str(ROOT / "scripts/check-prose"))
check_prose = importlib.util.module_from_spec(importlib.util.spec_from_loader("check_prose", loader))
loader.exec_module(check_prose)


def rules(name, text):
    return [(line, rule) for line, rule, _ in check_prose.breaches(name, text)]


class CheckProse(unittest.TestCase):
    def test_long_sentences_of_markdown(self):
        long = "word " * 31
        self.assertEqual(rules("a.md", f"{long[:60]}\n{long[60:].strip()}.\n"), [(1, "sentence")])
        self.assertEqual(rules("a.md", "word " * 15 + "word.\nAnother " + "word " * 15 + "\n"), [])
        self.assertEqual(rules("a.md", f"```\n{long}\n```\n| {long} |\n"), [])

    def test_columns(self):
        self.assertEqual(rules("a.md", "- " + "eleven char " * 9 + "\n"), [(1, "columns")])
        self.assertEqual(rules("a.md", "<!-- made by x -->\n" + "eleven char " * 9 + "\n<!-- end -->\n"), [])

    def test_headless_comments(self):
        self.assertEqual(rules("a.cc", "// Whether it holds.\nint x;\n// The rest: of this\n// Of that.\n"), [(1, "headless")])
        self.assertEqual(rules("a.py", '"""What it does."""\n'), [(1, "headless")])

    def test_terms(self):
        self.assertEqual(rules("a.h", "int x;  // fits the second cache\n"), [(1, "terms")])
        self.assertEqual(rules("a.h", 'const char* text = "second cache";\n'), [])


if __name__ == "__main__":
    unittest.main()
