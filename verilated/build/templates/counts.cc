namespace {

{% if coverage %}
// Before reset, registers hold what no state is made of, and logic that follows them goes where it never comes again. So counting
// begins behind the cycle when power comes up and the first one in reset, with the edge that ends it.
constexpr int uncounted = 2;

inline void shown(vl_model &model, bool in_batch) {
  vl_points::list &points = model.points;
  points.in_batch = in_batch;
  points.before_edge.clear();
  if (points.cycles < uncounted && ++points.cycles == uncounted) {
    for (uint32_t *counter : points.counters) *counter = 0;
  }
}

// The edge that ends a batch comes without the inputs of a next cycle, so what logic makes of the old ones then counts nothing.
inline void before_edge(vl_model &model) {
  vl_points::list &points = model.points;
  if (!points.in_batch) return;
  points.before_edge.reserve(points.counters.size());
  for (const uint32_t *counter : points.counters) points.before_edge.push_back(*counter);
}

int32_t points(vl_context *context, const vl_point **points, size_t *count) noexcept {
  return vl_shim_guarded([&] {
    // For the life of the library: the names are those of every model.
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

