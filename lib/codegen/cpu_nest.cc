// A kernel on its way through a CPU's schedule; see cpu_nest.h.
#include "codegen/cpu_nest.h"

#include <algorithm>

#include "codegen/dot_products.h"
#include "codegen/inner_loops.h"
#include "codegen/loop_order.h"
#include "loops/simplify.h"

namespace dnn::codegen::cpu {
namespace {

using namespace loops;

// Elements of a block, which vector loops run over: in as many registers as they take, but no more than so many bytes.
constexpr int64_t kBlock = 16, kBlockBytes = 64;

BufferRef stored_by(const Kernel& kernel) {
  for (const Access& access : accesses(kernel.body)) {
    if (access.is_store && access.buffer->scope == Scope::Global) return access.buffer;
  }
  fail_internal("kernel ", kernel.name, " stores nothing");
}

// A read value keeps its type.
Stmt replace_buffer(const Stmt& stmt, const Buffer* from, const BufferRef& to) {
  return rewrite_expressions(stmt, [&](const Expr& e) {
    if (e->op != Op::Load || e->buffer.get() != from) return e;
    return to->dtype == from->dtype ? load(to, e->args) : cast(from->dtype, load(to, e->args));
  });
}

// All axes, those of the loops around v's first, then the one that v indexes: the order in which its blocks are read where no
// loop goes inside of others later.
std::vector<int> order_of_reading(const Stmt& body, const std::vector<Expr>& indices, const std::string& v) {
  std::vector<int> order;
  const auto add = [&](const std::string& name) {
    for (size_t axis = 0; axis < indices.size(); ++axis) {
      if (indices[axis]->op == Op::Variable && indices[axis]->name == name) order.push_back(static_cast<int>(axis));
    }
  };
  for (const std::string& name : nest_variables(body)) {
    if (name == v) break;
    add(name);
  }
  add(v);
  for (int axis = 0; axis < static_cast<int>(indices.size()); ++axis) {
    if (std::find(order.begin(), order.end(), axis) == order.end()) order.push_back(axis);
  }
  return order;
}

// The layout of a constant that is read so; row-major where it should keep its own.
Layout packed_layout(const Stmt& body, const Access& access, const Packing& packing, bool dots) {
  Layout layout;
  for (const auto& [name, block] : {std::pair(packing.inner, dots ? packing.inner_width / kPair : packing.inner_width),
                                    std::pair(packing.v, packing.width), std::pair(dots ? packing.pairs : "", kPair)}) {
    for (size_t axis = 0; axis < access.indices.size(); ++axis) {
      if (access.indices[axis]->op != Op::Variable || access.indices[axis]->name != name || block == 1) continue;
      layout.block(static_cast<int>(axis), block);
      if (name == packing.v && axis > 0) layout.order(order_of_reading(body, access.indices, packing.v));
    }
  }
  const bool as_it_lies = layout.text() == cat(access.indices.size() - 1, "/", packing.width) &&
                          access.buffer->shape.back() % packing.width == 0 && access.indices.size() == 1;
  return as_it_lies ? Layout() : layout;
}

}  // namespace

Nest::Nest(const Kernel& kernel, const std::set<const Buffer*>& packable, const ScheduleOptions& options)
    : kernel(kernel),
      body(kernel.body),
      packable(&packable),
      options(&options),
      output(stored_by(kernel)),
      dtype(output->dtype) {}

int64_t Nest::lanes() const { return isa().gpu ? 1 : std::min(kBlock, kBlockBytes / bytes()); }

bool Nest::in_vectors() const { return lanes() > 1 && has_vectors(dtype); }

const Buffer* Nest::input() const {
  for (const Access& access : accesses(body)) {
    if (!access.is_store && access.buffer->scope == Scope::Global && packed.count(access.buffer.get()) == 0 &&
        access.buffer->shape.size() == output->shape.size())
      return access.buffer.get();
  }
  return nullptr;
}

bool Nest::blocked(const std::string& v) const {
  for (const Access& access : accesses(body)) {
    for (size_t axis = 0; axis < access.indices.size(); ++axis) {
      if (access.buffer->layout.block_of(static_cast<int>(axis)) > 1 && packable->count(access.buffer.get()) == 0 &&
          uses_variable(access.indices[axis], v)) {
        return true;
      }
    }
  }
  return false;
}

bool Nest::holds(const std::string& v, const std::string& inner) const {
  const std::vector<std::string> nest = nest_variables(body);
  const auto at = std::find(nest.begin(), nest.end(), v);
  return std::find(at, nest.end(), inner) != nest.end();
}

int64_t Nest::tasks_around(const std::string& v) const {
  int64_t tasks = 1;
  for (const std::string& outer : nest_variables(body)) {
    if (outer == v) break;
    tasks *= extent(outer);
  }
  return tasks;
}

std::string Nest::last_output_axis() const {
  std::string name = "o0";
  for (int i = 0; extent(cat("o", i)) > 0; ++i) name = cat("o", i);
  return name;
}

std::vector<std::string> Nest::vectors_over(const std::string& v, bool twice) {
  std::vector<std::string> names;
  body = padded_vector_split(body, v, lanes(), twice, &names);
  return names;
}

void Nest::move_inside(const std::string& v, const std::string& inner) { body = codegen::move_inside(body, v, inner); }

Nest pack_constants(const Nest& given, const Packing& packing) {
  Nest nest = given;
  for (const Access& access : accesses(given.body)) {
    const Buffer* constant = access.buffer.get();
    if (nest.packable->count(constant) == 0 || !constant->layout.row_major()) continue;
    const bool dots = !packing.pairs.empty() && constant == nest.factor;
    const Layout layout = packed_layout(nest.body, access, packing, dots);
    if (layout.row_major()) continue;
    auto packed = std::make_shared<Buffer>(*constant);
    packed->layout = layout;
    if (dots) packed->dtype = nest.options->target.element;
    nest.packed.insert(packed.get());
    nest.body = replace_buffer(nest.body, constant, packed);
    for (BufferRef& argument : nest.kernel.arguments) {
      if (argument.get() == constant) argument = packed;
    }
  }
  return nest;
}

const Buffer* find_factor(const Nest& nest, const std::string& v, const std::string& k) {
  if (!nest.options->target.uses_dot()) return nullptr;
  return factor_of_pairs(nest.body, v, k, nest.options->narrow, [&](const Buffer& b) {
    return nest.options->factors.count(b.name) != 0 && nest.packable->count(&b) != 0 && b.layout.row_major();
  });
}

}  // namespace dnn::codegen::cpu
