// [[attributes]]: Metal takes them in more places than C++ does, and means the declaration where C++ would mean the
// type. A C++11 attribute stays where C++ agrees, at the start of a declaration and between a name and its array
// bounds; anywhere else it takes the GNU spelling, which Clang attaches to the declaration. Explicit instantiations
// take GNU attributes only, and none on their parameters.
#include <llvm/ADT/StringSwitch.h>

#include "msl/rewrite/rules.hpp"

namespace metalloid::msl {

namespace tok = clang::tok;

namespace {

bool is_standard(llvm::StringRef name) {
  return llvm::StringSwitch<bool>(name)
      .Cases({"nodiscard", "maybe_unused", "deprecated", "fallthrough", "likely", "unlikely", "noreturn"}, true)
      .Cases({"no_unique_address", "assume", "carries_dependency", "unused", "using"}, true)
      .Default(false);
}

// Attributes of the graphics stages on members of structs: the stages are left out, their structs are not.
bool is_graphics(llvm::StringRef name) {
  return llvm::StringSwitch<bool>(name)
      .Cases({"position", "point_size", "point_coord", "clip_distance", "viewport_array_index", "user", "flat"}, true)
      .Cases({"render_target_array_index", "invariant", "shared", "attribute", "color", "depth", "stencil"}, true)
      .Case("index", true)
      .Cases({"center_perspective", "center_no_perspective", "centroid_perspective", "centroid_no_perspective"}, true)
      .Cases({"sample_perspective", "sample_no_perspective", "sample_mask", "sample_id", "front_facing"}, true)
      .Cases({"primitive_id", "barycentric_coord", "vertex_id", "instance_id", "base_vertex", "base_instance"}, true)
      .Cases({"amplification_id", "amplification_count", "primitive_culled", "raster_order_group", "payload"}, true)
      .Cases({"accept_intersection", "continue_search", "distance", "primitive_data", "opaque_primitive"}, true)
      .Cases({"imageblock_data", "early_fragment_tests", "patch", "patch_id", "position_in_patch"}, true)
      .Default(false);
}

// Attributes whose argument is an expression, even if it is a lone identifier.
bool takes_number(llvm::StringRef name) {
  return llvm::StringSwitch<bool>(name)
      .Cases({"buffer", "texture", "sampler", "threadgroup", "id", "function_constant"}, true)
      .Cases({"max_total_threads_per_threadgroup", "required_threads_per_threadgroup"}, true)
      .Default(false);
}

struct Attribute {
  size_t begin, end;  // name and arguments
};

// Metal takes lists without commas too: [[color(0) index(1)]]. Empty where the list holds anything that is not Metal's.
std::vector<Attribute> parse(const TokenStream& tokens, size_t i) {
  std::vector<Attribute> attributes;
  size_t close = tokens.match(i + 1);
  for (size_t k = i + 2; k < close;) {
    if (tokens.word(k).empty() || is_standard(tokens.word(k)) || tokens.is(k + 1, tok::coloncolon)) return {};
    size_t end = tokens.is(k + 1, tok::l_paren) ? tokens.next(k + 1) : k + 1;
    if (end > close || (end < close && !tokens.is(end, tok::comma) && tokens.word(end).empty())) return {};
    attributes.push_back({k, end});
    k = tokens.is(end, tok::comma) ? end + 1 : end;
  }
  return attributes;
}

// Where an attribute may keep its C++11 spelling because a declaration starts there.
std::vector<bool> declaration_starts(const Rewriting& r) {
  std::vector<bool> starts(r.tokens.size() + 1);
  for (const Statement& statement : r.outline.statements()) {
    size_t k = r.tokens.skip_template_headers(statement.begin, statement.stop);
    for (starts[k] = true; r.tokens.is_attribute(k); starts[k] = true) k = r.tokens.attribute_end(k);
  }
  return starts;
}

class Placement {
 public:
  explicit Placement(Rewriting& r) : r_(r), tokens_(r.tokens), starts_(declaration_starts(r)) {}

  void run() {
    for (const Statement& statement : r_.outline.statements())
      if (!tokens_.verbatim(statement.begin)) place_beside_function(statement);
    for (size_t i = 0; i < tokens_.size(); ++i)
      if (tokens_.is_attribute(i) && !tokens_.verbatim(i) && !r_.edits.is_cut(i)) place(i);
  }

