// Passes, one at a time, on small graphs in text: PASS/CASE.before.txt becomes CASE.after.txt, and computes the same.
//
// The first line of a case says how near the outputs stay on random inputs, by the reference interpreter: "# exact" or
// "# within R" (of the largest). A case named keeps_... is one that the pass must leave alone.
#include <algorithm>
#include <cstdlib>
#include <map>
#include <random>
#include <set>

#include "golden.h"
#include "graph/text.h"
#include "interp/interpreter.h"
#include "ops/op.h"
#include "passes/pass.h"
#include "tensor/compare.h"

namespace dnn {
namespace {

constexpr uint32_t kSeed = 20;

Tensor random_tensor(const Type& type, std::mt19937& engine) {
  Tensor tensor(DType::Float32, type.fixed_shape());
  std::uniform_real_distribution<float> uniform(-2, 2);
  for (int64_t i = 0; i < tensor.size(); ++i) tensor.mutable_data<float>()[i] = uniform(engine);
  return convert(tensor, type.dtype);
}

// "# exact" is 0; fails on anything else that is not "# within R".
double tolerance_of(const std::string& text) {
  const std::string line = text.substr(0, text.find('\n'));
  if (line == "# exact") return 0;
  if (!starts_with(line, "# within ")) fail_usage("the first line is neither '# exact' nor '# within R'");
  return std::strtod(line.c_str() + 9, nullptr);
}

std::string difference(const std::vector<Tensor>& before, const std::vector<Tensor>& after, double tolerance) {
  if (before.size() != after.size()) return cat(before.size(), " outputs became ", after.size());
  for (size_t i = 0; i < before.size(); ++i) {
    if (before[i].identical(after[i])) continue;
    if (before[i].dtype() != after[i].dtype() || before[i].shape() != after[i].shape())
      return cat("output ", i, " was ", Type(before[i]).text(), ", is ", Type(after[i]).text());
    const double relative = compare(before[i], after[i]).relative();
    if (!(relative <= tolerance) || tolerance == 0)
      return cat("output ", i, " differs by ", relative, " of its largest (seed ", kSeed, ")");
  }
  return "";
}

void run_case(Goldens& goldens, const std::string& pass, const std::filesystem::path& file) {
  const std::string name = pass + "/" + file.filename().string(), text = read_file(file.string());
  Graph before = parse_graph(text);
  infer_types(before);
  Graph after = before;
  PassOptions options;
  options.target = any_target(4);
  options.changes = "only:" + pass;
  run_passes(after, options);
  const std::string printed = to_text(after);
  const bool keeps = starts_with(file.filename().string(), "keeps_");
  if ((printed == to_text(before)) != keeps)
    goldens.fail(name, keeps ? "the pass must leave this graph alone" : "the pass changed nothing");
  const std::string whole = to_text(after, {.inline_elements = 32, .inline_all = true});
  if (to_text(parse_graph(whole), {.inline_elements = 32, .inline_all = true}) != whole)
    goldens.fail(name, "the text of the result does not parse to the same");
  std::mt19937 engine(kSeed);
  std::vector<Tensor> inputs;
  for (ValueId id : before.inputs) inputs.push_back(random_tensor(before.value(id).type, engine));
  const std::string problem = difference(interpret(before, inputs), interpret(after, inputs), tolerance_of(text));
  if (!problem.empty()) goldens.fail(name, problem);
  std::string golden = file.string();
  golden.replace(golden.rfind(".before.txt"), std::string::npos, ".after.txt");
  goldens.check(golden, printed);
}

int run(const std::string& folder, bool rebase) {
  Goldens goldens(rebase);
  std::map<std::string, std::set<std::filesystem::path>> cases;
  for (const Pass& pass : passes()) cases[pass.name];
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    const std::string pass = entry.path().filename().string();
    if (!entry.is_directory()) continue;
    if (cases.count(pass) == 0) goldens.fail(pass, "there is no such pass in passes.def");
    for (const auto& file : std::filesystem::directory_iterator(entry)) {
      const std::string path = file.path().string();
      if (ends_with(path, ".before.txt")) {
        cases[pass].insert(file.path());
      } else if (!ends_with(path, ".after.txt") ||
                 !std::filesystem::exists(path.substr(0, path.size() - 10) + ".before.txt")) {
        goldens.fail(path, "is no CASE.before.txt, nor what such a case becomes");
      }
    }
  }
  for (const auto& [pass, files] : cases) {
    if (std::all_of(files.begin(), files.end(),
                    [](const std::filesystem::path& f) { return starts_with(f.filename().string(), "keeps_"); })) {
      goldens.fail(pass, cat("no case shows what the pass does: add ", folder, "/", pass, "/CASE.before.txt"));
    }
    for (const std::filesystem::path& file : files) {
      try {
        run_case(goldens, pass, file);
      } catch (const Error& e) {
        goldens.fail(pass + "/" + file.filename().string(), e.what());
      }
    }
  }
  return goldens.finish("cases of passes");
}

}  // namespace
}  // namespace dnn

int main(int argc, char** argv) {
  const std::vector<std::string> args(argv + 1, argv + argc);
  const bool rebase = !args.empty() && args[0] == "--rebase";
  if (args.size() != (rebase ? 2u : 1u)) {
    std::cerr << "usage: golden_passes [--rebase] FOLDER   (exit codes: 0 all pass, 1 some differ, 2 usage)\n";
    return 2;
  }
  return dnn::run(args.back(), rebase);
}
