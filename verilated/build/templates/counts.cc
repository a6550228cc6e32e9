namespace {

{% if coverage %}
// Counting starts with the edge that ends the second cycle: power comes up in the first, and the
// second is in reset. Before reset, registers hold unreachable values, and logic that depends on
// them would count.
constexpr int uncounted = 2;

inline void shown(vl_model &model, bool in_batch) {
  vl_points::list &points = model.points;
  points.in_batch = in_batch;
  points.before_edge.clear();
  if (points.cycles < uncounted && ++points.cycles == uncounted) {
    for (uint32_t *counter : points.counters) *counter = 0;
  }
}

// The edge that ends a batch comes without the next inputs. Logic that evaluates the old inputs
// once more must not count.
inline void before_edge(vl_model &model) {
  vl_points::list &points = model.points;
  if (!points.in_batch) return;
  points.before_edge.reserve(points.counters.size());
  for (const uint32_t *counter : points.counters) points.before_edge.push_back(*counter);
}

int32_t points(vl_context *context, const vl_point **points, size_t *count) noexcept {
  return vl_shim_guarded([&] {
    // Static, because the names are the same for all models of the library.
    static const std::vector<vl_points::named> names = make(context, true)->points.names;
    static const std::vector<vl_point> all = [] {
      std::vector<vl_point> all;
      for (const vl_points::named &name : names) {
        all.push_back({name.file.c_str(), name.line, name.column, name.page.c_str(),
                       name.comment.c_str(), name.lines.c_str()});
      }
      return all;
    }();
    *points = all.data();
    *count = all.size();
  });
}

void counts(const vl_model *model, uint32_t *counts, size_t count) noexcept {
  const vl_points::list &points = model->points;
  for (size_t point = 0; point < count && point < points.counters.size(); ++point) {
    counts[point] = points.before_edge.empty() ? *points.counters[point] : points.before_edge[point];
  }
}
{% else %}
int32_t points(vl_context *, const vl_point **, size_t *count) noexcept {
  *count = 0;
  return 0;
}
void counts(const vl_model *, uint32_t *, size_t) noexcept {}
inline void shown(vl_model &, bool) {}
inline void before_edge(vl_model &) {}
{% endif %}

}  // namespace

