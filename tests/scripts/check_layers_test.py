"""check_layers and check_tree find seeded breaches, each with one message, and pass a clean tree."""
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

SCRIPTS = pathlib.Path(__file__).resolve().parents[2] / "scripts"
LAYERS = "# floors\n1 base ->\n2 tensor -> base\n3 graph -> tensor\n3 stream -> tensor\n4 cli -> stream\n4 ops -> graph\n5 passes -> ops\n"
CLEAN = {
    "lib/LAYERS": LAYERS,
    "lib/base/text.h": "// Text helpers for messages.\n#include <string>\n",
    "lib/graph/graph.h": '// Graph: nodes and values.\n#include "base/text.h"\n#include "tensor/tensor.h"\n',
    "lib/tensor/tensor.h": "// Tensor: a shaped buffer.\n// may not call exit(1) or std::cout\n",
    "lib/ops/ops.def": "// The operators, one row each.\nDNN_OP(Softmax, nn, softmax)\nDNN_OP(If, controlflow, if)\n",
    "lib/ops/op.cc": "// OpDef: what an operator answers.\n",
    "lib/ops/nn/softmax.cc": '// Softmax along one axis.\nconst char* text = "std::cout << exit(1)";\n',
    "lib/passes/passes.def": '// The passes, in order.\nDNN_PASS(1, "fuse-ops", fuse_ops, "OpFusion", "fuses")\n',
    "lib/passes/fuse_ops.cc": "// Fusion: neighbours become one kernel.\nstd::vector<Patch> fuse_ops(const Graph& graph, const PassContext&) {\n",
    "lib/passes/run.cc": "// The runner of passes.\n",
    "lib/ops/controlflow/if/if.cc": "// If: one of two subgraphs.\n",
}


