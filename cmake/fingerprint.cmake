# Writes a C++ file that defines metalloid::<ROOM>::compiler_fingerprint(), declared in HEADER: the hash of the files
# listed in SOURCES.
file(STRINGS ${SOURCES} sources)
set(hashes "")
foreach(source IN LISTS sources)
  file(SHA256 ${source} hash)
  string(APPEND hashes ${hash})
endforeach()
string(SHA256 fingerprint "${hashes}")
file(WRITE ${OUTPUT} "#include \"${HEADER}\"

namespace metalloid::${ROOM} {

std::string_view compiler_fingerprint() { return \"${fingerprint}\"; }

}  // namespace metalloid::${ROOM}
")
