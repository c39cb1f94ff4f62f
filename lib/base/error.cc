// Errors; see error.h.
#include "base/error.h"

namespace dnn {

void fail(ErrorKind kind, std::initializer_list<TextPart> parts) { throw Error(kind, cat_parts(parts)); }

}  // namespace dnn
