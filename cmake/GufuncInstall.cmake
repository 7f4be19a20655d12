# SPDX-License-Identifier: Apache-2.0
# Defines the layout of an installation. An installation is relocatable. Only the library's fallback
# path for plugins contains the prefix.
include(CMakePackageConfigHelpers)

set(GUFUNC_INSTALL_CMAKE_DIR "${CMAKE_INSTALL_LIBDIR}/cmake/gufunc")

install(TARGETS gufunc gufunc_headers gufunc_kernel_headers gufunc_cpp_headers gufunc_backend_sdk
        EXPORT gufuncTargets
        LIBRARY COMPONENT gufunc NAMELINK_COMPONENT gufunc_development
        FILE_SET HEADERS COMPONENT gufunc_development)
# Each plugin is a separate component, gufunc_backend_<name>. A plugin that was not built is skipped
# with a message, because the library works without it.
install(TARGETS gufunc_backend_cpu
        LIBRARY DESTINATION "${GUFUNC_INSTALL_PLUGIN_DIR}" COMPONENT gufunc_backend_cpu)
foreach(vendor IN LISTS gufunc_gpu_backends)
  set(plugin gufunc_backend_${vendor})
  install(TARGETS ${plugin} LIBRARY DESTINATION "${GUFUNC_INSTALL_PLUGIN_DIR}" COMPONENT ${plugin}
          OPTIONAL)
  install(CODE "if(NOT EXISTS \"$<TARGET_FILE:${plugin}>\")
    message(STATUS \"Not built, left out: ${plugin}\")
  endif()" COMPONENT ${plugin})
endforeach()
# The archive of the cpu backend is for programs that link the backend statically, through the
# imported target that gufuncConfig.cmake defines.
install(TARGETS gufunc_backend_cpu_static
        ARCHIVE DESTINATION "${CMAKE_INSTALL_LIBDIR}" COMPONENT gufunc_development)
# The gufunc command finds libgufunc relative to its own location. The CMakeLists.txt of the tools
# install the tools.
if(TARGET gufunc_cli)
  file(RELATIVE_PATH from_bin "/${CMAKE_INSTALL_BINDIR}" "/${CMAKE_INSTALL_LIBDIR}")
  set_target_properties(gufunc_cli PROPERTIES INSTALL_RPATH "$ORIGIN/${from_bin}")
endif()

install(EXPORT gufuncTargets NAMESPACE gufunc:: DESTINATION "${GUFUNC_INSTALL_CMAKE_DIR}"
        COMPONENT gufunc_development)
configure_package_config_file(
  "${PROJECT_SOURCE_DIR}/cmake/gufuncConfig.cmake.in" "${PROJECT_BINARY_DIR}/gufuncConfig.cmake"
  INSTALL_DESTINATION "${GUFUNC_INSTALL_CMAKE_DIR}"
  PATH_VARS CMAKE_INSTALL_BINDIR CMAKE_INSTALL_LIBDIR
  NO_SET_AND_CHECK_MACRO)
# Before version 1.0 every minor version has a different ABI.
write_basic_package_version_file("${PROJECT_BINARY_DIR}/gufuncConfigVersion.cmake"
                                 COMPATIBILITY SameMinorVersion)
install(FILES "${PROJECT_BINARY_DIR}/gufuncConfig.cmake"
              "${PROJECT_BINARY_DIR}/gufuncConfigVersion.cmake"
              "${PROJECT_SOURCE_DIR}/cmake/GufuncAddBackend.cmake"
              "${PROJECT_SOURCE_DIR}/cmake/GufuncAddModule.cmake"
              "${PROJECT_SOURCE_DIR}/cmake/gufunc_backend.map"
        DESTINATION "${GUFUNC_INSTALL_CMAKE_DIR}" COMPONENT gufunc_development)

# The .pc files compute the prefix from their own location.
file(RELATIVE_PATH GUFUNC_PC_PREFIX "/${CMAKE_INSTALL_LIBDIR}/pkgconfig" "/")
string(REGEX REPLACE "/$" "" GUFUNC_PC_PREFIX "${GUFUNC_PC_PREFIX}")
foreach(pc IN ITEMS gufunc.pc gufunc-backend.pc)
  configure_file("${PROJECT_SOURCE_DIR}/pkgconfig/${pc}.in" "${PROJECT_BINARY_DIR}/${pc}" @ONLY)
  install(FILES "${PROJECT_BINARY_DIR}/${pc}" DESTINATION "${CMAKE_INSTALL_LIBDIR}/pkgconfig"
          COMPONENT gufunc_development)
endforeach()
install(FILES "${PROJECT_SOURCE_DIR}/LICENSE" DESTINATION "${CMAKE_INSTALL_DOCDIR}"
        COMPONENT gufunc)
install(CODE "block()
  cmake_policy(VERSION 3.25)
  set(source \"${PROJECT_SOURCE_DIR}\")
  set(build \"${PROJECT_BINARY_DIR}\")
  set(docdir \"${CMAKE_INSTALL_DOCDIR}\")
  set(includedir \"${CMAKE_INSTALL_INCLUDEDIR}\")
  include(\"${PROJECT_SOURCE_DIR}/cmake/GufuncInstallDocs.cmake\")
endblock()" COMPONENT gufunc_development)
