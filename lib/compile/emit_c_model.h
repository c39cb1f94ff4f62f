// A model file as C source files, with what they compute here: what dnn-compile --emit-c writes.
#pragma once
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "compile/emit_c.h"
#include "compile/open.h"

namespace dnn {

// The outputs of a package on the inputs, run by one thread with that instruction set, which this processor has.
using RunOnce = std::function<std::vector<Tensor>(const std::shared_ptr<const Package>& package, const std::string& isa,
                                                  const std::vector<Tensor>& inputs)>;

// The model at `path` compiled as `open` says, as emit_c() writes it, under the name c_identifier() makes of the path's stem. Variants that
// this processor runs are run by `run`, for the test program to compare with. Throws as read_bound(), compile() and emit_c() do.
EmittedC emit_c_of_model(const std::string& path, OpenOptions open, const RunOnce& run);

// Writes the files into the folder, which is made where it is not there.
void write_c_files(const EmittedC& emitted, const std::string& folder);

}  // namespace dnn
