// What an evaluator knows of the archive: its classes and functions, the objects of data.pkl, the constants.
#include <algorithm>

#include "formats/torch/evaluate.h"

namespace dnn::torch {
namespace {

using PickleKind = pickle::Kind;
using pickle::kNone;
using pickle::Ref;

// Classes of the program itself, besides what weights need.
void check_program_global(std::string_view module, std::string_view name) {
  if (module == "__torch__" || starts_with(module, "__torch__.")) return;
  check_weight_global(module, name);
}

// The most code that a program may have; the parsed form is some 100 times its text.
constexpr size_t kMaxCode = size_t{4} << 20;
constexpr std::string_view kPackedModule = "__torch__.torch.classes.quantized ";
constexpr std::string_view kPacked = "__torch__.torch.classes.quantized.";

}  // namespace

struct Evaluator::Pickled {
  Pickled(std::string content, std::string folder, Archive& archive, size_t file_bytes)
      : text(std::move(content)),
        tree(pickle::parse(as_bytes(text), check_program_global)),
        tensors(
            tree,
            [prefix = std::move(folder), &archive](const std::string& key) { return archive.bytes(prefix + key); },
            archive.owner(), archive.big_endian(), file_bytes) {}

  std::string text;
  pickle::Tree tree;
  TensorTable tensors;
  std::map<Ref, Any> made;
};

Evaluator::Evaluator(Archive& archive, Importer& importer, size_t file_bytes)
    : archive_(archive), importer_(importer), file_bytes_(file_bytes) {}

Evaluator::~Evaluator() = default;

// code/__torch__/a/b.py holds what is called __torch__.a.b.X.
const Script& Evaluator::script_of(const std::string& dotted) {
  std::string file = "code/" + dotted;
  std::replace(file.begin() + 5, file.end(), '.', '/');
  file += ".py";
  const auto found = scripts_.find(file);
  if (found != scripts_.end()) return found->second;
  if (!archive_.has(file)) return scripts_[file];
  const std::string text = archive_.text(file);
  code_bytes_ += text.size();
  if (code_bytes_ > kMaxCode) fail_unsupported("more than ", kMaxCode, " bytes of code");
  return scripts_[file] = parse_script(text, file);
}

const Class* Evaluator::find_class(const std::string& dotted) {
  const size_t dot = dotted.rfind('.');
  if (dot == std::string::npos) return nullptr;
  const Script& script = script_of(dotted.substr(0, dot));
  const auto found = script.classes.find(dotted.substr(dot + 1));
  return found == script.classes.end() ? nullptr : &found->second;
}

const Function* Evaluator::find_function(const std::string& dotted) {
  const size_t dot = dotted.rfind('.');
  if (dot == std::string::npos) return nullptr;
  const Script& script = script_of(dotted.substr(0, dot));
  const auto found = script.functions.find(dotted.substr(dot + 1));
  return found == script.functions.end() ? nullptr : &found->second;
}

Evaluator::Pickled& Evaluator::pickled(const std::string& record, const std::string& folder) {
  std::unique_ptr<Pickled>& slot = pickled_[record];
  if (slot == nullptr) slot = std::make_unique<Pickled>(archive_.text(record), folder, archive_, file_bytes_);
  return *slot;
}

Any Evaluator::root() {
  if (root_ == nullptr) {
    Pickled& data = pickled("data.pkl", "data/");
    const Any value = from_pickle(data, data.tree.root, "");
    const auto* module = value.get<Any::Module>();
    if (module == nullptr) fail_malformed("data.pkl: it holds ", kind_of(value), ", no module");
    root_ = *module;
  }
  return root_;
}

Any Evaluator::constant(const std::string& name) {
  const auto found = constants_.find(name);
  if (found != constants_.end()) return found->second;
  Pickled& constants = pickled("constants.pkl", "constants/");
  int64_t at = -1;
  const std::vector<Ref>& items = constants.tree.list(constants.tree.root, "constants.pkl");
  if (name.size() < 2 || name[0] != 'c' || !parse_int(std::string_view(name).substr(1), &at) || at < 0 ||
      at >= static_cast<int64_t>(items.size()))
    fail("there is no constant ", name);
  return constants_[name] = from_pickle(constants, items[at], "CONSTANTS." + name);
}

Any Evaluator::attribute(const Any::Module& module, const std::string& name) {
  const auto found = module->attributes.find(name);
  if (found != module->attributes.end()) return found->second;
  const auto unread = module->unread.find(name);
  if (unread != module->unread.end()) {
    Pickled& data = pickled("data.pkl", "data/");
    return module->attributes[name] =
               from_pickle(data, unread->second, module->path.empty() ? name : module->path + "." + name);
  }
  if (const Class* c = find_class(module->class_name)) {
    const auto constant = c->constants.find(name);
    if (constant != c->constants.end()) {
      Variables none;
      return evaluate(constant->second, none);
    }
  }
  fail("class ", module->class_name, " has no attribute '", name, "'");
}

Any Evaluator::from_pickle(Pickled& pickled, Ref ref, const std::string& path) {
  const auto found = pickled.made.find(ref);
  if (found != pickled.made.end()) return found->second;
  work();
  const pickle::Tree& tree = pickled.tree;
  const pickle::Node& node = tree[ref];
  Any result;
  switch (node.kind) {
    case PickleKind::None: break;
    case PickleKind::Bool: result = node.integer != 0; break;
    case PickleKind::Int: result = node.integer; break;
    case PickleKind::Float: result = node.real; break;
    case PickleKind::String: result = std::string(node.text); break;
    case PickleKind::Tuple:
    case PickleKind::List: {
      std::vector<Any> items;
      for (size_t i = 0; i < node.items.size(); ++i)
        items.push_back(from_pickle(pickled, node.items[i], cat(path, ".", i)));
      result = make_list(std::move(items), node.kind == PickleKind::Tuple);
      break;
    }
    case PickleKind::Dict: {
      auto dict = std::make_shared<std::vector<std::pair<Any, Any>>>();
      for (size_t i = 0; i + 1 < node.items.size(); i += 2)
        dict->emplace_back(from_pickle(pickled, node.items[i], path), from_pickle(pickled, node.items[i + 1], path));
      result = Any::Dict(dict);
      break;
    }
    case PickleKind::Call: result = object_from_pickle(pickled, ref, path); break;
    default: fail_unsupported("data.pkl: a value of '", path, "' is not read");
  }
  pickled.made[ref] = result;
  return result;
}

Any Evaluator::object_from_pickle(Pickled& pickled, Ref ref, const std::string& path) {
  const pickle::Tree& tree = pickled.tree;
  const pickle::Node& node = tree[ref];
  const std::string_view callee = tree.callee(ref);
  if (pickled.tensors.is_tensor(ref)) {
    try {
      return importer_.constant(path.empty() ? "tensor" : path, pickled.tensors.tensor(ref));
    } catch (Error& e) {
      throw e.within(dnn::quoted(path));
    }
  }
  const std::vector<Ref>& arguments = tree[node.items[1]].items;
  if (starts_with(callee, "torch.jit._pickle ")) {
    if (arguments.empty()) fail_malformed("data.pkl: ", callee, " without a list");
    return from_pickle(pickled, arguments[0], path);
  }
  if (callee == "torch device") return std::string("cpu");
  if (callee == "collections OrderedDict") {
    auto dict = std::make_shared<std::vector<std::pair<Any, Any>>>();
    for (const auto& [key, value] : tree.pairs(ref))
      dict->emplace_back(from_pickle(pickled, key, path), from_pickle(pickled, value, path));
    return Any::Dict(dict);
  }
  if (!starts_with(callee, "__torch__"))
    fail_unsupported("data.pkl: '", path, "' is a ", callee, ", which is not read");
  std::string class_name(callee);
  std::replace(class_name.begin(), class_name.end(), ' ', '.');
  const Ref state = node.items[2];
  if (starts_with(class_name, kPacked)) {
    if (state == kNone) fail_malformed("data.pkl: '", path, "' has no state");
    return packed_weights(class_name, from_pickle(pickled, state, path));
  }
  auto object = std::make_shared<Object>();
  object->class_name = class_name;
  object->path = path;
  if (state == kNone) return Any::Module(object);
  const Class* c = find_class(class_name);
  const bool own_state = c != nullptr && c->methods.count("__setstate__") != 0;
  if (own_state) {
    frames_.push_back({&c->methods.at("__setstate__"), 0});
    call_method(Any::Module(object), "__setstate__", {from_pickle(pickled, state, path)}, {});
    frames_.pop_back();
    return Any::Module(object);
  }
  for (const auto& [key, value] : tree.pairs(state))
    object->unread[std::string(tree.text(key, "an attribute's name"))] = value;
  return Any::Module(object);
}

namespace {

const std::vector<Any>& packed_list(const Any& value, const char* what) {
  const auto* list = value.get<Any::List>();
  if (list == nullptr) fail_malformed("packed weights: ", what, " is ", kind_of(value), ", no list");
  return (*list)->items;
}

Any part(const std::vector<Any>& list, size_t i, const char* what) {
  if (i >= list.size()) fail_malformed("packed weights: ", what, " is missing");
  return list[i];
}

}  // namespace

// Linear: (weight, bias). Conv: (version, tensors, optional tensors); of version 2 the first tensor holds spatial rank, stride,
// padding, dilation, output padding, groups and transposed; in version 3 a list of ints does, and the tensors are (none, weight, bias).
Any Evaluator::packed_weights(const std::string& class_name, const Any& state) {
  auto object = std::make_shared<Object>();
  object->class_name = class_name;
  const std::vector<Any>& parts = packed_list(state, "its state");
  if (class_name.find("Linear") != std::string::npos) {
    object->attributes = {{"weight", part(parts, 0, "the weight")}, {"bias", part(parts, 1, "the bias")}};
    return Any::Module(object);
  }
  if (class_name.find("Conv2d") == std::string::npos)
    fail_unsupported("packed weights of ", class_name, " are not read");
  std::vector<int64_t> numbers;
  const Any version = part(parts, 0, "the version");
  if (version.get<std::string>() != nullptr && *version.get<std::string>() == "2") {
    const std::vector<Any>& tensors = packed_list(part(parts, 1, "the weight"), "the tensors");
    const Any parameters = part(tensors, 0, "the parameters");
    const auto* cell = parameters.get<Any::Tensor>();
    const Tensor* values = cell == nullptr ? nullptr : importer_.draft.graph.constant((*cell)->value);
    if (values == nullptr || !is_integer(values->dtype())) fail_malformed("packed weights: the parameters are no ints");
    numbers = to_int64s(*values);
    object->attributes["weight"] = part(tensors, 1, "the weight");
    object->attributes["bias"] = part(packed_list(part(parts, 2, "the bias"), "the bias"), 0, "the bias");
  } else if (version.get<int64_t>() != nullptr && *version.get<int64_t>() == 3) {
    for (const Any& number : packed_list(part(parts, 1, "the parameters"), "the parameters")) {
      if (number.get<int64_t>() == nullptr) fail_malformed("packed weights: the parameters are no ints");
      numbers.push_back(*number.get<int64_t>());
    }
    const std::vector<Any>& tensors = packed_list(part(parts, 2, "the weight"), "the tensors");
    object->attributes["weight"] = part(tensors, 1, "the weight");
    object->attributes["bias"] = part(tensors, 2, "the bias");
  } else {
    fail_unsupported("packed weights of an unknown version");
  }
  if (numbers.size() < 11 || numbers[0] != 2) fail_unsupported("packed weights of other than two spatial axes");
  if (numbers[10] != 0) fail_unsupported("packed weights of a transposed convolution are not read");
  object->attributes["stride"] = make_ints({numbers[1], numbers[2]});
  object->attributes["padding"] = make_ints({numbers[3], numbers[4]});
  object->attributes["dilation"] = make_ints({numbers[5], numbers[6]});
  object->attributes["groups"] = numbers[9];
  return Any::Module(object);
}

bool Evaluator::is_leaf(const Object& module) {
  if (module.unread.empty()) return true;
  const pickle::Tree& tree = pickled("data.pkl", "data/").tree;
  return std::none_of(module.unread.begin(), module.unread.end(), [&](const auto& entry) {
    return starts_with(tree.callee(entry.second), "__torch__") &&
           !starts_with(tree.callee(entry.second), kPackedModule);
  });
}

std::vector<Type> Evaluator::traced_inputs() {
  std::vector<Type> types;
  for (const std::string& record : archive_.records("traced_inputs", ".pkl")) {
    const std::string folder = record.substr(0, record.size() - 4) + "/";
    Pickled& inputs = pickled(record, folder);
    for (size_t i = 0; i < inputs.tree.size(); ++i) {
      const auto ref = static_cast<Ref>(i);
      if (!inputs.tensors.is_tensor(ref)) continue;
      std::vector<Dim> dims;  // their content is not in the file
      for (int64_t extent : inputs.tensors.shape(ref)) dims.emplace_back(extent);
      const DType dtype = inputs.tensors.dtype(ref);
      types.emplace_back(dtype == DType::Undefined ? DType::Float32 : dtype, dims);
    }
    break;
  }
  return types;
}

}  // namespace dnn::torch
