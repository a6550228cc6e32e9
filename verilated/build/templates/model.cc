// Generated around one verilated model. Do not edit.

#include "verilated_model.h"
{% for source in sources %}
#include "{{ source }}"
{% endfor %}
#include "pins.h"

namespace {

// Verilator uses port values as indices without a range check, so bits above a port's width must
// not reach it, whatever the caller's struct contains.
void drive({{ class }} &top, const Inputs &pins) {
{% for pin in inputs %}
{% if pin.words %}
  std::memcpy(&top.{{ pin.member }}[0], pins.{{ pin.name }}.value, sizeof pins.{{ pin.name }}.value);
{% if pin.mask %}
  top.{{ pin.member }}[{{ pin.words - 1 }}] &= {{ pin.mask }};
{% endif %}
{% else %}
  top.{{ pin.member }} = pins.{{ pin.name }}.value{% if pin.mask %} & {{ pin.mask }}{% endif %};
{% endif %}
{% endfor %}
}

void sample({{ class }} &top, Outputs &pins) {
{% for pin in outputs %}
{% if pin.words %}
  std::memcpy(pins.{{ pin.name }}.value, &top.{{ pin.member }}[0], sizeof pins.{{ pin.name }}.value);
{% if pin.mask %}
  pins.{{ pin.name }}.value[{{ pin.words - 1 }}] &= {{ pin.mask }};
{% endif %}
{% else %}
  pins.{{ pin.name }}.value = top.{{ pin.member }}{% if pin.mask %} & {{ pin.mask }}{% endif %};
{% endif %}
{% endfor %}
}

uint64_t difference({{ class }} &top, const Outputs &pins) {
  uint64_t difference = 0;
{% for pin in outputs %}
{% if pin.words %}
  for (int word = 0; word < {{ pin.words - 1 }}; ++word)
    difference |= top.{{ pin.member }}[word] ^ pins.{{ pin.name }}.value[word];
  difference |= (top.{{ pin.member }}[{{ pin.words - 1 }}] ^ pins.{{ pin.name }}.value[{{ pin.words - 1 }}]){% if pin.mask %} & {{ pin.mask }}{% endif %};
{% else %}
  difference |= (top.{{ pin.member }} ^ pins.{{ pin.name }}.value){% if pin.mask %} & {{ pin.mask }}{% endif %};
{% endif %}
{% endfor %}
  return difference;
}

// The same, but for the bits that are 1 in `open`.
uint64_t difference({{ class }} &top, const Outputs &pins, const Outputs &open) {
  uint64_t difference = 0;
{% for pin in outputs %}
{% if pin.words %}
  for (int word = 0; word < {{ pin.words - 1 }}; ++word)
    difference |= (top.{{ pin.member }}[word] ^ pins.{{ pin.name }}.value[word]) & ~open.{{ pin.name }}.value[word];
  difference |= (top.{{ pin.member }}[{{ pin.words - 1 }}] ^ pins.{{ pin.name }}.value[{{ pin.words - 1 }}]) & ~open.{{ pin.name }}.value[{{ pin.words - 1 }}]{% if pin.mask %} & {{ pin.mask }}{% endif %};
{% else %}
  difference |= (top.{{ pin.member }} ^ pins.{{ pin.name }}.value) & ~open.{{ pin.name }}.value{% if pin.mask %} & {{ pin.mask }}{% endif %};
{% endif %}
{% endfor %}
  return difference;
}

const vl_port ports[] = {
{% for pin in inputs %}
  { "{{ pin.name }}", {{ pin.width }}, {{ pin.offset }}, 0 },
{% endfor %}
{% for pin in outputs %}
  { "{{ pin.name }}", {{ pin.width }}, {{ pin.offset }}, 1 },
{% endfor %}
};

{% if data %}
const vl_data data[] = {
{% for file in data %}
  { "{{ file.name }}", {% if file.text is none %}nullptr, 0{% else %}"{{ file.text }}", {{ file.length }}{% endif %} },
{% endfor %}
  { nullptr, nullptr, 0 },
};
{% endif %}

}  // namespace

struct vl_model {
  vl_context *context;
  // An exception stopped the model, so its state is invalid.
  bool stopped = false;
{% if trace %}
  std::unique_ptr<{{ trace.writer }}> trace;
{% endif %}
{% if coverage %}
  vl_points::list points;
{% endif %}
  std::unique_ptr<{{ class }}> top;
  // The rising edge of a batch's last cycle is still due.
  bool edge_due = false;
};

namespace {

// Runs `body` in the model's context.
template <class Body>
inline int32_t call(vl_model *model, Body body) noexcept {
  const int32_t failed = vl_shim_guarded([&] {
    if (__builtin_expect(model->stopped, 0)) throw vl_shim_stopped{"the model has stopped"};
    vl_shim_enter(model->context);
    body();
  });
  if (failed) {
    model->stopped = true;
    model->context->leaves_traces = true;
  }
  return failed;
}

std::unique_ptr<vl_model> make(vl_context *context, [[maybe_unused]] bool with_names) {
  vl_shim_enter(context);
  context->data = {{ "data" if data else "nullptr" }};
  context->asserts = {{ "true" if assertions else "false" }};
  std::unique_ptr<vl_model> model{new vl_model};
  model->context = context;
{% if coverage %}
  // The constructor of the model registers its points.
  model->points.with_names = with_names;
  const vl_points::noting noting{model->points};
{% endif %}
  model->top.reset(new {{ class }}{context, "TOP"});
  context->leaves_traces = VM_TRACE;
  return model;
}

vl_model *create(vl_context *context) noexcept {
  vl_model *created = nullptr;
  vl_shim_guarded([&] { created = make(context, false).release(); });
  return created;
}

void destroy(vl_model *model) noexcept {
  vl_shim_adopt(model->context);
  const vl_shim_closing quietly;
  delete model;
}

int32_t finish(vl_model *model) noexcept {
  return call(model, [&] { model->top->final(); });
}

{% if trace %}
int32_t trace_open(vl_model *model, const char *path) noexcept {
  return vl_shim_guarded([&] {
    vl_shim_enter(model->context);
    model->trace.reset(new {{ trace.writer }});
    model->top->trace(model->trace.get(), 99);
    model->trace->open(path);
    if (!model->trace->isOpen()) throw vl_shim_stopped{std::string{"cannot write "} + path};
  });
}
int32_t trace_dump(vl_model *model, uint64_t time) noexcept {
  return vl_shim_guarded([&] {
    vl_shim_enter(model->context);
    if (model->trace) model->trace->dump(time);
  });
}
int32_t trace_close(vl_model *model) noexcept {
  vl_shim_adopt(model->context);
  const vl_shim_closing quietly;
  if (model->trace) model->trace->close();
  model->trace.reset();
  return quietly.failed();
}
{% else %}
int32_t trace_open(vl_model *, const char *) noexcept {
  vl_shim_record_error("this model was built without trace");
  return 1;
}
int32_t trace_dump(vl_model *, uint64_t) noexcept { return 0; }
int32_t trace_close(vl_model *) noexcept { return 0; }
{% endif %}

}  // namespace

