# shellcheck shell=bash
# metalloid run

saxpy() { metalloid run "$source_folder/examples/kernels/saxpy.metal" saxpy "$@"; }

it_runs_a_kernel_and_prints_its_output() {
  expect 0 saxpy --grid 5 -b x=f32:ramp:5 -b y=inout:f32:ones:5 -b a=f32:2
  expect_text stdout "y = 1 3 5 7 9"
  expect_empty stderr
}

it_takes_arguments_by_index_and_sizes_as_in_metal() {
  expect 0 saxpy --grid 5,1,1 --group 2,1,1 --buffer 0=f32:1,2,3,4,5 --buffer 1=out:f32:5 --buffer 2=f32:-1
  expect_text stdout "y = -1 -2 -3 -4 -5"
}

it_runs_compiled_libraries() {
  expect 0 metalloid compile twice.metal -o out.metallib
  expect 0 metalloid inspect out.metallib --json
  expect 0 metalloid run out.metallib twice --grid 3 -b 0=inout:f32:ramp:3
  expect_text stdout "= 0 2 4"
}

it_reads_and_writes_numpy_files() {
  expect 0 saxpy --grid 6 -b x=f32:ramp:2x3 -b y=out:f32:2x3:@y.npy -b a=f32:1
  expect_empty stdout
  [[ $(head -c 6 y.npy | tail -c 5) == NUMPY ]] || fail "y.npy is no .npy file"
  expect 0 saxpy --grid 6 -b x=@y.npy -b y=out:f32:2x3 -b a=f32:10
  expect_text stdout "y = 0 10 20"
  expect_text stdout "30 40 50"
}

it_reads_and_writes_bare_numbers() {
  expect 0 saxpy --grid 3 -b x=f32:ramp:3 -b y=out:f32:3:@y.raw -b a=f32:1
  [[ $(stat -c %s y.raw) == 12 ]] || fail "y.raw has not 12 bytes"
  expect 0 saxpy --grid 3 -b x=f32:@y.raw -b y=out:f32:3 -b a=f32:2
  expect_text stdout "y = 0 2 4"
}

it_gives_the_same_random_numbers_for_the_same_seed() {
  expect 0 saxpy --grid 3 -b x=f32:random:3 -b y=out:f32:3 -b a=f32:1 --seed 7
  cp stdout first
  expect 0 saxpy --grid 3 -b x=f32:random:3 -b y=out:f32:3 -b a=f32:1 --seed 7
  cmp -s stdout first || fail "the numbers differ"
  expect 0 saxpy --grid 3 -b x=f32:random:3 -b y=out:f32:3 -b a=f32:1 --seed 8
  ! cmp -s stdout first || fail "the seed changes nothing"
}

it_sets_function_constants() {
  cat >scale.metal <<'METAL'
constant float factor [[function_constant(0)]];
constant bool negate [[function_constant(3)]];
kernel void scale(device half* x, uint i [[thread_position_in_grid]]) { x[i] *= negate ? -factor : factor; }
METAL
  expect 0 metalloid run scale.metal scale --grid 4 -b x=inout:f16:ramp:4 --constant factor=2.5 --constant 3=true
  expect_text stdout "x = -0 -2.5 -5 -7.5"
  expect 1 metalloid run scale.metal scale --grid 4 -b x=inout:f16:ramp:4 --constant factor=2.5
  expect_text stderr negate
  expect 2 metalloid run scale.metal scale --grid 4 -b x=inout:f16:ramp:4 --constant nonsense=1
  expect_text stderr nonsense
}

it_gives_threadgroup_memory() {
  cat >reverse.metal <<'METAL'
#include <metal_stdlib>
using namespace metal;
kernel void reverse(device int* x, threadgroup int* shared [[threadgroup(0)]], uint i [[thread_position_in_threadgroup]],
                    uint n [[threads_per_threadgroup]]) {
  shared[i] = x[i];
  threadgroup_barrier(mem_flags::mem_threadgroup);
  x[i] = shared[n - 1 - i];
}
METAL
  expect 0 metalloid run reverse.metal reverse --threadgroups 1 --group 5 -b x=inout:i32:ramp:5 --threadgroup shared=32
  expect_text stdout "x = 4 3 2 1 0"
  expect 2 metalloid run reverse.metal reverse --threadgroups 1 --group 5 -b x=inout:i32:ramp:5
  expect_text stderr "--threadgroup shared=BYTES"
}

