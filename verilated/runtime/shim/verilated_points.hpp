// Collects the coverage points that Verilator counts (`--coverage-line` and others). It
// redefines the macro with which a model registers them. Verilator's own list would be built for
// every model, at the cost of many short cases. Here, a model records the addresses of its
// counters, and the names are collected only once.
//
// Include it before the sources of a model with coverage.

#ifndef VERILATED_POINTS_HPP_
#define VERILATED_POINTS_HPP_

#include "verilated_cov.h"

#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

namespace vl_points {

// The description of a point, as Verilator registers it.
struct named {
  std::string file;
  uint32_t line = 0;
  uint32_t column = 0;
  std::string page;
  std::string comment;
  std::string lines;
};

// The points of a model under construction. Names are recorded on request only.
struct list {
  std::vector<uint32_t *> counters;
  // Number of cycles seen, up to the start of counting.
  int cycles = 0;
  // Whether the last cycle belongs to a batch.
  bool in_batch = false;
  // The counters before the edge that ended a batch.
  std::vector<uint32_t> before_edge;
  bool with_names = false;
  std::vector<named> names;
};

inline thread_local list *present = nullptr;

inline void note(named &point, const char *key, const std::string &value) {
  if (!std::strcmp(key, "filename")) point.file = value;
  if (!std::strcmp(key, "page")) point.page = value;
  if (!std::strcmp(key, "comment")) point.comment = value;
  if (!std::strcmp(key, "linescov")) point.lines = value;
}
inline void note(named &point, const char *key, int value) {
  if (!std::strcmp(key, "lineno")) point.line = static_cast<uint32_t>(value);
  if (!std::strcmp(key, "column")) point.column = static_cast<uint32_t>(value);
}

inline void keys(named &) {}
template <class Value, class... Rest>
void keys(named &point, const char *key, const Value &value, const Rest &...rest) {
  note(point, key, value);
  keys(point, rest...);
}

// The arguments in Verilator 5.006: the counter, then keys and values. Instances with shared
// counters register them again, with `enable` false.
template <class... Rest>
void insert(bool enable, uint32_t *counter, const Rest &...rest) {
  if (!present || !enable) return;
  present->counters.push_back(counter);
  if (!present->with_names) return;
  named point;
  keys(point, rest...);
  present->names.push_back(std::move(point));
}

// The arguments in newer versions: the instance comes first.
template <class Name, class... Rest>
void insert(bool enable, const Name &, uint32_t *counter, const Rest &...rest) {
  insert(enable, counter, rest...);
}

// While it lives, a model under construction records its points.
class noting final {
 public:
  explicit noting(list &points) { present = &points; }
  ~noting() { present = nullptr; }
  noting(const noting &) = delete;
  noting &operator=(const noting &) = delete;
};

}  // namespace vl_points

#undef VL_COVER_INSERT
#define VL_COVER_INSERT(context, ...) vl_points::insert(enable, __VA_ARGS__)

#endif
