// The blocks of branched networks: residual, inverted bottleneck, shuffle.
#pragma once
#include "branch/counted_layers.h"

namespace dnn::branch {

// Adds a block of the configuration's kind behind `x`, with the branch's width. `marked`: branches part behind it. Throws Unsupported
// where its widths do not fit.
Wire add_block(const Config& config, CountedLayers* layers, const LayerNames& names, const Wire& x,
               const Branch& branch, int64_t kernel, int64_t stride, bool marked);

}  // namespace dnn::branch
