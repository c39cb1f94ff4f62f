// Reader; see stream.h.
#include <algorithm>
#include <cstring>

#include "stream/file_kind.h"
#include "stream/record_map.h"
#include "stream/stream.h"

namespace dnn::stream {

struct Reader::State {
  std::vector<std::byte> buffer;  // bytes [begin, end) have arrived and are not used yet
  size_t begin = 0, end = 0;
  uint64_t offset = 0;  // of buffer[begin] in the source
  uint64_t n_records = 0;
  bool in_run = false, any_run = false, ended = false;
  std::map<std::string, int64_t> counts;
  Json split;  // the first record of a tensor in parts, without data; null when none is open
  std::vector<uint8_t> split_data;
  uint64_t split_total = 0;
  Tensor sample_tensor;  // to be put into the next sample and prediction
  std::vector<std::pair<std::string, Tensor>> outputs;

  // Throws Malformed with the kind of file where the first bytes are those of another.
  void refuse_other_files() const {
    const Bytes first = Bytes(buffer).first(end);
    if (looks_like_stream(first)) return;
    if (const std::string kind = looks_like(first); !kind.empty()) fail_malformed("not a stream: ", kind);
  }
  Json take(size_t size);
  void check_order(const std::string& type);
  std::optional<Json> assemble(Json map);
  void keep(const std::string& attach, TensorRecord tensor);
  void attach_kept(Record* record);
  void close_run(const End& end_record);
  void forget_parts() {
    split = nullptr;
    split_data = {};
    sample_tensor = {};
    outputs.clear();
  }
};

namespace {

uint64_t unsigned_at(const Json& map, const char* key) {
  const auto it = map.find(key);
  if (it == map.end() || !it->is_number_integer() || (!it->is_number_unsigned() && it->get<int64_t>() < 0)) {
    fail_malformed("tensor: '", key, "' is not a length");
  }
  return it->get<uint64_t>();
}

}  // namespace

// A tensor record whole: the record itself, or the sum of its parts once the last is in.
std::optional<Json> Reader::State::assemble(Json map) {
  if (!map.contains("total")) {
    if (!split.is_null()) fail_malformed("tensor '", text_at(split, "name"), "': its parts are interrupted");
    return map;
  }
  const uint64_t offset = unsigned_at(map, "offset");
  const uint64_t total = unsigned_at(map, "total");
  const std::vector<uint8_t> part = bytes_at(map, "data");
  if (offset == 0 && split.is_null()) {
    map.erase("data");
    map.erase("offset");
    map.erase("total");
    split = std::move(map);
    split_total = total;
  } else if (split.is_null() || offset != split_data.size() || total != split_total ||
             text_at(map, "name") != text_at(split, "name")) {
    fail_malformed("tensor '", text_at(map, "name"), "': part at ", offset, " of ", total, " does not follow byte ",
                   split_data.size());
  }
  if (part.empty() || part.size() > split_total - split_data.size()) {
    fail_malformed("tensor '", text_at(split, "name"), "': a part of ", part.size(), " bytes at ", offset, " of ",
                   total);
  }
  split_data.insert(split_data.end(), part.begin(), part.end());
  if (split_data.size() < split_total) return std::nullopt;
  split["data"] = Json::binary(std::move(split_data));
  split_data = {};
  return std::exchange(split, Json());
}

// The map of the record that waits, of `size` bytes.
Json Reader::State::take(size_t size) {
  const Bytes bytes = Bytes(buffer).subspan(begin, size);
  if ((static_cast<uint8_t>(bytes[0]) & 0xf0) != 0x80 && static_cast<uint8_t>(bytes[0]) < 0xde) {
    fail_malformed("not a stream: no map of msgpack");
  }
  Json map = msgpack_decode_scanned(bytes);
  begin += size;
  offset += size;
  ++n_records;
  return map;
}

// Throws Malformed where a record of this type may not come now.
void Reader::State::check_order(const std::string& type) {
  if (type != "header" && !in_run)
    fail_malformed("a ", dnn::quoted(type), " record outside a run: no header before it");
  if (type == "header") forget_parts();  // of a run that was cut off
  if (type != "tensor" && !split.is_null()) {
    fail_malformed("tensor '", text_at(split, "name"), "': its parts are interrupted");
  }
}

// Keeps a tensor for the record that it belongs to, which comes behind it.
void Reader::State::keep(const std::string& attach, TensorRecord tensor) {
  if (attach == "sample") sample_tensor = std::move(tensor.tensor);
  if (attach == "prediction") outputs.emplace_back(tensor.name, std::move(tensor.tensor));
}

void Reader::State::attach_kept(Record* record) {
  if (auto* sample = std::get_if<Sample>(record); sample != nullptr && sample_tensor.defined()) {
    sample->tensor = std::exchange(sample_tensor, {});
  }
  if (auto* prediction = std::get_if<Prediction>(record); prediction != nullptr && !outputs.empty()) {
    prediction->outputs = std::exchange(outputs, {});
  }
}

// Throws Malformed where another number of records arrived than the run's end counts.
void Reader::State::close_run(const End& end_record) {
  if (end_record.records != counts) {
    for (const auto& [key, n] : end_record.records) {
      if (counts[key] != n) fail_malformed("`end` counts ", n, " ", key, " records, ", counts[key], " arrived");
    }
  }
  in_run = false;
}

Reader::Reader(ByteSource& source, std::string name)
    : source_(source), name_(std::move(name)), state_(std::make_unique<State>()) {}
Reader::~Reader() = default;

// Gets more bytes behind those that wait; false at the end. The buffer doubles only as bytes arrive.
bool Reader::fill() {
  State& s = *state_;
  constexpr size_t kRead = size_t{1} << 16;
  if (s.begin > 0) {
    std::memmove(s.buffer.data(), s.buffer.data() + s.begin, s.end - s.begin);
    s.end -= s.begin;
    s.begin = 0;
  }
  if (s.buffer.size() - s.end < kRead) s.buffer.resize(std::max(2 * s.buffer.size(), 2 * kRead));
  const size_t n = source_.read(s.buffer.data() + s.end, s.buffer.size() - s.end);
  s.end += n;
  return n > 0;
}

// Waits until a record has arrived: its bytes, or 0 at the end.
size_t Reader::wait_for_record() {
  State& s = *state_;
  MsgpackScanner scanner;
  while (!scanner.complete(Bytes(s.buffer).subspan(s.begin, s.end - s.begin))) {
    const bool at_start = s.end == 0 && s.n_records == 0;
    if (fill()) {
      if (at_start) s.refuse_other_files();
      continue;
    }
    s.ended = true;
    truncated_ = truncated_ || s.end > s.begin || s.in_run || !s.any_run;
    return 0;
  }
  return scanner.size();
}

std::optional<Record> Reader::read_record() {
  State& s = *state_;
  while (const size_t size = wait_for_record()) {
    Json map = s.take(size);
    const std::string type(text_at(map, "type"));
    s.check_order(type);
    std::string attach;
    if (type == "tensor") {
      std::optional<Json> whole = s.assemble(std::move(map));
      if (!whole) continue;
      map = std::move(*whole);
      attach = text_at(map, "attach");
    }
    if (attach.empty() && type != "header" && type != "end") ++s.counts[type];
    std::optional<Record> record = record_from_map(map);
    if (!record) continue;
    if (auto* tensor = std::get_if<TensorRecord>(&*record); tensor != nullptr && !attach.empty()) {
      s.keep(attach, std::move(*tensor));
      continue;
    }
    s.attach_kept(&*record);
    if (std::holds_alternative<Header>(*record)) {
      truncated_ = truncated_ || s.in_run;
      s.in_run = s.any_run = true;
      s.counts.clear();
    }
    if (const auto* end = std::get_if<End>(&*record)) s.close_run(*end);
    return record;
  }
  return std::nullopt;
}

std::optional<Record> Reader::next() {
  if (state_->ended) return std::nullopt;
  try {
    return read_record();
  } catch (Error& e) {
    if (e.kind() == ErrorKind::Malformed) e.within(cat("byte ", state_->offset));
    if (e.kind() != ErrorKind::Environment) e.within(name_);
    throw;
  }
}

Error Reader::truncation() const {
  const State& s = *state_;
  std::string where = s.end > s.begin ? cat("ends ", s.end - s.begin, " bytes into the record at byte ", s.offset)
                      : !s.any_run    ? std::string("empty")
                                      : std::string("a run has no `end`");
  return Error(ErrorKind::Malformed, cat(name_, ": truncated: ", where, " (", s.n_records, " records arrived)"));
}

bool looks_like_stream(Bytes first) {
  static constexpr std::string_view kStart = "\xa4type\xa6header";
  const std::string_view text = as_text(first);
  if (text.empty()) return false;
  const auto lead = static_cast<uint8_t>(text[0]);
  const size_t skip = (lead & 0xf0) == 0x80 ? 1 : lead == 0xde ? 3 : 0;
  return skip != 0 && text.size() >= skip + kStart.size() && text.substr(skip, kStart.size()) == kStart;
}

}  // namespace dnn::stream
