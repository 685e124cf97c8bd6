# Installs the library for other C++ projects: one static library of all floors, their headers, and the CMake package
# TensorComprehensions, whose target TensorComprehensions::engine is all that a program links; with LibTorch,
# TensorComprehensions::aten, a library of its own. For those without CMake there is a file of pkg-config. All of it is
# relocatable: paths are relative to where the files lie, other libraries are looked up by who links them.
include(CMakePackageConfigHelpers)

set(objects)
foreach(floor base proto lang polyhedral options halide_bridge autodiff layout derive strategy cpu cuda library cache graph engine autotuner)
  list(APPEND objects $<TARGET_OBJECTS:tc_${floor}>)
endforeach()
add_library(tensor_comprehensions STATIC ${objects})
set_target_properties(tensor_comprehensions PROPERTIES LINKER_LANGUAGE CXX)
install(TARGETS tensor_comprehensions ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR})
set(TC_INSTALLED_ATEN "")
if(TARGET tc::aten)
  set(TC_INSTALLED_ATEN libtensor_comprehensions_aten.a)
  add_library(tensor_comprehensions_aten STATIC $<TARGET_OBJECTS:tc_aten>)
  set_target_properties(tensor_comprehensions_aten PROPERTIES LINKER_LANGUAGE CXX)
  install(TARGETS tensor_comprehensions_aten ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR})
endif()
install(DIRECTORY tc DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} FILES_MATCHING PATTERN "*.h")

set(TC_INSTALLED_ISL "")
if(TC_ISL_KIND STREQUAL "bundled")
  set(TC_INSTALLED_ISL libtensor_comprehensions_isl.a)
  install(FILES ${TC_ISL_PREFIX}/lib/libisl.a DESTINATION ${CMAKE_INSTALL_LIBDIR} RENAME ${TC_INSTALLED_ISL})
  install(FILES ${TC_ISL_PREFIX}/LICENSE DESTINATION ${CMAKE_INSTALL_DOCDIR} RENAME LICENSE.isl)
  set(TC_PC_ISL "-Wl,--whole-archive,\${libdir}/${TC_INSTALLED_ISL},--no-whole-archive")
else()
  set(TC_PC_ISL "-Wl,--no-as-needed,-lisl,--as-needed")
endif()

file(RELATIVE_PATH TC_PC_PREFIX /${CMAKE_INSTALL_LIBDIR}/pkgconfig /)
set(package ${CMAKE_INSTALL_LIBDIR}/cmake/TensorComprehensions)
configure_package_config_file(
  cmake/TensorComprehensionsConfig.cmake.in ${PROJECT_BINARY_DIR}/TensorComprehensionsConfig.cmake
  INSTALL_DESTINATION ${package}
  PATH_VARS CMAKE_INSTALL_INCLUDEDIR CMAKE_INSTALL_LIBDIR)
write_basic_package_version_file(
  ${PROJECT_BINARY_DIR}/TensorComprehensionsConfigVersion.cmake COMPATIBILITY SameMinorVersion)
configure_file(cmake/tensor_comprehensions.pc.in ${PROJECT_BINARY_DIR}/tensor_comprehensions.pc @ONLY)
install(FILES ${PROJECT_BINARY_DIR}/tensor_comprehensions.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
install(FILES ${PROJECT_SOURCE_DIR}/LICENSE DESTINATION ${CMAKE_INSTALL_DOCDIR})
install(FILES ${PROJECT_SOURCE_DIR}/third_party/README.md DESTINATION ${CMAKE_INSTALL_DOCDIR} RENAME third_party.md)
install(FILES ${PROJECT_BINARY_DIR}/TensorComprehensionsConfig.cmake
              ${PROJECT_BINARY_DIR}/TensorComprehensionsConfigVersion.cmake
              ${PROJECT_SOURCE_DIR}/cmake/tc_find_libtorch.cmake DESTINATION ${package})
