// read_yaml(): libyaml's events into a tree.
#include "branch/yaml.h"

#include <yaml.h>

#include <memory>
#include <unordered_set>

#include "base/box.h"
#include "base/error.h"
#include "base/read_limit.h"

namespace dnn::branch {
namespace {

constexpr size_t kMostBytes = size_t{1} << 20;
constexpr int kMostLevels = 16;

// One event, freed with the object.
class Event {
 public:
  Event(yaml_parser_t& parser, const std::string& path) {
    if (yaml_parser_parse(&parser, &event_) == 0)
      fail_malformed(path, ":", parser.problem_mark.line + 1, ": ",
                     parser.problem == nullptr ? "no YAML" : parser.problem);
  }
  ~Event() { yaml_event_delete(&event_); }
  Event(const Event&) = delete;
  Event& operator=(const Event&) = delete;
  const yaml_event_t* operator->() const { return &event_; }
  int line() const { return static_cast<int>(event_.start_mark.line) + 1; }

 private:
  yaml_event_t event_;
};

class Reader {
 public:
  Reader(std::string_view text, std::string path) : path_(std::move(path)) {
    if (yaml_parser_initialize(&parser_) == 0) fail_environment("out of memory");
    yaml_parser_set_input_string(&parser_, reinterpret_cast<const unsigned char*>(text.data()), text.size());
  }
  ~Reader() { yaml_parser_delete(&parser_); }
  Reader(const Reader&) = delete;
  Reader& operator=(const Reader&) = delete;

  Yaml document() {
    expect(YAML_STREAM_START_EVENT);
    expect(YAML_DOCUMENT_START_EVENT);
    const Event first(parser_, path_);
    Yaml tree = node(first, 0);
    expect(YAML_DOCUMENT_END_EVENT);
    expect(YAML_STREAM_END_EVENT);
    return tree;
  }

 private:
  void expect(yaml_event_type_t type) {
    const Event event(parser_, path_);
    if (event->type == type) return;
    if (event->type == YAML_STREAM_END_EVENT) fail_malformed(path_, ":", event.line(), ": the file holds no YAML");
    fail_malformed(path_, ":", event.line(), ": a second document; a configuration is one");
  }

  Yaml node(const Event& event, int level) {
    if (level > kMostLevels)
      fail_malformed(path_, ":", event.line(), ": nested more than ", kMostLevels, " levels deep");
    Yaml made;
    made.line = event.line();
    if (event->type == YAML_SCALAR_EVENT) {
      const auto& scalar = event->data.scalar;
      check_plain(event, scalar.anchor, scalar.tag);
      made.text.assign(reinterpret_cast<const char*>(scalar.value), scalar.length);
      made.is_quoted = scalar.style != YAML_PLAIN_SCALAR_STYLE;
    } else if (event->type == YAML_SEQUENCE_START_EVENT) {
      check_plain(event, event->data.sequence_start.anchor, event->data.sequence_start.tag);
      made.kind = Yaml::Kind::List;
      for (;;) {
        const Event next(parser_, path_);
        if (next->type == YAML_SEQUENCE_END_EVENT) break;
        made.items.push_back(node(next, level + 1));
      }
    } else if (event->type == YAML_MAPPING_START_EVENT) {
      check_plain(event, event->data.mapping_start.anchor, event->data.mapping_start.tag);
      made.kind = Yaml::Kind::Map;
      std::unordered_set<std::string> keys;  // a map's own search takes as long as it has entries
      for (;;) {
        const Event next(parser_, path_);
        if (next->type == YAML_MAPPING_END_EVENT) break;
        const Yaml key = node(next, level + 1);
        if (key.kind != Yaml::Kind::Scalar) fail_malformed(path_, ":", key.line, ": a key is no text");
        if (!keys.insert(key.text).second)
          fail_malformed(path_, ":", key.line, ": ", key.text, " is given twice; leave one");
        const Event value(parser_, path_);
        made.entries.push_back({key.text, key.line, node(value, level + 1)});
      }
    } else {
      fail_unsupported(path_, ":", event.line(), ": an alias (*NAME); write the value itself");
    }
    return made;
  }

  void check_plain(const Event& event, const yaml_char_t* anchor, const yaml_char_t* tag) const {
    if (anchor != nullptr)
      fail_unsupported(path_, ":", event.line(), ": an anchor (&NAME); write the value where it is used");
    if (tag != nullptr) fail_unsupported(path_, ":", event.line(), ": a tag (!NAME); leave it out");
  }

  yaml_parser_t parser_;
  const std::string path_;
};

}  // namespace

const Yaml* Yaml::find(std::string_view key) const {
  for (const Entry& entry : entries) {
    if (entry.key == key) return &entry.value;
  }
  return nullptr;
}

std::string Yaml::shown() const {
  if (kind == Kind::Scalar) return text.size() > 40 ? text.substr(0, 40) + "..." : text;
  if (kind == Kind::Map) return "a map";
  std::vector<std::string> parts;
  for (const Yaml& item : items) {
    if (parts.size() == 8) {
      parts.emplace_back("...");
      break;
    }
    parts.push_back(item.shown());
  }
  return "[" + join(parts) + "]";
}

Yaml read_yaml(std::string_view text, const std::string& path) {
  if (text.size() > kMostBytes) fail_malformed(path, ": more than 1 MiB; a configuration is a page");
  Yaml tree;
  in_box({}, [&] { read_within_limits(text.size(), path, [&] { tree = Reader(text, path).document(); }); });
  return tree;
}

}  // namespace dnn::branch
