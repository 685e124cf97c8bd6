#pragma once

/// Declarations of the isl classes that appear in signatures; isl.h defines them.
namespace isl {
class ctx;
class set;
class map;
class union_set;
class union_map;
class schedule;
class schedule_node;
class ast_node;
class ast_expr;
class pw_multi_aff;
class union_pw_multi_aff;
}  // namespace isl
