// The functions of an ONNX model, and the limits of inlining them.
#pragma once
#include <map>
#include <string>

#include <schemas/onnx.pb.h>

#include "formats/onnx/attribute_proto.h"
#include "formats/onnx/fields.h"
#include "formats/onnx/scope.h"

namespace dnn::onnx {

// "ai.onnx" is another name of the domain "".
std::string canonical_domain(const std::string& domain);

class Functions {
 public:
  // `model` outlives this.
  explicit Functions(const ModelProto& model);

  // The function that a node calls, or null.
  const FunctionProto* called(const NodeProto& node) const;

  // To stand around the inlining of one call, which it counts. Malformed where calls nest too deep, Unsupported where all
  // of them make too many nodes.
  class Call {
   public:
    Call(Functions& functions, const FunctionProto& function);
    ~Call() { --functions_.depth_; }
    Call(const Call&) = delete;
    Call& operator=(const Call&) = delete;

   private:
    Functions& functions_;
  };
  // Counts what inlining adds.
  void spend(int64_t n_nodes, size_t n_bytes);

 private:
  int64_t inlined_size(const FunctionProto& function, int depth);

  std::map<std::string, const FunctionProto*> functions_;
  std::map<const FunctionProto*, int64_t> inlined_sizes_;
  int depth_ = 0;
  int64_t inlined_nodes_ = 0;
  size_t inlined_bytes_ = 0;
};

// The attributes that the body of `function` sees in this call. Malformed for one that the function does not take.
Arguments function_arguments(const FunctionProto& function, const NodeProto& call, const Node& node, const Scope& scope,
                             const IgnoredFields& ignored);

}  // namespace dnn::onnx
