// conformance: runs the ONNX conformance cases on one device and counts, per operator, passed, refused and wrong ones.
#include <algorithm>
#include <cstdio>
#include <map>
#include <set>

#include <CLI/CLI.hpp>

#include "base/error.h"
#include "base/file.h"
#include "onnx/cases.h"
#include "onnx/compare.h"
#include "onnx/target.h"
#include "onnx/type_check.h"
#include "ops/op.h"

namespace dnn::conformance {
namespace {

struct Options {
  std::string cases, device = "reference", filter, op, required, refused, write_required;
  bool verbose = false, one_per_operator = false;
};

enum class Verdict : uint8_t { Passed, Refused, Wrong };

struct Outcome {
  Verdict verdict = Verdict::Passed;
  std::string reason;  // of a refusal or a difference
};

Outcome failed(const std::exception& e) {
  const auto* error = dynamic_cast<const Error*>(&e);
  const bool refusal = error != nullptr && error->kind() == ErrorKind::Unsupported;
  return {refusal ? Verdict::Refused : Verdict::Wrong, e.what()};
}

// Random operators leave the values open: only the dtype and the shape of such a case's outputs can be judged.
bool is_random(const Case& test) {
  return std::any_of(test.operators.begin(), test.operators.end(), [](const std::string& name) {
    const OpDef* op = find_op("", name);
    return op != nullptr && !op->deterministic;
  });
}

Outcome run_case(const Case& test, const Graph& graph, const std::vector<DataSet>& sets, size_t job_i, Target& target) {
  for (const DataSet& data : sets) {
    const std::vector<Tensor> outputs = target.run(job_i, data.inputs);
    if (outputs.size() != data.outputs.size())
      return {Verdict::Wrong, cat(outputs.size(), " outputs, expected ", data.outputs.size())};
    for (size_t i = 0; i < outputs.size(); ++i) {
      const Tensor& expected = data.outputs[i];
      const bool open =
          is_random(test) && outputs[i].dtype() == expected.dtype() && outputs[i].shape() == expected.shape();
      const std::string found = open ? "" : difference(outputs[i], expected, test.rtol, test.atol);
      if (!found.empty()) return {Verdict::Wrong, cat("output ", i, ": ", found)};
    }
    const std::string found = type_contradiction(graph, data);
    if (!found.empty()) return {Verdict::Wrong, found};
  }
  return {};
}

// Cases [begin, end), loaded into the target together.
void run_batch(const std::vector<Case>& cases, size_t begin, size_t end, Target& target,
               std::vector<Outcome>& outcomes) {
  std::vector<Graph> graphs(end - begin);
  std::vector<std::vector<DataSet>> sets(end - begin);
  std::vector<Target::Job> jobs;
  std::vector<size_t> loaded;  // by job: its case
  for (size_t i = begin; i < end; ++i) {
    try {
      Graph& graph = graphs[i - begin] = read_graph(cases[i]);
      sets[i - begin] = read_data_sets(cases[i], graph.inputs.size(), graph.outputs.size());
      jobs.push_back({&graph, sets[i - begin][0].inputs});
      loaded.push_back(i);
    } catch (const std::exception& e) {
      outcomes[i] = failed(e);
    }
  }
  target.load(jobs);
  for (size_t job_i = 0; job_i < jobs.size(); ++job_i) {
    const size_t i = loaded[job_i];
    try {
      outcomes[i] = run_case(cases[i], graphs[i - begin], sets[i - begin], job_i, target);
    } catch (const std::exception& e) {
      outcomes[i] = failed(e);
    }
  }
}

struct Count {
  int passed = 0, refused = 0, wrong = 0;
  void add(Verdict verdict) { ++(verdict == Verdict::Passed ? passed : verdict == Verdict::Refused ? refused : wrong); }
};

void print_table(const char* heading, const std::map<std::string, Count>& rows) {
  std::printf("%-40s %7s %8s %6s\n", heading, "passed", "refused", "wrong");
  for (const auto& [name, count] : rows)
    std::printf("%-40s %7d %8d %6d\n", name.c_str(), count.passed, count.refused, count.wrong);
  std::printf("\n");
}

// Required cases that did not pass, one line each.
std::vector<std::string> missed(const std::set<std::string>& required, const std::vector<Case>& cases,
                                const std::vector<Outcome>& outcomes, bool all_cases) {
  std::vector<std::string> lines;
  std::set<std::string> seen;
  for (size_t i = 0; i < cases.size(); ++i) {
    seen.insert(cases[i].id());
    if (required.count(cases[i].id()) != 0 && outcomes[i].verdict != Verdict::Passed)
      lines.push_back(cases[i].id() + ": " + outcomes[i].reason);
  }
  for (const std::string& id : required) {
    if (all_cases && seen.count(id) == 0) lines.push_back(id + ": there is no such case");
  }
  return lines;
}

std::set<std::string> read_required(const std::string& path) {
  std::set<std::string> required;
  for (const std::string& line : split(read_file(path), '\n')) {
    if (!line.empty() && line[0] != '#') required.insert(line);
  }
  return required;
}

bool wanted(const Case& test, const Options& options) {
  const auto& ops = test.operators;
  return (options.filter.empty() || test.id().find(options.filter) != std::string::npos) &&
         (options.op.empty() || std::find(ops.begin(), ops.end(), options.op) != ops.end());
}

// The cases that bring an operator which no case before them has.
std::vector<Case> one_per_operator(const std::vector<Case>& cases) {
  std::vector<Case> chosen;
  std::set<std::string> seen;
  for (const Case& test : cases) {
    const size_t before = seen.size();
    seen.insert(test.operators.begin(), test.operators.end());
    if (seen.size() > before) chosen.push_back(test);
  }
  return chosen;
}

int run(const Options& options) {
  std::vector<Case> cases = list_cases(options.cases);
  const size_t n_all = cases.size();
  std::erase_if(cases, [&](const Case& test) { return !wanted(test, options); });
  if (options.one_per_operator) cases = one_per_operator(cases);
  std::vector<Outcome> outcomes(cases.size());
  std::unique_ptr<Target> target;
  try {
    target = open_target(options.device);
  } catch (const Error& e) {
    if (e.kind() != ErrorKind::Environment) throw;
    std::printf("SKIP: %zu conformance cases are not run: %s\n", cases.size(), e.what());
    return 77;
  }
  for (size_t begin = 0, end = 0; begin < cases.size(); begin = end) {
    end = begin + 1;  // whole networks run alone
    while (cases[begin].kind != "light" && end < cases.size() && end - begin < target->batch()) ++end;
    run_batch(cases, begin, end, *target, outcomes);
  }

  std::map<std::string, Count> operators, kinds;
  std::string refusals;
  std::set<std::string> passed;
  for (size_t i = 0; i < cases.size(); ++i) {
    const auto& [verdict, reason] = outcomes[i];
    for (const std::string& name : cases[i].operators) operators[name].add(verdict);
    kinds[cases[i].kind].add(verdict);
    kinds["total"].add(verdict);
    if (verdict == Verdict::Passed) passed.insert(cases[i].id());
    if (verdict == Verdict::Refused) refusals += cases[i].id() + "\t" + reason + "\n";
    if (verdict == Verdict::Wrong || options.verbose) {
      constexpr const char* kNames[] = {"passed", "refused", "wrong"};
      std::printf("%s: %s%s%s\n", kNames[static_cast<int>(verdict)], cases[i].id().c_str(), reason.empty() ? "" : ": ",
                  reason.c_str());
    }
  }
  print_table("operator (cases that have it)", operators);
  print_table("kind", kinds);
  if (!options.refused.empty()) write_file(options.refused, refusals);

  std::set<std::string> required;
  if (!options.required.empty()) required = read_required(options.required);
  const std::vector<std::string> lines = missed(required, cases, outcomes, n_all == cases.size());
  for (const std::string& line : lines) std::printf("required, but not passed: %s\n", line.c_str());
  if (!options.write_required.empty()) {
    passed.insert(required.begin(), required.end());
    write_file(options.write_required,
               "# Cases that must pass; made by conformance --write-required.\n" + join(passed, "\n") + "\n");
  }
  if (const std::string summary = target->summary(); !summary.empty()) std::printf("%s\n", summary.c_str());
  const Count& total = kinds["total"];
  std::printf("%s: %d passed, %d refused, %d wrong; %zu required cases missed\n", options.device.c_str(), total.passed,
              total.refused, total.wrong, lines.size());
  return total.wrong == 0 && lines.empty() ? 0 : 1;
}

}  // namespace
}  // namespace dnn::conformance

int main(int argc, char** argv) {
  dnn::conformance::Options options;
  CLI::App app("Runs the ONNX conformance cases that scripts/make-conformance wrote.");
  app.add_option("--cases", options.cases, "folder of cases")->required();
  app.add_option("--device", options.device, "device to run on")->capture_default_str();
  app.add_option("--filter", options.filter, "only cases whose KIND/NAME contains this");
  app.add_option("--op", options.op, "only cases that have this operator");
  app.add_option("--required", options.required, "file of cases that must pass");
  app.add_option("--write-required", options.write_required, "write the required and the passed cases here");
  app.add_option("--refused", options.refused, "write refused cases and reasons here");
  app.add_flag("--one-per-operator", options.one_per_operator, "only the first case of each operator");
  app.add_flag("--verbose", options.verbose, "print every case");
  CLI11_PARSE(app, argc, argv);
  try {
    return dnn::conformance::run(options);
  } catch (const dnn::Error& e) {
    std::fprintf(stderr, "conformance: error: %s\n", e.what());
    return e.exit_code();
  }
}
