// TorchScript: the program as the text of one class's forward(), the tensors as attributes of the tree of modules that their dotted
// names tell, so that load_state_dict() finds them.
#include <algorithm>

#include "formats/torch/export.h"
#include "formats/torch/signature.h"
#include "formats/torch/storage.h"
#include "formats/torch/torchscript.h"
#include "formats/torch/write.h"
#include "layout/channels_first.h"
#include "ops/op.h"

namespace dnn::torch {
namespace {

std::string literal(double value) {
  std::string text = exact_text(value);
  if (text.find_first_not_of("-0123456789") == std::string::npos) text += ".0";
  return text;
}

bool is_identifier(std::string_view name) {
  const auto letter = [](char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; };
  return !name.empty() && letter(name[0]) &&
         std::all_of(name.begin(), name.end(), [&](char c) { return letter(c) || (c >= '0' && c <= '9'); });
}

// Deeper parts of a name stay one attribute with dots in it.
constexpr size_t kDeepestModule = 32;

// A module of the tree: what it holds itself, and its submodules' places in the list of all; both in the order of use.
struct Part {
  std::string reference;  // of forward()
  std::vector<std::pair<std::string, size_t>> parts;
  std::vector<std::pair<std::string, VarId>> tensors;
};

// "self.layer1", or getattr(self, "0") for what is no identifier.
std::string member_of(const std::string& object, const std::string& name) {
  return is_identifier(name) ? object + "." + name : "getattr(" + object + ", " + dnn::quoted(name) + ")";
}

class ScriptPrinter {
 public:
  explicit ScriptPrinter(const Program& program) : program_(program) {
    for (const Call& call : program.calls) {
      for (const Arg& arg : call.args) {
        if (const auto* one = std::get_if<TensorArg>(&arg)) hold(one->var);
        if (const auto* many = std::get_if<std::vector<VarId>>(&arg))
          std::for_each(many->begin(), many->end(), [&](VarId v) { hold(v); });
      }
    }
    for (VarId v : program.outputs) hold(v);
    for (VarId v : attributes_) keys_.insert(program.var(v).key);
    for (VarId v : attributes_) place(v);
  }

  // The first is the whole; a submodule comes behind what holds it.
  const std::vector<Part>& parts() const { return parts_; }
  static std::string class_name(size_t part) { return part == 0 ? "Net" : cat("Part", part); }
  const std::vector<VarId>& constants() const { return constants_; }

  std::string text() const {
    std::string out;
    for (size_t i = parts_.size(); i-- > 0;) out += head(i);
    out += "  def forward(self: __torch__.Net";
    for (VarId v : program_.inputs) out += ",\n    " + program_.var(v).name + ": Tensor";
    out += ") -> " + result_type() + ":\n";
    for (const Call& call : program_.calls) out += "    " + statement(call) + "\n";
    return out + "    return " + result() + "\n";
  }

 private:
  void hold(VarId v) {
    const Role role = program_.var(v).role;
    if (role == Role::None || !held_.insert(v).second) return;
    if (role == Role::Constant) {
      places_[v] = constants_.size();
      constants_.push_back(v);
    } else {
      attributes_.push_back(v);
    }
  }

  // Walks down the names before the last dot; a name that a tensor has is no module's, nor is the method's.
  void place(VarId v) {
    const std::string& key = program_.var(v).key;
    size_t at = 0, begin = 0;
    for (size_t depth = 0; depth < kDeepestModule; ++depth) {
      const size_t dot = key.find('.', begin);
      if (dot == std::string::npos || dot == begin || dot + 1 == key.size() || keys_.count(key.substr(0, dot)) != 0)
        break;
      const std::string name = key.substr(begin, dot - begin);
      if (name == "forward") break;
      const auto [next, fresh] = modules_.try_emplace(key.substr(0, dot), parts_.size());
      if (fresh) {
        parts_[at].parts.emplace_back(name, parts_.size());
        parts_.push_back({member_of(parts_[at].reference, name), {}, {}});
      }
      at = next->second;
      begin = dot + 1;
    }
    const std::string name = key.substr(begin);
    parts_[at].tensors.emplace_back(name, v);
    references_[v] = member_of(parts_[at].reference, name);
  }

  std::string head(size_t part) const {
    const Part& p = parts_[part];
    std::string out = "class " + class_name(part) + "(Module):\n";
    out += "  __parameters__ = [" + names(p, Role::Parameter) + "]\n";
    out += "  __buffers__ = [" + names(p, Role::Buffer) + "]\n";
    const auto annotate = [&](const std::string& name, const std::string& type) {
      out += "  __annotations__[" + dnn::quoted(name) + "] = " + type + "\n";
    };
    for (const auto& [name, v] : p.tensors) annotate(name, "Tensor");
    for (const auto& [name, below] : p.parts) annotate(name, "__torch__." + class_name(below));
    return out;
  }

  std::string names(const Part& part, Role role) const {
    std::string list;
    for (const auto& [name, v] : part.tensors) {
      if (program_.var(v).role == role) list += dnn::quoted(name) + ", ";
    }
    return list;
  }

