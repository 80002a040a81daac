// `T& operator[](size_t i) device;`: in Metal a member function says in which address space its object may be, and
// classes repeat their members once per address space. To Clang the object of a member function is in the default
// address space, which all others convert to: one member serves them all. The qualifier is dropped, and of members that
// then have the same signature one stays: the one for `thread`, whose result is in the default address space as well.
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
  bool general;  // unqualified or `thread`
};

// The tokens that make one member differ from another, whatever address spaces it speaks of: template header, result,
// name, parameter types, const.
std::string signature(const Rewriting& r, const Statement& statement, const FunctionHead& head, bool is_const) {
  const TokenStream& tokens = r.tokens;
  std::string text;
  auto add = [&](size_t k) { text += r.preprocessor.getSpelling(tokens[k]) + ' '; };
  size_t begin = tokens.skip_template_headers(statement.begin, statement.stop);
  for (size_t k = statement.begin; k < begin; ++k)
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
  return text + (is_const ? "const" : "") + (tokens.is(statement.stop, tok::semi) ? ";" : "{");
}

}  // namespace

void unqualify_member_functions(Rewriting& r) {
  const TokenStream& tokens = r.tokens;
  std::map<std::pair<size_t, std::string>, std::vector<Member>> members;
  std::map<size_t, std::vector<std::pair<const Statement*, FunctionHead>>> unqualified;
  std::vector<bool> has_qualified(tokens.size() + 1);

  auto scope_key = [&](const Statement& statement) {
    return statement.scope_brace == no_token ? tokens.size() : statement.scope_brace;
  };
  auto is_const = [&](const FunctionHead& head, const Statement& statement) {
    for (size_t k = head.close + 1; k < statement.stop && !tokens.word(k).empty(); ++k)
      if (tokens.is(k, tok::kw_const)) return true;
    return false;
  };

  for (const Statement& statement : r.outline.statements()) {
    if (statement.scope != ScopeKind::class_ && statement.scope != ScopeKind::namespace_) continue;
    if (tokens.verbatim(statement.begin) || r.edits.is_cut(statement.begin)) continue;
    std::optional<FunctionHead> head = r.outline.function_head(statement);
    if (!head) continue;
    bool qualified = false, general = true;
    for (size_t k = head->close + 1; k < statement.end;) {
      llvm::StringRef word = tokens.word(k);
      if (is_address_space(word)) {
        qualified = true;
        general = word == "thread";
        r.edits.cut(k, k + 1);
      } else if (!tokens.is(k, tok::kw_const, tok::kw_volatile, tok::kw_noexcept, tok::amp, tok::ampamp) &&
                 word != "override" && word != "final") {
        break;
      }
      k = tokens.is(k, tok::kw_noexcept) && tokens.is(k + 1, tok::l_paren) ? tokens.next(k + 1) : k + 1;
    }
    if (qualified) {
      has_qualified[scope_key(statement)] = true;
      members[{scope_key(statement), signature(r, statement, *head, is_const(*head, statement))}].push_back(
          {&statement, general});
    } else if (statement.scope == ScopeKind::class_) {
      unqualified[scope_key(statement)].push_back({&statement, *head});
    }
  }

  for (auto& [scope, heads] : unqualified) {
    if (!has_qualified[scope]) continue;
    for (auto& [statement, head] : heads) {
      auto same = members.find({scope, signature(r, *statement, head, is_const(head, *statement))});
      if (same != members.end()) same->second.insert(same->second.begin(), {statement, true});
    }
  }

  for (auto& [key, group] : members) {
    const Statement* kept = group.front().statement;
    for (const Member& member : group)
      if (member.general) {
        kept = member.statement;
        break;
      }
    for (const Member& member : group)
      if (member.statement != kept) r.edits.cut(member.statement->begin, member.statement->end);
  }
}

}  // namespace metalloid::msl
