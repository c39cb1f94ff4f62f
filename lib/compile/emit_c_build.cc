// The build files of a network in C; see emit_c_parts.h.
#include "base/text.h"
#include "compile/emit_c_parts.h"

namespace dnn {
namespace {

// With `contract` for where multiply-adds may be fused. Clang's "fast" does not ask DNN_EXACT_BODY; GCC's "on" is "off".
std::string build_options(const CNet& net, const char* contract) {
  return cat("-O2 -fno-strict-aliasing -fwrapv -fno-math-errno -fno-trapping-math -ffp-contract=",
             net.level.contract ? contract : "off");
}

}  // namespace

std::string c_makefile(const CNet& net) {
  std::string text = cat("# Builds ", net.name,
                         "_test, which checks the code on this machine. For another: make CC=aarch64-linux-gnu-gcc\n");
  for (size_t v : net.best_first) {
    if (!net.row_of(v)->flags.empty())
      text += cat("# The code for ", net.row_of(v)->name, ": make ARCH=\"", join(net.row_of(v)->flags, " "), "\"\n");
  }
  if (net.level.contract) text += "CONTRACT = $(if $(findstring clang,$(shell $(CC) --version)),on,fast)\n";
  return text + cat("CC = cc\nARCH =\nCFLAGS = -std=c99 -Wall -Wextra ", build_options(net, "$(CONTRACT)"), "\n\n",
                    net.name, "_test: ", net.name, "_test.c ", net.name, ".c ", net.name,
                    ".h\n\t$(CC) $(CFLAGS) $(ARCH) -o $@ ", net.name, "_test.c ", net.name,
                    ".c -lm\n\ncheck: ", net.name, "_test\n\t./", net.name, "_test\n\nclean:\n\trm -f ", net.name,
                    "_test\n\n.PHONY: check clean\n");
}

std::string c_cmake_lists(const CNet& net) {
  return cat("# ", net.name, " as a library for other CMake projects: add_subdirectory() and link ", net.name,
             ".\ncmake_minimum_required(VERSION 3.10)\nproject(", net.name, " C)\nadd_library(", net.name, " STATIC ",
             net.name, ".c)\nset_target_properties(", net.name,
             " PROPERTIES C_STANDARD 99)\ntarget_include_directories(", net.name,
             " PUBLIC ${CMAKE_CURRENT_SOURCE_DIR})\nif(CMAKE_C_COMPILER_ID MATCHES \"GNU|Clang\")\n"
             "  target_compile_options(",
             net.name, " PRIVATE ", build_options(net, "$<IF:$<C_COMPILER_ID:GNU>,fast,on>"),
             ")\nendif()\nif(UNIX)\n  target_link_libraries(", net.name, " PUBLIC m)\nendif()\nadd_executable(",
             net.name, "_test ", net.name, "_test.c)\ntarget_link_libraries(", net.name, "_test PRIVATE ", net.name,
             ")\n");
}

}  // namespace dnn
