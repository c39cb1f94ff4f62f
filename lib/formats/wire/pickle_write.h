// PickleWriter: pickles of protocol 2, opcode by opcode, as far as PyTorch's files need them.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>

namespace dnn::pickle {

// Each call pushes its value, as an unpickler's stack machine sees it; what takes values off says which.
class Writer {
 public:
  Writer() : text_("\x80\x02") {}

  void none() { text_ += 'N'; }
  void boolean(bool value) { text_ += value ? '\x88' : '\x89'; }
  void integer(int64_t value);
  void string(std::string_view utf8);
  void global(std::string_view module, std::string_view name);
  void empty_tuple() { text_ += ')'; }
  void empty_dict() { text_ += '}'; }

  void mark() { text_ += '('; }
  void tuple() { text_ += 't'; }          // of the values since the mark
  void set_items() { text_ += 'u'; }      // keys and values since the mark into the dictionary below it
  void reduce() { text_ += 'R'; }         // callable, arguments: the result
  void new_object() { text_ += '\x81'; }  // class, arguments: an instance
  void build() { text_ += 'b'; }          // object, state: the object
  void persistent() { text_ += 'Q'; }     // id: what it stands for

  // The whole pickle; nothing may follow.
  std::string finish();

 private:
  std::string text_;
};

}  // namespace dnn::pickle
