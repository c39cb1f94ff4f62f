// Opening a model or a package; see open.h.
#include "compile/open.h"

#include <atomic>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <optional>

#include "base/file.h"
#include "base/json_text.h"
#include "base/private.h"
#include "base/sha256.h"
#include "base/version.h"
#include "compile/cache_key.h"
#include "formats/format.h"
#include "graph/bind.h"
#include "package/cache.h"
#include "package/placed.h"

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

// What tells this build's results from those of others. Of changed sources there are many builds under one commit.
std::string build_name() {
  std::string name = cat(version(), " ", commit());
  if (name.back() != '+') return name;
  std::error_code ignored;
  const std::filesystem::path program = "/proc/self/exe";
  return cat(name, " ", std::filesystem::file_size(program, ignored), " ",
             std::filesystem::last_write_time(program, ignored).time_since_epoch().count());
}

std::string file_name(const std::string& path) { return std::filesystem::path(path).filename().string(); }

// Everything that decides a package's bytes, as a cache key; none where it is not cached.
std::optional<std::string> cache_key(const std::string& path, const std::string& sha256, const OpenOptions& o) {
  const std::optional<std::string> options = serialised(o.compile);
  if (!options) return std::nullopt;
  const nlohmann::json key = {build_name(), file_name(path), sha256, *options, o.batch, o.shapes, o.ignored};
  return sha256_hex(as_bytes(json_text(key)));
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

using Make = std::function<Package(const Graph& graph)>;

// `sha256` is of the source's bytes, "" of a folder. `make`: in place of compile(), where there is one.
Package compile_source(const ModelSource& source, const std::string& sha256, const OpenOptions& options,
                       const Make& make = {}) {
  const Graph graph = read_source(source, options);
  Package package;
  try {
    package = make ? make(graph) : compile(graph, options.compile);
  } catch (Error& e) {
    throw e.within(source_name(source.path));
  }
  const bool itself = options.made_of.empty();
  const ModelSource origin = itself ? source : open_model(options.made_of, options.shapes, options.ignored);
  package.info.model_path = file_name(origin.path);
  package.info.model_format = sniff_format(origin).name;
  package.info.model_sha256 = itself ? sha256 : hash_of(origin);
  package.info.tool_version = version();
  return package;
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

namespace {

// A package of the cache; an empty one where there is none of this user's. Throws where it cannot be used.
OpenedPackage read_cached(const std::string& cached, const OpenOptions& options) {
  std::error_code ignored;
  if (!std::filesystem::exists(cached, ignored)) return {};
  make_private_folder(options.cache_folder);
  OpenedPackage opened = read_package(cached, usable_key(options));
  if (!opened.trusted) return {};
  touch_cached(cached);
  return opened;
}

// Weights in files beside an ONNX model (whose tensors then say "location") are not in the hash of its file.
bool all_in_hash(const ModelSource& source) {
  return !source.folder && as_text(source.bytes).find("location") == std::string_view::npos;
}

// As a file has it: whoever has the package has the model, or its user's trust.
Package without_weights_of_source(const Package& package) {
  Package result = package;
  result.source = package.source.without_constants();
  return result;
}

// With the model's weights where --keep-source asks for them.
void write_as_asked(const Package& package, const OpenOptions& options, ByteSink& to) {
  Package result = package;
  result.source = options.keep_source ? SourceGraph(package.source.graph()) : package.source.without_constants();
  write_package(result, to, usable_key(options));
}

// Compiles, or takes from the cache what was compiled.
OpenedPackage compile_or_recall(const ModelSource& source, const OpenOptions& options) {
  const std::string sha256 = hash_of(source);
  const CompileOptions& c = options.compile;
  const bool compiled = c.device != "reference" || level_of(c.opt).rewrites;  // what is not takes no time
  OpenedPackage made;
  const bool may_cache = compiled && all_in_hash(source) && !options.cache_folder.empty() && source.path != "-";
  const std::optional<std::string> cache_name = may_cache ? cache_key(source.path, sha256, options) : std::nullopt;
  if (!cache_name) {
    made.package = std::make_shared<Package>(compile_source(source, sha256, options));
    return made;
  }
  const std::string cached = options.cache_folder + "/" + *cache_name + ".dnnpkg";
  try {
    OpenedPackage found = read_cached(cached, options);
    if (found.package != nullptr) {
      found.package->source =
          found.package->source.with_whole([source, options] { return read_source(source, options); });
      note(options, "from the cache: " + cached);
      return found;
    }
  } catch (const Error& e) {
    note(options, cat("the cached package is not usable (", e.what(), "): compiling"));
  }
  made.package = std::make_shared<Package>(compile_source(source, sha256, options));
  const PackageKey key = usable_key(options);  // made only now, when there is something to sign
  if (key.secret.empty()) return made;
  try {
    make_private_folder(options.cache_folder);
    write_package(without_weights_of_source(*made.package), cached, key, 0600);
    trim_cache(options.cache_folder, options.cache_limit_bytes, cached);
    // What was written is read back: its weights are pages of a file then, which a system short of memory can drop.
    OpenedPackage mapped = read_cached(cached, options);
    if (mapped.package == nullptr) return made;
    mapped.package->source = made.package->source.without_constants();
    return mapped;
  } catch (const Error& e) {
    options.warn(cat("working without the cache: ", e.what()));
  }
  return made;
}

// What to do for a package whose model is needed and not in it.
std::string ways_out(const PackageInfo& info) {
  const std::string name = file_name(info.model_path);
  return cat(info.model_sha256.empty() || name.empty()
                 ? std::string()
                 : cat("put ", name, " (sha256 ", info.model_sha256.substr(0, 16), "...) beside it, or "),
             "compile the model with --keep-source");
}

// The model that a package was made of, where it lies beside it, with the shapes that were bound then. Throws Environment, with why it
// is not there.
Graph read_beside(const std::string& path, const PackageInfo& info, const Graph& structure,
                  const OpenOptions& options) {
  const std::string name = file_name(info.model_path);
  if (!options.look_beside) fail_environment("it does not hold its model's weights");
  if (info.model_sha256.empty() || name.empty())
    fail_environment("it does not say which file its model is, as that is a folder or came through a pipe");
  const std::string beside = (std::filesystem::path(path).parent_path() / name).string();
  std::error_code ignored;
  if (!std::filesystem::is_regular_file(beside, ignored)) fail_environment("there is no ", name, " beside it");
  std::vector<std::string> shapes;
  for (ValueId id : structure.inputs) {
    const Value& value = structure.value(id);
    if (!value.type.fixed()) continue;
    std::vector<std::string> extents;
    for (int64_t extent : value.type.fixed_shape()) extents.push_back(std::to_string(extent));
    shapes.push_back(cat(value.name, ":", extents.empty() ? "scalar" : join(extents, "x")));
  }
  const ModelSource source = open_model(beside, shapes, options.ignored);
  if (hash_of(source) != info.model_sha256) fail_environment(name, " beside it is another model: its sha256 differs");
  if (!all_in_hash(source))
    fail_environment(name, " beside it has weights in other files, which may not be those it was compiled with");
  Graph graph = read_model(source);
  for (const std::string& shape : shapes) bind_shape(graph, shape);
  return graph;
}

// A package's model for whoever needs it: a trace, a search, a framework, another compilation.
SourceGraph source_beside(const std::string& path, const Package& package, const OpenOptions& options) {
  return package.source.with_whole([path, info = package.info, source = package.source, options] {
    try {
      return read_beside(path, info, source.structure(), options);
    } catch (const Error& e) {
      if (e.kind() != ErrorKind::Environment) throw;
      fail_environment(path, ": the package holds its model without weights, and ", e.what(), ": ", ways_out(info));
    }
  });
}

// Of a package of another user or version.
std::shared_ptr<const Package> compile_anew(const std::string& path, const OpenedPackage& opened,
                                            const OpenOptions& options) {
  const Package& given = *opened.package;
  const std::string what = opened.older ? "an older version's package" : "not signed by this user";
  if (given.placed != nullptr)
    fail_environment(path, ": ", what, ", and placed on ", join(given.placed->parts),
                     ": run it with --trust if you trust who made it, or place its model again (dnn-compile --place)");
  Graph source;
  try {
    source =
        given.source.kept() ? given.source.graph() : read_beside(path, given.info, given.source.structure(), options);
  } catch (const Error& e) {
    if (given.source.kept() || e.kind() != ErrorKind::Environment) throw;
    fail_environment(path, ": ", what, ", and ", e.what(), ": run it with --trust if you trust who made it, ",
                     ways_out(given.info));
  }
  note(options,
       cat(path, ": ", what, ": compiling it anew from the model ", given.source.kept() ? "in" : "beside", " it"));
  CompileOptions again = options.compile;
  again.opt = given.info.opt;
  again.element = dtype_from_name(given.info.dtype);
  std::shared_ptr<Package> package;
  try {
    package = std::make_shared<Package>(compile(source, again));
  } catch (Error& e) {
    throw e.within(path);
  }
  const std::vector<std::string> passes = package->info.passes;
  const std::string compiler = package->info.compiler;
  package->info = given.info;
  package->info.passes = passes;
  package->info.compiler = compiler;
  return package;
}

}  // namespace

Graph read_bound(const std::string& path, const OpenOptions& options) {
  return read_source(open_model(path, options.shapes, options.ignored), options);
}

std::shared_ptr<const Package> compile_file(const std::string& path, const OpenOptions& given, ByteSink* to) {
  const OpenOptions options = warning_once(given);
  OpenedPackage compiled = compile_or_recall(open_model(path, options.shapes, options.ignored), options);
  if (to != nullptr && !options.keep_source && !compiled.file.bytes.empty()) {
    to->write(compiled.file.bytes);
  } else if (to != nullptr) {
    write_as_asked(*compiled.package, options, *to);
  }
  return compiled.package;
}

std::shared_ptr<const Package> compile_file_by(const std::string& path, const OpenOptions& given, ByteSink* to,
                                               const Make& make) {
  const OpenOptions options = warning_once(given);
  const ModelSource source = open_model(path, options.shapes, options.ignored);
  const auto package = std::make_shared<Package>(compile_source(source, hash_of(source), options, make));
  if (to != nullptr) write_as_asked(*package, options, *to);
  return package;
}

std::shared_ptr<const Package> open_package(const std::string& path, const OpenOptions& given) {
  const OpenOptions options = warning_once(given);
  const PackageKey key = usable_key(options);
  std::error_code ignored;
  if (path != "-" && std::filesystem::is_regular_file(path, ignored)) {
    if (looks_like_package(as_bytes(read_head(path, 8)))) {
      const OpenedPackage opened = read_package(path, key, OpenedFor::Running);
      const bool may_run = opened.trusted || options.trust || !opened.package->variants.front().compiled();
      if (opened.older || !may_run) return compile_anew(path, opened, options);
      if (!opened.package->source.kept()) opened.package->source = source_beside(path, *opened.package, options);
      return opened.package;
    }
  }
  const ModelSource source = open_model(path, options.shapes, options.ignored);
  if (!source.folder && looks_like_package(source.bytes))
    fail_usage(source_name(path), ": a package is mapped into memory, so it must be a file");
  std::shared_ptr<Package> package = compile_or_recall(source, options).package;
  package->info.model_path = path;
  return package;
}

void use_folders(OpenOptions* options, const std::function<std::string(const std::string& name)>& variable) {
  const std::string home = variable("HOME");
  options->cache_folder = default_cache_folder(variable("XDG_CACHE_HOME").c_str(), home.c_str());
  if (!options->cache_folder.empty()) options->compile.build.cache_folder = options->cache_folder + "/objects";
  options->key_path = default_key_path(variable("XDG_CONFIG_HOME").c_str(), home.c_str());
  options->compile.build.key_path = options->key_path;
}

std::string default_key_path(const char* xdg_config_home, const char* home) {
  if (xdg_config_home != nullptr && *xdg_config_home == '/') return std::string(xdg_config_home) + "/dnn-tools/key";
  return home == nullptr || *home == '\0' ? "" : std::string(home) + "/.config/dnn-tools/key";
}

}  // namespace dnn
