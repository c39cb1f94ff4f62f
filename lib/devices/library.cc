// Frameworks as devices; see library.h.
#include "devices/library.h"

#include <algorithm>
#include <filesystem>
#include <map>

#include "base/file.h"
#include "base/process.h"
#include "base/shared_library.h"
#include "base/threads.h"
#include "devices/kenning.h"
#include "stream/dialogue.h"

namespace dnn {

const std::vector<Framework>& frameworks() {
  static const std::vector<Framework> rows = {
#define DNN_FRAMEWORK(name, adapter, variable, module, formats, declarative, levels, option) \
  {name, adapter, variable, module, formats, declarative, levels, option},
#include "devices/frameworks.def"
  };
  return rows;
}

OwnFile own_file(const Framework& framework, const std::string& format) {
  const auto lists = [&](const char* formats) {
    const std::vector<std::string> names = split(formats, ' ');
    return std::find(names.begin(), names.end(), format) != names.end();
  };
  if (format.empty() || !lists(framework.formats)) return OwnFile::NotLoaded;
  return lists(framework.declarative) ? OwnFile::Always : OwnFile::IfTrusted;
}

const Framework* find_framework(const std::string& device) {
  static const Framework kProgram = {"exec", "", "", "", "", "", false, ""};
  static const Framework kServer = {"kenning", "", "", "", "", "", false, ""};
  if (stream::is_command(device)) return &kProgram;
  if (is_kenning(device)) return &kServer;
  const std::vector<std::string> parts = split(device, ':');
  if (parts[0] != "lib") return nullptr;
  std::vector<std::string> names;
  for (const Framework& row : frameworks()) {
    names.emplace_back(row.name);
    if (parts.size() < 2 || parts[1] != row.name) continue;
    if (parts.size() == 2) return &row;
    const std::string given = device.substr(parts[0].size() + parts[1].size() + 2), key = cat(row.option, "=");
    if (*row.option == 0) fail_usage("device ", device, ": ", row.name, " has no options");
    if (!starts_with(given, key) || given.size() == key.size())
      fail_usage("device ", device, ": write it as lib:", row.name, ":", row.option, "=VALUE");
    return &row;
  }
  fail_usage("device ", device, ": write it as lib:NAME, of ", join(names));
}

namespace {

bool is_program(const Framework& framework) { return *framework.adapter == 0; }

std::string variable(const DeviceOptions& options, const std::string& name) {
  return options.variable ? options.variable(name) : "";
}

std::string interpreter(const std::string& of, const DeviceOptions& options) {
  std::string named = variable(options, "DNN_PYTHON_" + of);
  if (!named.empty()) return named;
  // What scripts/setup --frameworks made: in the source tree of a build, or where the same variable says.
  std::string folder = variable(options, "DNN_FRAMEWORKS"), name = of;
  if (folder.empty()) folder = (program_folder() / "../../../.venv-frameworks").lexically_normal().string();
  std::transform(name.begin(), name.end(), name.begin(), [](unsigned char c) { return std::tolower(c); });
  std::string python = cat(folder, "/", name, "/bin/python");
  std::error_code ignored;
  return std::filesystem::exists(python, ignored) ? python : "python3";
}

// What an installation has beside the tools, or the source tree of a build.
std::string adapter_file(const std::string& user, const std::string& adapter, const DeviceOptions& options) {
  std::vector<std::filesystem::path> folders;
  if (const std::string named = variable(options, "DNN_ADAPTERS"); !named.empty()) {
    folders.emplace_back(named);
  } else {
    const std::filesystem::path tools = program_folder();
    folders = {tools / "../share/dnn-tools/adapters", tools / "../../../scripts/adapters"};
  }
  std::error_code ignored;
  for (const std::filesystem::path& folder : folders) {
    if (std::filesystem::is_regular_file(folder / adapter, ignored))
      return (folder / adapter).lexically_normal().string();
  }
  fail_environment(user, ": no adapter ", adapter, " in ", folders[0].lexically_normal().string(),
                   " (DNN_ADAPTERS names another folder)");
}

std::string temporary_folder() {
  std::error_code failed;
  const std::filesystem::path folder = std::filesystem::temp_directory_path(failed);
  if (failed) fail_environment("TMPDIR names no folder");
  return folder.string();
}

// Two shapes that differ by extents of 1 hold the same elements in the same order.
bool alike(Shape a, Shape b) {
  std::erase(a, 1);
  std::erase(b, 1);
  return a == b;
}

class LibrarySession : public Session {
 public:
  LibrarySession(std::shared_ptr<const Package> package, const Framework& framework, const std::string& device,
                 const DeviceOptions& options)
      : Session(std::move(package)),
        framework_(framework),
        name_(is_program(framework) ? device : cat("lib:", framework.name)),
        python_(interpreter(framework.variable, options)),
        opt_(options.opt),
        threads_(options.threads > 0 ? options.threads : available_processors()),
        scratch_(is_program(framework) ? nullptr : std::make_unique<TemporaryFolder>(temporary_folder())),
        child_(start(framework, options)) {
    stream::Header request;
    request.tool = "dnn-tools";
    request.model = {options.model_file, "", options.model_format};
    request.opt = options.opt;
    request.device = device;
    request.threads = threads_;
    if (scratch_) request.host["scratch"] = scratch_->path();
    child_->send(request);
    const stream::Record answer = next();
    const auto* header = std::get_if<stream::Header>(&answer);
    if (header == nullptr) fail_malformed(name_, ": it begins with a ", stream::record_type(answer), " record");
    isa_ = header->isa;
    facts_ = header->host;
    if (header->threads) threads_ = *header->threads;
  }

