// The options of dnn-branch search: the best child of a supernet.
#pragma once
#include "branch/branch_args.h"
#include "cli/cli.h"
#include "train/child_search.h"

namespace dnn::train {

// Declares --supernet, --data, --validate, --latency, --children and --calibrate.
void declare_children(cli::Args& args, ChildSearch* o);

// Throws Usage where one of them is given: for what searches no children.
void refuse_children(const ChildSearch& o);

// The request for search_children(), as these options and the others say; log sinks are the caller's. Throws Usage.
ChildSearch child_search_request(const ChildSearch& o, const branch::BranchArgs& others);

}  // namespace dnn::train