 private:
  // Explicit instantiations, and attributes that follow a function's parameters and move to its front.
  void place_beside_function(const Statement& statement) {
    bool instantiation = r_.outline.is_explicit_instantiation(statement);
    if (instantiation) {
      for (size_t k = statement.begin; k < statement.end; ++k) {
        if (!tokens_.is_attribute(k)) continue;
        if (tokens_.inside_parentheses(k)) r_.edits.cut(k, tokens_.attribute_end(k));
        starts_[k] = false;
      }
      return;
    }
    if (statement.scope == ScopeKind::function) return;
    std::optional<FunctionHead> head = r_.outline.function_head(statement);
    if (!head) return;
    for (size_t k = head->close + 1; k < statement.stop && tokens_.is_attribute(k); k = tokens_.attribute_end(k)) {
      if (parse(tokens_, k).empty()) continue;
      std::string text = "__attribute__((";
      for (size_t t = k + 2; t < tokens_.match(k + 1); ++t) {
        const bool lone =
            tokens_.is(t, tok::identifier) && tokens_.is(t - 1, tok::l_paren) && tokens_.is(t + 1, tok::r_paren);
        const std::string word = r_.preprocessor.getSpelling(tokens_[t]);
        text += lone ? "(" + word + ") " : word + ' ';
      }
      r_.edits.insert_before(tokens_.skip_template_headers(statement.begin, statement.stop), text + "))");
      r_.edits.cut(k, tokens_.attribute_end(k));
    }
  }

  void place(size_t i) {
    std::vector<Attribute> attributes = parse(tokens_, i);
    if (attributes.empty()) return;
    if (i > 0 && tokens_.is(i - 1, tok::kw_struct, tok::kw_class, tok::kw_enum, tok::kw_union, tok::kw_namespace))
      return;

    size_t kept = 0;
    for (size_t n = 0; n < attributes.size(); ++n) {
      const Attribute& attribute = attributes[n];
      if (is_graphics(tokens_.word(attribute.begin))) {
        r_.edits.cut(attribute.begin, n + 1 < attributes.size() ? attributes[n + 1].begin : attribute.end);
      } else {
        ++kept;
        spell(attribute);
        bool separated = n + 1 == attributes.size() || attributes[n + 1].begin > attribute.end;
        if (!separated) r_.edits.insert_after(attribute.end - 1, ",");
      }
    }
    size_t end = tokens_.attribute_end(i);
    if (kept == 0) {
      r_.edits.cut(i, end);
      return;
    }
    bool bounds_follow = tokens_.is(end, tok::l_square) && !tokens_.is_attribute(end);
    if (starts_[i] || bounds_follow) return;
    r_.edits.replace(i, "__attribute__(");
    r_.edits.replace(i + 1, "(");
    r_.edits.replace(end - 2, ")");
    r_.edits.replace(end - 1, ")");
  }

  void spell(const Attribute& attribute) {
    llvm::StringRef name = tokens_.word(attribute.begin);
    if (name == "kernel") r_.edits.replace(attribute.begin, "metal_kernel");
    if (attribute.end <= attribute.begin + 3) return;
    size_t first = attribute.begin + 2, last = attribute.end - 2;
    bool optional_argument =
        tokens_.inside_parentheses(attribute_open(attribute)) || r_.outline.scope(attribute.begin) == ScopeKind::class_;
    if (name == "function_constant" && optional_argument) {
      std::string constant;
      for (size_t k = first; k <= last; ++k) constant += r_.preprocessor.getSpelling(tokens_[k]);
      r_.edits.erase(first, last + 1);
      r_.edits.insert_before(first, '"' + constant + '"');
    } else if (first == last && tokens_.is(first, tok::identifier) && takes_number(name)) {
      r_.edits.insert_before(first, "(");
      r_.edits.insert_after(first, ")");
    }
  }

  // The first `[` of the attribute's brackets.
  size_t attribute_open(const Attribute& attribute) const { return tokens_.enclosing(attribute.begin) - 1; }

  Rewriting& r_;
  const TokenStream& tokens_;
  std::vector<bool> starts_;
};

}  // namespace

bool has_attribute(const TokenStream& tokens, const Statement& statement,
                   llvm::function_ref<bool(llvm::StringRef name)> is_wanted) {
  for (size_t k = statement.begin; k < statement.stop; k = tokens.next(k)) {
    if (!tokens.is_attribute(k)) continue;
    for (size_t t = k + 2; t < tokens.match(k + 1); t = tokens.next(t))
      if (is_wanted(tokens.word(t))) return true;
  }
  return false;
}

void place_attributes(Rewriting& r) {
  Placement(r).run();
}

}  // namespace metalloid::msl
