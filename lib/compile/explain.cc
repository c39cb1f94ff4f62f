// Explaining a package; see explain.h.
#include "compile/explain.h"

#include <cstdio>

#include "base/text.h"

namespace dnn {

std::string explain(const Package& package) {
  std::string text = "step\tkernel\tnode\tsources\tmflop\tkib\tflop_per_byte\n";
  double flops = 0, bytes = 0;
  for (size_t i = 0; i < package.steps.size(); ++i) {
    const Step& step = package.steps[i];
    const Node& node = package.graph.node(step.node);
    char numbers[96];
    std::snprintf(numbers, sizeof numbers, "%.3f\t%.1f\t%.2f", step.flops / 1e6, step.bytes / 1024,
                  step.bytes > 0 ? step.flops / step.bytes : 0);
    const std::string kernel = step.kernel < 0 ? "interpreted" : package.kernels[static_cast<size_t>(step.kernel)].name;
    text +=
        cat(i, "\t", kernel, "\t", node.op, " ", node.name, "\t",
            join(node.sources.empty() ? std::vector<std::string>{node.name} : node.sources, "+"), "\t", numbers, "\n");
    flops += step.flops;
    bytes += step.bytes;
  }
  char totals[160];
  std::snprintf(totals, sizeof totals, "# %zu steps, %zu kernels, %.1f MFLOP, %.1f MiB moved, arena %.2f MiB\n",
                package.steps.size(), package.kernels.size(), flops / 1e6, bytes / 1048576,
                static_cast<double>(package.arena_bytes) / 1048576);
  return text + totals + "# passes: " + join(package.info.passes) + "\n";
}

}  // namespace dnn
