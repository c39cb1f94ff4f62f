// Evaluating a TorchScript program at load time: numbers, lists and control flow are computed, tensors become nodes of the
// IR's graph. A condition on a tensor's content or an open extent is refused with the line that it stands in.
#pragma once
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "formats/torch/archive.h"
#include "formats/torch/import.h"
#include "formats/torch/object.h"
#include "formats/torch/script.h"

namespace dnn::torch {

class Evaluator {
 public:
  Evaluator(Archive& archive, Importer& importer, size_t file_bytes);
  ~Evaluator();
  Evaluator(const Evaluator&) = delete;
  Evaluator& operator=(const Evaluator&) = delete;

  // The object that data.pkl holds.
  Any root();
  // forward() of the program's module.
  const Function& forward();
  Any call(const Function& function, std::vector<Any> arguments, const std::vector<std::string>& keywords);
  // Every tensor among the file's traced inputs, in order; none where the file has no such record.
  std::vector<Type> traced_inputs();

  Importer& importer() { return importer_; }
  // Calls of the program's own code, by dotted name; the values of objects.
  const Class* find_class(const std::string& dotted);
  const Function* find_function(const std::string& dotted);
  Any attribute(const Any::Module& module, const std::string& name);

  // Where the program stands: "code/__torch__.py:12".
  std::string where() const;
  // What a node made now is called.
  std::string node_name(const std::string& op) const;
  // Counts work; Unsupported when the program does too much of it.
  void work(size_t amount = 1);
  // A condition's value.
  bool truth(const Any& value);
  template <class... T>
  [[noreturn]] void refuse(const T&... parts) const {
    fail_unsupported(where(), ": ", parts...);
  }
  template <class... T>
  [[noreturn]] void fail(const T&... parts) const {
    fail_malformed(where(), ": ", parts...);
  }

 private:
  using Variables = std::map<std::string, Any>;
  struct Pickled;  // data.pkl or constants.pkl
  struct Frame {
    const Function* function;
    int line;
  };
  // A module whose method runs.
  struct Scope {
    std::string path;
    bool leaf;
  };

  // Whether the module has no modules inside.
  bool is_leaf(const Object& module);
  const Script& script_of(const std::string& dotted);
  Pickled& pickled(const std::string& record, const std::string& folder);
  Any from_pickle(Pickled& pickled, int32_t ref, const std::string& path);
  Any object_from_pickle(Pickled& pickled, int32_t ref, const std::string& path);
  Any packed_weights(const std::string& class_name, const Any& state);
  void set_state(const Any::Module& object, const Any& state);
  Any constant(const std::string& name);

  bool run(const std::vector<Stmt>& body, Variables& variables, Any* result);
  void assign(const Expr& target, Any value, Variables& variables);
  void unpack(const std::vector<Expr>& targets, const Any& value, Variables& variables);
  std::vector<Any> iterated(const Any& value);
  Any evaluate(const Expr& e, Variables& variables);
  Any name(const Expr& e, const Variables& variables);
  Any member(const Any& base, const std::string& name);
  Any subscript(const Any& base, const Any& index);
  Any evaluate_call(const Expr& e, Variables& variables);
  Any range(const Expr& e, Variables& variables);
  Any call_name(const std::string& name, const Expr& e, Variables& variables);
  Any call_method(const Any& base, const std::string& method, std::vector<Any> arguments,
                  const std::vector<std::string>& keywords);
  Any call_dotted(const std::string& dotted, std::vector<Any> arguments, const std::vector<std::string>& keywords);

  Archive& archive_;
  Importer& importer_;
  size_t file_bytes_;
  std::map<std::string, Script> scripts_;
  std::map<std::string, std::unique_ptr<Pickled>> pickled_;
  std::map<std::string, Any> constants_;
  Any::Module root_;
  std::vector<Frame> frames_;
  std::vector<Scope> scopes_;
  size_t code_bytes_ = 0;
  size_t work_ = 0;
  int depth_ = 0;
};

}  // namespace dnn::torch
