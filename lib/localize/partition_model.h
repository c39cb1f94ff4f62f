// Searching the nodes that a device computes wrongly, as a command line asks for it, and the report for people and programs.
#pragma once
#include <string>
#include <vector>

#include "localize/bisect_model.h"
#include "localize/partition.h"

namespace dnn {

struct PartitionedModel {
  std::string model, device;  // names
  std::vector<std::string> paths;
  OutputTolerance tolerance;
  PartitionReport report;
  NotJudged not_judged;
  bool agrees() const { return !report.differs && !not_judged.any(); }
};

// `request`.target is the device; its source and --reduce are not looked at. Throws Usage, and what reading, converting and the devices
// throw.
PartitionedModel partition_model(const BisectRequest& request);

// The nodes found, what each does alone, and whether the model is mended where they run elsewhere; ends with a newline.
std::string partition_text(const PartitionedModel& partitioned);

// schemas/localize/partition.schema.json, on one line.
std::string partition_json(const PartitionedModel& partitioned);

}  // namespace dnn
