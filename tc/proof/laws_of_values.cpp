#include <algorithm>
#include <set>

#include "tc/base/str.h"
#include "tc/proof/laws.h"
#include "tc/proof/verdict.h"

namespace tc::proof {
namespace {

using Body = Statement::Body;
using Kind = TextStatement::Kind;

isl::union_map nothing(const Subject& subject) { return isl::union_map::empty(subject.ctx()); }

/// { a -> b }: the instances that touch one element, by { a -> element } and { b -> element }.
isl::union_map meeting(const isl::union_map& a, const isl::union_map& b) { return a.apply_range(b.reverse()); }

/// The statements of the first of \p pairs, for messages.
std::string name_of_pair(const isl::union_map& pairs) {
  const auto pair = pairs.map_list().at(0);
  const char* first = isl_map_get_tuple_name(pair.get(), isl_dim_in);
  const char* second = isl_map_get_tuple_name(pair.get(), isl_dim_out);
  return str(first ? first : "", " and ", second ? second : "");
}

/// Private accumulators are joined at most so many times before the result.
constexpr int deepest_join = 4;

/// { P[p] -> instance }: the copies that join each element of the private accumulator \p tensor.
isl::union_map joins_of(const Subject& subject, const std::string& tensor) {
  auto result = nothing(subject);
  for (const auto& statement : subject.launch.statements)
    if (statement.body == Body::Copy && statement.accumulates && range_name(statement.reads[0].element) == tensor)
      result = result.unite(statement.reads[0].element.to_union_map().reverse());
  return result;
}

/// The accesses to \p tensor, by what they do.
struct PartialUses {
  isl::union_map starts, sums;  ///< { instance -> P[p] }
};

PartialUses uses_of_partial(const Subject& subject, const std::string& tensor) {
  PartialUses result{nothing(subject), nothing(subject)};
  std::string op;
  for (const auto& use : uses_of(subject.launch)) {
    const auto& statement = *use.statement;
    if (use.access().element.is_empty() || range_name(use.access().element) != tensor) continue;
    const auto element = use.access().element.to_union_map();
    const bool start = use.writes() && statement.body == Body::Identity && statement.source < 0;
    const bool join = !use.writes() && statement.body == Body::Copy && statement.accumulates;
    if (!start && !join && !use.accumulates())
      throw Refusal("partials", statement.id,
                    str("it uses the private accumulator '", tensor, "' otherwise than to accumulate"));
    if (!op.empty() && op != statement.op)
      throw Refusal(
          "partials", statement.id,
          str("the private accumulator '", tensor, "' has the operators '", op, "' and '", statement.op, "'"));
    op = statement.op;
    if (start) result.starts = result.starts.unite(element);
    if (use.accumulates()) result.sums = result.sums.unite(element);
  }
  return result;
}

void check_partial(const Subject& subject, const std::string& tensor) {
  const auto refuse = [&](const std::string& why) {
    throw Refusal("partials", "", str("the private accumulator '", tensor, "' ", why));
  };
  if (subject.is_of_text(tensor)) refuse("is a tensor of the text");
  const auto [starts, sums] = uses_of_partial(subject, tensor);
  const auto joins = joins_of(subject, tensor);
  if (!starts.is_injective()) refuse("is started twice");
  if (!joins.is_single_valued()) refuse("is joined twice");
  if (!sums.range().unite(joins.domain()).is_subset(starts.range())) refuse("is not started from the identity");
  if (!sums.range().is_subset(joins.domain())) refuse("is not joined to the result");
  const auto must = meeting(starts, sums).unite(starts.apply_range(joins)).unite(sums.apply_range(joins));
  const auto wrong = not_forward(subject.launch.schedule, must);
  if (!wrong.is_empty()) refuse(str("is not started, summed up and joined in this order, see ", name_of_pair(wrong)));
}

/// What statements of the text do to its tensors, which instances do it, and in which iterations of the loops of the text.
struct Event {
  isl::union_map reads, writes;            ///< { instance -> A[x] }
  isl::union_map read_times, write_times;  ///< { instance -> [t] }
};

/// { S[i] -> [t] }: the iterations of the loops around \p statement.
isl::map times_of(const TextStatement& statement) {
  std::vector<std::string> dimensions, times;
  for (unsigned d = 0; d < statement.domain.tuple_dim(); ++d) dimensions.push_back(str("d", d));
  for (const auto& loop : statement.loops) times.push_back(str("d", loop.dimension));
  return isl::map(statement.domain.ctx(), str("{ ", statement.id, "[", join(dimensions), "] -> [", join(times), "] }"));
}

std::vector<Event> events_of(const Subject& subject) {
  const auto none = nothing(subject);
  std::vector<Event> result(subject.text.statements.size(), {none, none, none, none});
  for (const auto& statement : subject.launch.statements) {
    if (statement.source < 0) continue;
    auto& event = result[static_cast<std::size_t>(statement.source)];
    const auto& source = subject.text.statements[static_cast<std::size_t>(statement.source)];
    const auto write = statement.origin.apply_range(source.write).to_union_map();
    const auto joins = joined_by(subject, statement).reverse();
    const auto times = statement.origin.apply_range(times_of(source)).to_union_map();
    event.writes = event.writes.unite(joins.apply_range(write));
    event.write_times = event.write_times.unite(joins.apply_range(times));
    event.read_times = event.read_times.unite(times);
    for (std::size_t i = 0; i < statement.reads.size(); ++i) {
      const auto read =
          statement.origin.apply_range(source.reads[i].element).intersect_domain(statement.reads[i].element.domain());
      event.reads = event.reads.unite(read.to_union_map());
    }
  }
  return result;
}

/// Of \p pairs, those whose first time is before the second one in the first \p loops loops, or, unless \p strictly, in one iteration.
isl::union_map in_time(const isl::union_map& pairs, const isl::union_map& first, const isl::union_map& second,
                       std::size_t loops, bool strictly) {
  if (pairs.is_empty()) return pairs;
  auto result = isl::union_map::empty(pairs.ctx());
  const auto each = [&](const isl::union_map& times, const auto& then) {
    times.foreach_map([&](const isl::map& map) {
      const auto count = static_cast<unsigned>(loops);
      then(call(map.ctx(), isl_map_project_out, map.copy(), isl_dim_out, count, map.range_tuple_dim() - count));
    });
  };
  each(first, [&](const isl::map& a) {
    each(second, [&](const isl::map& b) {
      const auto space = call(a.ctx(), isl_space_range, a.space().release());
      const auto order = call(a.ctx(), strictly ? isl_map_lex_lt : isl_map_lex_le, space.copy());
      result = result.unite(a.apply_range(order).apply_range(b.reverse()).to_union_map());
    });
  });
  return pairs.intersect(result);
}

/// The dependences between event \p a and event \p b, which the text has in this order or which are one event, in either direction where
/// loops are around both.
isl::union_map dependences_between(const Event& a, const Event& b, std::size_t loops, bool one) {
  const auto between = [&](const Event& from, const Event& to, bool strictly) {
    const auto order = [&](const isl::union_map& pairs, const isl::union_map& first, const isl::union_map& second) {
      return loops > 0 ? in_time(pairs, first, second, loops, strictly) : pairs;
    };
    return order(meeting(from.writes, to.reads), from.write_times, to.read_times)
        .unite(order(meeting(from.writes, to.writes), from.write_times, to.write_times))
        .unite(order(meeting(from.reads, to.writes), from.read_times, to.write_times));
  };
  if (one) return between(a, a, true);
  return loops > 0 ? between(a, b, false).unite(between(b, a, true)) : between(a, b, false);
}

/// The versions of elements of the text that are kept in several tensors: itself and copies.
struct Copies {
  isl::union_map means;               ///< { R[r] -> A[x] } of all tensors but private accumulators
  isl::union_map writes;              ///< { instance -> R[r] }: of the text
  isl::union_map copies, overwrites;  ///< { instance -> R[r] }: that bring R[r] up to date
  std::set<std::string> copied;       ///< the tensors of the text that are kept elsewhere, too
};

Copies copies_of(const Subject& subject) {
  Copies result{nothing(subject), nothing(subject), nothing(subject), nothing(subject), {}};
  for (const auto& [name, means] : subject.means) {
    if (means.is_null() || subject.is_partial(name)) continue;
    result.means = result.means.unite(means.to_union_map());
    if (!subject.is_of_text(name)) result.copied.insert(range_name(means));
  }
  for (const auto& statement : subject.launch.statements) {
    const auto write = statement.write.element.to_union_map();
    if (statement.write.element.is_empty() || subject.is_partial(range_name(statement.write.element))) continue;
    const bool copy = statement.body == Body::Copy && !statement.accumulates;
    if (copy) result.copies = result.copies.unite(write);
    if (!copy) result.writes = result.writes.unite(write);
    if (!copy && !statement.accumulates) result.overwrites = result.overwrites.unite(write);
  }
  return result;
}

/// Throws unless the reader of \p element, an access of \p statement, finds the last write of what it means there.
void check_reader(const Subject& subject, const Copies& all, const Statement& statement, const isl::union_map& element,
                  bool own) {
  const auto& schedule = subject.launch.schedule;
  const auto means = element.apply_range(all.means);
  if (own && !all.copied.count(range_name(means.as_map()))) return;
  const auto foreign = meeting(all.writes.apply_range(all.means), means).subtract(meeting(all.writes, element));
  const auto before = forward(schedule, foreign);
  if (own && before.is_empty()) return;
  const auto fresh = all.copies.unite(all.overwrites);
  const auto served = forward(schedule, meeting(fresh, element));
  if (!own && !element.domain().is_subset(served.range()))
    throw Refusal("copies", statement.id, "it reads a copy before anything is in it");
  if (before.is_empty()) return;
  const auto renewed = forward(schedule, meeting(all.writes.apply_range(all.means), fresh.apply_range(all.means)));
  const auto stale = before.subtract(renewed.apply_range(served));
  if (!stale.is_empty())
    throw Refusal("copies", statement.id,
                  str("it reads a copy that is older than a write of its element, of ", name_of_pair(stale)));
}

}  // namespace

isl::union_map joined_by(const Subject& subject, const Statement& update) {
  auto result = identity_on(update.domain.to_union_set());
  auto tensor = update.write.element.is_empty() ? std::string() : range_name(update.write.element);
  if (!subject.is_partial(tensor)) return result;
  auto element = update.write.element.to_union_map();
  result = nothing(subject);
  for (int depth = 0; depth < deepest_join; ++depth) {
    // Each step goes to the copies that join the elements of private accumulators; what they write may be one again.
    auto next = nothing(subject);
    const auto maps = element.map_list();
    for (unsigned i = 0; i < maps.size(); ++i) {
      const auto map = maps.at(static_cast<int>(i));
      const auto joined = map.to_union_map().apply_range(joins_of(subject, range_name(map)));
      for (const auto& statement : subject.launch.statements) {
        const auto here = joined.intersect_range(statement.domain.to_union_set());
        if (here.is_empty()) continue;
        if (subject.is_partial(range_name(statement.write.element)))
          next = next.unite(here.apply_range(statement.write.element.to_union_map()));
        else
          result = result.unite(here);
      }
    }
    element = next;
    if (element.is_empty()) break;
  }
  if (!element.is_empty() || !update.domain.to_union_set().is_subset(result.domain()))
    throw Refusal("partials", update.id, "what it adds up does not reach the result");
  return result;
}

void check_partials(const Subject& subject) {
  for (const auto& [name, means] : subject.means)
    if (subject.is_partial(name)) check_partial(subject, name);
  for (const auto& statement : subject.launch.statements)
    if (statement.body == Body::Identity && statement.source < 0 &&
        !subject.is_partial(range_name(statement.write.element)))
      throw Refusal("partials", statement.id, "it starts what is no private accumulator");
}

void check_order(const Subject& subject) {
  const auto events = events_of(subject);
  auto must = nothing(subject);
  for (std::size_t i = 0; i < events.size(); ++i)
    for (std::size_t j = 0; j <= i; ++j) {
      const auto loops = common_loops(subject.text.statements[j], subject.text.statements[i]);
      if (j < i || loops > 0) must = must.unite(dependences_between(events[j], events[i], loops, j == i));
    }
  const auto wrong = not_forward(subject.launch.schedule, must);
  if (wrong.is_empty()) return;
  const auto pair = wrong.map_list().at(0);
  const char* second = isl_map_get_tuple_name(pair.get(), isl_dim_out);
  throw Refusal("order", second ? second : "",
                str("a dependence of the text, between ", name_of_pair(wrong), ", does not go forward"));
}

void check_copies(const Subject& subject) {
  const auto all = copies_of(subject);
  const auto& schedule = subject.launch.schedule;
  for (const auto& statement : subject.launch.statements) {
    const auto check = [&](const Access& access) {
      if (access.element.is_empty() || subject.is_partial(range_name(access.element))) return;
      check_reader(subject, all, statement, access.element.to_union_map(),
                   subject.is_of_text(range_name(access.element)));
    };
    for (const auto& read : statement.reads) check(read);
    if (statement.accumulates) check(statement.write);
  }
  // At the end, results are where the caller looks for them.
  for (const auto& [name, tensor] : subject.text.tensors) {
    const auto* given = subject.launch.find(name);
    if (!given || (tensor.role != lang::Role::Output && tensor.role != lang::Role::InOut)) continue;
    const auto result = given->box(subject.ctx()).to_union_set();
    const auto foreign = all.writes.subtract_range(result).apply_range(all.means).intersect_range(result);
    if (foreign.is_empty()) continue;
    const auto renewed = forward(schedule, meeting(foreign, all.copies.intersect_range(result)));
    const auto lost = foreign.domain().subtract(renewed.domain());
    if (!lost.is_empty())
      throw Refusal("copies", "", str("a result of '", name, "' is left in a buffer: ", lost.sample_point()));
  }
}

}  // namespace tc::proof
