// Values of exported programs; see pt2_values.h.
#include "formats/torch/pt2_values.h"

#include "base/text.h"

namespace dnn::pt2 {

using torch::Any;
using torch::Json;
using torch::member;
using torch::StoredTensor;

namespace {

Any float_of(const Json& number) {
  if (number.is_number()) return number.get<double>();
  double parsed = 0;
  std::string text = torch::text(number, "a float");
  if (text == "Infinity" || text == "-Infinity" || text == "NaN")
    text = text == "NaN" ? "nan" : text[0] == '-' ? "-inf" : "inf";
  if (!parse_double(text, &parsed)) fail_malformed("JSON: ", dnn::quoted(text), " is no number");
  return parsed;
}

template <class Convert>
Any many(const Json& list, const Convert& convert) {
  std::vector<Any> items;
  for (const Json& item : torch::array(list, "an argument")) items.push_back(convert(item));
  return make_list(std::move(items));
}

}  // namespace

StoredTensor ProgramValues::weight(const std::string& name) {
  for (const auto& weights : weights_) {
    if (const StoredTensor* tensor = weights->find(name)) return *tensor;
  }
  fail_malformed("there is no weight ", dnn::quoted(name));
}

Any ProgramValues::value(const std::string& name) {
  const auto found = values_.find(name);
  if (found != values_.end()) return found->second;
  const auto pending = pending_.find(name);
  if (pending == pending_.end()) fail_malformed("there is no value ", dnn::quoted(name));
  return values_[name] = importer_.constant(pending->second, weight(pending->second));
}

Any ProgramValues::symbolic(const Json& entry) {
  if (const Json* fixed = torch::find_member(entry, "as_int")) return torch::integer(*fixed, "an int");
  return value(torch::text(member(entry, "as_name"), "the name of an int"));
}

Any ProgramValues::argument(const Json& arg) {
  if (!arg.is_object() || arg.size() != 1) fail_malformed("JSON: an argument is no union");
  const std::string& kind = arg.begin().key();
  const Json& body = arg.begin().value();
  const auto tensor = [this](const Json& t) { return value(torch::text(member(t, "name"), "a tensor's name")); };
  const auto integer = [](const Json& n) { return Any(torch::integer(n, "an int")); };
  if (kind == "as_none") return {};
  if (kind == "as_tensor") return tensor(body);
  if (kind == "as_tensors") return many(body, tensor);
  if (kind == "as_int") return integer(body);
  if (kind == "as_ints") return many(body, integer);
  if (kind == "as_float") return float_of(body);
  if (kind == "as_floats") return many(body, float_of);
  if (kind == "as_bool") return body == Json(true);
  if (kind == "as_bools") return many(body, [](const Json& b) { return Any(b == Json(true)); });
  if (kind == "as_string") return torch::text(body, "a text");
  if (kind == "as_sym_int") return symbolic(body);
  if (kind == "as_sym_ints") return many(body, [this](const Json& n) { return symbolic(n); });
  if (kind == "as_scalar_type") return torch_code(torch::integer(body, "a dtype"));
  if (kind == "as_memory_format" || kind == "as_layout" || kind == "as_device") return {};
  if (kind == "as_optional_tensor" || kind == "as_optional_tensors") {
    const auto optional = [this](const Json& t) {
      const Json* inner = torch::find_member(t, "as_tensor");
      return inner == nullptr ? Any() : value(torch::text(member(*inner, "name"), "a tensor's name"));
    };
    return kind == "as_optional_tensor" ? optional(body) : many(body, optional);
  }
  fail_unsupported("arguments of the kind ", kind, " are not read");
}

}  // namespace dnn::pt2
