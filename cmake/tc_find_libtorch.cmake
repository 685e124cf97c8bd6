# Defines tc::libtorch, the C++ libraries of torch, where the folder TC_LIBTORCH has them, or that of the package torch of
# Python_EXECUTABLE. Else TC_LIBTORCH_REASON says why there are none. Not by torch's own find_package(Torch), which for
# builds with CUDA asks for its toolkit, and adds what torch has of other libraries to the search paths.
set(TC_LIBTORCH_OLDEST 2.13)  # c10::Stream::native_handle
if(NOT TC_LIBTORCH AND Python_EXECUTABLE)
  execute_process(
    COMMAND ${Python_EXECUTABLE} -c
            "import importlib.util as u; s = u.find_spec('torch'); print(s.submodule_search_locations[0] if s else '')"
    OUTPUT_VARIABLE TC_LIBTORCH
    OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
endif()
set(header ${TC_LIBTORCH}/include/torch/headeronly/version.h)
set(TC_LIBTORCH_REASON "there is no LibTorch of at least ${TC_LIBTORCH_OLDEST} in '${TC_LIBTORCH}': set TC_LIBTORCH to its folder")
if(EXISTS ${header} AND EXISTS ${TC_LIBTORCH}/lib/libtorch.so)
  file(STRINGS ${header} lines REGEX "define TORCH_VERSION_(MAJOR|MINOR) ")
  string(REGEX REPLACE "[^0-9]*([0-9]+)[^0-9]+([0-9]+)[^0-9]*" "\\1.\\2" version "${lines}")
  if(version VERSION_GREATER_EQUAL TC_LIBTORCH_OLDEST)
    add_library(tc_libtorch INTERFACE)
    target_include_directories(
      tc_libtorch SYSTEM INTERFACE ${TC_LIBTORCH}/include ${TC_LIBTORCH}/include/torch/csrc/api/include)
    # libtorch.so holds nothing itself, but needs all there are, those for CUDA too.
    target_link_options(tc_libtorch INTERFACE LINKER:--push-state,--no-as-needed,${TC_LIBTORCH}/lib/libtorch.so,--pop-state)
    target_link_libraries(tc_libtorch INTERFACE ${TC_LIBTORCH}/lib/libtorch_cpu.so ${TC_LIBTORCH}/lib/libc10.so)
    add_library(tc::libtorch ALIAS tc_libtorch)
    message(STATUS "LibTorch: ${version}, ${TC_LIBTORCH}")
  endif()
endif()
if(NOT TARGET tc::libtorch)
  message(STATUS "LibTorch: none")
endif()
