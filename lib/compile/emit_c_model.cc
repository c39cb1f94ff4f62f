// Models as C files; see emit_c_model.h.
#include "compile/emit_c_model.h"

#include <algorithm>

#include "base/file.h"
#include "target/isa.h"

namespace dnn {

EmittedC emit_c_of_model(const std::string& path, OpenOptions open, const RunOnce& run) {
  EmitCOptions options;
  options.name = c_identifier(name_stem(path));
  open.compile.on_c_text = [&](const codegen::CText& text) { options.texts.push_back(text); };
  const Graph graph = read_bound(path, open);
  std::shared_ptr<Package> package;
  try {
    package = std::make_shared<Package>(compile(graph, open.compile));
  } catch (Error& e) {
    throw e.within(path);
  }
  check_has_c_code(*package);
  const std::vector<Tensor> inputs = emit_c_inputs(*package);
  const std::vector<std::string> here = supported_isas(open.compile.element);
  for (const Variant& variant : package->variants) {
    const bool runs = std::find(here.begin(), here.end(), variant.target.isa) != here.end();
    options.expected.push_back(runs ? run(package, variant.target.isa, inputs) : std::vector<Tensor>());
  }
  return emit_c(*package, options);
}

void write_c_files(const EmittedC& emitted, const std::string& folder) {
  make_folders(folder);
  for (const auto& [name, text] : emitted.files) write_file(folder + "/" + name, text);
}

}  // namespace dnn
