# METALLOID_SANITIZE=address,undefined or thread builds everything of ours with those sanitizers.
set(METALLOID_SANITIZE "" CACHE STRING "Sanitizers to build with, as -fsanitize= takes them")
if(METALLOID_SANITIZE)
  add_compile_options(-fsanitize=${METALLOID_SANITIZE} -fno-omit-frame-pointer -fno-sanitize-recover=all)
  # With a sanitizer's checks in between, g++ no longer sees that the standard library's own code initialises things.
  add_compile_options($<$<CXX_COMPILER_ID:GNU>:-Wno-maybe-uninitialized>)
  # Before a function that is called by its address clang looks for its type. Before kernels, which are compiled when
  # they are needed, there is none, and perhaps no memory.
  add_compile_options($<$<CXX_COMPILER_ID:Clang>:-fno-sanitize=function>)
  add_link_options(-fsanitize=${METALLOID_SANITIZE})
endif()
