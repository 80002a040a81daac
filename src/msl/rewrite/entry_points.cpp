// Entry points: kernels become marked functions, explicit instantiations of them become declarations, and the functions
// of the graphics stages are cut out, since only compute is compiled.
#include <llvm/ADT/StringSwitch.h>

#include "msl/rewrite/rules.hpp"

namespace metalloid::msl {

namespace tok = clang::tok;

namespace {

struct EntryPoint {
  size_t keyword = no_token;  // `kernel`, `vertex` or `fragment`
  bool kernel = false;
  bool named = false;    // [[host_name]]
  bool visible = false;  // [[visible]], [[stitchable]]
  std::string stage;     // of a graphics function
  size_t name = no_token;
};

// Programs use these words as names too (a convolution's `kernel`, a mesh's `vertex`): they are keywords only where
// something that continues a declaration follows.
bool is_stage_keyword(const TokenStream& tokens, size_t i) {
  if (!tokens.is_word(i, "kernel") && !tokens.is_word(i, "vertex") && !tokens.is_word(i, "fragment")) return false;
  if (i > 0 && tokens.is(i - 1, tok::period, tok::arrow, tok::coloncolon, tok::kw_struct, tok::kw_class)) return false;
  return !tokens.word(i + 1).empty() || tokens.is_attribute(i + 1) || tokens.is(i + 1, tok::coloncolon);
}

bool is_graphics_stage(llvm::StringRef attribute) {
  return llvm::StringSwitch<bool>(attribute)
      .Cases({"vertex", "fragment", "mesh", "object", "intersection"}, true)
      .Default(false);
}

EntryPoint read_entry_point(const Rewriting& r, const Statement& statement) {
  const TokenStream& tokens = r.tokens;
  EntryPoint entry;
  std::optional<FunctionHead> function = r.outline.function_head(statement);
  bool instantiation = r.outline.is_explicit_instantiation(statement);
  if (!function && !instantiation) {
    // A head that is not well-formed, of which Clang will speak; it should not stumble over the keyword.
    size_t first = tokens.skip_template_headers(statement.begin, statement.stop);
    if (tokens.is_word(first, "kernel") && is_stage_keyword(tokens, first)) {
      entry.keyword = first;
      entry.kernel = true;
    }
    return entry;
  }

  size_t end = function ? function->open : statement.stop;
  for (size_t k = tokens.skip_template_headers(statement.begin, statement.stop); k < end; ++k) {
    if (is_stage_keyword(tokens, k) && !tokens.inside_attribute(k)) {
      entry.keyword = k;
      if (tokens.is_word(k, "kernel"))
        entry.kernel = true;
      else
        entry.stage = tokens.word(k).str();
    } else if (tokens.inside_attribute(k) && tokens.is(k - 1, tok::l_square, tok::comma)) {
      llvm::StringRef name = tokens.word(k);
      entry.kernel |= name == "kernel";
      entry.named |= name == "host_name";
      entry.visible |= name == "visible" || name == "stitchable";
      if (is_graphics_stage(name)) entry.stage = name;
    }
  }
  if (function) {
    entry.name = function->name_begin;
    while (tokens.is(entry.name + 1, tok::coloncolon)) entry.name += 2;
    // A kernel that works on an imageblock runs on the tiles of a render pass, and one that is fed with vertices by a
    // descriptor of its stage's input prepares tessellation.
    for (size_t k = function->open; entry.kernel && k < function->close; ++k) {
      if (tokens.is_word(k, "imageblock") || tokens.is_word(k, "threadgroup_imageblock")) entry.stage = "tile";
      if (tokens.is_word(k, "stage_in") && tokens.inside_attribute(k)) entry.stage = "tessellation";
    }
  } else {
    for (size_t k = statement.begin + 1; k < end; k = tokens.next(k)) {
      if (tokens.is(k, tok::identifier) && tokens.is(k + 1, tok::less)) entry.name = k;
      size_t past = tokens.is(k, tok::less) ? tokens.skip_angles(k, end) : no_token;
      if (past != no_token && past > k) k = past - 1;
    }
  }
  return entry;
}

bool in_unnamed_namespace(const Rewriting& r, size_t i) {
  for (size_t around = r.tokens.enclosing(i); around != no_token; around = r.tokens.enclosing(around))
    if (around > 0 && r.tokens.is(around - 1, tok::kw_namespace)) return true;
  return false;
}

void cut_out(Rewriting& r, const Statement& statement, const EntryPoint& entry) {
  r.edits.cut(statement.begin, statement.end);
  size_t name = entry.name == no_token ? statement.begin : entry.name;
  r.result.graphics_functions.push_back({r.tokens.word(name).str(), entry.stage, r.tokens[name].getLocation()});
}

// `kernel void f(...)`: the keyword may stand among other specifiers, where only a GNU attribute may. An entry point is
// seen from outside the translation unit, so it is not static.
void mark_kernel(Rewriting& r, const Statement& statement, const EntryPoint& entry) {
  if (entry.keyword != no_token) r.edits.replace(entry.keyword, "__attribute__((metal_kernel))");
  for (size_t k = statement.begin; k < entry.name && k < statement.stop; k = r.tokens.next(k))
    if (r.tokens.is(k, tok::kw_static)) r.edits.erase(k);
}

// `template [[host_name("f_float")]] kernel decltype(f<float>) f<float>;` would instantiate the body of every kernel of
// a library; an explicit instantiation declaration has the same name and attributes and leaves the body for later.
void defer_instantiation(Rewriting& r, const Statement& statement) {
  if (!in_unnamed_namespace(r, statement.begin)) r.edits.insert_before(statement.begin, "extern");
}

}  // namespace

void mark_entry_points(Rewriting& r) {
  for (const Statement& statement : r.outline.statements()) {
    if (statement.scope != ScopeKind::namespace_ && statement.scope != ScopeKind::class_) continue;
    if (r.tokens.verbatim(statement.begin)) continue;
    EntryPoint entry = read_entry_point(r, statement);
    // `struct S {...} kernel void f()`: without the keyword, Clang sees that a semicolon is missing.
    for (size_t k = r.tokens.next(statement.begin); k < statement.end; k = r.tokens.next(k))
      if (r.tokens.is(k - 1, tok::r_brace) && is_stage_keyword(r.tokens, k)) r.edits.erase(k);
    if (!entry.stage.empty()) {
      cut_out(r, statement, entry);
      continue;
    }
    if (entry.kernel) mark_kernel(r, statement, entry);
    bool exported = entry.kernel || entry.named || entry.visible;
    if (exported && r.outline.is_explicit_instantiation(statement)) defer_instantiation(r, statement);
  }
}

}  // namespace metalloid::msl
