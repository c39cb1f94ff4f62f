# The commit that is built, looked up at every build: `include` adds the target, `cmake -P` writes the header.
if(CMAKE_SCRIPT_MODE_FILE)
  # In a source archive `git archive` has put the commit here (.gitattributes).
  string(SUBSTRING "$Format:%H$" 0 12 commit)
  if(NOT commit MATCHES "^[0-9a-f]+$")
    execute_process(COMMAND git -C ${SOURCE} describe --always --abbrev=12 --exclude=* --dirty=+
      OUTPUT_VARIABLE commit OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET RESULT_VARIABLE status)
    if(NOT status EQUAL 0 OR commit STREQUAL "")
      set(commit unknown)
    endif()
  endif()
  file(CONFIGURE OUTPUT ${HEADER} CONTENT "// The commit that was built.\n#pragma once\n#define DNN_COMMIT \"${commit}\"\n")
else()
  set(DNN_VERSION_HEADER ${PROJECT_BINARY_DIR}/lib/base/version_commit.h)
  add_custom_target(dnn_commit BYPRODUCTS ${DNN_VERSION_HEADER}
    COMMAND ${CMAKE_COMMAND} -DSOURCE=${PROJECT_SOURCE_DIR} -DHEADER=${DNN_VERSION_HEADER} -P ${CMAKE_CURRENT_LIST_FILE}
    COMMENT "Looking up the commit")
  add_dependencies(dnn dnn_commit)
  set(DNN_FEATURES "" CACHE STRING "What is built in beyond the standard, for --version")
  string(STRIP "${DNN_FEATURES} ${DNN_SANITIZE}" features)
  set_source_files_properties(${PROJECT_SOURCE_DIR}/lib/base/version.cc TARGET_DIRECTORY dnn PROPERTIES COMPILE_DEFINITIONS
    "DNN_VERSION=\"${PROJECT_VERSION}\";DNN_BUILD_TYPE=\"${CMAKE_BUILD_TYPE}\";DNN_FEATURES=\"${features}\"")
endif()
