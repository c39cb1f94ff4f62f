// What a framework is given to run; see framework_file.h.
#include "convert/framework_file.h"

#include <algorithm>
#include <filesystem>
#include <map>
#include <optional>
#include <set>

#include "convert/convert.h"
#include "graph/locate.h"
#include "package/file.h"

namespace dnn {
namespace {

namespace fs = std::filesystem;

// The model under a name that ends as its format's files do: frameworks go by names.
std::string named_for_format(const std::string& path, const Format& format, const std::string& folder) {
  for (const std::string& extension : split(format.extensions, ' ')) {
    if (extension == "/" || ends_with(path, extension)) return path;
  }
  std::string link = cat(folder, "/model", split(format.extensions, ' ')[0]);
  std::error_code failed;
  fs::create_symlink(fs::absolute(path), link, failed);
  if (failed) fail_environment(link, ": cannot be made: ", failed.message());
  return link;
}

using Folder = std::shared_ptr<const TemporaryFolder>;

// The user's own file, where the framework loads its format.
std::optional<FrameworkFile> own_file(const Framework& framework, const std::string& path, const Package& package,
                                      const Folder& folder) {
  const std::string& format = package.info.model_format;
  if (*framework.formats == 0) {  // a program that loads what it likes
    if (path == "-") fail_usage("exec: a model from standard input cannot be given to a program: name a file");
    return FrameworkFile{path, format, ""};
  }
  const std::vector<std::string> loads = split(framework.formats, ' ');
  std::error_code ignored;
  const bool is_package =
      path == "-" || (fs::is_regular_file(path, ignored) && looks_like_package(as_bytes(read_head(path, 8))));
  if (is_package || std::find(loads.begin(), loads.end(), format) == loads.end()) return std::nullopt;
  return FrameworkFile{named_for_format(path, *find_format(format), folder->path()), format, "", folder};
}

// The format that models are converted to for it.
const Format& preferred(const Framework& framework) { return *find_format(split(framework.formats, ' ')[0]); }

FrameworkFile converted(const Framework& framework, const std::string& path, const Package& package,
                        const Folder& folder, const Graph& graph, const std::string& name) {
  const Format& target = preferred(framework);
  const std::string file = cat(folder->path(), "/", name, split(target.extensions, ' ')[0]);
  ConvertOptions options;
  options.certify = false;
  try {
    convert_model(graph, file, options);
  } catch (Error& error) {
    throw error.within(cat(path, ": lib:", framework.name, " wants it as ", target.name));
  }
  const std::string& format = package.info.model_format;
  return {file, target.name, format.empty() ? "a package" : format, folder};
}

// A framework's session, and a second one that shows what is between.
class TracedSession : public Session {
 public:
  TracedSession(std::shared_ptr<const Package> package, std::unique_ptr<Session> runs, std::unique_ptr<Session> shows)
      : Session(std::move(package)), runs_(std::move(runs)), shows_(std::move(shows)) {}
  std::string isa() const override { return runs_->isa(); }
  int threads() const override { return runs_->threads(); }
  std::optional<int> opt() const override { return runs_->opt(); }
  std::map<std::string, std::string> facts() const override { return runs_->facts(); }
  std::optional<int> process() const override { return runs_->process(); }
  std::vector<Tensor> run(const std::vector<Tensor>& inputs) override { return runs_->run(inputs); }
  std::optional<int64_t> latency_ns() const override { return runs_->latency_ns(); }
  std::string latency_contains() const override { return runs_->latency_contains(); }
  std::vector<Tensor> trace(const std::vector<Tensor>& inputs, const Observer& observe) override {
    const std::vector<ValueId>& shown = shows_->package().graph.outputs;
    std::vector<Tensor> values = shows_->run(inputs);
    for (size_t i = 0; i < values.size(); ++i) observe(package_->graph, shown[i], values[i]);
    values.resize(package_->graph.outputs.size());
    return values;
  }

 private:
  std::unique_ptr<Session> runs_, shows_;
};

// The package with every value of its graph that holds real numbers of the sample among the outputs, behind those that are:
// shapes, what constants alone give and copies are left to the interpreter. For running elsewhere; its steps know nothing of it.
std::shared_ptr<const Package> showing_all(const Package& package) {
  auto whole = std::make_shared<Package>(package);
  Graph& graph = whole->graph;
  std::set<ValueId> of_sample(graph.inputs.begin(), graph.inputs.end());
  for (NodeId id : graph.order()) {
    const Node& node = graph.node(id);
    const std::vector<ValueId> captured = captured_values(graph, node);
    const auto varies = [&](ValueId v) { return of_sample.count(v) != 0; };
    if (!std::any_of(node.inputs.begin(), node.inputs.end(), varies) &&
        !std::any_of(captured.begin(), captured.end(), varies))
      continue;
    for (ValueId v : node.outputs) {
      if (v == kNoValue) continue;
      of_sample.insert(v);
      const Type& type = graph.value(v).type;
      if (graph.is_output(v) || node.op == "Dropout" || node.op == "Identity" || !type.shape || !is_float(type.dtype))
        continue;
      graph.outputs.push_back(v);
      whole->output_types.push_back(type);
    }
  }
  return whole;
}

}  // namespace

FrameworkSession open_in_framework(const Framework& framework, const std::string& device, const std::string& path,
                                   const std::shared_ptr<const Package>& package, DeviceOptions options, bool traces,
                                   const std::function<void(const std::string&)>& warn) {
  const auto folder = std::make_shared<const TemporaryFolder>(fs::temp_directory_path().string());
  const auto open = [&](const FrameworkFile& file, const std::shared_ptr<const Package>& run) {
    options.model_file = file.path;
    options.model_format = file.format;
    return open_session(device, run, options);
  };
  const auto open_converted = [&]() -> FrameworkSession {
    const FrameworkFile file = converted(framework, path, *package, folder, package->source.graph(), "converted");
    return {file, open(file, package)};
  };
  const auto open_best = [&]() -> FrameworkSession {
    const std::optional<FrameworkFile> own = own_file(framework, path, *package, folder);
    if (!own) return open_converted();
    try {
      return {*own, open(*own, package)};
    } catch (const Error& refused) {
      if (refused.kind() != ErrorKind::Unsupported || *framework.formats == 0 ||
          own->format == preferred(framework).name)
        throw;
      warn(cat(path, " is refused and so converted to ", preferred(framework).name, ": ", refused.what()));
    }
    return open_converted();
  };
  FrameworkSession opened = open_best();
  if (traces) {
    const std::shared_ptr<const Package> whole = showing_all(*package);
    const FrameworkFile file = converted(framework, path, *package, folder, whole->graph, "traced");
    opened.file.folder = folder;
    opened.session = std::make_unique<TracedSession>(package, std::move(opened.session), open(file, whole));
  }
  return opened;
}

}  // namespace dnn