  std::string isa() const override { return isa_; }
  int threads() const override { return threads_; }
  std::optional<int> opt() const override { return opt_; }
  std::optional<int64_t> latency_ns() const override { return latency_ns_; }
  std::string latency_contains() const override {
    if (is_program(framework_)) return "what the command says of a batch in memory";
    return "the framework's own call on a batch in memory, measured inside its process";
  }
  std::map<std::string, std::string> facts() const override { return facts_; }
  std::optional<int> process() const override { return child_->pid(); }

  std::vector<Tensor> run(const std::vector<Tensor>& inputs) override {
    check_inputs(inputs);
    const Graph& graph = this->graph();
    for (size_t i = 0; i < inputs.size(); ++i) {
      stream::TensorRecord record;
      record.name = graph.value(graph.inputs[i]).name;
      record.sample = runs_;
      record.role = stream::Role::Input;
      record.tensor = inputs[i];
      child_->send(record);
    }
    stream::Sample sample;
    sample.id = runs_;
    child_->send(sample);
    stream::Record answer = next();
    auto* prediction = std::get_if<stream::Prediction>(&answer);
    if (prediction == nullptr || prediction->sample != runs_)
      fail_malformed(name_, ": it answers run ", runs_, " with another record");
    if (!prediction->latency_ns || *prediction->latency_ns < 0) fail_malformed(name_, ": it says no latency_ns");
    ++runs_;
    latency_ns_ = prediction->latency_ns;
    return in_order(std::move(prediction->outputs));
  }

  std::vector<Tensor> trace(const std::vector<Tensor>&, const Observer&) override {
    fail_unsupported(name_, ": the framework shows its outputs, not the values between");
  }

 private:
  std::unique_ptr<stream::Dialogue> start(const Framework& framework, const DeviceOptions& options) const {
    const double wait_s = stream::seconds_to_wait(variable(options, stream::kWaitVariable));
    if (is_program(framework)) return std::make_unique<stream::Dialogue>(name_, wait_s);
    const std::string adapter = adapter_file(cat("lib:", framework.name), framework.adapter, options);
    try {
      return std::make_unique<stream::Dialogue>(std::vector<std::string>{python_, adapter, "stream"}, name_, wait_s);
    } catch (const Error& error) {
      fail_environment(error.what(), " (DNN_PYTHON_", framework.variable, " names the interpreter)");
    }
  }

  // The next record; where there is none, why.
  stream::Record next() {
    if (is_program(framework_)) return child_->answer();
    if (std::optional<stream::Record> record = child_->receive()) return std::move(*record);
    constexpr int kAbsent = 77;
    const ChildProcess::End end = child_->end();
    if (end.exit_code == kAbsent)
      fail_environment(name_, ": ", end.last_line.empty() ? "not installed" : end.last_line, " (in ", python_,
                       "; DNN_PYTHON_", framework_.variable, " names a Python that has it)");
    if (end.exit_code == 1 && !end.last_line.empty()) fail_unsupported(name_, ": ", end.last_line);
    fail_environment(name_, ": its process ", end.text());
  }

