// Running both sides of a conversion in their frameworks; see framework_judge.h.
#include "convert/framework_judge.h"

#include "convert/framework_file.h"
#include "formats/format.h"

namespace dnn {
namespace {

// The framework that a format belongs to: the first row that loads it.
const Framework* framework_of(const std::string& format) {
  for (const Framework& framework : frameworks()) {
    for (const std::string& name : split(framework.formats, ' ')) {
      if (name == format) return &framework;
    }
  }
  return nullptr;
}

// Inputs of open extents, which are those of the probes, as --shape says it.
std::vector<std::string> fixed_shapes(const Graph& graph, const Yardstick& yardstick) {
  std::vector<std::string> shapes;
  const std::vector<std::vector<Tensor>>& inputs = yardstick.inputs();
  for (size_t i = 0; i < graph.inputs.size() && !inputs.empty() && i < inputs[0].size(); ++i) {
    const Value& value = graph.value(graph.inputs[i]);
    if (!value.type.fixed()) shapes.push_back(cat(value.name, ":", join(inputs[0][i].shape(), "x")));
  }
  return shapes;
}

struct Witness {
  std::string name;  // of the framework, with its version
  std::vector<std::vector<Tensor>> outputs;
};

// What the framework makes of a file on the yardstick's probes.
Witness run(const FrameworkJudge& judge, const Framework& framework, const std::string& path, bool trust,
            const Yardstick& yardstick) {
  NetworkOptions network;
  network.device = DeviceSpec(cat("lib:", framework.name));
  network.trust_model = trust;
  network.variable = judge.variable;
  OpenOptions open = open_options(network);
  if (judge.folders) judge.folders(&open);
  open.shapes = fixed_shapes(read_bound(path, open), yardstick);
  const std::shared_ptr<const Package> package = open_package(path, open);
  DeviceOptions options;
  options.threads = judge.threads;
  options.variable = judge.variable;
  options.trust_model = trust;
  options.opt = framework_level(network);
  FrameworkSession opened = open_in_framework(network.device, path, package, options, false, judge.warn);
  Witness witness;
  for (const std::vector<Tensor>& inputs : yardstick.inputs()) {
    std::vector<Tensor> given;
    for (size_t i = 0; i < inputs.size(); ++i) {
      const DType wanted = package->graph().value(package->graph().inputs.at(i)).type.dtype;
      given.push_back(inputs[i].dtype() == wanted ? inputs[i] : convert(inputs[i], wanted));
    }
    witness.outputs.push_back(opened.session->run(given));
  }
  witness.name = opened.session->isa();
  return witness;
}

}  // namespace

Certificate FrameworkJudge::judge(const Yardstick& yardstick, const std::string& written) const {
  std::string missing;
  const auto witness = [&](const Framework& framework, const std::string& path, bool trust) -> std::optional<Witness> {
    try {
      return run(*this, framework, path, trust, yardstick);
    } catch (const Error& error) {
      if (error.kind() != ErrorKind::Environment) throw;
      missing = error.what();
      return std::nullopt;
    }
  };
  std::optional<Witness> before, after;
  const Framework *own = source.empty() ? nullptr : framework_of(source_format), *other = framework_of(target_format);
  if (own != nullptr && own_file(*own, source_format) == OwnFile::IfTrusted && !trust_model) {
    if (warn) warn(cat(source, ": ", own->name, " does not run it, as it may hold code (--trust-model)"));
  } else if (own != nullptr) {
    before = witness(*own, source, trust_model);
  }
  if (other != nullptr) {
    try {
      after = witness(*other, written, true);
    } catch (const Error& error) {
      if (error.kind() != ErrorKind::Unsupported) throw;
      throw Error(ErrorKind::Negative, cat("refused by ", other->name, ": ", error.what()));
    }
  }
  if (!before && !after)
    fail_environment("no framework is here to run either side", missing.empty() ? "" : ": ", missing);
  if (warn && !missing.empty()) warn(missing);
  const Yardstick by = before ? yardstick.with(before->name, std::move(before->outputs)) : yardstick;
  return after ? by.judge(after->name, after->outputs) : by.judge(read_model(written));
}

}  // namespace dnn
