# dnn_add_flatbuffers(target schema): schemas/<schema>.fbs as <schema>_generated.h in the target's build folder.
find_program(FLATC flatc REQUIRED)
function(dnn_add_flatbuffers target schema)
  set(header ${CMAKE_CURRENT_BINARY_DIR}/${schema}_generated.h)
  add_custom_command(OUTPUT ${header}
    COMMAND ${FLATC} --cpp --scoped-enums -o ${CMAKE_CURRENT_BINARY_DIR} ${PROJECT_SOURCE_DIR}/schemas/${schema}.fbs
    DEPENDS ${PROJECT_SOURCE_DIR}/schemas/${schema}.fbs
    COMMENT "Generating ${schema}_generated.h")
  target_sources(${target} PRIVATE ${header})
endfunction()
