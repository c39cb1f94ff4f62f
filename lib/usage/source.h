// Where the usage records of a run come from: a sampler of this process, or one on the machine that runs the network.
#pragma once
#include <string>
#include <vector>

#include "stream/records.h"

namespace dnn::usage {

class Source {
 public:
  virtual ~Source() = default;
  // Takes the first record, which all counts begin at, and goes on taking them.
  virtual void start() = 0;
  // Takes the last record; nothing where start() never was.
  virtual void stop() = 0;
  // Records since the last call, in their order.
  virtual std::vector<stream::Usage> take() = 0;

  struct Cost {
    int64_t n_records = 0;
    double interval_ms = 0;  // between two of them, on average: longer than asked where that would take too much
    double share = 0;        // of the time between start() and stop(), as processor time of the thread
  };
  virtual Cost cost() const = 0;  // after stop()
  // The meters of energy, "package-0, package-0 dram", and the GPUs; or "none: " and why.
  virtual std::string energy_text() const = 0;
  virtual std::string gpus_text() const = 0;
};

}  // namespace dnn::usage
