// Kernels of bytes that sum nothing up, or little: maps, pools and borders in vectors of int32.
#pragma once
#include "loops/ir.h"

namespace dnn::codegen {

// Maps and pools: the loop along which most of what is read and written lies side by side in vectors, innermost.
loops::Stmt bytes_in_vectors(const loops::Stmt& body);

// The border of y: the channels of a block in vectors, block by block outermost.
loops::Stmt byte_border(const loops::Stmt& body, const loops::Buffer& y);

}  // namespace dnn::codegen
