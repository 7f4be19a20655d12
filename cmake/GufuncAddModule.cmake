# SPDX-License-Identifier: Apache-2.0
# Compiles kernels with gufcc, in this tree or in another project:
# gufunc_add_module(<target> SOURCES <file.guf.cpp>... [NAME <module>] [TARGETS <target>...]
#                   [OBJECT] [EMULATE] [EMULATE_ASAN] [OPTIONS <option>...]
#                   [INCLUDE_DIRECTORIES <dir>...] [OUTPUT_DIRECTORY <dir>])
#   without OBJECT     builds the module <module>.so as part of the target `all`; the target
#                      property GUFUNC_MODULE_FILE is its path
#   with OBJECT        makes an interface library; the program links <target> and registers the
#                      table gufunc_module_v1_<module> by its address
#   with EMULATE       also builds the code that simulated devices run instead of the module's
#                      device images; the target property GUFUNC_EMULATION_FILE is its path
#   with EMULATE_ASAN  also builds an emulation file with AddressSanitizer,
#                      asan/<module>.emu.so; the target property GUFUNC_ASAN_EMULATION_FILE is
#                      its path
# With GUFUNC_CUDA_COMPILER=nvcc, the CUDA toolkit's compiler generates PTX that only new drivers
# accept. Targets are ISA levels of the host's processor (`all` means every level) and devices such
# as ptx_75, sm_90 and gfx942. Devices whose compilers are missing are left out with a warning.
set(GUFUNC_KERNEL_TARGETS "all" CACHE STRING
    "What kernels are compiled for, unless a module sets TARGETS")

# Finds the gufcc command, and the dependencies of build rules that run gufcc.
function(_gufunc_find_gufcc out_command out_depends)
  if(TARGET gufcc)
    set(command "$<TARGET_FILE:gufcc>")
    set(depends gufcc)
  elseif(TARGET gufunc::gufcc)
    set(command "$<TARGET_FILE:gufunc::gufcc>")
    set(depends "")
  else()
    find_program(GUFUNC_GUFCC gufcc REQUIRED
                 HINTS "${CMAKE_CURRENT_FUNCTION_LIST_DIR}/../../../bin")
    mark_as_advanced(GUFUNC_GUFCC)
    set(command "${GUFUNC_GUFCC}")
    set(depends "${GUFUNC_GUFCC}")
  endif()
  set(${out_command} "${command}" PARENT_SCOPE)
  set(${out_depends} "${depends}" PARENT_SCOPE)
endfunction()

function(gufunc_add_module target)
  cmake_parse_arguments(PARSE_ARGV 1 arg "OBJECT;EMULATE;EMULATE_ASAN" "NAME;OUTPUT_DIRECTORY"
                        "SOURCES;TARGETS;OPTIONS;INCLUDE_DIRECTORIES")
  if(NOT arg_SOURCES)
    message(FATAL_ERROR "gufunc_add_module(${target}): no SOURCES")
  endif()
  if(arg_UNPARSED_ARGUMENTS)
    message(FATAL_ERROR "gufunc_add_module(${target}): unknown '${arg_UNPARSED_ARGUMENTS}'")
  endif()
  # An empty list usually comes from an unset variable, so it is an error instead of a request for
  # the default targets.
  if("TARGETS" IN_LIST arg_KEYWORDS_MISSING_VALUES)
    message(FATAL_ERROR "gufunc_add_module(${target}): TARGETS is empty")
  endif()
  if(NOT arg_NAME)
    set(arg_NAME "${target}")
  endif()
  if(NOT arg_TARGETS)
    set(arg_TARGETS "${GUFUNC_KERNEL_TARGETS}")
  endif()
  if(NOT arg_OUTPUT_DIRECTORY)
    set(arg_OUTPUT_DIRECTORY "${CMAKE_CURRENT_BINARY_DIR}")
  endif()
  string(REPLACE ";" "," targets "${arg_TARGETS}")
  list(TRANSFORM arg_INCLUDE_DIRECTORIES PREPEND "-I")
  list(TRANSFORM arg_SOURCES REPLACE "^([^/].*)$" "${CMAKE_CURRENT_SOURCE_DIR}/\\1")

  set(output "${arg_OUTPUT_DIRECTORY}/${arg_NAME}.so")
  set(mode "")
  if(arg_OBJECT)
    set(output "${arg_OUTPUT_DIRECTORY}/${arg_NAME}.guf.o")
    set(mode --object)
  endif()
  set(outputs "${output}")
  set(emulation "")
  if(arg_EMULATE)
    set(emulation "${arg_OUTPUT_DIRECTORY}/${arg_NAME}.emu.so")
    list(APPEND outputs "${emulation}")
    list(APPEND mode --emulate "${emulation}")
  endif()
  set(asan_emulation "")
  set(folders "${arg_OUTPUT_DIRECTORY}")
  if(arg_EMULATE_ASAN)
    set(asan_emulation "${arg_OUTPUT_DIRECTORY}/asan/${arg_NAME}.emu.so")
    list(APPEND folders "${arg_OUTPUT_DIRECTORY}/asan")
    list(APPEND outputs "${asan_emulation}")
    list(APPEND mode --emulate-asan "${asan_emulation}")
  endif()
  if(GUFUNC_CUDA_HOME)
    list(APPEND mode --cuda-home "${GUFUNC_CUDA_HOME}")
  endif()
  # PTX that nvcc generates requires the assembler of the same CUDA version.
  if(GUFUNC_PTXAS AND NOT GUFUNC_CUDA_COMPILER STREQUAL "nvcc")
    list(APPEND mode --ptxas "${GUFUNC_PTXAS}")
  endif()
  if(GUFUNC_CUDA_COMPILER)
    list(APPEND mode --cuda-compiler "${GUFUNC_CUDA_COMPILER}")
  endif()
  if(GUFUNC_ROCM_BITCODE)
    list(APPEND mode --rocm-bitcode "${GUFUNC_ROCM_BITCODE}")
  endif()
  _gufunc_find_gufcc(gufcc depends)
  add_custom_command(
    OUTPUT ${outputs}
    COMMAND "${CMAKE_COMMAND}" -E make_directory ${folders}
    COMMAND "${gufcc}" ${arg_SOURCES} -o "${output}" --name ${arg_NAME} --targets ${targets} ${mode}
            --depfile "${output}.d" ${arg_INCLUDE_DIRECTORIES} ${arg_OPTIONS}
    DEPENDS ${arg_SOURCES} ${depends}
    DEPFILE "${output}.d"
    COMMENT "Compiling kernels of ${arg_NAME}"
    COMMAND_EXPAND_LISTS VERBATIM)

  if(arg_OBJECT)
    add_custom_target(${target}_object DEPENDS ${outputs})
    add_library(${target} INTERFACE)
    add_dependencies(${target} ${target}_object)
    target_link_libraries(${target} INTERFACE "${output}" m)
  else()
    add_custom_target(${target} ALL DEPENDS ${outputs})
  endif()
  set_target_properties(${target} PROPERTIES
    GUFUNC_MODULE_FILE "${output}" GUFUNC_MODULE_SOURCES "${arg_SOURCES}"
    GUFUNC_EMULATION_FILE "${emulation}" GUFUNC_ASAN_EMULATION_FILE "${asan_emulation}")
endfunction()
