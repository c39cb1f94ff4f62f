// Searching a supernet: children, timed on devices and judged on images, and the best of those that are fast enough.
#pragma once
#include <functional>
#include <string>
#include <vector>

#include "branch/placement.h"
#include "compile/compile.h"
#include "image/preprocess.h"

namespace dnn::train {

struct ChildSearch {
  std::string supernet;        // a file that dnn-train --supernet wrote
  std::string data, validate;  // labelled images: for the norms' statistics, and to judge by
  std::string plan;            // a file of branch::plan_text(): this child alone; "": search
  std::string plan_out;        // where the plan of the child goes; "": nowhere
  std::vector<branch::Part> parts;
  double latency_us = 0;  // no child that takes longer; 0: than the network itself on the best single device
  int64_t children = 16;  // that are timed: the smallest and random ones
  int64_t images = 1024;  // of data that the norms' statistics are taken of
  int64_t batch = 64, runs = 50;
  uint64_t seed = 1;
  std::string preprocess;  // where the file does not say it
  CompileOptions compile;
  std::function<void(const std::string&)> say, warn;
};

// The child as an ordinary model, its norms recalibrated, its batch open where the supernet's is. Latencies are medians of all branches at once on
// the parts. Of two children of one accuracy, the faster is taken. Throws Usage for a file that is no supernet and a child that it does not
// hold, Negative where no child is fast enough.
Graph search_children(const ChildSearch& search);

}  // namespace dnn::train
