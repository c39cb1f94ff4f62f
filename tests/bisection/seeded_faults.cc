// Faults for bisection to find; see seeded_faults.h.
#include "seeded_faults.h"

#include <algorithm>
#include <memory>
#include <regex>

#include "base/text.h"

namespace dnn::seeded {
namespace {

struct Current {
  std::vector<Patch> (*original)(const Graph&, const PassContext&) = nullptr;
  Damage damage;
};
Current current;

std::vector<Patch> damaged(const Graph& graph, const PassContext& context) {
  std::vector<Patch> patches = current.original(graph, context);
  current.damage(graph, &patches);
  return patches;
}

// `change` for the first patch whose reason holds the text, or for all.
Damage to_patch(const std::string& reason, const std::function<void(Patch* patch)>& change) {
  return [reason, change](const Graph&, std::vector<Patch>* patches) {
    for (Patch& patch : *patches) {
      if (patch.reason().find(reason) == std::string::npos) continue;
      change(&patch);
      if (!reason.empty()) return;
    }
  };
}

Damage to_constants(const std::string& reason, const std::string& suffix,
                    const std::function<void(std::vector<double>* numbers)>& change) {
  return to_patch(reason, [suffix, change](Patch* patch) {
    for (Value& value : patch->values()) {
      if (!value.constant || !ends_with(value.name, suffix)) continue;
      std::vector<double> numbers = to_doubles(*value.constant);
      change(&numbers);
      Tensor tensor(DType::Float64, value.constant->shape());
      std::copy(numbers.begin(), numbers.end(), tensor.mutable_data<double>());
      value.constant = convert(tensor, value.constant->dtype());
    }
  });
}

// The nodes of a patch, also those in the bodies of fused ones.
void change_nodes(Patch* patch, const std::string& op, const std::function<void(Node* node)>& change) {
  for (Node& node : patch->added()) {
    if (node.op == op) change(&node);
    for (auto& [key, attribute] : node.attributes) {
      auto* body = std::get_if<std::shared_ptr<const Graph>>(&attribute);
      if (body == nullptr) continue;
      auto copy = std::make_shared<Graph>(**body);
      for (NodeId id : copy->order()) {
        if (copy->node(id).op == op) change(&copy->node(id));
      }
      *body = copy;
    }
  }
}

const Node* named(const Graph& graph, const std::string& name, NodeId* found) {
  for (NodeId id : graph.order()) {
    if (graph.node(id).name != name) continue;
    *found = id;
    return &graph.node(id);
  }
  return nullptr;
}

}  // namespace

const std::vector<Pass>& rows_with(const std::string& pass, const Damage& damage) {
  static std::vector<Pass> rows;
  rows = passes();
  for (Pass& row : rows) {
    if (row.name != pass) continue;
    current = {row.run, damage};
    row.run = damaged;
  }
  return rows;
}

Damage scaled(const std::string& reason, const std::string& constant, double factor) {
  return to_constants(reason, constant, [factor](std::vector<double>* numbers) {
    for (double& number : *numbers) number *= factor;
  });
}

Damage halves_swapped(const std::string& reason, const std::string& constant) {
  return to_constants(reason, constant, [](std::vector<double>* numbers) {
    std::rotate(numbers->begin(), numbers->begin() + static_cast<std::ptrdiff_t>(numbers->size() / 2), numbers->end());
  });
}

Damage rounded_to_float16(const std::string& reason, const std::string& constant) {
  return to_constants(reason, constant, [](std::vector<double>* numbers) {
    Tensor tensor(DType::Float64, {static_cast<int64_t>(numbers->size())});
    std::copy(numbers->begin(), numbers->end(), tensor.mutable_data<double>());
    *numbers = to_doubles(convert(tensor, DType::Float16));
  });
}

Damage attribute_set(const std::string& reason, const std::string& op, const std::string& key, Attribute value) {
  return to_patch(reason,
                  [=](Patch* patch) { change_nodes(patch, op, [&](Node* node) { node->attributes[key] = value; }); });
}

Damage op_replaced(const std::string& reason, const std::string& op, const std::string& by) {
  return to_patch(reason, [=](Patch* patch) { change_nodes(patch, op, [&](Node* node) { node->op = by; }); });
}

Damage outputs_swapped(const std::string& reason, const std::string& op) {
  return to_patch(reason, [=](Patch* patch) {
    change_nodes(patch, op, [](Node* node) { std::swap(node->outputs.at(0), node->outputs.at(1)); });
  });
}

Damage node_dropped(const std::string& name) {
  return [name](const Graph& graph, std::vector<Patch>* patches) {
    NodeId id = -1;
    const Node* node = named(graph, name, &id);
    if (node == nullptr) return;
    Patch patch(graph, node->label() + " dropped");
    patch.remove_node(id);
    patch.redirect(node->outputs[0], node->inputs[0]);
    patches->push_back(std::move(patch));
  };
}

Damage merged(const std::string& name, const std::string& other) {
  return [name, other](const Graph& graph, std::vector<Patch>* patches) {
    NodeId a = -1, b = -1;
    const Node *node = named(graph, name, &a), *twin = named(graph, other, &b);
    if (node == nullptr || twin == nullptr) return;
    Patch patch(graph, node->label() + " is " + twin->label());
    patch.remove_node(a);
    patch.redirect(node->outputs[0], twin->outputs[0]);
    patches->push_back(std::move(patch));
  };
}

std::function<Package(const Graph& graph, const CompileOptions& options)> damaged_kernel(
    const std::string& pattern, int nth, const std::string& what, const std::string& by, std::string* name) {
  return [=](const Graph& graph, const CompileOptions& options) {
    Package package = compile(graph, options);
    int n = 0;
    for (const KernelInfo& kernel : package.variants[0].kernels) {
      if (kernel.pattern == pattern && ++n == nth) *name = kernel.name;
    }
    if (name->empty()) fail_internal("there is no kernel ", nth, " of pattern ", pattern);
    for (Variant& variant : package.variants) {
      Code& code = variant.code;
      const size_t begin = code.source.find("void " + *name + "(");
      if (begin == std::string::npos) fail_internal("no source of ", *name);
      const size_t end = code.source.find("\n}\n", begin);
      const std::string body = code.source.substr(begin, end - begin);
      const std::string wrong = std::regex_replace(body, std::regex(what), by, std::regex_constants::format_first_only);
      if (wrong == body) fail_internal("nothing in ", *name, " is like ", what);
      code.source.replace(begin, body.size(), wrong);
      BuildOptions build = options.build;
      build.contract = level_of(options.opt).contract;
      build_code(variant, build);
    }
    return package;
  };
}

}  // namespace dnn::seeded