it_times_and_traces() {
  expect 0 saxpy --grid 5 -b x=f32:ramp:5 -b y=inout:f32:ones:5 -b a=f32:2 --time 5 --trace out.json
  expect_text stdout "5 runs: median"
  expect_file out.json
  expect_text out.json '"traceEvents"'
  expect_text out.json saxpy
}

it_says_which_arguments_are_missing() {
  expect 2 saxpy --grid 5 -b x=f32:ramp:5
  expect_text stderr "--buffer y=out:TYPE:SHAPE"
  expect_text stderr "--buffer a=TYPE:random:SHAPE"
}

it_explains_what_is_wrong_with_its_arguments() {
  expect 2 saxpy -b x=f32:ramp:5
  expect_text stderr "--grid"
  expect 2 saxpy --grid 0 -b x=f32:ramp:5 -b y=out:f32:5 -b a=f32:2
  expect 2 saxpy --grid 5 -b x=f33:ramp:5 -b y=out:f32:5 -b a=f32:2
  expect_text stderr "f33"
  expect 2 saxpy --grid 5 -b x=f32:rump:5 -b y=out:f32:5 -b a=f32:2
  expect_text stderr "rump"
  expect 2 saxpy --grid 5 -b z=f32:ramp:5 -b y=out:f32:5 -b a=f32:2
  expect_text stderr "x (0)"
  expect 2 saxpy --grid 5 --group 2000 -b x=f32:ramp:5 -b y=out:f32:5 -b a=f32:2
  expect_text stderr "1024"
  expect 3 saxpy --grid 5 -b x=@missing.npy -b y=out:f32:5 -b a=f32:2
  expect_text stderr "missing.npy"
  expect 2 metalloid run "$source_folder/examples/kernels/saxpy.metal" nonsense --grid 1
  expect_text stderr "  saxpy"
  expect 3 metalloid run missing.metal nonsense --grid 1
}

it_refuses_damaged_numpy_files() {
  printf '\x93NUMPY\x01\x00\xff\xff{' >bad.npy
  expect 3 saxpy --grid 5 -b x=@bad.npy -b y=out:f32:5 -b a=f32:2
  expect_text stderr "cut short"
  printf '%s' 'not numpy at all' >bad.npy
  expect 3 saxpy --grid 5 -b x=@bad.npy -b y=out:f32:5 -b a=f32:2
}

it_reports_compile_errors_as_the_compiler_does() {
  echo 'kernel void broken(device float* x) { x[0] = y; }' >broken.metal
  expect 1 metalloid run broken.metal broken --grid 1
  expect_text stderr "broken.metal:1:"
}

it_reports_a_kernel_that_faults_and_exits() {
  echo 'kernel void wild(device int* x) { x[1ul << 40] = 1; }' >wild.metal
  expect 1 metalloid run wild.metal wild --grid 1 -b x=out:i32:1
  expect_text stderr wild
}

it_explains_what_keeps_a_kernel_from_being_fast() {
  cat >look_up.metal <<'METAL'
kernel void look_up(device const uint* index, device const float* x, device float* y,
                    uint i [[thread_position_in_grid]]) {
  y[i] = x[index[i]];
}
METAL
  expect 0 metalloid run look_up.metal look_up --grid 4 -b index=u32:3,2,1,0 -b x=f32:ramp:4 -b y=out:f32:4 --explain
  expect_text stdout "y = 3 2 1 0"
  expect_text stderr "look_up: 32 threads at a time"
  expect_text stderr "look_up.metal:3:"
  expect_text stderr "gather: lanes read one by one; the index is read from memory"
}
