// Converting; see convert.h.
#include "convert/convert.h"

#include "ops/op.h"
#include "passes/pass.h"

namespace dnn {

void convert_model(Graph graph, const std::string& path, const WriteOptions& options) {
  const Format* format = format_for_path(path);
  if (format != nullptr && *format->passes != 0) {
    PassOptions passes;
    infer_types(graph);
    passes.changes = std::string("only:") + format->passes;
    run_passes(graph, passes);
  }
  write_model(graph, path, options);
}

}  // namespace dnn
