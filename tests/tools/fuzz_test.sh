# shellcheck shell=bash
# metalloid fuzz

it_prints_the_kernel_of_a_seed() {
  expect 0 metalloid fuzz kernels --seed 5 --print
  expect_text stdout "kernel void f("
  cp stdout first
  expect 0 metalloid fuzz kernels --seed 5 --print
  cmp stdout first || fail "the same seed gave another kernel"
}

it_finds_no_difference_in_a_few_kernels() {
  expect 0 metalloid fuzz kernels --seed 2168 --count 2 --keep found
  expect_text stdout "2 random kernels, 0 of them wrong"
  [[ ! -e found ]] || fail "something was kept"
}

it_refuses_widths_that_no_engine_has() {
  expect 2 metalloid fuzz kernels --width 7
  expect_text stderr "--width"
}

it_compares_a_device_with_the_reference_engine() {
  expect 0 metalloid fuzz kernels --device cpu --seed 2168 --count 2 --keep found
  expect_text stdout "2 random kernels, 0 of them wrong"
}

it_says_so_when_the_device_to_compare_does_not_exist() {
  expect 3 metalloid fuzz kernels --device abacus
  expect_text stderr "there is no device 'abacus'"
}

it_runs_the_kernels_of_a_library_on_both_engines() {
  cat >kernels.metal <<'METAL'
kernel void doubles(device float* x, uint i [[thread_position_in_grid]]) { x[i] *= 2; }
kernel void leaves_its_buffer(device float* x, uint i [[thread_position_in_grid]]) { x[i + SHIFT] = 1; }
METAL
  expect 0 metalloid fuzz library kernels.metal -D SHIFT=100000000 --all
  expect_text stdout "doubles: same"
  expect_text stdout "leaves_its_buffer: undefined: kernels.metal:2"
  expect_text stdout "2 kernels: 1 the same, 0 differ, 1 undefined with all arguments tried, 0 not run"
  expect 0 metalloid compile kernels.metal -D SHIFT=1 -o kernels.metallib
  expect 0 metalloid fuzz library kernels.metallib --only doubles
  expect_text stdout "1 kernels: 1 the same"
  expect 2 metalloid fuzz library kernels.metallib --only nonsense
  expect_text stderr "nonsense"
}
