# dnn_add_protos(target name...): compiles schemas/<name>.proto into the target; include as <schemas/<name>.pb.h>, and
# only inside lib/formats/<format>/. Generated code is compiled without warnings.
function(dnn_add_protos target)
  set(generated ${PROJECT_BINARY_DIR}/generated)
  file(MAKE_DIRECTORY ${generated}/schemas)
  foreach(name IN LISTS ARGN)
    set(source ${PROJECT_SOURCE_DIR}/schemas/${name}.proto)
    set(outputs ${generated}/schemas/${name}.pb.cc ${generated}/schemas/${name}.pb.h)
    add_custom_command(OUTPUT ${outputs}
      COMMAND protobuf::protoc --proto_path=${PROJECT_SOURCE_DIR} --cpp_out=${generated} schemas/${name}.proto
      DEPENDS ${source} VERBATIM)
    set_source_files_properties(${generated}/schemas/${name}.pb.cc PROPERTIES COMPILE_OPTIONS -w)
    target_sources(${target} PRIVATE ${outputs})
  endforeach()
  target_include_directories(${target} SYSTEM PRIVATE ${generated})
endfunction()
