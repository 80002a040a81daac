# add_device_test(NAME <name> COMMAND <command>...)
#
# A test of what runs on a device, once for each kind: <name> on the CPU, and nvidia.<name> on an NVIDIA GPU, which is
# skipped where there is none. METALLOID_DEVICE chooses: the programs take the system's default device.
function(add_device_test)
  cmake_parse_arguments(PARSE_ARGV 0 test "" NAME COMMAND)
  add_test(NAME ${test_NAME} COMMAND ${test_COMMAND})
  set_tests_properties(${test_NAME} PROPERTIES ENVIRONMENT METALLOID_DEVICE=cpu)
  add_test(NAME nvidia.${test_NAME} COMMAND ${test_COMMAND})
  set_tests_properties(nvidia.${test_NAME} PROPERTIES ENVIRONMENT METALLOID_DEVICE=nvidia
                       SKIP_REGULAR_EXPRESSION "METALLOID_DEVICE is 'nvidia', which is part of no device's name")
endfunction()
