# Writes the header OUTPUT with the digest of the compiler's sources below ROOT and of what else decides its code, EXTRA;
# leaves the file alone where it would not change. Run at each build: cmake -DROOT=... -DOUTPUT=... -DEXTRA=... -P ...
set(all "${EXTRA}")
foreach(folder base lang polyhedral options halide_bridge strategy cpu cuda library cache graph engine proto)
  file(GLOB_RECURSE files RELATIVE ${ROOT} ${ROOT}/tc/${folder}/*.cpp ${ROOT}/tc/${folder}/*.h ${ROOT}/tc/${folder}/*.proto)
  list(SORT files)
  foreach(file ${files})
    file(SHA256 ${ROOT}/${file} digest)
    string(APPEND all "\n${file} ${digest}")
  endforeach()
endforeach()
string(SHA256 digest "${all}")
set(text "#pragma once

namespace tc::cache {

constexpr char source_digest[] = \"${digest}\";

}  // namespace tc::cache
")
if(EXISTS ${OUTPUT})
  file(READ ${OUTPUT} old)
endif()
if(NOT "${old}" STREQUAL "${text}")
  file(WRITE ${OUTPUT} "${text}")
endif()
