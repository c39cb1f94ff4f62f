// Records to maps and back; see records.h.
#include "stream/records.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <unordered_set>

#include "base/error.h"
#include "base/json_text.h"
#include "stream/record_map.h"

namespace dnn::stream {
namespace {

constexpr std::string_view kRoleNames[] = {"activation", "parameter", "output", "input"};

// Where in a record a value stands: put into words only when something is wrong with it, for a stream has many.
struct Place {
  std::string_view what;  // "prediction of sample "
  std::optional<int64_t> number;
  std::string_view part, key;  // ": 'top_k'", and the key in it; "" for the part itself
};
std::ostream& operator<<(std::ostream& out, const Place& place) {
  out << place.what;
  if (place.number) out << *place.number;
  out << place.part;
  return place.key.empty() ? out : out << ": '" << place.key << "'";
}

// Typed access to the keys of one map, whose place outlives it; errors name the record and the key.
class Fields {
 public:
  Fields(const Json& map, const Place& place) : map_(map), place_(place) {
    if (!map.is_object()) fail_malformed(place, ": not a map");
  }
  Fields(const Json& map, std::string_view what) : Fields(map, Place{what, {}, {}, {}}) {}

  const Json* find(std::string_view key) const {
    const auto it = map_.find(key);
    return it == map_.end() || it->is_null() ? nullptr : &*it;
  }
  const Json& need(std::string_view key) const {
    const Json* value = find(key);
    if (value == nullptr) fail_malformed(place_, ": no '", key, "'");
    return *value;
  }
  Place name(std::string_view key) const { return {place_.what, place_.number, place_.part, key}; }

  std::string text(std::string_view key) const {
    const Json* value = find(key);
    return value == nullptr ? std::string() : as_text(*value, name(key));
  }
  std::vector<std::string> texts(std::string_view key) const {
    std::vector<std::string> result;
    for (const Json& element : array(key)) result.push_back(as_text(element, name(key)));
    return result;
  }
  std::optional<int64_t> integer(std::string_view key) const {
    const Json* value = find(key);
    return value == nullptr ? std::nullopt : std::optional(as_integer(*value, name(key)));
  }
  std::optional<int> small_integer(std::string_view key) const {
    const std::optional<int64_t> value = integer(key);
    if (!value) return std::nullopt;
    if (*value < std::numeric_limits<int>::min() || *value > std::numeric_limits<int>::max()) {
      fail_malformed(name(key), ": ", *value, " is out of range");
    }
    return static_cast<int>(*value);
  }
  std::optional<double> number(std::string_view key) const {
    const Json* value = find(key);
    return value == nullptr ? std::nullopt : std::optional(as_number(*value, name(key)));
  }
  bool flag(std::string_view key) const {
    const Json* value = find(key);
    if (value == nullptr) return false;
    if (!value->is_boolean()) fail_malformed(name(key), ": not a boolean");
    return value->get<bool>();
  }
  const Json& array(std::string_view key) const {
    static const Json kEmpty = Json::array();
    const Json* value = find(key);
    if (value == nullptr) return kEmpty;
    if (!value->is_array()) fail_malformed(name(key), ": not an array");
    return *value;
  }
  const Json& map(std::string_view key) const {
    static const Json kEmpty = Json::object();
    const Json* value = find(key);
    if (value == nullptr) return kEmpty;
    if (!value->is_object()) fail_malformed(name(key), ": not a map");
    return *value;
  }

  static std::string as_text(const Json& value, const Place& name) {
    if (!value.is_string()) fail_malformed(name, ": not text");
    return value.get<std::string>();
  }
  static int64_t as_integer(const Json& value, const Place& name) {
    if (!value.is_number_integer()) fail_malformed(name, ": not an integer");
    if (value.is_number_unsigned() && value.get<uint64_t>() > uint64_t{std::numeric_limits<int64_t>::max()}) {
      fail_malformed(name, ": ", value.get<uint64_t>(), " is out of range");
    }
    return value.get<int64_t>();
  }
  static double as_number(const Json& value, const Place& name) {
    if (value.is_number()) return value.get<double>();
    if (value.is_string()) {
      const auto& text = value.get_ref<const std::string&>();
      if (text == "nan") return std::numeric_limits<double>::quiet_NaN();
      if (text == "inf") return std::numeric_limits<double>::infinity();
      if (text == "-inf") return -std::numeric_limits<double>::infinity();
    }
    fail_malformed(name, ": not a number");
  }

