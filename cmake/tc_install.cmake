# Installs the library for other C++ projects: the shared library, a static one of the same objects, their headers, and the CMake
# package TensorComprehensions, whose target TensorComprehensions::engine is all that a program links;
# TensorComprehensions::engine_static takes the static one in its place. With LibTorch, TensorComprehensions::aten is a library of
# its own on top of the shared one. For builds without CMake there are files of pkg-config. All of it is relocatable: paths are
# relative to where the files lie, other libraries are looked up by who links them. The component `shared` is what a program needs that
# links the shared library.
include(CMakePackageConfigHelpers)

add_library(tensor_comprehensions_static STATIC ${TC_FLOOR_OBJECTS})
set_target_properties(tensor_comprehensions_static PROPERTIES LINKER_LANGUAGE CXX OUTPUT_NAME tensor_comprehensions)
install(TARGETS tensor_comprehensions LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT shared)
install(TARGETS tensor_comprehensions_static ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR})
set(TC_INSTALLED_ATEN "")
if(TARGET tc::aten)
  set(TC_INSTALLED_ATEN libtensor_comprehensions_aten.a)
  add_library(tensor_comprehensions_aten STATIC $<TARGET_OBJECTS:tc_aten>)
  set_target_properties(tensor_comprehensions_aten PROPERTIES LINKER_LANGUAGE CXX)
  install(TARGETS tensor_comprehensions_aten ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR})
endif()
install(DIRECTORY tc DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} COMPONENT shared FILES_MATCHING PATTERN "*.h")

set(TC_SHARED_FILE libtensor_comprehensions.so.${PROJECT_VERSION_MAJOR}.${PROJECT_VERSION_MINOR})
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
foreach(name tensor_comprehensions tensor_comprehensions_static)
  configure_file(cmake/${name}.pc.in ${PROJECT_BINARY_DIR}/${name}.pc @ONLY)
  install(FILES ${PROJECT_BINARY_DIR}/${name}.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
endforeach()
install(FILES ${PROJECT_SOURCE_DIR}/LICENSE DESTINATION ${CMAKE_INSTALL_DOCDIR})
install(FILES ${PROJECT_SOURCE_DIR}/third_party/README.md DESTINATION ${CMAKE_INSTALL_DOCDIR} RENAME third_party.md)
install(FILES ${PROJECT_BINARY_DIR}/TensorComprehensionsConfig.cmake
              ${PROJECT_BINARY_DIR}/TensorComprehensionsConfigVersion.cmake
              ${PROJECT_SOURCE_DIR}/cmake/tc_find_libtorch.cmake DESTINATION ${package} COMPONENT shared)
