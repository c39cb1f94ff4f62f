// The loop IR: buffers, scalar expressions, statements, kernels. Operators lower to it in logical indices; schedules
// rewrite it with the steps of steps.h; codegen/ prints it as C, OpenCL C or CUDA C. Trees are immutable and shared.
#pragma once
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "loops/layout.h"
#include "tensor/dtype.h"

namespace dnn::loops {

// A kernel argument; a task's own memory (registers where it fits); what a task's threads share; and what each thread has of its own from
// one loop over threads to the next, by its number as the first index.
enum class Scope : uint8_t { Global, Local, Shared, Private };

struct Buffer {
  std::string name;
  DType dtype;
  Shape shape;  // logical extents
  Layout layout;
  Scope scope = Scope::Global;
};
using BufferRef = std::shared_ptr<const Buffer>;

enum class Op : uint8_t {
  // leaves
  Constant,
  Variable,
  Load,
  // unary
  Neg,
  Not,
  Abs,
  Exp,
  Log,
  Sqrt,
  Sin,
  Cos,
  Tan,
  Asin,
  Acos,
  Atan,
  Sinh,
  Cosh,
  Tanh,
  Asinh,
  Acosh,
  Atanh,
  Erf,
  Silu,
  StatedDivisor,  // 1 + exp(-x), with the same bits everywhere (loops/stated.h)
  StatedNormal,   // the reciprocal of the standard normal distribution's integral up to x, alike
  StatedExponential,
  Floor,
  Ceil,
  RoundEven,
  RoundBFloat16,  // to the nearest number of that type, halves to even; the dtype stays
  RoundFloat16,
  IsNan,
  IsInf,
  Cast,
  // binary; Div on integers truncates like C, FloorDiv and FloorMod are for indices; Max(a,b) = a > b ? a : b, Min alike
  Add,
  Sub,
  Mul,
  Div,
  FloorDiv,
  FloorMod,
  TruncMod,
  Min,
  Max,
  Pow,
  And,
  Or,
  Xor,
  ShiftLeft,
  ShiftRight,
  Eq,
  Ne,
  Lt,
  Le,
  // ternary
  Select,
  Fma,
};

struct ExprNode;

// A scalar expression. Numbers convert implicitly; a number beside a typed expression takes that expression's dtype.
class Expr {
 public:
  Expr() = default;
  Expr(int value);                                         // NOLINT: implicit on purpose
  Expr(int64_t value);                                     // NOLINT
  Expr(double value);                                      // NOLINT
  Expr(float value) : Expr(static_cast<double>(value)) {}  // NOLINT
  explicit Expr(std::shared_ptr<const ExprNode> node) : node_(std::move(node)) {}
  bool defined() const { return node_ != nullptr; }
  const ExprNode& operator*() const { return *node_; }
  const ExprNode* operator->() const { return node_.get(); }
  const ExprNode* get() const { return node_.get(); }

