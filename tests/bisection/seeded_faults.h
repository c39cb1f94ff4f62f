// Faults for bisection to find: passes that make wrong rewrites, and kernels whose C is damaged. They come in by the hooks that
// bisect() has for tests (CompileOptions::rows, BisectSide::compiler); nothing of them is in the library.
#pragma once
#include <functional>
#include <string>
#include <vector>

#include "localize/bisect.h"

namespace dnn::seeded {

// What a pass's patches become.
using Damage = std::function<void(const Graph& graph, std::vector<Patch>* patches)>;

// The rows of passes.def with `pass` damaged. One at a time: a row is a plain function, so the damage lies in a global.
const std::vector<Pass>& rows_with(const std::string& pass, const Damage& damage);

// Damages of the rewrite whose reason holds `reason` (the first; "" for all of them), each as converters have made them.
Damage scaled(const std::string& reason, const std::string& constant,
              double factor);  // its new constants of that suffix
Damage halves_swapped(const std::string& reason, const std::string& constant);
Damage rounded_to_float16(const std::string& reason, const std::string& constant);
Damage attribute_set(const std::string& reason, const std::string& op, const std::string& key, Attribute value);
Damage op_replaced(const std::string& reason, const std::string& op, const std::string& by);  // in fused bodies too
Damage outputs_swapped(const std::string& reason, const std::string& op);
// One rewrite more: the node of that name goes, and its readers get its first input.
Damage node_dropped(const std::string& node);
// And: what `node` makes becomes what `other` makes.
Damage merged(const std::string& node, const std::string& other);

// Compiles, then damages the C of the nth kernel (from 1) of that pattern: the first match of a regular expression in its
// function is replaced. Throws Internal where there is none. `name` gets the kernel's.
std::function<Package(const Graph& graph, const CompileOptions& options)> damaged_kernel(
    const std::string& pattern, int nth, const std::string& what, const std::string& by, std::string* name);

}  // namespace dnn::seeded
