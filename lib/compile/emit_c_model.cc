// Models as C files; see emit_c_model.h.
#include "compile/emit_c_model.h"

#include <algorithm>

#include "base/error.h"
#include "base/file.h"
#include "base/text.h"
#include "target/isa.h"

namespace dnn {

EmittedC emit_c_of_model(const std::string& path, OpenOptions open, const RunOnce& run) {
  EmitCOptions options;
  options.name = c_identifier(name_stem(path));
  open.compile.on_c_text = [&](const codegen::CText& text) { options.texts.push_back(text); };
  const auto runs_here = [](const std::string& isa) { return find_isa(Language::C, isa)->runs_here(); };
  const std::vector<std::string>& asked = open.compile.isas;
  if (!asked.empty() && std::none_of(asked.begin(), asked.end(), runs_here))
    fail_usage("--emit-c: its test holds what the code computes here, and this machine runs none of ", join(asked),
               "; name another --isa, or none: the files are for any machine");
  const Graph graph = read_bound(path, open);
  std::shared_ptr<Package> package;
  try {
    package = std::make_shared<Package>(compile(graph, open.compile));
  } catch (Error& e) {
    throw e.within(path);
  }
  check_has_c_code(*package);
  const std::vector<Tensor> inputs = emit_c_inputs(*package);
  for (const Variant& variant : package->variants) {
    options.expected.push_back(runs_here(variant.target.isa) ? run(package, variant.target.isa, inputs)
                                                             : std::vector<Tensor>());
  }
  return emit_c(*package, options);
}

void write_c_files(const EmittedC& emitted, const std::string& folder) {
  make_folders(folder);
  for (const auto& [name, text] : emitted.files) write_file(folder + "/" + name, text);
}

}  // namespace dnn
