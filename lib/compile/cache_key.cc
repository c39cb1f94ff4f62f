// Serialising the options of compiling; see cache_key.h.
#include "compile/cache_key.h"
#include "base/json_text.h"

#include <nlohmann/json.hpp>

namespace dnn {

std::optional<std::string> serialised(const CompileOptions& options) {
  using Json = nlohmann::ordered_json;
  // All members by name: one more does not compile before it is decided here what it means for the key.
  const auto& [opt, device, element, isas, processor, pass_changes, stop_after, schedules, state, recompute, allow,
               rows, build, on_passes, on_recompute, on_workload, emit, on_c_text] = options;
  if (allow || rows != nullptr || on_passes || on_recompute || on_workload || emit || on_c_text) return std::nullopt;
  Json targets = Json::array();  // of the instruction sets and the processor: what empty ones stand for here
  for (const Target& target : targets_of(options)) targets.push_back({target.isa->name, target.processor->name});
  Json chosen = Json::object();
  for (const auto& [isa, kernels] : schedules) {
    for (const auto& [kernel, parameters] : kernels) chosen[isa][kernel] = codegen::to_text(parameters);
  }
  Json json = {{"opt", opt},
               {"device", device},
               {"element", dtype_name(element)},
               {"isas", isas},
               {"processor", processor},
               {"targets", targets},
               {"pass_changes", pass_changes},
               {"stop_after", stop_after},
               {"schedules", chosen},
               {"state", state},
               {"recompute", recompute}};
  const Backend* backend = backend_of_device(device);
  if (backend != nullptr && backend->builds_here) json["compiler"] = compilers_of(targets_of(options), build);
  return json_text(json);
}

}  // namespace dnn
