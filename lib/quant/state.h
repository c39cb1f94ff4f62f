// State: what a calibration has seen so far, as a file: a calibration goes on from it, and those of parts of the inputs add up.
#pragma once
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "quant/calibrate.h"
#include "quant/seen_inputs.h"

namespace dnn::quant {

struct State {
  std::string network;     // see fingerprint()
  std::string preprocess;  // of images; "" of other inputs
  int64_t samples = 0;     // that were read
  std::vector<SeenInputs> sources;
  std::map<std::string, Seen> seen;  // by value
  std::map<std::string, ChannelMeans> means;

  // The samples done of these inputs, as this list of them or as parts of others.
  Ranges done(const SeenInputs& inputs) const;
};

// SHA-256 of the network's text and weights.
std::string fingerprint(const Graph& bound);

// One line of JSON as schemas/quantize/state.schema.json has it. The same state gives the same bytes.
std::string state_json(const State& state);
// Throws Malformed.
State parse_state(std::string_view json);
// Reads a file. What is thrown names it.
State read_state(const std::string& path);

// Another part of the same calibration. Throws Usage where the network or the preprocessing is another one, or where both have seen
// a sample.
void merge(State* into, const State& part);

// The figures of `calibration` as a state, without its network, preprocessing and sources.
State state_of(const Graph& bound, const Calibration& calibration);
// A state's figures for the values that `watched` has keys for.
void take_state(const Graph& bound, const State& state, Calibration* watched);

}  // namespace dnn::quant