 private:
  std::shared_ptr<const ExprNode> node_;
};

struct ExprNode {
  Op op;
  DType dtype;             // Int64 for indices, Bool for conditions
  bool literal = false;    // a Constant whose dtype may still follow its neighbour
  int64_t i = 0;           // Constant of an integer or bool dtype
  double f = 0;            // Constant of a float dtype
  std::string name;        // Variable; unique in its kernel
  BufferRef buffer;        // Load
  std::vector<Expr> args;  // operands; Load: logical indices
};

Expr constant(DType dtype, double value);
Expr constant_int(DType dtype, int64_t value);
Expr variable(std::string name);
Expr load(BufferRef buffer, std::vector<Expr> indices);
Expr unary(Op op, Expr a);
Expr binary(Op op, Expr a, Expr b);
Expr select(Expr condition, Expr yes, Expr no);
Expr fma(Expr a, Expr b, Expr c);
Expr cast(DType dtype, Expr a);
// The node with other operands (same op, dtype, buffer).
Expr with_args(const Expr& expr, std::vector<Expr> args);
// The integer value of a constant index or bool; false when `expr` is anything else.
bool constant_value(const Expr& expr, int64_t* value);

Expr operator+(Expr a, Expr b);
Expr operator-(Expr a, Expr b);
Expr operator*(Expr a, Expr b);
Expr operator/(Expr a, Expr b);
Expr operator-(Expr a);
Expr operator<(Expr a, Expr b);
Expr operator<=(Expr a, Expr b);
Expr operator>(Expr a, Expr b);
Expr operator>=(Expr a, Expr b);
Expr operator==(Expr a, Expr b);
Expr operator!=(Expr a, Expr b);
Expr operator&&(Expr a, Expr b);
Expr operator||(Expr a, Expr b);
Expr operator!(Expr a);
inline Expr floordiv(Expr a, Expr b) { return binary(Op::FloorDiv, std::move(a), std::move(b)); }
inline Expr floormod(Expr a, Expr b) { return binary(Op::FloorMod, std::move(a), std::move(b)); }
inline Expr max(Expr a, Expr b) { return binary(Op::Max, std::move(a), std::move(b)); }
inline Expr min(Expr a, Expr b) { return binary(Op::Min, std::move(a), std::move(b)); }

// True where elements along the last axis lie side by side.
bool lies_in_rows(const Buffer& buffer);

// How a loop runs. Unrolled and Vector loops are tile loops: jam() stops at them, printers expand them. A Threads loop is run by as many
// threads side by side, none of which goes on before all are done; those of a kernel have one extent and none lies in another. A Matrix loop, over
// the depth of a product in a Threads loop, may be run by all threads of a warp together (codegen/matrix_products.h).
enum class LoopKind : uint8_t { Serial, Parallel, Unrolled, Vector, Threads, Matrix };

struct StmtNode;
using Stmt = std::shared_ptr<const StmtNode>;

// The cache that a line is asked for in.
enum class Fetch : uint8_t { First, Second };

enum class StmtKind : uint8_t { For, Block, Store, Alloc, If, Prefetch };

struct StmtNode {
  StmtKind kind;
  // For: `variable` counts 0 .. extent-1
  std::string variable;
  int64_t extent = 0;
  LoopKind loop = LoopKind::Serial;
  // For, If: one child (If: a second is the else branch); Block: any number
  std::vector<Stmt> children;
  // Store, Alloc, Prefetch
  BufferRef buffer;
  std::vector<Expr> indices;
  Expr value;                   // Store: what is stored; If: the condition; Prefetch: elements on from `indices`
  Fetch fetch = Fetch::Second;  // Prefetch
};

Stmt loop(std::string variable, int64_t extent, Stmt body, LoopKind kind = LoopKind::Serial);
Stmt block(std::vector<Stmt> statements);  // nested blocks are flattened
Stmt store(BufferRef buffer, std::vector<Expr> indices, Expr value);
Stmt alloc(BufferRef local);  // visible to the statements after it in its block
Stmt if_then(Expr condition, Stmt then, Stmt otherwise = nullptr);

// Asks for the line `offset` elements on from the element at `indices`; either may lie outside of the buffer: nothing is changed.
Stmt prefetch(BufferRef buffer, std::vector<Expr> indices, Expr offset, Fetch fetch);

BufferRef local_buffer(std::string name, DType dtype, Shape shape = {});

// One launch: `body` is a nest of Parallel loops around a task; arguments in call order, outputs among them.
struct Kernel {
  std::string name;     // C identifier
  std::string comment;  // node, shapes, schedule: printed above the function
  std::string pattern;  // what the lowering wrote, for schedules to recognise: "conv", "matmul", "map", ...
  std::vector<BufferRef> arguments;
  Stmt body;
  bool exact = false;  // products are rounded before they are added, whatever the level allows
};

// Readable text of the IR, one statement a line: what --emit and the golden tests show.
std::string to_text(const Expr& expr);
std::string to_text(const Stmt& stmt, int indent = 0);
std::string to_text(const Kernel& kernel);

// Rebuilds bottom-up: `visit` sees each expression after its operands were rewritten.
Expr rewrite(const Expr& expr, const std::function<Expr(const Expr&)>& visit);
// Rewrites every expression of a statement tree (indices, stored values, conditions).
Stmt rewrite_expressions(const Stmt& stmt, const std::function<Expr(const Expr&)>& visit);
Stmt rebuild(const StmtNode& stmt, std::vector<Stmt> children);
Expr substitute(const Expr& expr, const std::map<std::string, Expr>& values);
Stmt substitute(const Stmt& stmt, const std::map<std::string, Expr>& values);
bool uses_variable(const Expr& expr, const std::string& name);
bool uses_variable(const Stmt& stmt, const std::string& name);

// Runs a kernel's body as it stands, slowly: the judge of the scheduling steps in tests. `arguments` are physical 1-D
// tensors in the buffers' layouts, in argument order; outputs are written in place.
void evaluate(const Kernel& kernel, std::vector<Tensor>& arguments);

// The types that loops compute with: floats of 32 and 64 bits, bools, integers of whole bytes.
bool has_arithmetic(DType dtype);

}  // namespace dnn::loops
