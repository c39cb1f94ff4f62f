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
#include "stream/records.h"

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

// What the framework may do with what is at the path: nothing with a package or a pipe, which hold no file of a framework's.
OwnFile own_file_at(const Framework& framework, const std::string& path, const Package& package) {
  std::error_code ignored;
  if (path == "-" || (fs::is_regular_file(path, ignored) && looks_like_package(as_bytes(read_head(path, 8)))))
    return OwnFile::NotLoaded;
  return own_file(framework, package.info.model_format);
}

// The formats that models are converted to for it, the preferred one first. A version may not load all that it is to load (Keras 2
// has no .keras of Keras 3), and what is not given to it as it is must find one that it does.
std::vector<const Format*> targets(const Framework& framework) {
  std::vector<const Format*> formats;
  for (const std::string& name : split(framework.formats, ' ')) {
    if (formats.empty() || own_file(framework, name) == OwnFile::IfTrusted) formats.push_back(find_format(name));
  }
  return formats;
}

FrameworkFile converted(const Framework& framework, const std::string& path, const Package& package,
                        const Folder& folder, const Graph& graph, const std::string& name, const Format& target) {
  const std::string file = cat(folder->path(), "/", name, split(target.extensions, ' ')[0]);
  ConvertOptions options;
  options.certify = false;
  try {
    convert_model(graph, file, options);
  } catch (Error& error) {
    throw error.within(cat(path, ": lib:", framework.name, " wants it as ", target.name));
  }
  const std::string& format = package.info.model_format;
  return {file, target.name, format.empty() ? "a package" : format, false, folder};
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
    const std::vector<ValueId>& shown = shows_->graph().outputs;
    std::vector<Tensor> values = shows_->run(inputs);
    for (size_t i = 0; i < values.size(); ++i) observe(graph(), shown[i], values[i]);
    values.resize(graph().outputs.size());
    return values;
  }

 private:
  std::unique_ptr<Session> runs_, shows_;
};

// The package with every value of its graph that holds real numbers of the sample among the outputs, behind those that are:
// shapes, what constants alone give and copies are left to the interpreter. For running elsewhere; its steps know nothing of it.
std::shared_ptr<const Package> showing_all(const Package& package) {
  auto whole = std::make_shared<Package>(package);
  Graph graph = package.graph();
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
  whole->variants.front().graph = std::make_shared<const Graph>(std::move(graph));
  return whole;
}

}  // namespace

void describe(const FrameworkFile& file, stream::Header* header) {
  if (!file.converted_from.empty()) header->host["converted"] = cat("from ", file.converted_from, " to ", file.format);
  if (file.trusted) header->host["trusted_model"] = "true";
}

FrameworkSession open_in_framework(const DeviceSpec& device, const std::string& path,
                                   const std::shared_ptr<const Package>& package, DeviceOptions options, bool traces,
                                   const std::function<void(const std::string&)>& warn) {
  const Framework& framework = *device.framework();
  const auto folder = std::make_shared<const TemporaryFolder>(fs::temp_directory_path().string());
  const auto open = [&](const FrameworkFile& file, const std::shared_ptr<const Package>& run) {
    options.model_file = file.path;
    options.model_format = file.format;
    return open_session(device, run, options);
  };
  if (device.is_program()) {  // a program that loads what it likes
    if (path == "-") fail_usage("exec: a model from standard input cannot be given to a program: name a file");
    const FrameworkFile file{path, package->info.model_format, ""};
    return {file, open(file, package)};
  }
  const OwnFile own = own_file_at(framework, path, *package);
  const bool untrusted = own == OwnFile::IfTrusted && !options.trust_model;
  // In the first format that both sides take; what is wrong with the preferred one is what is said.
  const auto open_converted = [&](const std::shared_ptr<const Package>& run, const Graph& graph,
                                  const std::string& name) {
    std::optional<Error> first;
    for (const Format* target : targets(framework)) {
      try {
        const FrameworkFile file = converted(framework, path, *package, folder, graph, name, *target);
        return FrameworkSession{file, open(file, run)};
      } catch (const Error& refused) {
        if (refused.kind() != ErrorKind::Unsupported) throw;
        if (!first) first = refused;
      }
    }
    if (!untrusted) throw Error(*first);
    fail_unsupported(first->what(), " (--trust-model gives the file itself to ", framework.name,
                     ", which runs what code it holds)");
  };
  const auto open_best = [&]() -> FrameworkSession {
    const Format& preferred = *targets(framework)[0];
    if (untrusted)
      warn(cat(path, ": ", framework.name,
               " runs our conversion of it, as the file may hold code; --trust-model gives it the file itself"));
    if (own == OwnFile::NotLoaded || untrusted) return open_converted(package, package->source.graph(), "converted");
    const FrameworkFile file{named_for_format(path, *find_format(package->info.model_format), folder->path()),
                             package->info.model_format, "", own == OwnFile::IfTrusted, folder};
    try {
      return {file, open(file, package)};
    } catch (const Error& refused) {
      if (refused.kind() != ErrorKind::Unsupported || file.format == preferred.name) throw;
      warn(cat(path, " is refused and so converted to ", preferred.name, ": ", refused.what()));
    }
    return open_converted(package, package->source.graph(), "converted");
  };
  FrameworkSession opened = open_best();
  if (traces) {
    const std::shared_ptr<const Package> whole = showing_all(*package);
    FrameworkSession shows = open_converted(whole, whole->graph(), "traced");
    opened.file.folder = folder;
    opened.session = std::make_unique<TracedSession>(package, std::move(opened.session), std::move(shows.session));
  }
  return opened;
}

}  // namespace dnn
