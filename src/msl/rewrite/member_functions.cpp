// `T& operator[](size_t i) device;`: in Metal a member function says in which address space its object may be, and
// classes repeat their members once per address space. To Clang the object of a member function is in the default
// address space, which all others convert to: one member serves them all. The qualifier is dropped, and of members that
// then have the same signature one stays. What it returns of its object is in the default address space as well, so the
// one for `thread` is preferred, and another loses its address space in the result too.
#include <llvm/ADT/DenseSet.h>

#include <algorithm>
#include <map>

#include "rules.hpp"

namespace metalloid::msl {

namespace tok = clang::tok;

namespace {

// Words that vanish: overloads on them are overloads no more.
bool is_default_space(llvm::StringRef word) {
  return word == "thread" || word == "ray_data" || word == "object_data";
}

struct Member {
  const Statement* statement;
  FunctionHead head;
  llvm::StringRef space;  // the qualifier, empty if there is none
  bool is_const = false;

  bool is_general() const { return space.empty() || is_default_space(space); }
};

// The function a declaration declares, with what follows its parameters. The qualifier is cut here and now.
std::optional<Member> read_member(Rewriting& r, const Statement& statement) {
  const TokenStream& tokens = r.tokens;
  std::optional<FunctionHead> head = r.outline.function_head(statement);
  if (!head) return std::nullopt;
  Member member{&statement, *head, {}};
  for (size_t k = head->close + 1; k < statement.end;) {
    llvm::StringRef word = tokens.word(k);
    if (is_address_space(word)) {
      member.space = word;
      r.edits.cut(k, k + 1);
    } else if (tokens.is(k, tok::kw_const)) {
      member.is_const = true;
    } else if (!tokens.is(k, tok::kw_volatile, tok::kw_noexcept, tok::amp, tok::ampamp) && word != "override" &&
               word != "final") {
      break;
    }
    k = tokens.is(k, tok::kw_noexcept) && tokens.is(k + 1, tok::l_paren) ? tokens.next(k + 1) : k + 1;
  }
  return member;
}

// The tokens that make one member differ from another, whatever address spaces it speaks of: template header, result,
// name, parameter types, const.
std::string signature(const Rewriting& r, const Member& member) {
  const TokenStream& tokens = r.tokens;
  const auto& [statement, head, space, is_const] = member;
  std::string text;
  auto add = [&](size_t k) { text += r.preprocessor.getSpelling(tokens[k]) + ' '; };
  size_t begin = tokens.skip_template_headers(statement->begin, statement->stop);
  for (size_t k = statement->begin; k < begin; ++k)
    if (!tokens[k].isAnnotation()) add(k);
  for (size_t k = tokens.skip_attributes(begin); k < head.name_begin; k = tokens.skip_attributes(k + 1))
    if (!is_address_space(tokens.word(k)) && !tokens.is(k, tok::kw_inline, tok::kw_constexpr)) add(k);
  for (size_t k = head.name_begin; k <= head.close; ++k) {
    if (is_default_space(tokens.word(k)) || tokens[k].isAnnotation()) continue;
    bool parameter_name = tokens.enclosing(k) == head.open && tokens.is(k, tok::identifier) &&
                          tokens.is(k + 1, tok::comma, tok::r_paren, tok::equal, tok::l_square) &&
                          !tokens.is(k - 1, tok::l_paren, tok::comma, tok::coloncolon, tok::kw_const, tok::kw_volatile,
                                     tok::kw_typename) &&
                          !is_address_space(tokens.word(k - 1));
    if (!parameter_name) add(k);
  }
  return text + (is_const ? "const" : "") + (tokens.is(statement->stop, tok::semi) ? ";" : "{");
}

void keep_one(Rewriting& r, const std::vector<Member>& same) {
  const Member* kept = &same.front();
  for (const Member& member : same)
    if (member.is_general() && !kept->is_general()) kept = &member;
  for (const Member& member : same)
    if (&member != kept) r.edits.cut(member.statement->begin, member.statement->end);
  if (kept->is_general()) return;
  for (size_t k = kept->statement->begin; k < kept->head.name_begin; ++k)
    if (r.tokens.word(k) == kept->space) r.unspaced.insert(k);
}

}  // namespace

void unqualify_member_functions(Rewriting& r) {
  std::vector<Member> members;
  llvm::DenseSet<size_t> scopes;  // of members that are qualified
  for (const Statement& statement : r.outline.statements()) {
    if (statement.scope != ScopeKind::class_ && statement.scope != ScopeKind::namespace_) continue;
    if (r.tokens.verbatim(statement.begin) || r.edits.is_cut(statement.begin)) continue;
    std::optional<Member> member = read_member(r, statement);
    if (!member) continue;
    bool qualified = !member->space.empty();
    if (qualified) scopes.insert(statement.scope_brace + 1);
    if (qualified || statement.scope == ScopeKind::class_) members.push_back(*member);
  }

  std::map<std::pair<size_t, std::string>, std::vector<Member>> groups;
  for (const Member& member : members) {
    size_t scope = member.statement->scope_brace + 1;
    if (scopes.contains(scope)) groups[{scope, signature(r, member)}].push_back(member);
  }
  for (const auto& [key, same] : groups) {
    bool qualified = std::any_of(same.begin(), same.end(), [](const Member& m) { return !m.space.empty(); });
    if (qualified) keep_one(r, same);
  }
}

}  // namespace metalloid::msl
