# shellcheck shell=bash
# metalloid bench kernels, on small sizes

# A copy of the tool without its peers, which finds its libraries as an installed one does.
copy_alone() {
  local program
  program=$(realpath "$(command -v metalloid)")
  mkdir -p alone/bin
  cp "$program" alone/bin
  ln -s "$(dirname "$(dirname "$program")")/lib" alone/lib
}

it_measures_every_kernel_and_writes_what_it_found() {
  expect 0 metalloid bench kernels --quick --json out.json --chart out.svg --chart out.png
  for kernel in add exp gelu gelu_half matmul_naive matmul_tiled matmul_simdgroup softmax_tree softmax_simd rms_norm \
    layer_norm reduction scan sort transpose convolution_naive convolution_tiled matvec matvec_q4 attention mandelbrot \
    histogram gather scatter; do
    grep -qE "^$kernel +[0-9].* [0-9.]+ +(GB|GFLOP|Gkeys)/s" stdout || fail "$kernel was not measured"
    expect_text out.json "\"$kernel\""
  done
  expect_text out.json '"milliseconds"'
  expect_text out.svg "<svg"
  [[ $(head -c 4 out.png | tail -c 3) == PNG ]] || fail "out.png is no PNG file"
}

it_measures_only_what_is_asked_for() {
  expect 0 metalloid bench kernels --quick --only scan,exp
  grep -qE "^exp " stdout || fail "exp was not measured"
  grep -qE "^scan " stdout || fail "scan was not measured"
  expect_no_text stdout softmax
}

it_does_without_peers_and_says_what_is_missing() {
  copy_alone
  expect 0 alone/bin/metalloid bench kernels --quick --only exp
  expect_text stdout "OpenCL      - there is no metalloid-opencl-peer beside metalloid"
  grep -qE "^exp +4 Ki +[0-9.]+ +- +- " stdout || fail "there is no dash for what was not measured"
}

it_says_which_kernels_there_are() {
  expect 2 metalloid bench kernels --quick --only nonsense
  expect_text stderr nonsense
  expect_text stderr matmul_simdgroup
}

it_draws_only_what_it_can_draw() {
  expect 2 metalloid bench kernels --quick --only exp --chart out.gif
  expect_text stderr out.gif
  expect_no_file out.gif
}

it_does_not_time_a_wrong_result() {
  copy_alone
  cat >alone/bin/metalloid-opencl-peer <<'PEER'
#!/usr/bin/env bash
# Answers as a peer does; every result is zero.
answer() { printf 'ok %d\n' "$1" && head -c "$1" /dev/zero; }
printf 'ok 4\nfake'
while read -r request first second _; do
  case $request in
    load) head -c "$first" >/dev/null && answer 0 ;;
    buffer) head -c "$second" >/dev/null && answer 0 ;;
    run) printf 'ok 2\n1 ' ;;
    read) answer 16384 ;;
    *) answer 0 ;;
  esac
done
PEER
  chmod +x alone/bin/metalloid-opencl-peer
  expect 1 alone/bin/metalloid bench kernels --quick --only exp
  expect_text stdout fake
  grep -qE "^exp +4 Ki +[0-9.]+ +wrong +- " stdout || fail "a wrong result was timed"
  expect_text stderr "exp, OpenCL: 4096 of 4096 results are wrong; number 0 is 0, not "
}

it_measures_on_the_device_that_is_asked_for() {
  expect 0 metalloid bench launch --device cpu --runs 10 --dispatches 10
  expect_text stdout "on Metalloid CPU"
  expect 3 metalloid bench launch --device abacus --runs 10 --dispatches 10
  expect_text stderr abacus
}

it_times_the_pipelines_of_a_library() {
  cat >kernels.metal <<'METAL'
constant bool is_large [[function_constant(0)]];
kernel void small(device float* x, uint i [[thread_position_in_grid]]) { x[i] *= 2; }
kernel void large(device float* x, uint i [[thread_position_in_grid]]) {
  threadgroup float tile[16384];
  tile[i] = x[i];
  x[i] = is_large ? tile[i + 1] : 0;
}
METAL
  expect 0 metalloid bench pipelines kernels.metal --over 0
  grep -qE "^ +[0-9]+ ms  small$" stdout || fail "the small kernel's pipeline is not listed"
  expect_text stdout "large: 'large' needs 65536 bytes of threadgroup memory"
  expect_text stdout "1 pipelines: median"
  expect_text stdout "1 kernels have none"
  export METALLOID_CACHE_DIR=$PWD/cache
  expect 0 metalloid bench pipelines kernels.metal --constants-false --json
  expect_no_file cache
  expect_text stdout '"kernel": "large"'
  cat >lock.metal <<'METAL'
#include <metal_stdlib>
using namespace metal;
kernel void locks(device atomic_uint* lock, device uint* sum, uint i [[thread_position_in_grid]]) {
  while (atomic_exchange_explicit(lock, 1, memory_order_relaxed)) {}
  *sum += simd_sum(i);
  atomic_store_explicit(lock, 0, memory_order_relaxed);
}
METAL
  expect 0 metalloid bench pipelines lock.metal
  expect_text stdout "locks: one thread at a time, on the reference engine"
  expect 2 metalloid bench pipelines kernels.metal --only nonsense
  expect_text stderr "nonsense"
}
