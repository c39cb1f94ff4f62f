// Event files of TensorBoard: TFRecord frames with masked CRC32C around tensorflow.Event messages, one file a run and folder.
#pragma once
#include <cstdint>
#include <span>
#include <string>

#include "base/bytes.h"

namespace dnn::train {

// A file that is added to, from its start or its end. What is written is there for others at once.
class GrowingFile {
 public:
  explicit GrowingFile(const std::string& path);
  ~GrowingFile();
  GrowingFile(const GrowingFile&) = delete;
  GrowingFile& operator=(const GrowingFile&) = delete;
  void write(const std::string& text);

 private:
  std::string path_;
  int fd_;
};

// Frames and messages, as bytes.
std::string record_frame(const std::string& message);
std::string version_event(double wall_time);
std::string start_event(double wall_time, int64_t step);  // a run goes on: later steps that are there count no more
std::string scalar_event(double wall_time, int64_t step, const std::string& tag, double value);
std::string histogram_event(double wall_time, int64_t step, const std::string& tag, std::span<const float> values);

// FOLDER/events.out.tfevents.SECONDS.HOST.PID.N, a new file.
class EventFile {
 public:
  explicit EventFile(const std::string& folder);
  // The run goes on behind `step`.
  void start_after(int64_t step);
  void scalar(const std::string& tag, double value, int64_t step);
  void histogram(const std::string& tag, std::span<const float> values, int64_t step);

 private:
  GrowingFile file_;
};

}  // namespace dnn::train
