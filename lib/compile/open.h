// Opening "a model or a package": what every tool that runs something takes as its argument.
#pragma once
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "compile/compile.h"
#include "package/file.h"

namespace dnn {

struct OpenOptions {
  CompileOptions compile;                        // for a model, and for a package whose code may not run here
  std::vector<std::string> shapes;               // "NAME:1x3x224x224", see graph/bind.h
  std::vector<std::string> ignored;              // fields not to refuse, see formats/leftovers.h
  int64_t batch = 1;                             // what a symbolic or unknown first extent of an input becomes
  std::string cache_folder;                      // compiled packages and kernels; "" for no cache
  int64_t cache_limit_bytes = int64_t{4} << 30;  // packages there beyond this go, the longest unused first
  std::string key_path;                          // this user's signing key; "" for none
  bool trust = false;                            // run a package's code without this user's signature
  bool look_beside = true;                       // for the model of a package that does not hold its weights
  bool keep_source = false;                      // compile_file() writes the model's weights, too
  std::string made_of;  // the file that the model was made of, for the package's info; "": itself
  std::function<void(const std::string& message)> note;  // what happened, for --verbose; may be empty
  std::function<void(const std::string& message)> warn;  // one line when cache or key cannot be kept; may be empty
};

// This user's key; empty, and a warning, where there is none and none can be kept.
PackageKey usable_key(const OpenOptions& options);

// A package file, loaded and, where its code is not trusted, compiled anew from the model that it holds or that lies beside it; or a
// model file of any format, compiled (through the cache). Throws as read_model, read_package and compile do; Environment for a package
// whose code is not trusted and whose model is not there.
std::shared_ptr<const Package> open_package(const std::string& path, const OpenOptions& options);

// The graph of a model file, shapes bound: what compile_file() compiles.
Graph read_bound(const std::string& path, const OpenOptions& options);

// Reads and compiles a model (through the cache), shapes bound, with its facts in the package's info; of its path the file name
// alone, so that the same model gives the same package wherever it lies. Writes the package, signed with the user's key, unless
// `to` is null; without the weights of the model unless keep_source asks for them.
std::shared_ptr<const Package> compile_file(const std::string& path, const OpenOptions& options, ByteSink* to);

// The same, made by `make` in place of compile(), from the graph with its shapes bound; not cached.
std::shared_ptr<const Package> compile_file_by(const std::string& path, const OpenOptions& options, ByteSink* to,
                                               const std::function<Package(const Graph& graph)>& make);

// Cache, object and key places of this user, as default_cache_folder() and the function below say; for no cache and no key leave it.
// `variable` tells an environment variable's value, "" where it is not set.
void use_folders(OpenOptions* options, const std::function<std::string(const std::string& name)>& variable);

// $XDG_CONFIG_HOME/dnn-tools/key, or its place under `home`, from the two values.
std::string default_key_path(const char* xdg_config_home, const char* home);

}  // namespace dnn
