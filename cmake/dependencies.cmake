# The Debian packages that dnn-tools builds on; scripts/setup installs them.
find_package(Threads REQUIRED)
if(DNN_STATIC)  # beside headers one of them, as an archive
  find_library(DNN_STATIC_NETTLE libnettle.a REQUIRED)
  find_package(nlohmann_json REQUIRED)
  find_package(CLI11 REQUIRED)
  return()
endif()
find_package(PkgConfig REQUIRED)
pkg_check_modules(NETTLE REQUIRED IMPORTED_TARGET "nettle<4")
pkg_check_modules(XXHASH REQUIRED IMPORTED_TARGET libxxhash)
pkg_check_modules(YAML REQUIRED IMPORTED_TARGET yaml-0.1)
find_package(ZLIB REQUIRED)
find_package(PNG REQUIRED)
find_package(JPEG REQUIRED)
find_package(Protobuf REQUIRED)
find_package(nlohmann_json REQUIRED)
find_package(CLI11 REQUIRED)
find_package(Eigen3 REQUIRED NO_MODULE)
find_package(OpenCL REQUIRED)  # the ICD loader; devices are found at run time
find_package(msgpack-cxx QUIET)  # header-only; Debian 12 ships no CMake file under every name
