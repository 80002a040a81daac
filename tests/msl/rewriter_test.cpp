// Metal that C++ does not know, as people write it: each snippet must compile, and every function of it must give code.
#include <gtest/gtest.h>

#include <algorithm>
#include <metalloid/compiler.hpp>
#include <string>

namespace metalloid {
namespace {

CompileResult compile_snippet(const std::string& body) {
  CompileOptions options;
  options.cache = false;
  return compile("#include <metal_stdlib>\nusing namespace metal;\n" + body, options);
}

// Compiles, produces the code of every function, and gives their names in order, separated by spaces.
std::string functions_of(const std::string& body) {
  CompileResult result = compile_snippet(body);
  EXPECT_FALSE(has_errors(result.diagnostics)) << format(result.diagnostics);
  if (!result.library) return "";
  std::string names;
  for (const Function& function : result.library->functions()) {
    auto code = result.library->code(function.name);
    EXPECT_TRUE(code) << function.name << ": " << (code ? "" : code.error());
    names += (names.empty() ? "" : " ") + function.name;
  }
  return names;
}

TEST(AddressSpaces, StandInEveryPositionOfADeclaration) {
  EXPECT_EQ(functions_of(R"(
    template <class T> struct pointee;
    template <class T> struct pointee<device T*> { using type = T; };
    template <class T> struct pointee<threadgroup T*> { using type = T; };
    static_assert(is_same_v<pointee<device float*>::type, float>, "");
    typedef device float* (*transform)(device float*, constant uint&);
    device float* next(device float* p, constant uint& n) { return p + n; }
    kernel void f(const device float* a, device const float* b, float device* c, constant uint& n, constant uint* const m) {
      transform t = next;
      auto add = [&](device float* p, thread float& sum) { sum += *p; };
      thread float sum = 0;
      add((device float*)a, sum);
      for (device auto& x : *(device float (*)[2])c) x = sum;
      *t(c, n) = b[*m];
    })"),
            "f");
}

TEST(AddressSpaces, VariablesInsideFunctionsMayBeThreadgroupOrConstant) {
  EXPECT_EQ(functions_of(R"(
    struct Pair { float a, b; };
    kernel void f(device float* out, uint i [[thread_index_in_threadgroup]]) {
      threadgroup float tile[32];
      alignas(16) threadgroup Pair pairs[4];
      constant float weights[2] = {0.5, 2.0};
      threadgroup float* p = tile;
      if (i > 4) { threadgroup float total; total = p[i]; out[1] = total; }
      tile[i] = weights[i % 2] + pairs[0].a;
      out[0] = tile[0];
    })"),
            "f");
}

TEST(AddressSpaces, ArrayParametersDecay) {
  EXPECT_EQ(functions_of(R"(
    float at(threadgroup float tile[8][8], constant float weights[4], int i) { return tile[i][1] * weights[i]; }
    kernel void f(device float* out, constant float* w) { threadgroup float t[8][8]; out[0] = at(t, w, 2); })"),
            "f");
}

TEST(AddressSpaces, MemberFunctionsAreQualifiedAndRepeated) {
  EXPECT_EQ(functions_of(R"(
    template <typename T, size_t N> struct Array {
      T elements[N];
      thread T& operator[](size_t i) thread { return elements[i]; }
      device T& operator[](size_t i) device { return elements[i]; }
      constexpr const device T& operator[](size_t i) const device { return elements[i]; }
      constexpr const constant T& operator[](size_t position) const constant { return elements[position]; }
      thread Array& operator=(const thread Array& other) thread = default;
    };
    kernel void f(device Array<float, 4>& a, constant Array<float, 4>& b) { a[0] = b[1]; })"),
            "f");
}

TEST(AddressSpaces, ConstructorsAreRepeatedAlsoWithDefaults) {
  EXPECT_EQ(functions_of(R"(
    struct Complex {
      float re, im;
      constexpr Complex(float re = 0, float im = 0) thread : re(re), im(im) {}
      constexpr Complex(float re, float im) constant : re(re), im(im) {}
    };
    struct Range {
      int first, last;
      constexpr Range(int first, int last) constant : first(first), last(last) {}
      constexpr Range(int a, int b = metal::max(3, 4)) thread : first(a), last(b) {}
    };
    constant Complex one(1, 0);
    constant Range whole(0, 9);
    kernel void f(device float* out) {
      Complex zero, two(2), three(3, 0);
      Range some(1), others(2, 3);
      out[0] = zero.re + one.re + two.re + three.re + whole.last + some.last + others.last;
    })"),
            "f");
}

TEST(AddressSpaces, MembersAreChosenByWhereTheirObjectIs) {
  EXPECT_EQ(functions_of(R"(
    template <typename T, size_t N> struct Array {
      T elements[N];
      thread T& operator[](size_t i) thread { return elements[i]; }
      device T& operator[](size_t i) device { return elements[i]; }
      threadgroup T& operator[](size_t i) threadgroup { return elements[i]; }
      constant T& operator[](size_t i) const constant { return elements[i]; }
      device T* data() device;
      device Array& operator=(const thread Array& other) device = default;
      threadgroup Array& operator=(const thread Array& other) threadgroup = default;
    };
    template <typename T, size_t N> device T* Array<T, N>::data() device { return &elements[0]; }
    struct Counter {
      int count;
      int kind() { return 0; }
      int kind() const device { return 1; }
      int kind() const constant { return 2; }
    };
    int Counter_kind(constant Counter& c) { return c.kind(); }
    kernel void f(device Array<float, 4>& a, constant Array<float, 4>& b, constant Counter& c) {
      threadgroup Array<float, 4> shared;
      Array<float, 4> own;
      threadgroup float* s = &shared[1];
      thread float* o = &own[2];
      constant float* in = &b[0];
      device float* out = &a[1];
      *o = *in;
      *s = *o;
      *out = *s + a.data()[3] + Counter_kind(c);
    })"),
            "f");
}

TEST(AddressSpaces, ElementsOfTheStandardArrayAreWhereItIs) {
  EXPECT_EQ(functions_of(R"(
    struct Shape { array<int, 4> sizes; };
    int total(constant int* sizes, int count) { return count == 0 ? 0 : sizes[0] + sizes[count - 1]; }
    kernel void f(constant Shape& shape, device array<int, 4>& out) {
      auto sizes = shape.sizes.data();
      device int* first = out.begin();
      *first = total(sizes, 4);
    })"),
            "f");
}

TEST(AddressSpaces, ColumnsAreWhereTheirMatrixIs) {
  EXPECT_EQ(functions_of(R"(
    float4x4 make() { return float4x4(2.0); }
    kernel void f(constant float4x4& m, device float3x3* out, uint i [[thread_position_in_grid]]) {
      threadgroup float2x2 shared;
      const constant float4* column = &m[1];
      device float3& result = out[0][2];
      threadgroup float2* half_of_it = &shared[0];
      *half_of_it = column->xy;
      result.x = m[i][2] + make()[1].z + shared[0][i];
    })"),
            "f");
}

TEST(AddressSpaces, StringsAreConstant) {
  EXPECT_EQ(functions_of(R"(
    struct Place { char file[16]; };
    void copy(device char* to, constant const char* from) { while ((*to++ = *from++)) {} }
    template <class T> void report(device Place& place, T text) { copy(place.file, text); }
    constant char* name() { return "name"; }
    kernel void f(device Place* places) {
      constant char* local = "local";
      const char table[] = "table";
      report(places[0], "text" " and more");
      report(places[1], __func__);
      report(places[2], local);
      places[3].file[0] = table[1] + *name();
    })"),
            "f");
}

TEST(AddressSpaces, PointersToStringsOutsideOfFunctionsAreConstant) {
  EXPECT_EQ(functions_of(R"(
    constant char* constant name = "name";
    constant char* const other = "other";
    constant constexpr char text[] = "text", table[2][4] = {"abc", "def"};
    static constant constexpr char* kind = "kind" "s";
    constant char* constant names[] = {"some", "names"};
    constexpr constant char* const more[2] = {"more", "names"};
    constant auto last = "last";
    kernel void f(device char* out, uint i [[thread_position_in_grid]]) {
      constexpr constant char* own[] = {"own", "names"};
      out[0] = name[0] + other[1] + text[2] + table[1][2] + kind[3] + last[0] + own[i][0];
      out[1] = names[i][0] + more[i][1];
    })"),
            "f");
}

TEST(AddressSpaces, StringsOfConstantsOutsideOfFunctionsAreConstant) {
  EXPECT_EQ(functions_of(R"(
    template <int N> struct Name {
      Name(constant char* text) constant : text(text) {}
      constant char* text;
    };
    constant Name<1> name("name");
    namespace own {
      struct os_log {
        constexpr os_log(constant char*, constant char*) constant {}
        template <typename... T> void log_debug(constant char*, T...) const constant {}
      };
    }
    constant own::os_log logger("own", "log" "s");
    kernel void f(device char* out) {
      logger.log_debug("%d", 1);
      out[0] = name.text[0];
    })"),
            "f");
}

TEST(AddressSpaces, ConditionalsMixThem) {
  EXPECT_EQ(functions_of(R"(
    struct Value { float x; };
    kernel void f(device Value* a, constant Value& b, uint i [[thread_position_in_grid]]) {
      threadgroup Value c;
      Value local = i > 1 ? *a : c;
      Value other = i > 2 ? b : Value{1.0};
      (i > 3 ? local : other).x = 2.0;
      a[i] = i ? local : a[1];
    })"),
            "f");
}

TEST(AddressSpaces, ConditionalsMixThemInTemplatesAndWithMembersOfClasses) {
  EXPECT_EQ(functions_of(R"(
    struct Value { float x; };
    struct Smallest { static constant constexpr Value start = {-1.0f}; static constant constexpr float limit = 3; };
    enum class Kind : uint { one, other };
    template <typename Op> Value pick(threadgroup Value* shared, uint i) { return i < 16 ? shared[i] : Op::start; }
    template <typename Op> float least(device float* x, uint i) { return i < 16 ? x[i] : Op::limit; }
    kernel void f(device float* out, uint i [[thread_index_in_threadgroup]]) {
      threadgroup Value shared[32];
      shared[i].x = i;
      Kind kind = i < 3 ? Kind::one : Kind::other;
      static_assert((sizeof(Value) == 4 ? Kind::one : Kind::other) == Kind::one);
      out[i] = pick<Smallest>(shared, i).x + least<Smallest>(out, i) + uint(kind);
    })"),
            "f");
}

TEST(Casts, AreNotSeenInDeclarators) {
  EXPECT_EQ(functions_of(R"(
    template <typename T> T twice(T x) { return x + x; }
    template <typename T> T apply(T x, T (*op)(T)) { return op(x); }
    template <typename T> T last(const thread T (&all)[2]) { return T(all[1]); }
    kernel void f(device half* out) {
      half both[2] = {1.0h, 2.0h};
      out[0] = apply<half>(last(both), twice<half>);
    })"),
            "f");
}

TEST(Vectors, TakeObjectsThatConvertToAnything) {
  EXPECT_EQ(functions_of(R"(
    struct Zero { template <typename T> operator T() && { return T{}; } };
    kernel void f(device float4* x, constant uint& n) { x[1] = n < 3 ? x[n] : Zero(); })"),
            "f");
}

TEST(EntryPoints, AreMarkedByKeywordOrAttributeAnywhere) {
  EXPECT_EQ(functions_of(R"(
    kernel void a(device float* x) { x[0] = 1; }
    static inline kernel void b(device float* x) { x[0] = 1; }
    [[kernel, max_total_threads_per_threadgroup(64)]] void c(device float* x) { x[0] = 1; }
    [[host_name("renamed")]] kernel void d(device float* x) { x[0] = 1; }
    kernel [[max_total_threads_per_threadgroup(32)]] void e(device float* x) { x[0] = 1; }
    inline [[kernel]] void f(device float* x) { x[0] = 1; })"),
            "a b c renamed e f");
}

TEST(EntryPoints, AreInstantiatedInEveryFormMetInTheWild) {
  EXPECT_EQ(functions_of(R"(
    template <typename T> kernel void f(device T* x [[buffer(0)]], uint i [[thread_position_in_grid]]) { x[i] += T(1); }
    template [[host_name("f_float")]] kernel void f<float>(device float* x [[buffer(0)]],
                                                           uint i [[thread_position_in_grid]]);
    template [[host_name("f_" "int")]] [[kernel]] decltype(f<int>) f<int>;
    typedef decltype(f<half>) f_t;
    template [[host_name("f_half")]] kernel f_t f<half>;
    namespace { template <typename T> kernel void g(device T* x) { x[0] = 0; }
                template [[host_name("g_float")]] kernel void g<float>(device float*); })"),
            "f_float f_int f_half g_float");
}

TEST(EntryPoints, OfGraphicsStagesAreLeftOutWithAWarning) {
  CompileResult result = compile_snippet(R"(
    struct Out { float4 position [[position]]; float2 uv [[user(locn0)]]; float clip [[clip_distance]] [2]; };
    vertex Out v(uint i [[vertex_id]]) { return {}; }
    fragment float4 g(Out in [[stage_in]]) { return float4(in.uv, 0, 1); }
    [[mesh]] void m() {}
    kernel void t(Out in [[stage_in]], device float4* x) { x[0] = in.position; }
    struct Blended { half4 first [[color(0)]]; half4 second [[color(0) index(1)]]; };
    kernel void f(device Out* x, device Blended* y) { x[0].uv = 1; })");
  ASSERT_TRUE(result.library) << format(result.diagnostics);
  EXPECT_EQ(result.library->functions().size(), 1u);
  auto warnings = std::count_if(result.diagnostics.begin(), result.diagnostics.end(),
                                [](const Diagnostic& d) { return d.severity == Severity::warning; });
  EXPECT_EQ(warnings, 4);
}

TEST(EntryPoints, LeaveTheirWordsFreeAsNames) {
  EXPECT_EQ(functions_of(R"(
    float convolve(const device float* kernel, int size) { float vertex = kernel[0]; int fragment = size; return vertex * fragment; }
    kernel void f(device float* x) { x[0] = convolve(x, 3); })"),
            "f");
}

TEST(FunctionConstants, AreUsedInExpressionsSizesAndOptionalArguments) {
  EXPECT_EQ(functions_of(R"(
    constant bool has_bias [[function_constant(0)]];
    static constant int size [[function_constant(1)]];
    constant int twice = size * 2;
    constant int count = is_function_constant_defined(size) ? size : 4;
    kernel void f(device float* x, const device float* bias [[buffer(1), function_constant(has_bias)]]) {
      float scratch[size];
      scratch[0] = has_bias ? bias[0] : 0.0;
      x[0] = scratch[0] * twice + count;
    })"),
            "f");
}

TEST(FunctionConstants, SizeThreadgroupArrays) {
  EXPECT_EQ(functions_of(R"(
    constant int size [[function_constant(0)]];
    constant int rows = size / 4;
    kernel void f(device float* x, uint i [[thread_index_in_threadgroup]]) {
      threadgroup float a[size];
      threadgroup half b[rows][4];
      a[i] = x[i];
      b[0][1] = a[1];
      x[i] = b[0][1];
    })"),
            "f");
}

TEST(Literals, AreFloatsHalvesAndBfloats) {
  EXPECT_EQ(functions_of(R"(
    static_assert(is_same_v<decltype(1.0), float> && is_same_v<decltype(1e-3), float> && is_same_v<decltype(.5), float>, "");
    static_assert(is_same_v<decltype(0x1p3), float> && is_same_v<decltype(1.0f), float>, "");
    static_assert(is_same_v<decltype(1.0h), half> && is_same_v<decltype(16.h), half> && is_same_v<decltype(1H), half>, "");
    static_assert(is_same_v<decltype(1.0bf), bfloat> && is_same_v<decltype(2bf), bfloat>, "");
    static_assert(is_same_v<decltype(0x1f), int> && is_same_v<decltype(10ul), ulong>, "");
    kernel void f(device float* x) { x[0] = 1; })"),
            "f");
}

TEST(Casts, GoBetweenHalfAndBfloat) {
  EXPECT_EQ(functions_of(R"(
    template <typename T, typename U> struct Holder { T value; Holder(U x) : value(T(x)) {} };
    template <typename T, typename U> T convert(U x) { using V = T; return static_cast<T>(x) + (T)x * V(x) - (T)-x; }
    kernel void f(device half* h, device bfloat* b) {
      h[0] = convert<half>(b[0]) + Holder<half, bfloat>(b[0]).value;
      b[1] = convert<bfloat>(h[1]);
      h[2] = half(b[2]) + (half)b[3];
      half4 v = (half4(half(b[0]), (half)b[1], half(b[2]), 1) - h[1]) * h[2];
      h[3] = v.x;
    })"),
            "f");
}

TEST(Attributes, MayStandWhereCppDoesNotHaveThem) {
  EXPECT_EQ(functions_of(R"(
    enum Index { output = 2 };
    struct Arguments { device float* a [[id(0)]]; constant float* b [[id(1)]]; device float* list[4] [[id(2)]]; };
    kernel void f(constant Arguments& args [[buffer(0)]], device float* x [[buffer(output)]], uint [[thread_position_in_grid]] i,
                  ushort2 t[[thread_position_in_threadgroup]]) [[max_total_threads_per_threadgroup(256)]] {
      x[i] = args.a[t.x] + args.list[1][0];
    })"),
            "f");
}

TEST(Rewriter, SurvivesSourceThatIsCutOffAnywhere) {
  const std::string source = R"(
    template <typename T> struct S { T v[4]; T& operator[](int i) device { return v[i]; } S() thread : v{} {} };
    constant int n [[function_constant(0)]];
    vertex float4 v(uint i [[vertex_id]]) { return float4(i); }
    template <typename T> kernel void f(device S<T>* s [[buffer(0)]], threadgroup T t[4]) {
      threadgroup T a[n]; a[0] = (T)1.0h + T(t[0]); s[0][1] = n > 0 ? a[0] : t[1];
    }
    template [[host_name("f_float")]] kernel void f<float>(device S<float>* s [[buffer(0)]], threadgroup float t[4]);)";
  for (size_t length = 0; length < source.size(); length += 7) compile_snippet(source.substr(0, length));
}

}  // namespace
}  // namespace metalloid
