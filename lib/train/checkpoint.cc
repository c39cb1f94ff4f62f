// Checkpoint files: a line of JSON with what follows it, then the bytes of the tensors; see checkpoint.h.
#include "train/checkpoint.h"

#include <nlohmann/json.hpp>

#include "base/counted.h"
#include "base/error.h"
#include "base/file.h"
#include "base/json_text.h"
#include "base/sha256.h"
#include "base/text.h"

namespace dnn::train {
namespace {

using Json = nlohmann::ordered_json;
constexpr int64_t kMost = int64_t{1} << 48;  // epochs, and steps: beyond any run
constexpr const char* kFormat = "dnn-train checkpoint 1";

Json describe(const std::vector<Tensor>& tensors) {
  Json rows = Json::array();
  for (const Tensor& tensor : tensors)
    rows.push_back({{"dtype", dtype_name(tensor.dtype())}, {"shape", tensor.shape()}});
  return rows;
}

std::vector<Tensor> take(const Json& rows, std::string_view* bytes) {
  std::vector<Tensor> tensors;
  for (const Json& row : rows) {
    const DType dtype = dtype_from_name(row.at("dtype").get<std::string>());
    if (dtype != DType::Float32 && dtype != DType::Float64) fail_malformed("a tensor is not of real numbers");
    const Shape shape = row.at("shape").get<Shape>();
    const int64_t count = element_count(shape);
    if (count > static_cast<int64_t>(bytes->size() / dtype_size(dtype))) fail_malformed("it ends within a tensor");
    Tensor tensor(dtype, shape);
    if (count > 0) std::memcpy(tensor.mutable_bytes(), bytes->data(), tensor.size_bytes());
    bytes->remove_prefix(tensor.size_bytes());
    tensors.push_back(std::move(tensor));
  }
  return tensors;
}

// The number of ranks in a line of settings; 1 where it says none.
int64_t ranks_of(const std::string& settings) {
  const Json json = parse_ordered_json(settings);
  return json.is_object() ? json.value("ranks", int64_t{1}) : 1;
}

// With another number of ranks sums have another order, so the run would not be the same.
void check_rank_count(const std::string& there, const std::string& here) {
  const int64_t others = ranks_of(there), ranks = ranks_of(here);
  if (others == ranks) return;
  fail_usage("it is of a run with ", counted(others, "rank"), ", this one has ", ranks, ": go on ",
             others == 1 ? std::string("without --mpi") : cat("with mpirun -n ", others),
             ", or begin anew without --resume");
}

}  // namespace

void write_checkpoint(const std::string& path, const Progress& progress, const std::string& settings) {
  const auto each = [&](const auto& body) {  // without a copy of all of it: it may be as large as the rest of the run
    for (const std::vector<Tensor>* tensors : {&progress.state, &progress.best}) {
      for (const Tensor& tensor : *tensors) body(tensor.bytes());
    }
  };
  Sha256Stream checksum;
  each([&](Bytes bytes) { checksum.add(bytes); });
  const Json header = {{"format", kFormat},
                       {"settings", settings},
                       {"epoch", progress.epoch},
                       {"steps", progress.steps},
                       {"best_epoch", progress.best_epoch},
                       {"best_accuracy", progress.best_accuracy},
                       {"state", describe(progress.state)},
                       {"best", describe(progress.best)},
                       {"sha256", checksum.hex()}};
  AtomicFile file(path);
  file.write(json_text(header) + "\n");
  each([&](Bytes bytes) { file.write(bytes); });
  file.commit();
}

Progress read_checkpoint(const std::string& path, const std::string& settings) {
  const std::string text = read_regular_file(path);
  const size_t end = text.find('\n');
  const Json header = parse_ordered_json(std::string_view(text).substr(0, end));
  try {
    if (header.is_discarded() || !header.is_object() || header.value("format", "") != kFormat)
      fail_malformed("not a checkpoint of dnn-train");
    std::string_view bytes = std::string_view(text).substr(end + 1);
    if (header.at("sha256").get<std::string>() != sha256_hex(as_bytes(bytes))) fail_malformed("its checksum is wrong");
    check_rank_count(header.at("settings").get<std::string>(), settings);
    if (header.at("settings").get<std::string>() != settings)
      fail_usage("it is of a run with other settings: ", header.at("settings").get<std::string>(),
                 "; this one: ", settings);
    Progress progress;
    progress.epoch = header.at("epoch").get<int64_t>();
    progress.steps = header.at("steps").get<int64_t>();
    progress.best_epoch = header.at("best_epoch").get<int64_t>();
    progress.best_accuracy = header.at("best_accuracy").get<double>();
    progress.state = take(header.at("state"), &bytes);
    progress.best = take(header.at("best"), &bytes);
    const int64_t epoch = progress.epoch, steps = progress.steps;
    if (epoch < 1 || epoch > kMost || steps < 1 || steps > kMost || progress.best_epoch < 0 ||
        progress.best_epoch > epoch || !bytes.empty())
      fail_malformed("it is damaged");
    return progress;
  } catch (const nlohmann::json::exception&) {
    fail_malformed(path, ": it is damaged");
  } catch (Error& error) {
    error.within(path);
    throw;
  }
}

}  // namespace dnn::train
