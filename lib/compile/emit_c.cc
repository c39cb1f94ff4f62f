// Networks as C source files; see emit_c.h.
#include "compile/emit_c.h"

#include <algorithm>

#include "base/text.h"
#include "codegen/print.h"
#include "compile/emit_c_parts.h"
#include "graph/locate.h"

namespace dnn {
namespace {

void check(const Variant& variant) {
  std::vector<std::string> interpreted;
  for (const Step& step : variant.steps) {
    if (step.kernel < 0) interpreted.push_back(label_in(*variant.graph, variant.graph->node(step.node)));
  }
  if (!interpreted.empty()) {
    const size_t count = interpreted.size();
    interpreted.resize(std::min<size_t>(count, 5));
    fail_unsupported("no C code for ", join(interpreted), count > 5 ? cat(" and ", count - 5, " more nodes") : "",
                     ": packages interpret what has no kernel; set open shapes with --shape or --batch, and try "
                     "--pass=+expand-quantization,+fold-constant where numbers are quantised");
  }
  if (variant.slots > 0) fail_unsupported("no C code for values whose shape a run decides; bind shapes with --shape");
  if (!variant.state.empty()) fail_unsupported("no C code for a network that keeps state");
}

}  // namespace

void check_has_c_code(const Package& package) {
  for (const Variant& variant : package.variants) check(variant);
}

CNet::CNet(const Package& package, const EmitCOptions& options)
    : package(package),
      options(options),
      level(level_of(package.info.opt)),
      name(options.name),
      upper(upper_case(options.name)) {
  DNN_CHECK(options.texts.size() == package.variants.size());
  check_has_c_code(package);
  for (size_t i = 0; i < package.variants.size(); ++i) {
    DNN_CHECK(options.texts[i].isa == package.variants[i].target.isa);
    const auto row = [&](size_t v) { return find_isa(Language::C, package.variants[v].target.isa); };
    if (row(i) < row(plainest)) plainest = i;
    best_first.push_back(i);
  }
  std::sort(best_first.begin(), best_first.end(), [&](size_t a, size_t b) { return row_of(a) > row_of(b); });
  std::set<std::string> taken;
  const auto name = [&](const char* prefix, ValueId id) {
    const std::string wanted = prefix + c_identifier(package.graph().value(id).name);
    std::string found = wanted;
    for (int n = 2; !taken.insert(found).second; ++n) found = cat(wanted, "_", n);
    return found;
  };
  for (ValueId id : package.graph().inputs) inputs.push_back(name("in_", id));
  for (ValueId id : package.graph().outputs) outputs.push_back(name("out_", id));
}

int64_t CNet::weights_of(const Variant& variant) const {
  int64_t bytes = 0;
  for (int64_t i : constants_of(variant)) bytes += static_cast<int64_t>(constant(i).size_bytes());
  return bytes;
}

std::string CNet::signature() const {
  std::vector<std::string> parameters;
  for (size_t i = 0; i < inputs.size(); ++i)
    parameters.push_back(cat("const ", c_type(package.input_types[i].dtype), "* ", inputs[i]));
  for (size_t i = 0; i < outputs.size(); ++i)
    parameters.push_back(cat(c_type(package.output_types[i].dtype), "* ", outputs[i]));
  return cat("void ", name, "_run(", join(parameters), ")");
}

std::string CNet::used_by(const std::vector<size_t>& variants) const {
  if (variants.size() == package.variants.size()) return "";
  std::vector<std::string> conditions;
  for (size_t v : variants) {
    conditions.push_back(cat(upper, "_VARIANT == ", v + 1));
    if (v == plainest) conditions.push_back(cat(upper, "_VARIANT == 0"));
  }
  return join(conditions, " || ");
}

std::set<int64_t> constants_of(const Variant& variant) {
  std::set<int64_t> used;
  const auto add = [&](const Argument& a) {
    if (a.kind == Argument::Kind::Constant) used.insert(a.at);
  };
  for (const Step& step : variant.steps) {
    for (const Argument& a : step.arguments) add(a);
  }
  for (ValueId id : variant.graph->outputs) add(variant.values[id].where);
  return used;
}

std::string c_type(DType dtype) { return codegen::static_c_vocabulary(false).scalar_type(dtype); }

std::string upper_case(std::string text) {
  for (char& c : text) c = static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
  return text;
}

EmittedC emit_c(const Package& package, const EmitCOptions& options) {
  const CNet net(package, options);
  EmittedC result;
  for (const Variant& variant : package.variants) {
    result.arena_bytes = std::max(result.arena_bytes, arena_of(variant));
    result.weight_bytes = std::max(result.weight_bytes, net.weights_of(variant));
  }
  result.files[net.name + ".h"] = c_header(net);
  result.files[net.name + ".c"] = c_source(net);
  result.files[net.name + "_test.c"] = c_test_program(net);
  result.files["Makefile"] = c_makefile(net);
  result.files["CMakeLists.txt"] = c_cmake_lists(net);
  return result;
}

std::string c_identifier(const std::string& text) {
  std::string result;
  for (char c : text) {
    const bool word = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
    if (word || (!result.empty() && result.back() != '_'))
      result += word ? static_cast<char>(std::tolower(static_cast<unsigned char>(c))) : '_';
  }
  while (!result.empty() && result.back() == '_') result.pop_back();
  if (result.empty()) return "net";
  if (result[0] >= '0' && result[0] <= '9') result = "net_" + result;
  return result;
}

}  // namespace dnn