  // Outputs as the graph orders and types them.
  std::vector<Tensor> in_order(std::vector<std::pair<std::string, Tensor>> outputs) const {
    const Graph& graph = this->graph();
    if (outputs.size() != graph.outputs.size())
      fail_malformed(name_, ": gives ", outputs.size(), " outputs, the model has ", graph.outputs.size());
    const auto named = [&](const std::string& name) {
      return std::find_if(outputs.begin(), outputs.end(), [&](const auto& output) { return output.first == name; });
    };
    const bool by_name = std::all_of(graph.outputs.begin(), graph.outputs.end(),
                                     [&](ValueId id) { return named(graph.value(id).name) != outputs.end(); });
    std::vector<Tensor> ordered;
    for (size_t i = 0; i < outputs.size(); ++i) {
      const std::string& name = graph.value(graph.outputs[i]).name;
      Tensor& output = by_name ? named(name)->second : outputs[i].second;
      const Type& type = package_->output_types[i];
      const bool fits = output.dtype() == type.dtype && (!type.fixed() || alike(output.shape(), type.fixed_shape()));
      if (!fits)
        fail_malformed(name_, ": output '", name, "' is ", Type(output).text(), ", the model's is ", type.text());
      ordered.push_back(type.fixed() ? output.reshaped(type.fixed_shape()) : std::move(output));
    }
    return ordered;
  }

  const Framework& framework_;
  const std::string name_, python_;
  const std::optional<int> opt_;
  int threads_;
  const std::unique_ptr<const TemporaryFolder> scratch_;  // where an adapter may write; it outlives the process
  std::unique_ptr<stream::Dialogue> child_;
  std::string isa_;
  std::map<std::string, std::string> facts_;
  std::optional<int64_t> latency_ns_;
  int64_t runs_ = 0;
};

std::unique_ptr<Session> open_process(const std::string& device, std::shared_ptr<const Package> package,
                                      const DeviceOptions& options) {
  if (options.model_file.empty()) fail_usage("device ", device, ": only dnn-infer runs models in frameworks");
  return std::make_unique<LibrarySession>(std::move(package), *find_framework(device), device, options);
}

}  // namespace

std::unique_ptr<Session> library_open(std::shared_ptr<const Package> package, const std::string& index,
                                      const DeviceOptions& options) {
  return open_process("lib:" + index, std::move(package), options);
}

std::unique_ptr<Session> program_open(std::shared_ptr<const Package> package, const std::string& index,
                                      const DeviceOptions& options) {
  return open_process("exec:" + index, std::move(package), options);
}

std::vector<std::string> program_list(const DeviceOptions&) { return {}; }

// Asks each interpreter once where its modules are, which imports none of them.
std::vector<std::string> library_list(const DeviceOptions& options) {
  static constexpr const char* kAsk =
      "import sys, importlib.util as u, importlib.metadata as m\n"
      "for name in sys.argv[1:]:\n"
      "    if u.find_spec(name):\n"
      "        try: print(name, m.version(name))\n"
      "        except Exception: print(name, '-')\n";
  std::map<std::string, std::vector<std::string>> modules;  // by interpreter
  for (const Framework& row : frameworks()) {
    std::vector<std::string>& names = modules[interpreter(row.variable, options)];
    if (std::find(names.begin(), names.end(), row.module) == names.end()) names.emplace_back(row.module);
  }
  std::map<std::pair<std::string, std::string>, std::string> versions;
  for (const auto& [python, names] : modules) {
    std::vector<std::string> command = {python, "-c", kAsk};
    command.insert(command.end(), names.begin(), names.end());
    constexpr double kLimit_s = 10;
    try {
      const ProcessResult result = run_process(command, "", kLimit_s);
      for (const std::string& line : split(result.output, '\n')) {
        const std::vector<std::string> words = split(line, ' ');
        if (result.exit_code == 0 && words.size() == 2) versions[{python, words[0]}] = words[1];
      }
    } catch (const Error&) {  // no such interpreter: nothing of it is there
    }
  }
  std::vector<std::string> lines;
  for (const Framework& row : frameworks()) {
    const std::string python = interpreter(row.variable, options);
    const auto found = versions.find({python, row.module});
    if (found != versions.end())
      lines.push_back(cat("lib:", row.name, "\t", row.module, " ", found->second, ", ", python));
  }
  return lines;
}

std::vector<std::string> adapter_command(const std::string& user, const std::string& adapter, const std::string& python,
                                         const DeviceOptions& options) {
  return {interpreter(python, options), adapter_file(user, adapter, options)};
}

}  // namespace dnn
