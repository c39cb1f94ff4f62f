// Device lists; see parts.h.
#include "place/parts.h"

#include <algorithm>
#include <set>
#include <utility>

#include "base/affinity.h"
#include "base/error.h"

namespace dnn::place {
namespace {

struct Precision {
  const char* name;
  std::vector<DType> stored;  // a node computes in it where it reads or makes a value of these
};

const std::vector<Precision>& precisions() {
  static const std::vector<Precision> rows = {
      {"f32", {}}, {"int8", {DType::Int8, DType::UInt8}}, {"int16", {DType::Int16, DType::UInt16}}};
  return rows;
}

const Precision* find_precision(const std::string& name) {
  for (const Precision& row : precisions()) {
    if (row.name == name) return &row;
  }
  return nullptr;
}

// The address of another machine, which has its own processors.
bool is_address(const std::string& text) { return text.find("://") != std::string::npos || starts_with(text, "unix:"); }

// An entry without its letter.
Part parse_part(const std::string& entry, const std::string& given) {
  Part part;
  std::string rest = given;
  part.text = rest;
  if (const size_t at = rest.find('@'); !is_address(rest) && at != std::string::npos) {
    std::string cores = rest.substr(at + 1);
    if (const size_t colon = cores.find(':'); colon != std::string::npos) {
      part.precision = cores.substr(colon + 1);
      cores.resize(colon);
    }
    std::replace(cores.begin(), cores.end(), '+', ',');
    const std::optional<std::vector<int>> listed = parse_processors(cores);
    if (!listed || listed->empty())
      fail_usage("--devices: ", quoted(entry), ": no processors after @; write @0 or @0+2-3");
    part.cores = *listed;
    rest.resize(at);
  } else if (const size_t colon = rest.rfind(':');
             colon != std::string::npos && find_precision(rest.substr(colon + 1)) != nullptr) {
    part.precision = rest.substr(colon + 1);
    rest.resize(colon);
  }
  // "cpu:f64" names a device of its own; what stands behind the processors does not.
  if (!part.precision.empty() && find_precision(part.precision) == nullptr) {
    std::vector<std::string> known;
    for (const Precision& row : precisions()) known.emplace_back(row.name);
    if (part.precision != "f16" && part.precision != "bf16" && dtype_from_name(part.precision) == DType::Undefined)
      fail_usage("--devices: ", quoted(entry), ": ", quoted(part.precision), " is no precision; choose from ",
                 join(known));
    fail_unsupported("--devices: ", quoted(entry), ": no part computes in ", part.precision, "; choose from ",
                     join(known));
  }
  part.device = DeviceSpec(rest);
  if (part.device.framework() != nullptr || part.device.float64())
    fail_unsupported("--devices: ", quoted(entry),
                     ": parts run on devices for packages in float32: reference, cpu, opencl:N, cuda:N");
  return part;
}

void check_cores(const std::vector<Part>& parts) {
  const std::vector<int> allowed = allowed_processors();
  std::set<int> seen;
  for (const Part& part : parts) {
    for (int core : part.cores) {
      if (!allowed.empty() && std::find(allowed.begin(), allowed.end(), core) == allowed.end())
        fail_usage("--devices: ", part.label(), ": this process may not use processor ", core, "; it may use ",
                   processors_text(allowed));
      if (!seen.insert(core).second)
        fail_usage("--devices: processor ", core, " is listed twice; give each part processors of its own");
    }
  }
}

// Processors of this machine that stand beside some that were given theirs have the rest.
void share_the_rest(std::vector<Part>* parts) {
  std::vector<int> left = allowed_processors();
  bool given = false;
  for (const Part& part : *parts) {
    if (!part.on_this_processor()) continue;
    given = given || !part.cores.empty();
    for (int core : part.cores) left.erase(std::remove(left.begin(), left.end(), core), left.end());
  }
  if (!given) return;
  for (Part& part : *parts) {
    if (!part.on_this_processor() || !part.cores.empty()) continue;
    if (left.empty())
      fail_usage("--devices: ", part.label(), ": no processor is left for it; give each part processors of its own");
    part.cores = std::exchange(left, {});
  }
}

// An entry's letter, where it has one.
char letter_of(const std::string& entry) { return entry.size() > 1 && entry[1] == '=' ? entry[0] : '\0'; }

}  // namespace

std::string Part::label() const { return cat(letter, " (", text, ")"); }

std::string Part::entry() const { return cat(letter, "=", text); }

DeviceOptions Part::options() const {
  DeviceOptions options;
  options.threads = static_cast<int>(cores.size());
  options.processors = cores;
  return options;
}

std::vector<Part> parse_parts(const std::string& list, std::string_view letters) {
  const std::vector<std::string> entries = split(list, ',');
  std::string taken;
  for (const std::string& entry : entries) {
    if (entry.empty()) fail_usage("--devices: ", quoted(list), " has an empty entry");
    const char letter = letter_of(entry);
    if (letter == '\0') continue;
    if (letters.find(letter) == std::string_view::npos)
      fail_usage("--devices: ", quoted(entry), ": the letter is not one of ", letters);
    if (taken.find(letter) != std::string::npos) fail_usage("--devices: the letter ", letter, " comes twice");
    taken += letter;
  }
  std::vector<Part> parts;
  for (const std::string& entry : entries) {
    char letter = letter_of(entry);
    parts.push_back(parse_part(entry, letter == '\0' ? entry : entry.substr(2)));
    if (letter == '\0') {
      const size_t free = letters.find_first_not_of(taken);
      if (free == std::string_view::npos)
        fail_usage("--devices: ", quoted(entry), " is one device too many; there are letters for ", letters.size());
      letter = letters[free];
      taken += letter;
    }
    parts.back().letter = letter;
  }
  check_cores(parts);
  share_the_rest(&parts);
  return parts;
}

void check_precisions(const Graph& graph, const std::vector<Part>& parts, const std::vector<size_t>& places) {
  for (size_t p = 0; p < parts.size(); ++p) {
    const Precision* wanted = parts[p].precision.empty() ? nullptr : find_precision(parts[p].precision);
    if (wanted == nullptr || wanted->stored.empty()) continue;
    const auto stores = [&](ValueId v) {
      return v != kNoValue &&
             std::find(wanted->stored.begin(), wanted->stored.end(), graph.value(v).type.dtype) != wanted->stored.end();
    };
    const auto fits = [&](NodeId id) {
      const Node& node = graph.node(id);
      return places[id] == p && (std::any_of(node.inputs.begin(), node.inputs.end(), stores) ||
                                 std::any_of(node.outputs.begin(), node.outputs.end(), stores));
    };
    const auto here = [&](NodeId id) { return places[id] == p; };
    const std::vector<NodeId>& order = graph.order();
    if (std::any_of(order.begin(), order.end(), here) && std::none_of(order.begin(), order.end(), fits))
      fail_unsupported("--devices: ", parts[p].label(), ": no node there computes in ", wanted->name,
                       "; quantise the network first (dnn-quantize), or leave out :", wanted->name);
  }
}

std::vector<Part> joined_parts(const std::vector<Part>& parts) {
  std::vector<Part> result;
  std::set<std::string> seen;
  for (const Part& first : parts) {
    if (first.cores.empty() || first.device.on_gpu() || !seen.insert(first.device.text()).second) continue;
    Part all = first;
    size_t n = 0;
    all.cores.clear();
    for (const Part& part : parts) {
      if (part.cores.empty() || part.device.text() != first.device.text()) continue;
      ++n;
      all.cores.insert(all.cores.end(), part.cores.begin(), part.cores.end());
    }
    if (n < 2) continue;
    std::sort(all.cores.begin(), all.cores.end());
    std::string cores = processors_text(all.cores);
    std::replace(cores.begin(), cores.end(), ',', '+');
    all.text = cat(all.device.text(), "@", cores);
    if (!all.precision.empty()) all.text += ":" + all.precision;
    result.push_back(std::move(all));
  }
  return result;
}

}  // namespace dnn::place
