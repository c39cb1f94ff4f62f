// Describes the machine that a stream is made on, for the stream's header.
#pragma once
#include "stream/records.h"

namespace dnn::usage {

// Processor, kernel, topology, date, and the version of dnn-tools.
void describe_machine(stream::Header* header);

// True where an emulator runs this program for a processor of another kind: what it takes is no time of that processor.
bool is_emulated();

}  // namespace dnn::usage
