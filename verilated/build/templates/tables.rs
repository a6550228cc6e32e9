{% for struct in structs %}
// SAFETY: generated from the same layout as the C struct and this table.
unsafe impl {{ verilated }}::Pins for {{ struct.name }} {
    const PORTS: &'static [{{ verilated }}::Port] = &[
{% for field in struct.fields %}
        {{ verilated }}::Port { name: "{{ field.name }}", width: {{ field.width }}, offset: {{ field.offset }} },
{% endfor %}
    ];
}
{% endfor %}
