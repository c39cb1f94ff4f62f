// Backends: the languages that kernels are printed in, each with the device that runs it and what that device takes.
#pragma once
#include <string_view>
#include <vector>

namespace dnn {

enum class Language { None, C, OpenCl, Cuda };  // None: the interpreter needs no code

struct Backend {
  Language language;
  const char* name;       // in packages: "c"
  const char* device;     // its kind: "cpu"
  const char* extension;  // of a file of source
  bool builds_here =
      false;  // the system's compiler makes code, in units, while the package is made; else a driver does later
  bool samples_alone = false;  // threads may take the samples of a batch one by one
  bool views = false;          // a kernel may read or write a part of another value's memory
};

const std::vector<Backend>& backends();
// Null for a kind of device that needs no code, and for a name that no backend has.
const Backend* backend_of_device(std::string_view kind);
const Backend* find_backend(std::string_view name);

}  // namespace dnn
