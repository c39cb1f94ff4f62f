// Opening a model or a package; see open.h.
#include "compile/open.h"

#include <filesystem>

#include "base/file.h"
#include "base/version.h"
#include "formats/format.h"
#include "graph/bind.h"

namespace dnn {
namespace {

void note(const OpenOptions& options, const std::string& message) {
  if (options.note) options.note(message);
}

// Extents that nothing names: the first of an input is the batch, others must be given.
void bind_inputs(Graph& graph, const OpenOptions& options) {
  for (const std::string& spec : options.shapes) bind_shape(graph, spec);
  for (ValueId id : graph.inputs) {
    if (graph.constant(id) != nullptr) continue;
    Type& type = graph.value(id).type;
    if (!type.shape || type.shape->empty() || (*type.shape)[0].fixed()) continue;
    const std::string symbol = (*type.shape)[0].symbol;
    if (symbol.empty()) {
      (*type.shape)[0] = Dim(options.batch);
    } else {
      bind_symbol(graph, symbol, options.batch);
    }
  }
}

// Everything that decides a package's bytes, as a cache key.
std::string cache_key(const std::string& sha256, const OpenOptions& o) {
  const CompileOptions& c = o.compile;
  std::string text =
      cat(version(), " ", commit(), "\n", sha256, "\n", c.opt, " ", c.device, " ", c.float64, " ", join(c.isas, "+"),
          " ", c.pass_changes, " ", c.stop_after, " ", o.batch, " ", join(o.shapes, ";"), "\n");
  if (c.device == "cpu") text += compiler_identity(c.build);
  return sha256_hex(as_bytes(text));
}

}  // namespace

Package compile_file(const std::string& path, const OpenOptions& options) {
  const ModelSource source = open_model(path);
  const Format& format = sniff_format(source);
  Graph graph = read_model(path);
  bind_inputs(graph, options);
  Package package;
  try {
    package = compile(graph, options.compile);
  } catch (Error& e) {
    e.within(path);
    throw;
  }
  package.info.model_path = std::filesystem::path(path).filename().string();
  package.info.model_format = format.name;
  package.info.model_sha256 = source.folder ? "" : sha256_hex(source.bytes);
  package.info.tool_version = version();
  return package;
}

std::shared_ptr<const Package> open_package(const std::string& path, const OpenOptions& options) {
  const PackageKey key = options.key_path.empty() ? PackageKey() : load_or_make_key(options.key_path);
  if (path != "-" && !std::filesystem::is_directory(path)) {
    const MappedFile file(path);
    if (looks_like_package(file.bytes())) {
      OpenedPackage opened = read_package(path, key);
      if (opened.trusted || options.trust || opened.package->codes.empty()) return opened.package;
      note(options, path + " is not signed by this user: compiling it anew from the graph it holds");
      CompileOptions again = options.compile;
      again.opt = opened.package->info.opt;
      again.float64 = opened.package->info.dtype == "float64";
      auto package = std::make_shared<Package>(compile(opened.package->source, again));
      const std::vector<std::string> passes = package->info.passes;
      const std::string compiler = package->info.compiler;
      package->info = opened.package->info;
      package->info.passes = passes;
      package->info.compiler = compiler;
      return package;
    }
  }
  const ModelSource source = open_model(path);
  const bool cacheable =
      !options.cache_folder.empty() && !source.folder && path != "-" && !options.compile.emit && !key.secret.empty();
  if (!cacheable) {
    auto package = std::make_shared<Package>(compile_file(path, options));
    package->info.model_path = path;
    return package;
  }
  const std::string cached = options.cache_folder + "/" + cache_key(sha256_hex(source.bytes), options) + ".dnnpkg";
  if (std::filesystem::exists(cached)) {
    try {
      OpenedPackage opened = read_package(cached, key);
      if (opened.trusted) {
        note(options, "from the cache: " + cached);
        opened.package->info.model_path = path;
        return opened.package;
      }
    } catch (const Error& e) {
      note(options, cat("the cached package is not usable (", e.what(), "): compiling"));
    }
  }
  auto package = std::make_shared<Package>(compile_file(path, options));
  std::filesystem::create_directories(options.cache_folder);
  write_package(*package, cached, key);
  package->info.model_path = path;
  return package;
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
