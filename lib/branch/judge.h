// Judging a branched network: its accuracy on labelled images, all branches at once.
#pragma once
#include <functional>
#include <string>

#include "branch/placement.h"

namespace dnn::branch {

struct Accuracy {
  int64_t images = 0;          // of a known class
  int64_t top1 = 0, top5 = 0;  // right among the first, the first five
  int64_t unread = 0;          // that could not be read

  double percent(int64_t right) const {
    return images == 0 ? 0 : 100.0 * static_cast<double>(right) / static_cast<double>(images);
  }
};

// `session` runs the network that `package` was compiled from, for one sample at a time. `data`: a folder of images with a folder for each
// class, or a pack of such. Classes are those of the network's metadata, else the folders in sorted order. `warn` gets what cannot be read.
// Throws Usage where no image's class is one of the network's.
Accuracy judge(ParallelSession& session, const Package& package, const std::string& data, const std::string& preprocess,
               const std::function<void(const std::string&)>& warn);

}  // namespace dnn::branch
