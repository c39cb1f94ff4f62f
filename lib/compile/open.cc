// Opening a model or a package; see open.h.
#include "compile/open.h"

#include <atomic>
#include <filesystem>
#include <optional>

#include "base/file.h"
#include "base/version.h"
#include "compile/cache.h"
#include "formats/format.h"
#include "graph/bind.h"

namespace dnn {
namespace {

void note(const OpenOptions& options, const std::string& message) {
  if (options.note) options.note(message);
}

// With a `warn` that can be called and speaks once: one line is enough for a cache that cannot be written.
OpenOptions warning_once(const OpenOptions& options) {
  OpenOptions result = options;
  result.warn = [said = std::make_shared<std::atomic<bool>>(false), warn = options.warn](const std::string& message) {
    if (warn && !said->exchange(true)) warn(message);
  };
  result.compile.build.warn = result.warn;
  return result;
}

// Extents that nothing names: the first of an input is the batch, others must be given.
void bind_inputs(Graph& graph, const OpenOptions& options) {
  constexpr int64_t kMostBatch = 1 << 20;
  if (options.batch > kMostBatch) fail_usage("--batch ", options.batch, " is more than ", kMostBatch);
  for (const std::string& spec : options.shapes) bind_shape(graph, spec);
  bool taken = false;
  std::optional<int64_t> fixed_at;
  for (ValueId id : graph.inputs) {
    if (graph.constant(id) != nullptr) continue;
    Type& type = graph.value(id).type;
    if (!type.shape || type.shape->empty()) continue;
    if ((*type.shape)[0].fixed()) {
      taken = taken || (*type.shape)[0].size == options.batch;
      if (!fixed_at) fixed_at = (*type.shape)[0].size;
      continue;
    }
    taken = true;
    const std::string symbol = (*type.shape)[0].symbol;
    if (symbol.empty()) {
      (*type.shape)[0] = Dim(options.batch);
    } else {
      bind_symbol(graph, symbol, options.batch);
    }
  }
  if (options.batch != 1 && !taken && fixed_at)
    fail_usage("--batch ", options.batch, ": the model's batch is fixed at ", *fixed_at);
}

// Everything that decides a package's bytes, as a cache key.
std::string cache_key(const std::string& sha256, const OpenOptions& o) {
  const CompileOptions& c = o.compile;
  std::string text =
      cat(version(), " ", commit(), "\n", sha256, "\n", c.opt, " ", c.device, " ", c.float64, " ", join(c.isas, "+"),
          " ", c.pass_changes, " ", c.stop_after, " ", o.batch, " ", join(o.shapes, ";"), "\n");
  for (const auto& [isa, chosen] : c.schedules) {
    for (const auto& [kernel, parameters] : chosen) text += cat(isa, " ", kernel, " ", to_text(parameters), "\n");
  }
  if (c.device == "cpu") text += compiler_identity(c.build);
  return sha256_hex(as_bytes(text));
}

Graph read_source(const ModelSource& source, const OpenOptions& options) {
  Graph graph = read_model(source);
  if (graph.outputs.empty())
    fail_unsupported(
        source_name(source.path),
        ": holds weights and no graph: dnn-convert puts them onto a network that it knows, or onto a model's");
  bind_inputs(graph, options);
  return graph;
}

std::string hash_of(const ModelSource& source) { return source.folder ? "" : sha256_hex(source.bytes); }

// `sha256` is of the source's bytes, "" of a folder.
Package compile_source(const ModelSource& source, const std::string& sha256, const OpenOptions& options) {
  const Graph graph = read_source(source, options);
  Package package;
  try {
    package = compile(graph, options.compile);
  } catch (Error& e) {
    throw e.within(source_name(source.path));
  }
  package.info.model_path = std::filesystem::path(source.path).filename().string();
  package.info.model_format = sniff_format(source).name;
  package.info.model_sha256 = sha256;
  package.info.tool_version = version();
  return package;
}

// A package of the cache; null where there is none of this user's. Throws where it cannot be used.
std::shared_ptr<Package> read_cached(const std::string& cached, const PackageKey& key) {
  std::error_code ignored;
  if (!std::filesystem::exists(cached, ignored)) return nullptr;
  const OpenedPackage opened = read_package(cached, key);
  if (!opened.trusted) return nullptr;
  touch_cached(cached);
  return opened.package;
}

}  // namespace

PackageKey usable_key(const OpenOptions& options) {
  if (options.key_path.empty()) return {};
  try {
    return load_or_make_key(options.key_path);
  } catch (const Error& e) {
    std::error_code ignored;
    if (std::filesystem::exists(options.key_path, ignored)) throw;
    if (options.warn) options.warn(cat("no key to sign packages with, so they will be compiled anew: ", e.what()));
    return {};
  }
}

Graph read_bound(const std::string& path, const OpenOptions& options) {
  return read_source(open_model(path, options.shapes), options);
}

Package compile_file(const std::string& path, const OpenOptions& options) {
  const ModelSource source = open_model(path, options.shapes);
  return compile_source(source, hash_of(source), warning_once(options));
}

std::shared_ptr<const Package> open_package(const std::string& path, const OpenOptions& given) {
  const OpenOptions options = warning_once(given);
  const PackageKey key = usable_key(options);
  std::error_code ignored;
  if (path != "-" && std::filesystem::is_regular_file(path, ignored)) {
    const MappedFile file(path);
    if (looks_like_package(file.bytes())) {
      OpenedPackage opened = read_package(path, key);
      if (opened.trusted || options.trust || opened.package->codes.empty()) return opened.package;
      note(options, path + " is not signed by this user: compiling it anew from the graph it holds");
      CompileOptions again = options.compile;
      again.opt = opened.package->info.opt;
      again.float64 = opened.package->info.dtype == "float64";
      const Graph& source = opened.package->source.graph();
      std::shared_ptr<Package> package;
      try {
        package = std::make_shared<Package>(compile(source, again));
      } catch (Error& e) {
        throw e.within(path);
      }
      const std::vector<std::string> passes = package->info.passes;
      const std::string compiler = package->info.compiler, target = package->info.target;
      package->info = opened.package->info;
      package->info.passes = passes;
      package->info.compiler = compiler;
      package->info.target = target;
      return package;
    }
  }
  const ModelSource source = open_model(path, options.shapes);
  if (!source.folder && looks_like_package(source.bytes))
    fail_usage(source_name(path), ": a package is mapped into memory, so it must be a file");
  const std::string sha256 = hash_of(source);
  // Weights in files beside an ONNX model (whose tensors then say "location") are not in the hash that is the key.
  const bool whole = !source.folder && as_text(source.bytes).find("location") == std::string_view::npos;
  const bool compiled = options.compile.device != "reference" || options.compile.opt > 0;  // what is not takes no time
  const bool cacheable = compiled && !options.cache_folder.empty() && whole && path != "-" && !key.secret.empty();
  if (!cacheable) {
    auto package = std::make_shared<Package>(compile_source(source, sha256, options));
    package->info.model_path = path;
    return package;
  }
  const std::string cached = options.cache_folder + "/" + cache_key(sha256, options) + ".dnnpkg";
  try {
    if (auto package = read_cached(cached, key)) {
      note(options, "from the cache: " + cached);
      package->info.model_path = path;
      return package;
    }
  } catch (const Error& e) {
    note(options, cat("the cached package is not usable (", e.what(), "): compiling"));
  }
  auto package = std::make_shared<Package>(compile_source(source, sha256, options));
  try {
    make_folders(options.cache_folder);
    write_package(*package, cached, key);
    trim_cache(options.cache_folder, options.cache_limit_bytes, cached);
    // What was written is read back: its weights are pages of a file then, which a system short of memory can drop.
    std::shared_ptr<Package> mapped = read_cached(cached, key);
    if (mapped != nullptr) package = std::move(mapped);
  } catch (const Error& e) {
    options.warn(cat("working without the cache: ", e.what()));
  }
  package->info.model_path = path;
  return package;
}

void use_folders(OpenOptions* options, const char* xdg_cache_home, const char* xdg_config_home, const char* home) {
  options->cache_folder = default_cache_folder(xdg_cache_home, home);
  if (!options->cache_folder.empty()) options->compile.build.cache_folder = options->cache_folder + "/objects";
  options->key_path = default_key_path(xdg_config_home, home);
}

std::string default_cache_folder(const char* xdg_cache_home, const char* home) {
  if (xdg_cache_home != nullptr && *xdg_cache_home == '/') return std::string(xdg_cache_home) + "/dnn-tools";
  return home == nullptr || *home == '\0' ? "" : std::string(home) + "/.cache/dnn-tools";
}

std::string default_key_path(const char* xdg_config_home, const char* home) {
  if (xdg_config_home != nullptr && *xdg_config_home == '/') return std::string(xdg_config_home) + "/dnn-tools/key";
  return home == nullptr || *home == '\0' ? "" : std::string(home) + "/.config/dnn-tools/key";
}

}  // namespace dnn
