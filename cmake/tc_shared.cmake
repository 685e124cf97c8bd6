# tensor_comprehensions, the library as a shared one, TensorComprehensions::engine: all floors in one file with a soname, made
# of the objects that the static libraries of the floors are made of. It exports namespace tc, and nothing of what it is linked
# with. Until version 1.0 each minor version is another library (CHANGELOG.md).
set(TC_FLOORS base proto lang proof polyhedral options halide_bridge autodiff layout derive strategy cpu cuda library cache graph engine autotuner)
set(TC_FLOOR_OBJECTS ${TC_FLOORS})
list(TRANSFORM TC_FLOOR_OBJECTS REPLACE "(.+)" "$<TARGET_OBJECTS:tc_\\1>")

set(map ${PROJECT_SOURCE_DIR}/cmake/tensor_comprehensions.map)
add_library(tensor_comprehensions SHARED ${TC_FLOOR_OBJECTS})
set_target_properties(
  tensor_comprehensions
  PROPERTIES LINKER_LANGUAGE CXX
             SOVERSION ${PROJECT_VERSION_MAJOR}.${PROJECT_VERSION_MINOR}
             LIBRARY_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/lib
             LINK_DEPENDS ${map})
target_link_options(tensor_comprehensions PRIVATE LINKER:--version-script=${map} LINKER:-Bsymbolic-functions LINKER:-z,defs)
target_link_libraries(
  tensor_comprehensions
  PRIVATE tc::isl tc::halide tc::llvm tc::protobuf tc::crypto tc::tbb Threads::Threads ${CMAKE_DL_LIBS}
  PUBLIC tc::dlpack)
target_include_directories(tensor_comprehensions PUBLIC ${PROJECT_SOURCE_DIR})
add_library(TensorComprehensions::engine ALIAS tensor_comprehensions)