 private:
  const Json& map_;
  Place place_;
};

void put_text(Json& map, const char* key, const std::string& text) {
  if (!text.empty()) map[key] = text;
}
template <class T>
void put_optional(Json& map, const char* key, const std::optional<T>& value) {
  if (value) map[key] = *value;
}

void put_tensor(Json& map, const Tensor& tensor) {
  map["dtype"] = std::string(dtype_name(tensor.dtype()));
  map["shape"] = tensor.shape();
  if (tensor.dtype() == DType::String) {
    map["strings"] = tensor.strings();
  } else {
    const auto* data = reinterpret_cast<const uint8_t*>(tensor.bytes().data());
    map["data"] = Json::binary(std::vector<uint8_t>(data, data + tensor.size_bytes()));
  }
}

Tensor get_tensor(const Json& map, const std::string& what) {
  const Fields fields(map, what);
  const DType dtype = dtype_from_name(fields.text("dtype"));
  if (dtype == DType::Undefined) fail_malformed(fields.name("dtype"), ": no type '", fields.text("dtype"), "'");
  Shape shape;
  for (const Json& extent : fields.array("shape")) shape.push_back(Fields::as_integer(extent, fields.name("shape")));
  const int64_t n = element_count(shape);
  if (dtype == DType::String) {
    std::vector<std::string> strings = fields.texts("strings");
    if (n != static_cast<int64_t>(strings.size())) {
      fail_malformed(what, ": ", strings.size(), " strings for shape ", shape_text(shape));
    }
    Tensor tensor(dtype, std::move(shape));
    tensor.mutable_strings() = std::move(strings);
    return tensor;
  }
  const std::vector<uint8_t> bytes = bytes_at(map, "data");
  if (bytes.size() % dtype_size(dtype) != 0 || bytes.size() / dtype_size(dtype) != static_cast<uint64_t>(n)) {
    fail_malformed(what, ": ", bytes.size(), " bytes of data for ", dtype_name(dtype), shape_text(shape));
  }
  Tensor tensor(dtype, std::move(shape));
  if (!bytes.empty()) std::memcpy(tensor.mutable_bytes(), bytes.data(), bytes.size());
  return tensor;
}

Json preprocess_map(const std::string& text) {
  Json map = parse_ordered_json(text);
  if (!map.is_object()) fail_malformed("header: 'preprocess' is not a JSON object: ", text);
  return map;
}

Json topology_map(const Topology& t) {
  Json map = Json::object();
  const auto put_count = [&](const char* key, int n) {
    if (n > 0) map[key] = n;
  };
  put_count("sockets", t.sockets);
  put_count("cores", t.cores);
  put_count("processors", t.processors);
  put_count("numa_nodes", t.numa_nodes);
  for (const Topology::Cache& cache : t.caches) {
    map["caches"].push_back({{"name", cache.name},
                             {"size_bytes", cache.size_bytes},
                             {"shared_by", cache.shared_by},
                             {"count", cache.count}});
  }
  if (!t.core_classes.empty()) map["core_classes"] = t.core_classes;
  return map;
}

Json to_map(const Header& h) {
  Json map = {{"type", "header"}, {"stream", kStreamVersion}, {"tool", h.tool}, {"command", h.command}};
  Json model = Json::object();
  put_text(model, "path", h.model.path);
  put_text(model, "sha256", h.model.sha256);
  put_text(model, "format", h.model.format);
  if (!model.empty()) map["model"] = std::move(model);
  put_optional(map, "opt", h.opt);
  put_text(map, "device", h.device);
  put_text(map, "passes", h.passes);
  put_text(map, "isa", h.isa);
  put_text(map, "dtype", h.dtype);
  put_text(map, "label_set", h.label_set);
  if (h.label_offset != 0) map["label_offset"] = h.label_offset;
  if (!h.preprocess.empty()) map["preprocess"] = preprocess_map(h.preprocess);
  put_optional(map, "batch", h.batch);
  put_optional(map, "threads", h.threads);
  put_text(map, "affinity", h.affinity);
  put_text(map, "shard", h.shard);
  put_text(map, "latency_contains", h.latency_contains);
  if (h.topology) map["topology"] = topology_map(*h.topology);
  if (!h.host.empty()) map["host"] = h.host;
  for (const Header& input : h.inputs) map["inputs"].push_back(to_map(input));
  return map;
}

Json to_map(const Sample& s) {
  Json map = {{"type", "sample"}, {"id", s.id}};
  put_text(map, "path", s.path);
  put_optional(map, "truth", s.truth);
  if (s.tensor.defined()) put_tensor(map["tensor"] = Json::object(), s.tensor);
  return map;
}

Json to_map(const Prediction& p) {
  Json map = {{"type", "prediction"}, {"sample", p.sample}};
  Json& top_k = map["top_k"] = Json::array();
  for (const Prediction::Class& c : p.top_k) {
    Json entry = {{"class", c.index}, {"score", c.score}};
    put_text(entry, "label", c.label);
    top_k.push_back(std::move(entry));
  }
  if (!p.outputs.empty()) {
    Json& outputs = map["outputs"] = Json::object();
    // The vector underneath: the map's own insertion compares with every earlier name. Of equal names the first counts.
    Json::object_t::Container& pairs = outputs.get_ref<Json::object_t&>();
    std::unordered_set<std::string_view> names;
    for (const auto& [name, tensor] : p.outputs) {
      if (!names.insert(name).second) continue;
      Json one = Json::object();
      put_tensor(one, tensor);
      pairs.emplace_back(name, std::move(one));
    }
  }
  put_optional(map, "latency_ns", p.latency_ns);
  put_optional(map, "transport_ns", p.transport_ns);
  put_optional(map, "done_ns", p.done_ns);
  if (p.batch != 1) map["batch"] = p.batch;
  return map;
}

Json to_map(const TensorRecord& t) {
  Json map = {{"type", "tensor"}};
  put_text(map, "node", t.node);
  map["name"] = t.name;
  put_optional(map, "sample", t.sample);
  put_text(map, "axes", t.axes);
  map["role"] = std::string(role_name(t.role));
  if (t.recomputed) map["recomputed"] = true;
  put_tensor(map, t.tensor);
  return map;
}

void put_process(Json& map, const ProcessUsage& p) {
  put_optional(map, "cpu_percent", p.cpu_percent);
  put_optional(map, "cpu_time_ns", p.cpu_time_ns);
  put_optional(map, "memory_bytes", p.memory_bytes);
  put_optional(map, "memory_peak_bytes", p.memory_peak_bytes);
  put_optional(map, "minor_faults", p.minor_faults);
  put_optional(map, "major_faults", p.major_faults);
  put_optional(map, "voluntary_switches", p.voluntary_switches);
  put_optional(map, "involuntary_switches", p.involuntary_switches);
}

Json to_map(const Usage& u) {
  Json map = {{"type", "usage"}, {"time_ns", u.time_ns}};
  put_process(map, u.process);
  if (u.network) put_process(map["network"] = Json::object(), *u.network);
  for (const std::optional<double>& percent : u.cores_percent) {
    map["cores_percent"].push_back(percent ? Json(*percent) : Json());
  }
  put_optional(map, "frequency_mhz", u.frequency_mhz);
  put_optional(map, "energy_mj", u.energy_mj);
  put_optional(map, "gpu_percent", u.gpu_percent);
  put_optional(map, "gpu_memory_bytes", u.gpu_memory_bytes);
  put_optional(map, "gpu_energy_mj", u.gpu_energy_mj);
  put_optional(map, "sampler_ns", u.sampler_ns);
  return map;
}

Json to_map(const End& end) { return {{"type", "end"}, {"records", end.records}}; }

Topology topology_from(const Json& map) {
  const Fields fields(map, "header: 'topology'");
  Topology t;
  t.sockets = fields.small_integer("sockets").value_or(0);
  t.cores = fields.small_integer("cores").value_or(0);
  t.processors = fields.small_integer("processors").value_or(0);
  t.numa_nodes = fields.small_integer("numa_nodes").value_or(0);
  for (const Json& entry : fields.array("caches")) {
    const Fields cache(entry, "header: 'topology': 'caches'");
    t.caches.push_back({cache.text("name"), cache.integer("size_bytes").value_or(0),
                        cache.small_integer("shared_by").value_or(0), cache.small_integer("count").value_or(0)});
  }
  t.core_classes = fields.texts("core_classes");
  return t;
}

// "i/n" with 0 <= i < n, or nothing: what joins shards counts them by it.
std::string shard_in(const Fields& fields) {
  std::string shard = fields.text("shard");
  const size_t slash = std::min(shard.find('/'), shard.size());
  int64_t index = 0, count = 0;
  const bool numbers = parse_int(std::string_view(shard).substr(0, slash), &index) &&
                       parse_int(std::string_view(shard).substr(std::min(slash + 1, shard.size())), &count);
  if (!shard.empty() && !(numbers && index >= 0 && index < count))
    fail_malformed(fields.name("shard"), ": ", quoted(shard), " is not of the form i/n with 0 <= i < n");
  return shard;
}

Header header_from(const Json& map) {
  const Fields fields(map, "header");
  const int64_t version = Fields::as_integer(fields.need("stream"), fields.name("stream"));
  if (version > kStreamVersion) {
    fail_unsupported("stream version ", version, "; this program reads up to ", kStreamVersion);
  }
  if (version < 1) fail_malformed("header: stream version ", version);
  Header h;
  h.tool = fields.text("tool");
  h.command = fields.texts("command");
  const Fields model(fields.map("model"), "header: 'model'");
  h.model = {model.text("path"), model.text("sha256"), model.text("format")};
  h.opt = fields.small_integer("opt");
  h.device = fields.text("device");
  h.passes = fields.text("passes");
  h.isa = fields.text("isa");
  h.dtype = fields.text("dtype");
  h.label_set = fields.text("label_set");
  h.label_offset = fields.integer("label_offset").value_or(0);
  if (h.label_offset < 0 || h.label_offset > 1'000'000) {
    fail_malformed(fields.name("label_offset"), ": ", h.label_offset, " is out of range");
  }
  if (fields.find("preprocess") != nullptr) {
    h.preprocess = json_text(fields.map("preprocess"));
  }
  h.batch = fields.small_integer("batch");
  h.threads = fields.small_integer("threads");
  h.affinity = fields.text("affinity");
  h.shard = shard_in(fields);
  h.latency_contains = fields.text("latency_contains");
  if (const Json* topology = fields.find("topology")) h.topology = topology_from(*topology);
  for (const auto& [key, value] : fields.map("host").items()) h.host[key] = Fields::as_text(value, fields.name("host"));
  for (const Json& input : fields.array("inputs")) h.inputs.push_back(header_from(input));
  return h;
}

Sample sample_from(const Json& map) {
  const Fields fields(map, "sample");
  Sample s;
  s.id = Fields::as_integer(fields.need("id"), fields.name("id"));
  s.path = fields.text("path");
  s.truth = fields.integer("truth");
  if (const Json* tensor = fields.find("tensor")) s.tensor = get_tensor(*tensor, cat("sample ", s.id, ": 'tensor'"));
  return s;
}

Prediction prediction_from(const Json& map) {
  const Fields fields(map, "prediction");
  Prediction p;
  p.sample = Fields::as_integer(fields.need("sample"), fields.name("sample"));
  for (const Json& entry : fields.array("top_k")) {
    const Fields item(entry, Place{"prediction of sample ", p.sample, ": 'top_k'", {}});
    Prediction::Class c;
    c.index = Fields::as_integer(item.need("class"), item.name("class"));
    if (c.index < 0) fail_malformed(item.name("class"), ": ", c.index, " is negative");
    c.score = Fields::as_number(item.need("score"), item.name("score"));
    c.label = item.text("label");
    p.top_k.push_back(std::move(c));
  }
  for (const auto& [name, tensor] : fields.map("outputs").items()) {
    p.outputs.emplace_back(name, get_tensor(tensor, cat("prediction of sample ", p.sample, ": output '", name, "'")));
  }
  p.latency_ns = fields.integer("latency_ns");
  p.transport_ns = fields.integer("transport_ns");
  p.done_ns = fields.integer("done_ns");
  p.batch = fields.integer("batch").value_or(1);
  if (p.batch < 1) fail_malformed(fields.name("batch"), ": ", p.batch, " is not positive");
  return p;
}

TensorRecord tensor_from(const Json& map) {
  const Fields fields(map, "tensor");
  TensorRecord t;
  t.node = fields.text("node");
  t.name = fields.text("name");
  t.sample = fields.integer("sample");
  t.axes = fields.text("axes");
  const std::string role = fields.text("role");
  size_t role_i = 0;
  while (role_i < std::size(kRoleNames) && kRoleNames[role_i] != role) ++role_i;
  if (role_i == std::size(kRoleNames)) fail_malformed(fields.name("role"), ": no role '", role, "'");
  t.role = static_cast<Role>(role_i);
  t.recomputed = fields.flag("recomputed");
  t.tensor = get_tensor(map, cat("tensor '", t.name, "'"));
  return t;
}

ProcessUsage process_from(const Fields& fields) {
  ProcessUsage p;
  p.cpu_percent = fields.number("cpu_percent");
  p.cpu_time_ns = fields.integer("cpu_time_ns");
  p.memory_bytes = fields.integer("memory_bytes");
  p.memory_peak_bytes = fields.integer("memory_peak_bytes");
  p.minor_faults = fields.integer("minor_faults");
  p.major_faults = fields.integer("major_faults");
  p.voluntary_switches = fields.integer("voluntary_switches");
  p.involuntary_switches = fields.integer("involuntary_switches");
  return p;
}

Usage usage_from(const Json& map) {
  const Fields fields(map, "usage");
  Usage u;
  u.time_ns = Fields::as_integer(fields.need("time_ns"), fields.name("time_ns"));
  u.process = process_from(fields);
  if (const Json* network = fields.find("network")) u.network = process_from(Fields(*network, "usage: 'network'"));
  for (const Json& percent : fields.array("cores_percent")) {
    u.cores_percent.push_back(
        percent.is_null() ? std::nullopt : std::optional(Fields::as_number(percent, fields.name("cores_percent"))));
  }
  u.frequency_mhz = fields.number("frequency_mhz");
  u.energy_mj = fields.number("energy_mj");
  u.gpu_percent = fields.number("gpu_percent");
  u.gpu_memory_bytes = fields.integer("gpu_memory_bytes");
  u.gpu_energy_mj = fields.number("gpu_energy_mj");
  u.sampler_ns = fields.integer("sampler_ns");
  return u;
}

End end_from(const Json& map) {
  const Fields fields(map, "end");
  End end;
  for (const auto& [key, value] : fields.map("records").items()) {
    end.records[key] = Fields::as_integer(value, fields.name("records"));
  }
  return end;
}

// Binary values to base64 text and non-finite numbers to their names, in place.
void make_printable(Json& value) {
  if (value.is_binary()) {
    const Json::binary_t& bytes = value.get_binary();
    value = base64_encode({reinterpret_cast<const std::byte*>(bytes.data()), bytes.size()});
  } else if (value.is_number_float() && !std::isfinite(value.get<double>())) {
    value = exact_text(value.get<double>());
  } else if (value.is_structured()) {
    for (Json& element : value) make_printable(element);
  }
}

}  // namespace

std::string_view role_name(Role role) { return kRoleNames[static_cast<size_t>(role)]; }

std::string_view record_type(const Record& record) {
  static constexpr std::string_view kNames[] = {"header", "sample", "prediction", "tensor", "usage", "end"};
  return kNames[record.index()];
}

std::string_view text_at(const Json& map, std::string_view key) {
  if (!map.is_object()) return {};
  const auto it = map.find(key);
  return it != map.end() && it->is_string() ? std::string_view(it->get_ref<const std::string&>()) : std::string_view();
}

std::vector<uint8_t> bytes_at(const Json& map, std::string_view key) {
  const auto it = map.find(key);
  if (it == map.end()) fail_malformed("no '", key, "'");
  if (it->is_binary()) return it->get_binary();
  if (it->is_string()) return base64_decode(it->get_ref<const std::string&>());
  fail_malformed("'", key, "': neither bytes nor base64 text");
}

Json record_to_map(const Record& record) {
  return std::visit([](const auto& r) { return to_map(r); }, record);
}

std::optional<Record> record_from_map(const Json& map) {
  if (!map.is_object()) fail_malformed("record: not a map");
  const std::string_view type = text_at(map, "type");
  if (type.empty()) fail_malformed("record: no 'type'");
  if (type == "header") return header_from(map);
  if (type == "sample") return sample_from(map);
  if (type == "prediction") return prediction_from(map);
  if (type == "tensor") return tensor_from(map);
  if (type == "usage") return usage_from(map);
  if (type == "end") return end_from(map);
  return std::nullopt;
}

std::string record_to_json(const Record& record) {
  Json map = record_to_map(record);
  make_printable(map);
  return json_text(map);
}

std::optional<Record> record_from_json(std::string_view line) {
  const Json map = parse_ordered_json(line);
  if (map.is_discarded()) fail_malformed("not a line of JSON");
  return record_from_map(map);
}

}  // namespace dnn::stream
