// Generated around a design. Its inputs are registers here: at one rising edge of both clocks the design
// takes its next state from the inputs of one cycle and is shown those of the next. So one evaluation
// does for a cycle where two are needed if inputs change between the edges.

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
  // The first evaluation sees the inputs as they are, as in the plain model: edges come after it.
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
