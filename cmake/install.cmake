# What `cmake --install` holds: tools, man pages, completion, documentation, the matrix of experiments with its sample, and, in the component
# development, the library with headers and pkg-config file. The .deb (scripts/package) holds all but the development component.
include(GNUInstallDirs)
find_package(Python3 REQUIRED COMPONENTS Interpreter)
get_property(DNN_TOOLS GLOBAL PROPERTY DNN_TOOLS)
set(from_help ${PROJECT_SOURCE_DIR}/scripts/from_help.py)

# Man pages and completion come from the built tools' own --help.
set(man_pages)
set(completions)
set(tool_files)
foreach(tool IN ITEMS dnn-tools LISTS DNN_TOOLS)
  set(file ${PROJECT_BINARY_DIR}/bin/${tool})
  set(page ${PROJECT_BINARY_DIR}/man/${tool}.1.gz)
  add_custom_command(OUTPUT ${page}
    COMMAND ${Python3_EXECUTABLE} ${from_help} man ${file} ${page}
    DEPENDS dnn-tools ${from_help} COMMENT "Making the man page of ${tool}")
  list(APPEND man_pages ${page})
  list(APPEND tool_files ${file})
endforeach()
if(DNN_TOOLS)
  file(MAKE_DIRECTORY ${PROJECT_BINARY_DIR}/man)
  foreach(shell IN ITEMS bash zsh)
    set(completion ${PROJECT_BINARY_DIR}/completion.${shell})
    add_custom_command(OUTPUT ${completion}
      COMMAND ${Python3_EXECUTABLE} ${from_help} ${shell} ${completion} ${tool_files}
      DEPENDS dnn-tools ${from_help} COMMENT "Making the completion for ${shell}")
    list(APPEND completions ${completion})
  endforeach()
  add_custom_target(manuals ALL DEPENDS ${man_pages} ${completions})
  install(TARGETS dnn-tools RUNTIME)
  install(FILES ${man_pages} DESTINATION ${CMAKE_INSTALL_MANDIR}/man1)
  # bash looks a completion up by the command's name, so every tool gets a link to the one file.
  install(FILES ${PROJECT_BINARY_DIR}/completion.bash DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions RENAME dnn-tools)
  foreach(tool IN LISTS DNN_TOOLS)
    install(CODE "file(CREATE_LINK dnn-tools \"\$ENV{DESTDIR}\${CMAKE_INSTALL_PREFIX}/${CMAKE_INSTALL_BINDIR}/${tool}\" SYMBOLIC)")
    install(CODE "file(CREATE_LINK dnn-tools \"\$ENV{DESTDIR}\${CMAKE_INSTALL_PREFIX}/${CMAKE_INSTALL_DATADIR}/bash-completion/completions/${tool}\" SYMBOLIC)")
  endforeach()
  install(FILES ${PROJECT_BINARY_DIR}/completion.zsh DESTINATION ${CMAKE_INSTALL_DATADIR}/zsh/vendor-completions RENAME _dnn-tools)
endif()

# The library: headers keep their folders, so that "graph/graph.h" reads the same outside.
configure_file(${PROJECT_SOURCE_DIR}/cmake/dnn.pc.in ${PROJECT_BINARY_DIR}/dnn.pc @ONLY)
install(TARGETS dnn ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT development)
install(DIRECTORY ${PROJECT_SOURCE_DIR}/lib/ DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/dnn COMPONENT development FILES_MATCHING PATTERN "*.h" PATTERN "*.def")
install(FILES ${PROJECT_BINARY_DIR}/dnn.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig COMPONENT development)
# The C interface is small, and comes with the tools.
configure_file(${PROJECT_SOURCE_DIR}/cmake/dnn-c.pc.in ${PROJECT_BINARY_DIR}/dnn-c.pc @ONLY)
install(FILES ${PROJECT_BINARY_DIR}/dnn-c.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
install(TARGETS dnn_c LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR})
install(FILES ${PROJECT_SOURCE_DIR}/lib/c/dnn.h DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
# What runs models in their frameworks, for dnn-infer --device lib:NAME.
install(DIRECTORY ${PROJECT_SOURCE_DIR}/scripts/adapters DESTINATION ${CMAKE_INSTALL_DATADIR}/dnn-tools
  FILES_MATCHING PATTERN "run_*.py" PATTERN "adapter.py" PATTERN "records.py" PATTERN "__pycache__" EXCLUDE)
# The matrix of experiments with its scripts and the sample, laid out as in the source: make -f /usr/share/dnn-tools/Makefile.experiments all
install(FILES ${PROJECT_SOURCE_DIR}/Makefile.experiments DESTINATION ${CMAKE_INSTALL_DATADIR}/dnn-tools)
install(PROGRAMS ${PROJECT_SOURCE_DIR}/scripts/experiments_status.py ${PROJECT_SOURCE_DIR}/scripts/experiments_table.py
  ${PROJECT_SOURCE_DIR}/scripts/tuning_table.py ${PROJECT_SOURCE_DIR}/scripts/stream_to_text.py ${PROJECT_SOURCE_DIR}/scripts/usage.py ${PROJECT_SOURCE_DIR}/scripts/printable.py
  ${PROJECT_SOURCE_DIR}/scripts/import-config ${PROJECT_SOURCE_DIR}/scripts/launch-ssh DESTINATION ${CMAKE_INSTALL_DATADIR}/dnn-tools/scripts)
install(DIRECTORY ${PROJECT_SOURCE_DIR}/tests/sample DESTINATION ${CMAKE_INSTALL_DATADIR}/dnn-tools/tests
  PATTERN "*.py" EXCLUDE PATTERN "CMakeLists.txt" EXCLUDE PATTERN "expected" EXCLUDE PATTERN "__pycache__" EXCLUDE)
foreach(page IN ITEMS README CHANGELOG CONTRIBUTING SECURITY)
  install(FILES ${PROJECT_SOURCE_DIR}/${page}.md DESTINATION ${CMAKE_INSTALL_DOCDIR})
endforeach()
install(DIRECTORY ${PROJECT_SOURCE_DIR}/docs ${PROJECT_SOURCE_DIR}/schemas DESTINATION ${CMAKE_INSTALL_DOCDIR})
install(FILES ${PROJECT_SOURCE_DIR}/LICENSE DESTINATION ${CMAKE_INSTALL_DOCDIR} RENAME copyright)
# Pages and their commands name files as in the source tree: links lead there, from the pages and from a folder with links to share/dnn-tools.
foreach(link IN ITEMS dnn-tools/scripts/adapters=../adapters dnn-tools/docs=../doc/dnn-tools/docs dnn-tools/schemas=../doc/dnn-tools/schemas
    doc/dnn-tools/scripts=../../dnn-tools/scripts doc/dnn-tools/LICENSE=copyright)
  string(REGEX MATCH "(.*)=(.*)" matched ${link})
  install(CODE "file(CREATE_LINK ${CMAKE_MATCH_2} \"\$ENV{DESTDIR}\${CMAKE_INSTALL_PREFIX}/${CMAKE_INSTALL_DATADIR}/${CMAKE_MATCH_1}\" SYMBOLIC)")
endforeach()
