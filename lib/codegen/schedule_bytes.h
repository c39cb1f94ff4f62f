// Kernels of bytes that sum nothing up, or little: maps, pools and borders in vectors of int32.
#pragma once
#include "loops/ir.h"

namespace dnn::codegen {

// Maps and pools: the loop along which most of what is read and written lies side by side in vectors, innermost.
loops::Stmt bytes_in_vectors(const loops::Stmt& body);

// A map whose result has blocks of kDot channels and no more than one of them: it stores the bytes of a block as one int32, so that the
// pixels of a vector are written at once. The kernel's argument is of int32 then, by the same addresses; the bytes of channels that are
// not there become 0. Other kernels stay. Only for machines that have the low byte of a word first.
void channels_in_words(loops::Kernel* kernel);

// A map that stores rows of bytes in blocks of kDot of them, each row of a block by a turn of its innermost loop: the same, for as many columns as a
// vector has lanes.
void rows_in_words(loops::Kernel* kernel);

// The border of y: the channels of a block in vectors, block by block outermost.
loops::Stmt byte_border(const loops::Stmt& body, const loops::Buffer& y);

}  // namespace dnn::codegen