  std::string reference(VarId v) const {
    const Var& var = program_.var(v);
    if (var.role == Role::None) return var.name;
    if (var.role == Role::Constant) return cat("CONSTANTS.c", places_.at(v));
    return references_.at(v);
  }

  std::string item(const Item& item) const { return item.fixed() ? cat(item.number) : reference(item.var); }

  std::string argument(const Arg& arg) const {
    if (const auto* t = std::get_if<TensorArg>(&arg)) return reference(t->var);
    if (const auto* i = std::get_if<Item>(&arg)) return item(*i);
    if (const auto* d = std::get_if<double>(&arg)) return literal(*d);
    if (const auto* b = std::get_if<bool>(&arg)) return *b ? "True" : "False";
    if (const auto* s = std::get_if<std::string>(&arg)) return dnn::quoted(*s);
    if (const auto* t = std::get_if<DType>(&arg)) return cat(scalar_type(*t));
    std::vector<std::string> parts;
    if (const auto* list = std::get_if<Items>(&arg)) {
      for (const Item& i : *list) parts.push_back(item(i));
      return parts.empty() ? "annotate(List[int], [])" : "[" + join(parts) + "]";
    }
    if (const auto* list = std::get_if<std::vector<VarId>>(&arg)) {
      for (VarId v : *list) parts.push_back(reference(v));
      return "[" + join(parts) + "]";
    }
    return "None";
  }

  std::string statement(const Call& call) const {
    std::string out;
    for (VarId v : call.outputs) out += program_.var(v).name + (call.outputs.size() > 1 || call.list ? ", " : " ");
    const std::string_view name = call.signature->name;
    out += "= torch." + std::string(name == "sym_size" ? "size" : name) + "(";
    for (size_t i = 0; i < call.args.size(); ++i) {
      if (i > 0) out += ", ";
      if (i >= call.signature->positional) out += call.signature->arguments[i] + "=";
      out += argument(call.args[i]);
    }
    return out + ")";
  }

  std::string result_type() const {
    if (program_.outputs.size() == 1) return "Tensor";
    return "Tuple[" + join(std::vector<std::string>(program_.outputs.size(), "Tensor")) + "]";
  }

  std::string result() const {
    std::vector<std::string> parts;
    for (VarId v : program_.outputs) parts.push_back(reference(v));
    return parts.size() == 1 ? parts[0] : "(" + join(parts) + ")";
  }

  const Program& program_;
  std::set<VarId> held_;
  std::set<std::string> keys_;
  std::map<std::string, size_t> modules_;  // by their dotted names
  std::vector<VarId> attributes_, constants_;
  std::map<VarId, size_t> places_;
  std::vector<Part> parts_ = {{"self", {}, {}}};
  std::map<VarId, std::string> references_;
};

// A module as torch.save writes it: its class, and a dictionary of what it holds.
void put_part(const Program& program, const std::vector<Part>& parts, size_t part, pickle::Writer& object,
              StorageWriter& tensors) {
  object.global("__torch__", ScriptPrinter::class_name(part));
  object.empty_tuple();
  object.new_object();
  object.empty_dict();
  object.mark();
  for (const auto& [name, v] : parts[part].tensors) {
    object.string(name);
    tensors.put(object, program.var(v).tensor, program.var(v).role == Role::Parameter);
  }
  for (const auto& [name, below] : parts[part].parts) {  // kDeepestModule levels at most
    object.string(name);
    put_part(program, parts, below, object, tensors);
  }
  object.set_items();
  object.build();
}

}  // namespace

std::string torchscript_text(const Program& program) { return ScriptPrinter(program).text(); }

}  // namespace dnn::torch

namespace dnn::torchscript {

ModelFiles to_files(const Graph& source, const WriteOptions&) {
  using namespace dnn::torch;  // NOLINT(google-build-using-namespace): the family's shared parts
  Graph graph = source;
  infer_types(graph);
  to_channels_first(graph);
  const Program program = to_program(graph);
  const ScriptPrinter printer(program);
  const std::string root = "net/";
  ZipWriter zip(kStorageAlignment);

  pickle::Writer object;
  StorageWriter tensors(zip, root + "data/");
  put_part(program, printer.parts(), 0, object, tensors);

  pickle::Writer list;
  StorageWriter constants(zip, root + "constants/");
  list.mark();
  for (VarId v : printer.constants()) constants.put(list, program.var(v).tensor, false);
  list.tuple();

  zip.add(root + "data.pkl", object.finish());
  zip.add(root + "constants.pkl", list.finish());
  zip.add(root + "code/__torch__.py", printer.text());
  zip.add(root + "extra/" + kSignatureKey, signature_json(graph));
  for (const auto& [key, text] : graph.metadata) {
    if (key != kSignatureKey) zip.add(root + "extra/" + key, text);
  }
  zip.add(root + "version", "10\n");
  return single_file(zip.content());
}

}  // namespace dnn::torchscript
