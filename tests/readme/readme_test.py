"""README.md, CONTRIBUTING.md and docs/ are true: commands run, links lead somewhere, tables say what the code says."""
import os
import pathlib
import re
import subprocess
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
README = (ROOT / "README.md").read_text()


def section(text, title):
    match = re.search(rf"^## {re.escape(title)}\n(.*?)(?=^## |\Z)", text, re.DOTALL | re.MULTILINE)
    return match[1] if match else ""


def commands(text):
    """The lines of the sh blocks, continued lines joined."""
    blocks = re.findall(r"^```sh[^\n]*\n(.*?)^```", text, re.DOTALL | re.MULTILINE)
    return [line for block in blocks for line in block.replace("\\\n", " ").splitlines() if line.strip()]


def without_code(text):
    return re.sub(r"^```.*?^```|`[^`\n]*`", "", text, flags=re.DOTALL | re.MULTILINE)


def anchors(text):
    """The anchors that a page's headings have on the usual hosts."""
    found, seen = set(), {}
    for heading in re.findall(r"^#+ +(.*?)\s*$", re.sub(r"^```.*?^```", "", text, flags=re.DOTALL | re.MULTILINE), re.MULTILINE):
        words = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading)
        slug = re.sub(r"[^\w\- ]", "", words.lower()).replace(" ", "-")
        count = seen[slug] = seen.get(slug, -1) + 1
        found.add(slug if not count else f"{slug}-{count}")
    return found


PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", ROOT / "CHANGELOG.md", *sorted(ROOT.glob("docs/**/*.md")),
         *sorted(ROOT.glob("schemas/*/README.md")), *sorted(ROOT.glob("bench/*.md")), *sorted(ROOT.glob("tests/*/README.md"))]


class Readme(unittest.TestCase):
    def test_install_commands_name_scripts_that_exist(self):
        lines = commands(section(README, "Install"))
        self.assertEqual(len(lines), 2, lines)
        for line in lines:
            for script in re.findall(r"scripts/[\w-]+", line):
                self.assertTrue(os.access(ROOT / script, os.X_OK), script)

    def test_readme_is_short(self):
        self.assertLessEqual(len(README.splitlines()), 150)

    def test_table_of_tools_names_tools_that_exist(self):
        for tool in re.findall(r"^\| `(dnn-[\w-]+)", section(README, "Tools"), re.MULTILINE):
            self.assertTrue((ROOT / "tools" / f"{tool}.cc").exists(), tool)

    def test_exit_codes_are_those_of_the_library(self):
        kinds = dict(re.findall(r"^  (\w+) = (\d+),", (ROOT / "lib/base/error.h").read_text(), re.MULTILINE))
        self.assertEqual(len(kinds), 6, kinds)
        told = re.findall(r"^\| (\d+) \|", (ROOT / "docs/reference/exit-codes.md").read_text(), re.MULTILINE)
        self.assertEqual(sorted(map(int, told)), sorted([0, *map(int, kinds.values())]))

    def test_links_lead_somewhere(self):
        for page in PAGES:
            for link in re.findall(r"\]\((?!https?:|mailto:)([^)\s]+)\)", without_code(page.read_text())):
                path, _, anchor = link.partition("#")
                target = (page.parent / path) if path else page
                self.assertTrue(target.exists(), f"{page.relative_to(ROOT)}: {link}")
                self.assertTrue(target.resolve().is_relative_to(ROOT), f"{page.relative_to(ROOT)}: {link} leaves the project")
                if anchor:
                    self.assertIn(anchor, anchors(target.read_text()), f"{page.relative_to(ROOT)}: {link}")

    def test_every_page_of_docs_is_linked(self):
        linked = {(page.parent / link.split("#")[0]).resolve() for page in PAGES
                  for link in re.findall(r"\]\((?!https?:)([^)\s]+)\)", without_code(page.read_text()))}
        for page in ROOT.glob("docs/**/*.md"):
            self.assertTrue(page == ROOT / "docs/README.md" or page.parent.name == "decisions" or page.resolve() in linked, f"no page links to {page.relative_to(ROOT)}")

    def test_pages_that_files_name_exist(self):
        files = subprocess.run(["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=False)
        for name in files.stdout.splitlines() if files.returncode == 0 else []:
            path = ROOT / name
            if path.is_symlink() or not path.is_file() or path.suffix in (".json", ".onnx", ".png", ".jpg"):
                continue
            for page in re.findall(r"(?<![\w/.-])docs/[\w/-]+\.(?:md|py|png)\b", path.read_text(errors="replace")):
                self.assertTrue((ROOT / page).exists(), f"{name} names {page}")

    def test_presets_named_in_contributing_exist(self):
        presets = re.findall(r'"name": "(\w+)"', (ROOT / "CMakePresets.json").read_text())
        named = re.search(r"^Presets: (.*?)\. ", (ROOT / "CONTRIBUTING.md").read_text(), re.DOTALL | re.MULTILINE)
        self.assertTrue(named)
        for name in re.findall(r"`(\w+)`", named[1]):
            self.assertIn(name, presets)

    def test_packages_are_one_sorted_truth(self):
        printed = subprocess.run([ROOT / "scripts/setup", "--packages"], capture_output=True, text=True, check=True).stdout
        rows = [line.split(None, 2) for line in printed.splitlines()]
        self.assertTrue(all(len(row) == 3 and row[0] in ("build", "dev", "cross", "python") for row in rows), rows)
        names = [row[1] for row in rows]
        self.assertEqual(len(names), len(set(names)))


if __name__ == "__main__":
    unittest.main()
