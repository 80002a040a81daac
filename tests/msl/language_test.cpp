// Chapters of the language that have no file of their own: templates, lambdas, tables, memory, functions as values.
#include "compile_source.hpp"

namespace metalloid {
namespace {

TEST(Language, KernelsAreTemplatesOverTypesValuesAndFunctions) {
  EXPECT_EQ(functions_of(R"(
    struct Add { template <typename T> T operator()(T a, T b) const { return a + b; } static constexpr constant float start = 0; };
    struct Max { template <typename T> T operator()(T a, T b) { return max(a, b); } static constexpr constant float start = -INFINITY; };
    template <typename T, typename Op, int N = 4, bool Safe = true>
    [[kernel]] void reduce(const device T* in [[buffer(0)]], device T* out [[buffer(1)]], uint i [[thread_position_in_grid]]) {
      T total = T(Op::start);
      #pragma unroll
      for (int k = 0; k < N; ++k)
        if constexpr (Safe) total = Op()(total, in[i * N + k]);
        else total += in[i + k];
      out[i] = total;
    }
    #define instantiate(name, type, op) \
      template [[host_name("reduce_" #name)]] [[kernel]] void reduce<type, op>( \
          const device type* in [[buffer(0)]], device type* out [[buffer(1)]], uint i [[thread_position_in_grid]]);
    #define instantiate_all(op) instantiate(op##_float, float, op) instantiate(op##_half, half, op) instantiate(op##_bfloat, bfloat, op)
    instantiate_all(Add)
    instantiate_all(Max)
    template [[host_name("reduce_unsafe")]] [[kernel]] decltype(reduce<int, Add, 8, false>) reduce<int, Add, 8, false>;)"),
            "reduce_Add_float reduce_Add_half reduce_Add_bfloat reduce_Max_float reduce_Max_half reduce_Max_bfloat "
            "reduce_unsafe");
}

TEST(Language, ExplicitInstantiationsTakeTheirHostNameInEveryForm) {
  EXPECT_EQ(functions_of(R"(
    template <typename T> kernel void f(device T* x [[buffer(0)]]) { x[0] = T(1); }
    template [[host_name("a")]] kernel void f<float>(device float*);
    template [[host_name("b")]] [[kernel]] void f<half>(device half* x [[buffer(0)]]);
    template [[host_name("c"), kernel]] void f<int>(device int*);
    template kernel [[host_name("d")]] void f<uint>(device uint*);
    typedef decltype(f<short>) f_t;
    template [[host_name("e")]] kernel f_t f<short>;
    template [[host_name("g" "_" "h")]] kernel decltype(f<char>) f<char>;
    #define NAME(x) "f_" #x
    template [[host_name(NAME(long))]] kernel void f(device long*);
    namespace n { template <int N> kernel void k(device int* x) { x[0] = N; } }
    template [[host_name("n_k")]] kernel void n::k<3>(device int*);
    template <> [[host_name("special")]] kernel void f<float2>(device float2* x) { x[0] = 2; })"),
            "a b c d e g_h f_long n_k special");
}

TEST(Language, AKernelTemplateIsCalledByAnother) {
  EXPECT_EQ(functions_of(R"(
    template <typename T> kernel void inner(device T* x, uint i) { x[i] = T(1); }
    kernel void outer(device float* x, uint i [[thread_position_in_grid]]) { inner<float>(x, i); })"),
            "outer");
}

TEST(Language, LambdasCaptureAndAreGeneric) {
  EXPECT_EQ(functions_of(R"(
    template <typename F> void for_each(uint n, F f) { for (uint i = 0; i < n; ++i) f(i); }
    kernel void f(device float* out, constant float* in, uint i [[thread_position_in_grid]]) {
      threadgroup float shared[8];
      float sum = 0;
      for_each(4, [&](uint k) { sum += in[k]; });
      auto by_value = [=](float x) { return x * in[0]; };
      auto generic = [](auto x, thread float& y) { y += x; return x; };
      auto with_state = [count = 0]() mutable { return ++count; };
      const auto store = [&](uint k, float v) { shared[k] = v; };
      constexpr auto square = [](int x) { return x * x; };
      static_assert(square(3) == 9, "");
      store(i, by_value(generic(2, sum)) + generic(1.0h, sum) + with_state());
      out[i] = [&] { return shared[0]; }() + sum;
    })"),
            "f");
}

TEST(Language, TablesStandInConstantMemory) {
  EXPECT_EQ(functions_of(R"(
    constant float weights[4] = {0.1, 0.2, 0.3, 0.4};
    constexpr constant static int8_t codes[] = {-127, -104, 1, 2};
    static constant constexpr uint2 pairs[2][2] = {{uint2(1, 2), uint2(3)}, {uint2(5, 6), 7}};
    struct Entry { float4 color; int kind; };
    constant Entry entries[] = {{float4(1, 0, 0, 1), 2}, {{0.5}, 3}};
    constant char text[] = "abc";
    template <typename T> struct Traits;
    template <> struct Traits<float> { static constexpr constant int width = 4; constant static constexpr float table[2] = {1, 2}; };
    template <typename T> constexpr constant T pi = T(3.14159);
    float lookup(constant float* table, int i) { return table[i]; }
    kernel void f(device float* out, uint i [[thread_position_in_grid]]) {
      constant float inner[] = {1, 2, 3};
      constexpr float other[] = {4, 5};
      out[i] = lookup(weights, i) + codes[i] + pairs[i][1].y + entries[i].color.x + text[i] + Traits<float>::width +
               Traits<float>::table[i] + pi<float> + inner[i] + other[i];
      constant Entry& e = entries[i];
      constant float* p = i > 2 ? weights : weights + 1;
      out[0] += e.kind + *p;
    })"),
            "f");
}

TEST(Language, VisibleFunctionsArePointersAndTables) {
  const auto library = library_of(R"(
    using Operation = float(float, constant int&);
    [[visible]] float half_of(float x, constant int& n) { return x / n; }
    [[visible, host_name("renamed")]] float square(float x, constant int&) { return x * x; }
    [[stitchable]] float4 stitched(float4 a, float b) { return a * b; }
    kernel void f(device float* out, constant int& n, visible_function_table<Operation> table [[buffer(5)]],
                  visible_function_table<void(device float*, uint)> stores, uint i [[thread_position_in_grid]]) {
      out[i] = table[i](out[i], n);
      stores[0](out, i);
      if (table.size() > 2) out[i] += 1;
    }
    float apply(float (*operation)(float), float x) { return operation(x); }
    float negate(float x) { return -x; }
    kernel void g(device float* out) { out[0] = apply(negate, out[1]); float (*p)(float) = &negate; out[1] = p(2); })");
  ASSERT_TRUE(library);
  for (const std::string_view name : library->function_names()) code_of(*library, name);
  const Function& square = *library->find("renamed");
  EXPECT_EQ(square.kind, FunctionKind::visible);
  EXPECT_EQ(square.parameters.at(0).kind, ParameterKind::value);
  EXPECT_EQ(square.parameters.at(0).type.data_type, DataType::float1);
  EXPECT_EQ(library->find("stitched")->kind, FunctionKind::visible);
  const Function& f = *library->find("f");
  EXPECT_EQ(f.parameters.at(2).kind, ParameterKind::visible_function_table);
  EXPECT_EQ(f.parameters.at(2).index, 5u);
  EXPECT_EQ(f.parameters.at(3).index, 2u) << "tables share the indices of buffers";
}

TEST(Language, ThreadgroupMemoryOfAKnownSizeIsCounted) {
  const auto library = library_of(R"(
    struct Pair { float a; char b; };
    template <typename T> struct Tile { threadgroup T* data; };
    void fill(threadgroup float (&row)[8], uint i) { row[i] = i; }
    float inner(uint i) { threadgroup float mine[4]; mine[i] = i; threadgroup_barrier(mem_flags::mem_threadgroup); return mine[0]; }
    kernel void none(device float* out) { out[0] = 1; }
    kernel void one(device float* out, uint i [[thread_index_in_threadgroup]]) {
      threadgroup float rows[8];
      fill(rows, i);
      out[i] = rows[0];
    }
    kernel void several(device float* out, uint i [[thread_index_in_threadgroup]]) {
      threadgroup float4 a[3];
      threadgroup Pair pair;
      threadgroup atomic_uint counter;
      a[i] = i; pair.b = i; atomic_store_explicit(&counter, i, memory_order_relaxed);
      out[i] = a[0].x + pair.b + atomic_load_explicit(&counter, memory_order_relaxed);
    }
    kernel void called(device float* out, uint i [[thread_index_in_threadgroup]]) { out[i] = inner(i); }
    template <typename T, int N> kernel void typed(device T* out, uint i [[thread_index_in_threadgroup]]) {
      threadgroup T tile[N][N + 1];
      tile[i][0] = out[i];
      Tile<T> t{&tile[0][0]};
      out[i] = t.data[1];
    }
    template [[host_name("typed_half_16")]] kernel void typed<half, 16>(device half*, uint);)");
  ASSERT_TRUE(library);
  const auto bytes = [&](const char* name) { return code_of(*library, name).static_threadgroup_memory; };
  EXPECT_EQ(bytes("none"), 0u);
  EXPECT_EQ(bytes("one"), 32u);
  EXPECT_GE(bytes("several"), 48u + 8 + 4);
  EXPECT_LE(bytes("several"), 96u);
  EXPECT_EQ(bytes("called"), 16u);
  EXPECT_EQ(bytes("typed_half_16"), 16u * 17 * 2);
}

TEST(Language, ThreadgroupMemoryRunsNoConstructors) {
  EXPECT_EQ(functions_of(R"(
    struct Counted { int n; Counted() : n(3) {} };
    struct Preset { float x = 2; };
    kernel void f(device float* out) {
      threadgroup Counted counted;
      threadgroup Preset presets[4];
      out[0] = counted.n + presets[1].x;
    })"),
            "f");
}

TEST(Language, ThreadgroupMemoryOfTheHostsSizeIsAnArgument) {
  const Function f = function_of(R"(
    struct Shared { float sums[32]; uint count; };
    kernel void f(threadgroup float* a [[threadgroup(1)]], threadgroup Shared& b, threadgroup half4* c,
                  uint i [[thread_index_in_threadgroup]]) { a[i] = b.sums[i] + c[i].x; })");
  const uint32_t indices[] = {1, 0, 2};
  for (size_t i = 0; i < 3; ++i) {
    EXPECT_EQ(f.parameters.at(i).kind, ParameterKind::threadgroup_memory);
    EXPECT_EQ(f.parameters.at(i).index, indices[i]);
  }
  EXPECT_EQ(f.parameters[1].type.name, "Shared");
  EXPECT_EQ(f.parameters[1].type.size, 132u);
}

TEST(Language, MemberFunctionsAreCalledThroughPointersIntoEveryAddressSpace) {
  EXPECT_EQ(functions_of(R"(
    struct Counter {
      int n;
      void add(int k) device { n += k; }
      void add(int k) thread { n += k; }
      void add(int k) threadgroup { n += k; }
      int get() const device { return n; }
      int get() const constant { return n; }
      int get() const thread { return n; }
    };
    kernel void f(device Counter* a, constant Counter* b, threadgroup Counter* c, device Counter& d) {
      Counter local = *b;
      a->add(b->get());
      c->add(a->get());
      d.add(1);
      (*a).add(2);
      a[1].add(local.get());
      thread Counter* p = &local;
      p->add(3);
      a->n = local.n;
    })"),
            "f");
}

TEST(Language, StatementsOfCppAreThere) {
  EXPECT_EQ(functions_of(R"(
    union Bits { float f; uint u; };
    enum class Kind : uchar { a = 1, b };
    struct Range { int first, last; struct It { int i; int operator*() const { return i; } thread It& operator++() { ++i; return *this; }
      bool operator!=(It o) const { return i != o.i; } }; It begin() const { return {first}; } It end() const { return {last}; } };
    template <typename... T> float sum(T... x) { return (float(x) + ...); }
    template <int... I> struct Indices { static constexpr int count = sizeof...(I); };
    template <class T> auto deduced(T x) -> decltype(x + 1) { return x + 1; }
    float defaulted(float a, float b = 2) { return a * b; }
    kernel void f(device float* out, uint i [[thread_position_in_grid]]) {
      Bits bits; bits.f = out[i];
      Kind kind = i > 1 ? Kind::a : Kind::b;
      switch (kind) { case Kind::a: out[0] = 1; [[fallthrough]]; case Kind::b: out[1] = 2; }
      int n = 0;
      do { ++n; if (n == 3) continue; } while (n < 5);
      for (int k : Range{0, 4}) n += k;
      float list[3] = {1, 2};
      for (thread auto& x : list) x += 1;
      auto [first, last] = Range{1, 2};
      if (int m = n; m > 2) out[2] = m;
      out[3] = sum(1, 2.0f, 3.0h) + Indices<1, 2>::count + deduced(2) + defaulted(3) + first + last + list[2] + bits.u;
      #pragma unroll(4)
      for (int k = 0; k < 16; ++k) out[k] *= 2;
      #pragma clang loop unroll(full)
      for (int k = 0; k < 4; ++k) out[k] *= 2;
      out[i] = out[i] > 1 ? 1 : -1;
    })"),
            "f");
}

TEST(Language, GraphicsFunctionsAreLeftOutWithAWarningThatNamesThem) {
  const CompileResult result = compile_source(R"(
    struct In { float4 position [[attribute(0)]]; float2 uv [[attribute(1)]]; };
    struct Out { float4 position [[position]]; float2 uv; float size [[point_size]]; };
    vertex Out transform(In in [[stage_in]], constant float4x4& m [[buffer(1)]], uint id [[vertex_id]]) {
      Out out; out.position = m * in.position; out.uv = in.uv; out.size = 1; return out;
    }
    fragment half4 shade(Out in [[stage_in]], texture2d<half> t [[texture(0)]], bool front [[front_facing]]) {
      constexpr sampler s(filter::linear, address::repeat);
      if (!front) discard_fragment();
      return t.sample(s, in.uv);
    }
    [[fragment]] float4 plain(float4 p [[position]]) { return p; }
    kernel void compute(device Out* out, uint i [[thread_position_in_grid]]) { out[i].size = i; })");
  ASSERT_TRUE(result.library) << format(result.diagnostics);
  EXPECT_EQ(result.library->function_names(), std::vector<std::string_view>{"compute"});
  code_of(*result.library, "compute");
  ASSERT_EQ(result.diagnostics.size(), 3u) << format(result.diagnostics);
  const char* messages[] = {"'transform' is a vertex function: left out, only compute functions are compiled",
                            "'shade' is a fragment function: left out, only compute functions are compiled",
                            "'plain' is a fragment function: left out, only compute functions are compiled"};
  const uint32_t lines[] = {4, 7, 12};
  for (size_t i = 0; i < 3; ++i) {
    EXPECT_EQ(result.diagnostics[i].severity, Severity::warning);
    EXPECT_EQ(result.diagnostics[i].message, messages[i]);
    EXPECT_EQ(result.diagnostics[i].line, lines[i]);
  }
}

TEST(Language, HasRecursiveFunctions) {
  EXPECT_EQ(functions_of(R"(
    int fib(int n) { return n < 2 ? n : fib(n - 1) + fib(n - 2); }
    int odd(int n);
    int even(int n) { return n == 0 ? 1 : odd(n - 1); }
    int odd(int n) { return n == 0 ? 0 : even(n - 1); }
    kernel void f(device int* out) { out[0] = fib(out[1]); }
    kernel void g(device int* out) { out[0] = odd(out[1]) + even(out[2]); })"),
            "f g");
}

}  // namespace
}  // namespace metalloid
