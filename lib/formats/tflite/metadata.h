// What a TFLite file says of its images and classes, between the format's own metadata (a FlatBuffer with a zip archive of label
// files behind the model) and the IR's entries "preprocess" and "labels" (graph/graph.h).
#pragma once
#include <string>
#include <string_view>

#include "base/bytes.h"
#include "graph/graph.h"

namespace dnn::tflite {

inline constexpr const char* kMetadataName = "TFLITE_METADATA";

// Adds what `metadata` and the archive at the end of `file` hold and the graph does not say yet. Throws Malformed where the
// FlatBuffer is damaged; labels whose file is missing or damaged are left out.
void read_metadata(Bytes metadata, Bytes file, Graph* graph);

// The FlatBuffer that says what the graph's entries say; empty where they say nothing.
std::string metadata_of(const Graph& graph);
// The archive that belongs behind the file then; empty without labels.
std::string archive_of(const Graph& graph);

}  // namespace dnn::tflite
