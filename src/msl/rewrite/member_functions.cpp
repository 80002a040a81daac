// `T& operator[](size_t i) device;`: in Metal a member function says in which address space its object may be, and
// classes repeat their members once per address space. The qualifier becomes an attribute in front of the declaration,
// which object_space.cpp understands. `thread` is the default address space, to which all others convert: a member that
// is qualified with it serves every object, and repeats one that is not qualified. Where it has overloads for
// particular address spaces, it has an attribute as well. Constructors and defaulted members have no address space in
// Clang: the qualifier is dropped, and of those that then are the same, one stays, that with defaults of parameters. A
// defaulted assignment in another address space does nothing that the default one does not do.
#include <llvm/ADT/DenseMap.h>
#include <llvm/ADT/DenseSet.h>
#include <llvm/ADT/StringSet.h>
#include <llvm/ADT/StringSwitch.h>

#include <map>
#include <utility>

#include "msl/rewrite/rules.hpp"

namespace metalloid::msl {

namespace tok = clang::tok;

namespace {

// Words that vanish: overloads on them are overloads no more.
bool is_default_space(llvm::StringRef word) {
  return word == "thread" || word == "ray_data" || word == "object_data";
}

const char* attribute_for(llvm::StringRef space) {
  return llvm::StringSwitch<const char*>(space)
      .Case("device", "__attribute__((metal_device_object))")
      .Cases({"threadgroup", "threadgroup_imageblock"}, "__attribute__((metal_threadgroup_object))")
      .Case("constant", "__attribute__((metal_constant_object))")
      .Default("");
}

struct Member {
  const Statement* statement;
  FunctionHead head;
  size_t qualifier = no_token;
  bool is_const = false;
  bool is_defaulted = false;
};

// The function a declaration declares, with what follows its parameters.
std::optional<Member> read_member(const Rewriting& r, const Statement& statement) {
  const TokenStream& tokens = r.tokens;
  std::optional<FunctionHead> head = r.outline.function_head(statement);
  if (!head) return std::nullopt;
  Member member{&statement, *head};
  for (size_t k = head->close + 1; k < statement.end;) {
    llvm::StringRef word = tokens.word(k);
    if (is_address_space(word)) {
      member.qualifier = k;
    } else if (tokens.is(k, tok::kw_const)) {
      member.is_const = true;
    } else if (!tokens.is(k, tok::kw_volatile, tok::kw_noexcept, tok::amp, tok::ampamp) && word != "override" &&
               word != "final") {
      member.is_defaulted = tokens.is(k, tok::equal) && tokens.is(k + 1, tok::kw_default, tok::kw_delete);
      break;
    }
    k = tokens.is(k, tok::kw_noexcept) && tokens.is(k + 1, tok::l_paren) ? tokens.next(k + 1) : k + 1;
  }
  return member;
}

size_t declaration_begin(const Rewriting& r, const Member& member) {
  return r.tokens.skip_template_headers(member.statement->begin, member.statement->stop);
}

// A constructor has no result: nothing but specifiers stands in front of its name. A conversion has none either.
bool has_object(const Rewriting& r, const Member& member) {
  if (member.is_defaulted) return false;
  if (r.tokens.is(member.head.name_begin, tok::kw_operator)) return true;
  for (size_t k = declaration_begin(r, member); k < member.head.name_begin; ++k) {
    k = r.tokens.skip_attributes(k);
    if (k >= member.head.name_begin) break;
    if (!r.tokens.is(k, tok::kw_inline, tok::kw_constexpr, tok::kw_explicit)) return true;
  }
  return false;
}

void qualify(Rewriting& r, const Member& member) {
  llvm::StringRef space = r.tokens.word(member.qualifier);
  r.edits.insert_before(declaration_begin(r, member), attribute_for(space));
  if (space == "constant" && !member.is_const) r.edits.insert_after(member.head.close, "const");
}

// The names of classes by their opening braces.
using ClassNames = llvm::DenseMap<size_t, llvm::StringRef>;

ClassNames class_names(const Rewriting& r) {
  const TokenStream& tokens = r.tokens;
  ClassNames names;
  for (const Statement& statement : r.outline.statements()) {
    if (!tokens.is(statement.stop, tok::l_brace)) continue;
    size_t k = tokens.skip_template_headers(statement.begin, statement.stop);
    while (k < statement.stop && !tokens.is(k, tok::kw_struct, tok::kw_class, tok::kw_union)) ++k;
    k = tokens.skip_attributes(k + 1);
    if (k < statement.stop) names[statement.stop] = tokens.word(k);
  }
  return names;
}

// `Class::name`, for a member that stands in its class as for one that is defined outside of it.
std::string full_name(const Rewriting& r, const Member& member, const ClassNames& classes) {
  const TokenStream& tokens = r.tokens;
  const size_t open = member.head.open, scope = member.statement->scope_brace;
  llvm::StringRef owner = scope == no_token ? llvm::StringRef() : classes.lookup(scope);
  size_t name = member.head.name_begin;
  while (name < open) {
    size_t past = tokens.is(name + 1, tok::less) ? tokens.skip_angles(name + 1, open) : name + 1;
    if (past == no_token || !tokens.is(past, tok::coloncolon)) break;
    owner = tokens.word(name);
    name = past + 1;
  }
  std::string text = owner.str() + "::";
  for (; name < open; ++name) text += r.preprocessor.getSpelling(tokens[name]);
  return text;
}

// Whether one of the parameters has a default.
bool has_defaults(const Rewriting& r, const Member& member) {
  for (size_t k = member.head.open + 1; k < member.head.close; ++k)
    if (r.tokens.is(k, tok::equal) && r.tokens.enclosing(k) == member.head.open) return true;
  return false;
}

// The tokens that make one member differ from another: template header, result, name, parameter types, const.
std::string signature(const Rewriting& r, const Member& member) {
  const TokenStream& tokens = r.tokens;
  const FunctionHead& head = member.head;
  std::string text;
  auto add = [&](size_t k) {
    if (!is_default_space(tokens.word(k)) && !tokens[k].isAnnotation())
      text += r.preprocessor.getSpelling(tokens[k]) + ' ';
  };
  size_t begin = declaration_begin(r, member);
  for (size_t k = member.statement->begin; k < begin; ++k) add(k);
  for (size_t k = tokens.skip_attributes(begin); k < head.name_begin; k = tokens.skip_attributes(k + 1))
    if (!tokens.is(k, tok::kw_inline, tok::kw_constexpr)) add(k);
  bool in_default = false;  // of a parameter
  for (size_t k = head.name_begin; k <= head.close; ++k) {
    if (tokens.enclosing(k) == head.open && tokens.is(k, tok::equal, tok::comma)) in_default = tokens.is(k, tok::equal);
    if (in_default && k < head.close) continue;
    bool parameter_name = tokens.enclosing(k) == head.open && tokens.is(k, tok::identifier) &&
                          tokens.is(k + 1, tok::comma, tok::r_paren, tok::equal, tok::l_square) &&
                          !tokens.is(k - 1, tok::l_paren, tok::comma, tok::coloncolon, tok::kw_const, tok::kw_volatile,
                                     tok::kw_typename) &&
                          !is_address_space(tokens.word(k - 1));
    if (!parameter_name) add(k);
  }
  return text + (member.is_const ? "const" : "") + (tokens.is(member.statement->stop, tok::semi) ? ";" : "{");
}

}  // namespace

void qualify_member_functions(Rewriting& r) {
  std::vector<Member> members, general;  // those qualified with an address space, and those that serve every object
  llvm::DenseSet<size_t> scopes;         // in which some of the general ones are qualified
  for (const Statement& statement : r.outline.statements()) {
    if (statement.scope != ScopeKind::class_ && statement.scope != ScopeKind::namespace_) continue;
    if (r.tokens.verbatim(statement.begin) || r.edits.is_cut(statement.begin)) continue;
    std::optional<Member> member = read_member(r, statement);
    if (!member) continue;
    bool qualified = member->qualifier != no_token;
    bool elsewhere = qualified && !is_default_space(r.tokens.word(member->qualifier));
    if (qualified) r.edits.cut(member->qualifier, member->qualifier + 1);
    if (elsewhere && member->is_defaulted && r.tokens.is(member->head.name_begin, tok::kw_operator)) {
      r.edits.cut(statement.begin, statement.end);
    } else if (elsewhere && has_object(r, *member)) {
      members.push_back(*member);
    } else {
      if (qualified) scopes.insert(statement.scope_brace + 1);
      general.push_back(*member);
    }
  }
  if (members.empty() && scopes.empty()) return;

  const ClassNames classes = class_names(r);
  llvm::StringSet<> overloaded;
  for (const Member& member : members) {
    qualify(r, member);
    overloaded.insert(full_name(r, member, classes));
  }
  std::map<std::pair<size_t, std::string>, const Member*> kept;
  for (const Member& member : general) {
    size_t scope = member.statement->scope_brace + 1;
    bool qualified = member.qualifier != no_token;
    const Member* cut = nullptr;
    auto [earlier, is_new] = kept.try_emplace({scope, signature(r, member)}, &member);
    if (scopes.contains(scope) && !is_new && (qualified || earlier->second->qualifier != no_token))
      cut = has_defaults(r, member) ? std::exchange(earlier->second, &member) : &member;
    if (cut) r.edits.cut(cut->statement->begin, cut->statement->end);
    if (cut == &member) continue;
    if (has_object(r, member) && overloaded.contains(full_name(r, member, classes)))
      r.edits.insert_before(declaration_begin(r, member), "__attribute__((metal_any_object))");
  }
}

}  // namespace metalloid::msl
