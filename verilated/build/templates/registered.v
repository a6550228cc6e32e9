// Generated around a design. The inputs are registers here. At one rising edge of both clocks, the
// design computes its next state from the inputs of one cycle and receives those of the next. So
// one evaluation per cycle suffices, instead of two with inputs that change between the edges.

module cosim_registered (
{% for port in inputs %}
  input wire [{{ port.left }}:0] {{ port.name }},
{% endfor %}
{% for port in outputs %}
  output wire [{{ port.left }}:0] {{ port.name }},
{% endfor %}
  input wire cosim_load,
  input wire {{ clock }}
);

{% for port in inputs %}
  reg [{{ port.left }}:0] {{ register }}{{ port.name }};
  // The first evaluation, before any edge, uses the inputs directly, as in the plain model.
  initial {{ register }}{{ port.name }} = {{ port.name }};
{% endfor %}

  always @(posedge cosim_load) begin
{% for port in inputs %}
    {{ register }}{{ port.name }} <= {{ port.name }};
{% endfor %}
  end

  {{ top }}{% if parameters %} #({{ parameters }}){% endif %} dut (
{% for port in inputs %}
    .{{ port.name }}({{ register }}{{ port.name }}),
{% endfor %}
{% for port in outputs %}
    .{{ port.name }}({{ port.name }}),
{% endfor %}
    .{{ clock }}({{ clock }})
  );

endmodule
