// Parsing JSON; see json_text.h.
#include "base/json_text.h"

#include <nlohmann/json.hpp>
#include <string>
#include <unordered_map>
#include <vector>

namespace dnn {
namespace {

using Json = nlohmann::ordered_json;

// The parser's events into a value. Objects and arrays that are not closed yet make a stack, whose values stay where they are: what is
// around one grows only after it was closed.
class Builder : public nlohmann::json_sax<Json> {
 public:
  explicit Builder(int deepest) : deepest_(deepest) {}
  Json take() { return std::move(root_); }

  bool null() override { return add(nullptr); }
  bool boolean(bool value) override { return add(value); }
  bool number_integer(number_integer_t value) override { return add(value); }
  bool number_unsigned(number_unsigned_t value) override { return add(value); }
  bool number_float(number_float_t value, const string_t&) override { return add(value); }
  bool string(string_t& value) override { return add(std::move(value)); }
  bool binary(binary_t& value) override { return add(std::move(value)); }
  bool start_object(size_t) override { return open(Json::object()); }
  bool start_array(size_t) override { return open(Json::array()); }
  bool end_object() override { return close(); }
  bool end_array() override { return close(); }
  bool key(string_t& name) override {
    Open& around = open_.back();
    Json::object_t& object = around.value->get_ref<Json::object_t&>();
    const auto [at, fresh] = around.places.try_emplace(name, object.size());
    // The vector underneath: the map's own insertion compares with every earlier key.
    if (fresh) static_cast<Json::object_t::Container&>(object).emplace_back(name, Json());
    around.next = at->second;
    return true;
  }
  bool parse_error(size_t, const std::string&, const nlohmann::detail::exception&) override { return false; }

 private:
  struct Open {
    Json* value = nullptr;
    std::unordered_map<std::string, size_t> places;  // of an object's keys
    size_t next = 0;                                 // of them, whose value comes
  };

  Json* put(Json&& value) {
    if (open_.empty()) return &(root_ = std::move(value));
    Open& around = open_.back();
    if (around.value->is_array()) {
      auto& elements = around.value->get_ref<Json::array_t&>();
      elements.push_back(std::move(value));
      return &elements.back();
    }
    auto& pairs = static_cast<Json::object_t::Container&>(around.value->get_ref<Json::object_t&>());
    return &(pairs[around.next].second = std::move(value));
  }
  bool add(Json&& value) {
    put(std::move(value));
    return true;
  }
  bool open(Json&& value) {
    if (open_.size() >= static_cast<size_t>(deepest_)) return false;
    Json* const placed = put(std::move(value));
    open_.push_back({placed, {}, 0});
    return true;
  }
  bool close() {
    open_.pop_back();
    return true;
  }

  const int deepest_;
  Json root_;
  std::vector<Open> open_;
};

}  // namespace

nlohmann::ordered_json parse_ordered_json(std::string_view text, int deepest) {
  Builder builder(deepest);
  const bool parsed = Json::sax_parse(text, &builder);
  return parsed ? builder.take() : Json(Json::value_t::discarded);
}

nlohmann::json parse_json(std::string_view text) { return nlohmann::json::parse(text, nullptr, false); }

std::string json_text(const nlohmann::json& json, int indent) {
  return json.dump(indent, ' ', false, nlohmann::json::error_handler_t::replace);
}

std::string json_text(const Json& json, int indent) {
  return json.dump(indent, ' ', false, Json::error_handler_t::replace);
}

}  // namespace dnn
