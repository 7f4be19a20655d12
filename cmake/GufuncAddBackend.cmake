# SPDX-License-Identifier: Apache-2.0
# gufunc_add_backend(<target> NAME <name> [SOURCES <file>...]): builds a plugin into lib/gufunc/1/,
# in this tree or in another project. The plugin exports one symbol, has no unresolved symbols, and
# is never unmapped.
set(GUFUNC_BACKEND_MAP "${CMAKE_CURRENT_LIST_DIR}/gufunc_backend.map")

function(gufunc_add_backend target)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "NAME" "SOURCES")
  if(NOT arg_NAME MATCHES "^[a-z][a-z0-9_]*$")
    message(FATAL_ERROR "gufunc_add_backend(${target}): NAME '${arg_NAME}' is not [a-z][a-z0-9_]*")
  endif()
  add_library(${target} MODULE ${arg_SOURCES})
  target_link_libraries(${target} PRIVATE gufunc::backend_sdk)
  target_compile_options(${target} PRIVATE
    $<$<AND:$<COMPILE_LANGUAGE:CXX>,$<CXX_COMPILER_ID:GNU>>:-fno-gnu-unique>)
  target_link_options(${target} PRIVATE
    LINKER:--version-script=${GUFUNC_BACKEND_MAP} LINKER:--exclude-libs,ALL LINKER:-z,nodelete
    LINKER:-z,now LINKER:-z,relro)
  # clang links sanitizer runtimes only into executables, so shared objects have undefined symbols.
  if(NOT (CMAKE_CXX_COMPILER_ID MATCHES "Clang" AND
          (GUFUNC_SANITIZE OR "${CMAKE_CXX_FLAGS} ${CMAKE_C_FLAGS}" MATCHES "-fsanitize")))
    target_link_options(${target} PRIVATE LINKER:-z,defs)
  endif()
  set_target_properties(${target} PROPERTIES
    PREFIX lib
    OUTPUT_NAME gufunc_backend_${arg_NAME}
    POSITION_INDEPENDENT_CODE ON
    C_VISIBILITY_PRESET hidden
    CXX_VISIBILITY_PRESET hidden
    VISIBILITY_INLINES_HIDDEN ON
    LINK_DEPENDS "${GUFUNC_BACKEND_MAP}"
    LIBRARY_OUTPUT_DIRECTORY "${CMAKE_BINARY_DIR}/lib/gufunc/1")
endfunction()
