// Failures; see failure.h.
#include "base/failure.h"

#include <filesystem>
#include <new>
#include <stdexcept>
#include <system_error>

#include "base/error.h"

namespace dnn {

Failure failure_of(const std::exception_ptr& exception) {
  constexpr int kEnvironment = static_cast<int>(ErrorKind::Environment);
  try {
    std::rethrow_exception(exception);
  } catch (const Error& e) {
    return {e.what(), e.exit_code()};
  } catch (const std::bad_alloc&) {
    return {"out of memory", kEnvironment};
  } catch (const std::length_error&) {  // more than a container can hold
    return {"out of memory", kEnvironment};
  } catch (const std::filesystem::filesystem_error& e) {
    return {cat(e.path1().string(), ": ", e.code().message()), kEnvironment};
  } catch (const std::system_error& e) {  // no more threads, say
    return {e.what(), kEnvironment};
  } catch (const std::exception& e) {
    return {cat("internal error: ", e.what()), static_cast<int>(ErrorKind::Internal)};
  }
}

}  // namespace dnn
