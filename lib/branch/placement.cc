// Device lists and placements by the names of nodes.
#include "branch/placement.h"

#include <algorithm>

#include "base/affinity.h"
#include "base/error.h"
#include "branch/config.h"

namespace dnn::branch {
namespace {

Part parse_part(const std::string& entry, size_t place) {
  Part part;
  std::string rest = entry;
  if (rest.size() > 1 && rest[1] == '=') {
    const ProcessorName* row = find_processor(rest.substr(0, 1));
    if (row == nullptr)
      fail_usage("--devices: ", quoted(entry), ": the letter is not one of C (cpu), D (dsp), G (gpu)");
    part.letter = row->letter;
    rest = rest.substr(2);
  } else if (place < processor_names().size()) {
    part.letter = processor_names()[place].letter;
  } else {
    fail_usage("--devices: ", quoted(entry), " has no letter; write C=, D= or G= in front");
  }
  part.text = rest;
  std::string precision;
  // The address of another machine, which has its own processors.
  const bool is_address = rest.find("://") != std::string::npos || starts_with(rest, "unix:");
  if (const size_t at = rest.find('@'); !is_address && at != std::string::npos) {
    std::string cores = rest.substr(at + 1);
    if (const size_t colon = cores.find(':'); colon != std::string::npos) {
      precision = cores.substr(colon + 1);
      cores.resize(colon);
    }
    std::replace(cores.begin(), cores.end(), '+', ',');
    const std::optional<std::vector<int>> listed = parse_processors(cores);
    if (!listed || listed->empty())
      fail_usage("--devices: ", quoted(entry), ": no processors after @; write @0 or @0+2-3");
    part.cores = *listed;
    rest.resize(at);
  }
  // "cpu:f64" names a device of its own; what stands behind the processors does not.
  if (!precision.empty() && precision != "f32")
    fail_unsupported("--devices: ", quoted(entry), ": parts compute in f32, not in ", precision,
                     "; quantise the network for integers");
  part.device = DeviceSpec(rest);
  if (part.device.framework() != nullptr || part.device.float64())
    fail_unsupported("--devices: ", quoted(entry),
                     ": parts run on devices for packages in float32: reference, cpu, opencl:N, cuda:N");
  return part;
}

// The device that a node is called after, or null: `st_cpu_conv`.
const ProcessorName* processor_in(const std::string& name) {
  const std::vector<std::string> words = split(name, '_');
  return words.size() < 2 || words[1].size() < 2 ? nullptr : find_processor(words[1]);
}

void check_cores(const std::vector<Part>& parts) {
  const std::vector<int> allowed = allowed_processors();
  std::vector<int> seen;
  for (const Part& part : parts) {
    for (int core : part.cores) {
      if (!allowed.empty() && std::find(allowed.begin(), allowed.end(), core) == allowed.end())
        fail_usage("--devices: ", part.label(), ": this process may not use processor ", core, "; it may use ",
                   processors_text(allowed));
      if (std::find(seen.begin(), seen.end(), core) != seen.end())
        fail_usage("--devices: processor ", core, " is listed twice; give each part processors of its own");
      seen.push_back(core);
    }
  }
}

}  // namespace

std::string Part::label() const { return cat(letter, " (", text, ")"); }

DeviceOptions Part::options() const {
  DeviceOptions options;
  options.threads = static_cast<int>(cores.size());
  options.processors = cores;
  return options;
}

std::vector<Part> parse_parts(const std::string& list) {
  std::vector<Part> parts;
  for (const std::string& entry : split(list, ',')) {
    if (entry.empty()) fail_usage("--devices: ", quoted(list), " has an empty entry");
    parts.push_back(parse_part(entry, parts.size()));
    for (size_t i = 0; i + 1 < parts.size(); ++i) {
      if (parts[i].letter == parts.back().letter) fail_usage("--devices: the letter ", parts[i].letter, " comes twice");
    }
  }
  check_cores(parts);
  return parts;
}

std::string letters_named(const Graph& graph) {
  std::string letters;
  for (const ProcessorName& row : processor_names()) {
    if (std::any_of(graph.order().begin(), graph.order().end(),
                    [&](NodeId id) { return processor_in(graph.node(id).name) == &row; }))
      letters += row.letter;
  }
  return letters;
}

std::vector<size_t> place_by_names(const Graph& graph, const std::string& letters) {
  const Uses uses(graph);
  std::vector<size_t> places(static_cast<size_t>(graph.node_slots()), 0);
  for (NodeId id : graph.order()) {
    const Node& node = graph.node(id);
    const ProcessorName* row = processor_in(node.name);
    size_t& place = places[static_cast<size_t>(id)];
    if (row != nullptr) {
      place = letters.find(row->letter);
      if (place == std::string::npos)
        fail_usage(node.label(), " is for ", row->letter, " (", row->name, "), which no device is given for; add ",
                   row->letter, "=DEVICE to --devices");
      continue;
    }
    for (ValueId v : node.inputs) {
      const NodeId maker = v == kNoValue ? -1 : uses.producer[static_cast<size_t>(v)];
      if (maker < 0) continue;
      place = places[static_cast<size_t>(maker)];
      break;
    }
  }
  return places;
}

}  // namespace dnn::branch