class Breaches(unittest.TestCase):
    def run_on(self, script, files):
        """The lines that the script prints on a tree of CLEAN with `files` on top, checked against its exit status."""
        with tempfile.TemporaryDirectory() as folder:
            for name, text in {**CLEAN, **files}.items():
                path = pathlib.Path(folder, name)
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_text(text)
            done = subprocess.run([sys.executable, SCRIPTS / script, folder], capture_output=True, text=True)
        self.assertEqual(done.stderr, "")
        self.assertEqual(done.returncode, 1 if done.stdout else 0)
        return done.stdout.splitlines()

    def expect(self, script, files, *needles):
        lines = self.run_on(script, files)
        self.assertEqual(len(lines), 1, lines)
        for needle in needles:
            self.assertIn(needle, lines[0])

    def test_clean_tree_passes(self):
        self.assertEqual(self.run_on("check_layers.py", {}), [])
        self.assertEqual(self.run_on("check_tree.py", {}), [])

    def test_include_upward(self):
        files = {"lib/base/x.cc": '// A file on the ground.\n#include "graph/graph.h"\n'}
        self.expect("check_layers.py", files, "lib/base/x.cc:2", "up", "graph")

    def test_a_tool_that_writes_to_standard_error(self):
        self.expect("check_layers.py", {"tools/dnn-x.cc": "// dnn-x: does x.\nstd::cerr << name;\n"}, "tools/dnn-x.cc:2", "standard error")
        self.assertEqual(self.run_on("check_layers.py", {"tools/dnn-x.cc": "// dnn-x: does x.\nstd::cout << name;\n"}), [])

    def test_a_tool_that_does_the_library_s_work(self):
        tool = "// dnn-x: does x.\n" + "step();\n" * 119
        self.assertEqual(self.run_on("check_layers.py", {"tools/dnn-x.cc": tool}), [])
        self.expect("check_layers.py", {"tools/dnn-x.cc": tool + "step();\n"}, "tools/dnn-x.cc", "121", "120")

    def test_counts_that_decision_0084_bounds(self):
        cast = "// Casts of one file.\n" + "f(static_cast<size_t>(i));\n" * 300
        self.assertEqual(self.run_on("check_layers.py", {"lib/base/x.cc": cast}), [])
        self.expect("check_layers.py", {"lib/base/x.cc": cast, "lib/base/y.cc": "// One more of these casts.\nf(static_cast<size_t>(i));\n"}, "301 casts", "300")
        names = {f"lib/graph/x{i}.cc": '// Asks for a name.\nbool b = op == "Conv";\n' for i in range(6)}
        elsewhere = {"lib/ops/y.cc": '// Knows it, as it may.\nbool b = op == "Conv";\n', "lib/graph/z.h": '// Says it in a comment.\n// "Conv", say\n'}
        self.assertEqual(self.run_on("check_layers.py", {**names, **elsewhere}), [])
        self.expect("check_layers.py", {**names, "lib/base/x.cc": '// Asks for it, too.\nbool b = op == "Conv";\n'}, '7 files that name "Conv"', "lib/base/x.cc")

    def test_include_sideways(self):
        files = {"lib/stream/x.cc": '// A file beside graph.\n#include "graph/graph.h"\n'}
        self.expect("check_layers.py", files, "lib/stream/x.cc:2", "sideways")

    def test_include_of_unknown_folder(self):
        files = {"lib/graph/x.cc": '// Includes from nowhere.\n#include "misc/x.h"\n'}
        self.expect("check_layers.py", files, "lib/graph/x.cc:2", "misc")

    def test_unknown_folder(self):
        self.expect("check_layers.py", {"lib/misc/x.h": "// A folder nobody listed.\n"}, "lib/misc")

    def test_layers_row_upward(self):
        self.expect("check_layers.py", {"lib/LAYERS": LAYERS + "1 low -> graph\n"}, "LAYERS:9", "low")

    def test_large_class(self):
        body = "  int x;\n" * 300
        base = '// A file on the ground.\nclass Text;\nconst char* text = "class Other {";\n'
        for head in ("class Text {\n", "struct Text final : Word {\n", "template <class T>\nclass Text\n    : public Word {\n"):
            self.assertEqual(self.run_on("check_layers.py", {"lib/base/x.cc": base + head + body + "};\n" + body}), [])
            self.expect("check_layers.py", {"lib/base/x.cc": base + head + "  int y;\n" + body + "};\n"}, "lib/base/x.cc:4", "Text", "301", "300")
        self.assertEqual(self.run_on("check_layers.py", {"tests/unit/x.cc": base + "class Text {\n  int y;\n" + body + "};\n"}), [])

    def test_long_function(self):
        base = '// A file on the ground.\nnamespace dnn {\nconst char kOpen = \'{\', kQuote = \'"\';\nconst Row kRows[] = {\n' + "  {1, 2},\n" * 80 + "};\n"
        heads = (
            "int f(int x) {\n",
            "class Text : public Word {\n  int f(int x) const override {\n",
            "class Text {\n  explicit Text(int x)\n      : x_{x},\n        y_{x} {\n",
            "struct Text {\n  bool operator()(int x) const {\n",
            "template <class T>\nauto f(T x) -> std::vector<T> {\n",
            "const OpDef kDef = {.reference = [](Context& c) {\n",
            "static const int kValue = [] {\n",
        )
        body = "  if (x) {\n    step();\n  }\n" * 20
        files = {f"lib/base/x{i}.cc": base + head + body + "}\n" * head.count("{\n") + "}\n" for i, head in enumerate(heads)}
        self.assertEqual(self.run_on("check_layers.py", files), [])
        longer = {name: text.replace(body, body + "  step();\n") for name, text in files.items()}
        found = self.run_on("check_layers.py", longer)
        self.assertEqual(len(found), len(heads), found)
        for i, (head, line) in enumerate(zip(heads, found)):
            self.assertIn(f"lib/base/x{i}.cc:{(base + head).count(chr(10))}:", line)
            self.assertIn("61 lines, above 60", line)
        self.assertEqual(self.run_on("check_layers.py", {"tests/unit/x.cc": longer["lib/base/x0.cc"]}), [])

    def test_long_file(self):
        self.expect("check_layers.py", {"tools/x.cc": "// A tool that only grows.\n" * 801}, "tools/x.cc", "801")

    def test_missing_description(self):
        self.expect("check_layers.py", {"tests/x.cc": "#include <vector>\n"}, "tests/x.cc:1")
        self.expect("check_layers.py", {"scripts/x": "#!/bin/sh\nset -e\n"}, "scripts/x:2")

    def test_library_prints_exits_reads_environment(self):
        for statement in ("std::cerr << 1;", "fprintf(stderr, text);", "std::abort();", "exit(1);", "auto* e = getenv(name);"):
            self.expect("check_layers.py", {"lib/base/x.cc": f"// A loud file of base.\n{statement}\n"}, "lib/base/x.cc:2")
            self.assertEqual(self.run_on("check_layers.py", {"lib/cli/x.cc": f"// A file that serves tools.\n{statement}\n"}), [])

    def test_perm_is_read_with_its_default(self):
        for statement in ('auto p = node.attribute_ints("perm");', 'auto p = node.attribute_ints("perm", {});'):
            self.expect("check_layers.py", {"lib/base/x.cc": f"// A file of base.\n{statement}\n"}, "lib/base/x.cc:2")

    def test_names_are_given_where_bodies_hear_of_it(self):
        for statement in ("graph.value(v).name = name;", 'graph_.value(outputs[0]).name = cat(name, "_1");'):
            self.expect("check_layers.py", {"lib/base/x.cc": f"// A file of base.\n{statement}\n"}, "lib/base/x.cc:2", "rename_value")
            self.assertEqual(self.run_on("check_layers.py", {"lib/graph/rename.cc": f"// A file that renames.\n{statement}\n"}), [])

    def test_machines_and_levels_are_asked_for(self):
        rows = {"lib/LAYERS": LAYERS + "3 target -> tensor\n6 codegen -> ops\n",
                "lib/target/isas.def": '// Instruction sets as rows.\nDNN_ISA(Language::C, "avx2", .flags = {"-mavx2"})\nDNN_ISA(Language::OpenCl, "float16")\n'
                                       'DNN_ISA_EXTENSION(Language::C, "avx2", "avx-vnni")\n',
                "lib/target/processors.def": '// Processors of all kinds.\nDNN_PROCESSOR("zen5", .vector_bytes = 64)\n',
                "lib/target/backends.def": '// Languages of kernels.\nDNN_BACKEND(Language::Cuda, "cuda", "cuda", ".cu")\n'}
        for line in ('f("avx2");', 'f("avx-vnni");', 'f("-mavx2");', 'return name == "zen5";', 'if (device != "cuda") f();', "if (opt >= 3) f();"):
            self.expect("check_layers.py", {**rows, "lib/codegen/x.cc": f"// A file that asks.\n{line}\n"}, "lib/codegen/x.cc:2", "lib/target")
        for line in ('f("float16"); // "avx2"', 'f("cuda", version);', "if (opt >= least) f();"):
            self.assertEqual(self.run_on("check_layers.py", {**rows, "lib/codegen/x.cc": f"// A file that asks.\n{line}\n"}), [])
        self.assertEqual(self.run_on("check_layers.py", {**rows, "lib/target/x.cc": '// Rows and their use.\nauto row = find("avx2");\n'}), [])

    @unittest.skipUnless(shutil.which("git"), "no git here")
    def test_a_file_at_the_root(self):
        with tempfile.TemporaryDirectory() as folder:
            for name in ("README.md", ".gitignore", "rows.txt"):
                pathlib.Path(folder, name).write_text("x\n")
            for words in (["init", "-q"], ["add", "."]):
                subprocess.run(["git", "-C", folder, *words], check=True)
            done = subprocess.run([sys.executable, SCRIPTS / "check_tree.py", folder], capture_output=True, text=True)
        self.assertRegex(done.stdout, r"\Arows\.txt: no file of the root.*\n\Z")
        self.assertEqual(done.returncode, 1)

    def test_one_name_for_two_types(self):
        files = {f"lib/{folder}/x.h": "// A type.\nnamespace dnn {\nstruct Options {\n};\n}\n" for folder in ("base", "stream")}
        self.expect("check_tree.py", files, "dnn::Options", "lib/base/x.h", "lib/stream/x.h")

    def test_one_name_in_two_sources_of_a_folder(self):
        def sources(one, other, folder="lib/graph"):
            wrap = lambda body: f"// A source.\nnamespace dnn {{\nnamespace {{\n{body}\n}}  // namespace\n}}  // namespace dnn\n"
            return {f"{folder}/a.cc": wrap(one), f"{folder}/b.cc": wrap(other)}
        for body, name in (("int helper(const Node& node) {\n}", "helper"), ("template <class T>\nT helper(T x) {\n}", "helper"),
                           ("struct Row {\n  int a;\n};", "Row"), ("constexpr int kFirst = 1, kMost = 2;", "kMost"),
                           ("const std::vector<int> kRows = {1, 2};", "kRows"), ("[[noreturn]] void fail() {\n}", "fail")):
            for folder in ("lib/graph", "tests/unit/graph"):
                self.expect("check_tree.py", sources(body, body.replace("kFirst", "kLast"), folder), folder, "a.cc and b.cc", f"define {name},")
        header = {"lib/graph/probe.h": "// A type.\nnamespace dnn {\nstruct Probe {\n};\n}\n"}
        self.expect("check_tree.py", {**header, **sources("enum class Probe { One };", "int n() {\n}")}, "lib/graph/a.cc", "Probe", "lib/graph/probe.h")
        self.expect("check_tree.py", sources("using Json = nlohmann::json;", "using Json = stream::Json;"), "define Json,")
        self.expect("check_tree.py", sources("#define DNN_ROW(x) x", "#define DNN_ROW(x) x"), "define DNN_ROW,")
        clean = (("using Json = nlohmann::json;",) * 2, ("#define DNN_ROW(x) x\n#undef DNN_ROW",) * 2, ("int first() {\n}", "int second() {\n  return first(1);\n}"),
                 ('constexpr const char* kA = R"(\nstatic int f(int x) {}\n)";', 'constexpr const char* kB = R"(\nstatic int f(int x) {}\n)";'))
        for one, other in clean:
            self.assertEqual(self.run_on("check_tree.py", sources(one, other)), [])
        self.assertEqual(self.run_on("check_tree.py", sources("int infer() {\n}", "int infer() {\n}", "lib/ops/nn/softmax")), [])

    def test_one_name_in_two_folders_that_are_compiled_together(self):
        source = "// A source.\nnamespace dnn {\nnamespace {\nint helper() {\n}\n}  // namespace\n}  // namespace dnn\n"
        files = {"lib/graph/a.cc": source, "lib/stream/a.cc": source}
        self.assertEqual(self.run_on("check_tree.py", files), [])
        self.expect("check_tree.py", {**files, "lib/TOGETHER": "# Rows.\ngraph stream\n"}, "lib/graph/a.cc and a.cc", "define helper,")
        self.expect("check_tree.py", {"lib/TOGETHER": "graph streams\n"}, "lib/TOGETHER", "streams is no folder")

    def test_long_tests_are_tests(self):
        tests = {"tests/unit/graph/a_test.cc": "// Tests of graphs.\nTEST(Graph, Grows) {\n}\n\nTEST(Graph, Shrinks) {\n}\n"}
        rows = "# Of the long tier.\nGraph.Grows  # compiles much\n"
        self.assertEqual(self.run_on("check_tree.py", {**tests, "tests/unit/graph/long": rows}), [])
        for wrong in ("Graph.Bends  # compiles much\n", "Graph.Shrinks\n", "Graph.*  # all of them\n", "Graph.Grows  # once more\n"):
            self.expect("check_tree.py", {**tests, "tests/unit/graph/long": rows + wrong}, "tests/unit/graph/long:3", "Graph.")

    def test_note_to_self(self):
        self.expect("check_layers.py", {"lib/base/x.cc": "// A file with a wish.\n// TO" "DO: later\n"}, "lib/base/x.cc:2")

    def test_operator_without_row(self):
        self.expect("check_tree.py", {"lib/ops/nn/relu.cc": "// Relu.\n"}, "lib/ops/nn/relu.cc", "no row")

    def test_row_without_file(self):
        self.expect("check_tree.py", {"lib/ops/ops.def": CLEAN["lib/ops/ops.def"] + "DNN_OP(Elu, nn, elu)\n"}, "ops.def:4", "nn/elu")

    def test_pass_without_row(self):
        files = {"lib/passes/fold.cc": "// Folding.\nstd::vector<Patch> fold(const Graph& graph, const PassContext&) {\n"}
        self.expect("check_tree.py", files, "lib/passes/fold.cc", "passes.def")

    def test_part_of_a_pass_has_a_header(self):
        part = {"lib/passes/parts.cc": "// Parts of a pattern.\nint parts() { return 1; }\n"}
        self.expect("check_tree.py", part, "lib/passes/parts.cc", "passes.def")
        part["lib/passes/parts.h"] = "// Parts of a pattern.\n#pragma once\nint parts();\n"
        self.assertEqual(self.run_on("check_tree.py", part), [])


if __name__ == "__main__":
    unittest.main()
