// The pass runner; see pass.h.
#include <algorithm>
#include <chrono>

#include "ops/op.h"
#include "passes/pass.h"

namespace dnn {

#define DNN_PASS(level, name, function, alias, help) \
  std::vector<Patch> function(const Graph& graph, const PassContext& context);
#include "passes/passes.def"
#undef DNN_PASS

const std::vector<Pass>& passes() {
  static const std::vector<Pass> rows = {
#define DNN_PASS(level, name, function, alias, help) {level, name, alias, function, help},
#include "passes/passes.def"
#undef DNN_PASS
  };
  return rows;
}

std::string passes_list() {
  std::string list;
  for (const Pass& pass : passes()) {
    list += cat(pass.level == kConversionLevel ? "-" : cat("O", pass.level), "\t", pass.name, "\t", pass.alias, "\t",
                pass.help, "\n");
  }
  return list;
}

namespace {

// A pass that keeps finding work this often is not converging.
constexpr int kMaxRounds = 1000;

std::string canonical_name(const std::string& name) {
  std::vector<std::string> known;
  for (const Pass& pass : passes()) {
    if (name == pass.name || (name == pass.alias && !name.empty())) return pass.name;
    known.emplace_back(pass.name);
  }
  const std::string near = nearest_word(name, known);
  fail_usage("there is no pass '", name, "'", near.empty() ? "" : "; did you mean " + near + "?",
             " (see dnn-compile --list-passes)");
}

std::vector<const Pass*> choose(const PassOptions& options) {
  std::vector<std::string> names;
  std::string changes = options.changes;
  if (starts_with(changes, "only:")) {
    for (const std::string& name : split(changes.substr(5), ',')) {
      if (!name.empty()) names.push_back(canonical_name(name));
    }
  } else {
    for (const Pass& pass : passes()) {
      if (pass.level <= options.target.level->number) names.emplace_back(pass.name);
    }
    for (const std::string& change : changes.empty() ? std::vector<std::string>() : split(changes, ',')) {
      if (change.size() < 2 || (change[0] != '+' && change[0] != '-'))
        fail_usage("--pass ", changes, ": write +name or -name");
      const std::string name = canonical_name(change.substr(1));
      names.erase(std::remove(names.begin(), names.end(), name), names.end());
      if (change[0] == '+') names.push_back(name);
    }
  }
  std::vector<const Pass*> chosen;
  for (const Pass& pass : options.rows == nullptr ? passes() : *options.rows) {
    if (std::find(names.begin(), names.end(), pass.name) != names.end()) chosen.push_back(&pass);
  }
  return chosen;
}

}  // namespace

std::vector<std::string> chosen_passes(const PassOptions& options) {
  std::vector<std::string> names;
  for (const Pass* pass : choose(options)) names.emplace_back(pass->name);
  return names;
}

const std::vector<std::string>& integer_passes() {
  static const std::vector<std::string> names = {"expand-dynamic-quantization",
                                                 "integer-operands",
                                                 "integer-arithmetic",
                                                 "integer-maps",
                                                 "integer-products",
                                                 "integer-functions"};
  return names;
}

std::string pass_changes(int opt, const std::vector<std::string>& ran) {
  const auto is_in = [](const std::vector<std::string>& names, const std::string& name) {
    return std::find(names.begin(), names.end(), name) != names.end();
  };
  const bool on_integers = is_in(ran, "integer-arithmetic");
  std::vector<std::string> changes;
  for (const Pass& pass : passes()) {
    const bool own = pass.level <= opt || (on_integers && is_in(integer_passes(), pass.name)),
               did = is_in(ran, pass.name);
    if (own != did) changes.push_back((did ? "+" : "-") + std::string(pass.name));
  }
  return join(changes, ",");
}

namespace {

// Adds what became of the nodes and layouts of `before`.
void count_changes(const Graph& before, const Graph& after, PassLog* log) {
  const auto is_alive = [](const Graph& graph, NodeId id) { return id < graph.node_slots() && graph.alive(id); };
  for (NodeId id = 0; id < after.node_slots(); ++id) {
    const bool was = is_alive(before, id), is = is_alive(after, id);
    log->removed += was && !is ? 1 : 0;
    log->added += is && !was ? 1 : 0;
    if (was && before.node(id).op == "Fused") log->fused -= static_cast<int>(before.node(id).sources.size());
    if (is && after.node(id).op == "Fused") log->fused += static_cast<int>(after.node(id).sources.size());
  }
  for (ValueId id = 0; id < after.value_count(); ++id) {
    const std::string& layout = after.value(id).layout;
    if (id < before.value_count() ? before.value(id).layout != layout : !layout.empty()) ++log->layouts;
  }
}

// What a pass finds wrong with the graph it reads was wrong before it; what fails after it is the pass's fault.
struct BadModel {
  Error error;
};

std::vector<Patch> patches_of(const Pass& pass, const Graph& graph, const PassContext& context) {
  try {
    return pass.run(graph, context);
  } catch (const Error& e) {
    if (e.kind() == ErrorKind::Malformed || e.kind() == ErrorKind::Unsupported) throw BadModel{e};
    throw;
  }
}

}  // namespace

std::vector<PassLog> run_passes(Graph& graph, const PassOptions& options) {
  std::vector<PassLog> log;
  const std::vector<const Pass*> chosen = choose(options);
  const bool share_bits = std::any_of(chosen.begin(), chosen.end(), [](const Pass* pass) {
    return pass->name == std::string_view("integer-functions");
  });
  const PassContext context{options.target, options.keep_storage, share_bits};
  int64_t number = 0;
  for (const Pass* pass : chosen) {
    const auto start = std::chrono::steady_clock::now();
    PassLog entry;
    entry.name = pass->name;
    const Graph before = graph;
    try {
      for (int round = 0;; ++round) {
        if (round == kMaxRounds) fail_internal("it does not come to an end");
        int applied = 0;
        for (const Patch& patch : patches_of(*pass, graph, context)) {
          if (options.stop_after >= 0 && number >= options.stop_after) break;
          if (options.allow && !options.allow(graph, pass->name, patch)) continue;
          if (!patch.apply(graph)) continue;
          ++applied;
          ++number;
          if (options.on_patch) options.on_patch(number, pass->name, patch);
        }
        if (applied == 0) break;
        entry.patches += applied;
        remove_dead_nodes(graph);
        infer_types(graph);
        verify(graph);
      }
    } catch (const BadModel& bad) {
      throw bad.error;
    } catch (Error& e) {
      if (e.kind() == ErrorKind::Environment) throw e.within(cat("pass ", pass->name));  // no memory, say
      throw Error(ErrorKind::Internal, cat("pass ", pass->name, ": ", e.what()));
    }
    count_changes(before, graph, &entry);
    entry.time_ms = std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start).count();
    log.push_back(entry);
    if (options.after_pass) options.after_pass(pass->name, graph);
  }
  return log;
}

}  // namespace dnn
