// Edits as text: for people, and as JSON that makes them again; see edits.h.
#include <nlohmann/json.hpp>

#include "base/counted.h"
#include "base/json_text.h"
#include "graph/text.h"
#include "image/preprocess.h"
#include "localize/edits.h"
#include "localize/preprocess_search.h"
#include "localize/words.h"

namespace dnn {
namespace {

using Json = nlohmann::ordered_json;

constexpr const char* kKinds[] = {"constant", "attribute", "layers", "preprocess", "classes", "skip", "quantised"};
constexpr size_t kMostAxes = 64, kMostClasses = size_t{1} << 24;

Json common_json(const CommonValue& c) {
  return {{"source", c.source},
          {"target", c.target},
          {"order", c.order},
          {"source_shape", c.source_shape},
          {"target_shape", c.target_shape}};
}

int64_t natural(const Json& json, const char* key) {
  if (!json.is_number_integer() || json.get<int64_t>() < 0) fail_malformed("'", key, "' is no number from 0");
  return json.get<int64_t>();
}

// Numbers that a permutation or shape may hold; so large a rank is none.
template <class T>
std::vector<T> numbers_of(const Json& json, const char* key, size_t most = kMostAxes) {
  const Json& numbers = json.at(key);
  if (!numbers.is_array() || numbers.size() > most)
    fail_malformed("'", key, "' is no list of at most ", most, " numbers");
  std::vector<T> result;
  for (const Json& n : numbers) result.push_back(static_cast<T>(natural(n, key)));
  return result;
}

std::vector<double> real_numbers(const Json& json, const char* key) {
  std::vector<double> result;
  if (!json.contains(key)) return result;
  if (!json.at(key).is_array() || json.at(key).size() > kMostClasses)
    fail_malformed("'", key, "' is no list of numbers");
  for (const Json& n : json.at(key)) result.push_back(n.get<double>());
  return result;
}

void check_permutation(const std::vector<size_t>& order, const char* key) {
  std::vector<bool> seen(order.size(), false);
  for (size_t axis : order) {
    if (axis >= order.size() || seen[axis]) fail_malformed("'", key, "' is no permutation");
    seen[axis] = true;
  }
}

CommonValue common_of(const Json& json) {
  CommonValue c;
  c.source = json.at("source").get<std::string>();
  c.target = json.at("target").get<std::string>();
  c.order = numbers_of<size_t>(json, "order");
  check_permutation(c.order, "order");
  c.source_shape = numbers_of<int64_t>(json, "source_shape");
  c.target_shape = numbers_of<int64_t>(json, "target_shape");
  if (element_count(c.source_shape) != element_count(c.target_shape)) fail_malformed("the two shapes do not fit");
  return c;
}

void read_layers_edit(const Json& json, Edit* edit) {
  edit->output = common_of(json.at("output"));
  for (const Json& input : json.at("inputs")) edit->inputs.push_back(common_of(input));
  edit->source = edit->output.source;
  edit->target = edit->output.target;
  for (const Json& name : json.value("in_float", Json::array())) edit->in_float.push_back(name.get<std::string>());
  if (!json.contains("held")) return;
  for (const Json& pair : json.at("held"))
    edit->held.emplace_back(pair.at("source").get<std::string>(), pair.at("target").get<std::string>());
}

void read_perm(const Json& json, Edit* edit) {
  if (!json.contains("perm")) return;
  edit->perm = numbers_of<size_t>(json, "perm");
  check_permutation(edit->perm, "perm");
}

void read_quantised_edit(const Json& json, Edit* edit) {
  edit->key = json.at("key").get<std::string>();
  edit->input = json.contains("input") ? static_cast<size_t>(natural(json.at("input"), "input")) : 0;
  if (json.contains("rows")) edit->rows = numbers_of<size_t>(json, "rows", kMostClasses);
  edit->numbers = real_numbers(json, "numbers");
  edit->divided = real_numbers(json, "divided");
  edit->multiplied = real_numbers(json, "multiplied");
  read_perm(json, edit);
}

Edit edit_of(const Json& json) {
  const auto kind = json.at("kind").get<std::string>();
  Edit edit;
  edit.folded = json.value("folded", false);
  edit.all_folded = json.value("all_folded", false);
  if (kind == kKinds[2]) {
    edit.kind = Edit::Kind::Layers;
    read_layers_edit(json, &edit);
    return edit;
  }
  if (kind == kKinds[3]) {
    edit.kind = Edit::Kind::Preprocess;
    edit.key = json.at("preprocess").dump(-1, ' ', false, Json::error_handler_t::replace);
    try {
      preprocess_from_json(edit.key);
    } catch (const Error& e) {
      if (e.kind() != ErrorKind::Malformed) throw;
      fail_malformed("'preprocess' is not what a stream's header says of one");
    }
    return edit;
  }
  if (kind == kKinds[4]) {
    edit.kind = Edit::Kind::Classes;
    edit.classes = numbers_of<size_t>(json, "classes", kMostClasses);
    return edit;
  }
  edit.target = json.at("target").get<std::string>();
  if (kind == kKinds[5]) {
    edit.kind = Edit::Kind::Skip;
    edit.key = json.at("instead").get<std::string>();
    return edit;
  }
  edit.source = json.at("source").get<std::string>();
  if (kind == kKinds[1]) {
    edit.kind = Edit::Kind::Attribute;
    edit.key = json.at("key").get<std::string>();
    return edit;
  }
  if (kind == kKinds[6]) {
    edit.kind = Edit::Kind::Quantised;
    read_quantised_edit(json, &edit);
    return edit;
  }
  if (kind != kKinds[0]) fail_malformed("there is no kind '", kind, "'");
  const int64_t input = natural(json.at("input"), "input");
  if (input > 1 << 16) fail_malformed("'input' is ", input);
  edit.input = static_cast<size_t>(input);
  read_perm(json, &edit);
  return edit;
}

std::vector<std::string> plain_names(std::vector<std::string> names) {
  for (std::string& name : names) name = plain(name);
  return names;
}

}  // namespace

std::string edit_text(const Edit& edit) {
  const std::string folded = edit.all_folded ? ", batch norms and scales folded"
                             : edit.folded   ? ", batch norms folded"
                                             : "";
  switch (edit.kind) {
    case Edit::Kind::Constant:
      return cat("constant: input ", edit.input, " of what makes ", plain(edit.target), " from ", plain(edit.source),
                 edit.perm.empty() ? "" : ", axes permuted", folded);
    case Edit::Kind::Attribute:
      return cat("attribute: ", plain(edit.key), " of what makes ", plain(edit.target), " from ", plain(edit.source));
    case Edit::Kind::Layers: {
      std::vector<std::string> from;
      for (const CommonValue& c : edit.inputs) from.push_back(plain(c.target));
      return cat("layers: ", plain(edit.target), " made of ", join(from), " as the source makes ", plain(edit.source),
                 folded, edit.in_float.empty() ? "" : "; in float32, as the target has lost their integers: ",
                 join(plain_names(edit.in_float)));
    }
    case Edit::Kind::Preprocess:
      return cat("preprocessing that the model says is its own: ", preprocess_spec(preprocess_from_json(edit.key)));
    case Edit::Kind::Classes: return cat("order of the first output's ", edit.classes.size(), " classes");
    case Edit::Kind::Skip: return cat("layers left out: what reads ", plain(edit.target), " reads ", plain(edit.key));
    case Edit::Kind::Quantised:
      if (edit.key == "order") return cat("order of the integers of ", plain(edit.target));
      return edit.key == "integers" ? cat("integers: ", counted(edit.rows.size(), "row"), " of ", plain(edit.target),
                                          " quantised again from ", plain(edit.source), folded)
                                    : cat(edit.key, " of ", plain(edit.target), ": ",
                                          edit.numbers.size() == 1 ? words::number(edit.numbers[0])
                                                                   : cat(edit.numbers.size(), " numbers"));
  }
  return "";
}

std::string edits_json(const std::vector<Edit>& edits) {
  Json list = Json::array();
  for (const Edit& edit : edits) {
    Json json = {{"kind", kKinds[static_cast<size_t>(edit.kind)]}};
    if (edit.kind == Edit::Kind::Layers) {
      json["output"] = common_json(edit.output);
      json["inputs"] = Json::array();
      for (const CommonValue& input : edit.inputs) json["inputs"].push_back(common_json(input));
      if (!edit.in_float.empty()) json["in_float"] = edit.in_float;
      for (const auto& [ours, theirs] : edit.held) json["held"].push_back({{"source", ours}, {"target", theirs}});
    } else if (edit.kind == Edit::Kind::Preprocess) {
      json["preprocess"] = parse_ordered_json(edit.key);
    } else if (edit.kind == Edit::Kind::Classes) {
      json["classes"] = edit.classes;
    } else if (edit.kind == Edit::Kind::Skip) {
      json["target"] = edit.target;
      json["instead"] = edit.key;
    } else {
      json["source"] = edit.source;
      json["target"] = edit.target;
    }
    if (edit.kind == Edit::Kind::Constant) json["input"] = edit.input;
    if (edit.kind == Edit::Kind::Attribute || edit.kind == Edit::Kind::Quantised) json["key"] = edit.key;
    if (edit.kind == Edit::Kind::Quantised) {
      json["input"] = edit.input;
      if (!edit.rows.empty()) json["rows"] = edit.rows;
      if (!edit.numbers.empty()) json["numbers"] = edit.numbers;
      if (!edit.divided.empty()) json["divided"] = edit.divided;
      if (!edit.multiplied.empty()) json["multiplied"] = edit.multiplied;
    }
    if (!edit.perm.empty()) json["perm"] = edit.perm;
    if (edit.folded) json["folded"] = true;
    if (edit.all_folded) json["all_folded"] = true;
    list.push_back(std::move(json));
  }
  return words::json_line({{"edits", list}});
}

std::vector<Edit> parse_edits(std::string_view text, const std::string& what) {
  constexpr int kDeepest = 8;
  std::vector<Edit> edits;
  Json json = parse_ordered_json(text, kDeepest);
  if (json.is_discarded()) fail_malformed(what, ": not JSON; edits are what dnn-repair --edits writes");
  if (!json.is_object() || !json.contains("edits") || !json["edits"].is_array())
    fail_malformed(what, ": holds no list of edits, as dnn-repair --edits writes");
  try {
    for (const Json& edit : json["edits"]) edits.push_back(edit_of(edit));
  } catch (const Json::exception&) {
    fail_malformed(what, ": edit ", edits.size() + 1, " is not what dnn-repair --edits writes");
  } catch (Error& e) {
    throw e.within(cat(what, ": edit ", edits.size() + 1));
  }
  return edits;
}

}  // namespace dnn
