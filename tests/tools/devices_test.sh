# shellcheck shell=bash
# metalloid devices

it_lists_devices_with_memory_and_limits() {
  expect 0 metalloid devices
  expect_text stdout "(default)"
  expect_text stdout "GiB to work with"
  expect_text stdout "threads"
  expect_text stdout "math libraries"
  expect_empty stderr
}

it_prints_json() {
  expect 0 metalloid devices --json
  expect_text stdout '"max_threads_per_threadgroup"'
}

it_says_so_when_the_chosen_device_does_not_exist() {
  METALLOID_DEVICE=abacus expect 3 metalloid devices
  expect_text stderr abacus
}
