// Users' programs; see programs.h.
#include "infer/programs.h"
#include "base/json_text.h"

#include <nlohmann/json.hpp>

namespace dnn {
namespace {

int64_t sample_of(const stream::Sample& sample) { return sample.id; }
int64_t sample_of(const stream::Prediction& prediction) { return prediction.sample; }

}  // namespace

stream::Header header_for_program(const Package& package, const BatchPlan& plan) {
  stream::Header header;
  header.tool = "dnn-infer";
  header.model = {package.info.model_path, package.info.model_sha256, package.info.model_format};
  header.batch = static_cast<int>(plan.batch);
  nlohmann::ordered_json inputs = nlohmann::ordered_json::array();
  for (const InputSlot& slot : plan.slots) {
    inputs.push_back({{"name", slot.name}, {"dtype", std::string(dtype_name(slot.dtype))}, {"shape", slot.shape}});
  }
  header.preprocess = json_text(nlohmann::ordered_json{{"inputs", inputs}});
  return header;
}

std::string named_by_program(const std::string& command) {
  return json_text(nlohmann::ordered_json{{"name", command}});
}

RecordProgram::RecordProgram(const std::string& command, const stream::Header& header, double wait_s)
    : dialogue_(command, wait_s) {
  dialogue_.send(header);
  const stream::Record answer = dialogue_.answer();
  if (!std::holds_alternative<stream::Header>(answer))
    fail_malformed(name(), ": it begins with a ", stream::record_type(answer), " record, not with a header");
}

template <class Kind>
Kind RecordProgram::answer_to(const Kind& record, int64_t sample) {
  const std::lock_guard lock(mutex_);
  dialogue_.send(record);
  stream::Record answer = dialogue_.answer();
  auto* same = std::get_if<Kind>(&answer);
  if (same == nullptr || sample_of(*same) != sample)
    fail_malformed(name(), ": it answers the ", stream::record_type(record), " of sample ", sample,
                   " with another record");
  return std::move(*same);
}

stream::Sample RecordProgram::ask(const stream::Sample& sample) { return answer_to(sample, sample.id); }

stream::Prediction RecordProgram::ask(const stream::Prediction& prediction) {
  stream::Prediction answer = answer_to(prediction, prediction.sample);
  answer.latency_ns = prediction.latency_ns;
  answer.batch = prediction.batch;
  return answer;
}

}  // namespace dnn
