// A whole run of dnn-infer: its inputs through a session into a stream, with what was measured beside it.
#pragma once
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "infer/run_inputs.h"

namespace dnn {

class RemoteHost;

// Where a run takes place, beyond what its session knows.
struct RunPlace {
  std::string device;                // as the header calls it
  std::shared_ptr<RemoteHost> host;  // of another machine, whose usage is recorded; null: this one
  std::vector<int> processors;       // that it is kept to; empty: wherever the system has it
};

struct RecordedRun {
  RunSummary summary;
  std::unique_ptr<usage::Source> usage;  // stopped; null where it was not wanted
};

// Runs the inputs as the command line says and writes header, records and end to `to`. `add_facts` completes the header. Shows
// progress and warnings. Throws as Runner does.
RecordedRun record_run(const InferArgs& o, Session& session, const BatchPlan& plan, const RunPlace& place,
                       RunInputs& inputs, const std::function<void(stream::Header* header)>& add_facts, ByteSink& to);

// Warnings: each a thing that a person should know of a run's outputs and latencies.
std::vector<std::string> warnings_of(const RunSummary& summary, bool pinned);

}  // namespace dnn
