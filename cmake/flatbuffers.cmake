# dnn_add_flatbuffers(target schema [flag...]): schemas/<schema>.fbs as <schemas/<schema>_generated.h>, a system header, so that
# neither warnings nor clang-tidy judge it.
find_program(FLATC flatc REQUIRED)
function(dnn_add_flatbuffers target schema)
  set(generated ${PROJECT_BINARY_DIR}/generated)
  file(MAKE_DIRECTORY ${generated}/schemas)
  set(header ${generated}/schemas/${schema}_generated.h)
  add_custom_command(OUTPUT ${header}
    COMMAND ${FLATC} --cpp --scoped-enums ${ARGN} -o ${generated}/schemas ${PROJECT_SOURCE_DIR}/schemas/${schema}.fbs
    DEPENDS ${PROJECT_SOURCE_DIR}/schemas/${schema}.fbs
    COMMENT "Generating ${schema}_generated.h")
  target_sources(${target} PRIVATE ${header})
  target_include_directories(${target} SYSTEM PRIVATE ${generated})
endfunction()
