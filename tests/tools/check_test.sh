# shellcheck shell=bash
# metalloid check

it_finds_a_race_and_names_both_lines() {
  local kernel="$source_folder/examples/kernels/missing_barrier.metal"
  expect 1 metalloid check "$kernel" reverse --grid 64 --group 64 -b values=f32:ramp:64 -b reversed=out:f32:64
  expect_text stderr race
  expect_text stderr "missing_barrier.metal:13"
  expect_text stderr "missing_barrier.metal:17"
  expect_text stderr reverse
}

it_has_nothing_to_report_on_a_correct_kernel() {
  local kernel="$source_folder/examples/kernels/missing_barrier.metal"
  expect 0 metalloid check "$kernel" reverse -DMENDED --grid 64 --group 64 -b values=f32:ramp:64 -b reversed=out:f32:64
  expect_text stdout "reverse: nothing to report"
  expect_empty stderr
}

it_names_the_buffer_that_is_too_small() {
  echo 'kernel void fill(device float* data [[buffer(3)]], uint i [[thread_position_in_grid]]) { data[i] = i; }' >fill.metal
  expect 1 metalloid check fill.metal fill --grid 100 --group 10 -b data=out:f32:99
  expect_text stderr "fill.metal:1"
  expect_text stderr data
  expect_text stderr "buffer 3"
  expect_text stderr "(99, 0, 0)"
}

it_finds_barriers_that_not_all_threads_reach() {
  cat >half.metal <<'METAL'
#include <metal_stdlib>
using namespace metal;
kernel void half_way(device int* x, uint i [[thread_position_in_threadgroup]]) {
  if (i < 32) threadgroup_barrier(mem_flags::mem_threadgroup);
  x[i] = i;
}
METAL
  expect 1 metalloid check half.metal half_way --grid 64 --group 64 -b x=out:i32:64
  expect_text stderr "half.metal:4"
  expect_text stderr barrier
}

it_ends_kernels_that_never_do() {
  echo 'kernel void forever(device int* x) { while (x[0] == 0) x[1] += 1; }' >forever.metal
  METALLOID_TIMEOUT=1 expect 1 metalloid check forever.metal forever --grid 1 -b x=out:i32:2
  expect_text stderr forever
}
