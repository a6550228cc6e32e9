//! The ports that become channels.

use super::*;

fn ports(inputs: &[(&str, u32)], outputs: &[(&str, u32)]) -> Ports {
    let all = |ports: &[(&str, u32)]| {
        ports.iter().map(|(name, width)| Port { name: (*name).to_owned(), width: *width }).collect()
    };
    Ports { inputs: all(inputs), outputs: all(outputs), ..Ports::default() }
}

/// A channel in one line, as the macro writes it.
fn line(channel: &Channel) -> String {
    let kind = if channel.is_source { "source" } else { "sink" };
    let fields = channel.payload.iter().map(|(field, port)| format!("{field}={}", port.name));
    let fields: Vec<String> = fields.collect();
    let ready = channel.ready.as_ref().map_or_else(String::new, |ready| ready.text());
    format!("{kind} {} {{{}}} {} {ready}", channel.name, fields.join(" "), channel.valid.text())
}

/// The channels of ports in one line: inputs, `/`, outputs; a port has one bit unless `:` and
/// its width follow.
fn recognized(text: &'static str) -> Vec<String> {
    let side = |side: &'static str| -> Vec<(&'static str, u32)> {
        let port = |port: &'static str| match port.split_once(':') {
            Some((name, width)) => (name, width.parse().unwrap()),
            None => (port, 1),
        };
        side.split_whitespace().map(port).collect()
    };
    let (inputs, outputs) = text.split_once('/').unwrap();
    let channels = Channels::recognize(&ports(&side(inputs), &side(outputs)), &["clk", "rst"]);
    channels.channels.iter().map(line).collect()
}

#[test]
fn usual_names_of_handshakes_are_recognized() {
    for (ports, expected) in [
        (
            "rst push_valid push_data:8 push_last pop_ready / push_ready pop_valid pop_data level",
            &[
                "source push {data=push_data last=push_last} push_valid push_ready",
                "sink pop {data=pop_data} pop_valid pop_ready",
            ][..],
        ),
        (
            "valid_i data_i:8 ready_i / ready_o valid_o data_o:8",
            &[
                "source input {data=data_i} valid_i ready_o",
                "sink output {data=data_o} valid_o ready_i",
            ],
        ),
        (
            "s_axis_tvalid s_axis_tdata:32 s_axis_tlast / s_axis_tready",
            &["source s_axis {tdata=s_axis_tdata tlast=s_axis_tlast} s_axis_tvalid s_axis_tready"],
        ),
        (
            "wr_en rd_en din:16 / full empty dout:16",
            &["source push {data=din} wr_en !full", "sink pop {data=dout} !empty rd_en"],
        ),
        // A name that only begins with that of a channel is no payload.
        (
            "b_valid b_data:8 big:40 awvalid awaddr:8 / b_ready awready",
            &["source aw {addr=awaddr} awvalid awready", "source b {data=b_data} b_valid b_ready"],
        ),
        ("req addr:8 / gnt", &["source input {addr=addr} req gnt"]),
        // Enables of writer and reader differ by their direction.
        (
            "w_en w_data:8 r_en / w_rdy r_rdy r_data:8",
            &["source w {data=w_data} w_en w_rdy", "sink r {data=r_data} r_rdy r_en"],
        ),
        (
            "S_AXI_AWVALID S_AXI_AWADDR:8 / S_AXI_AWREADY",
            &["source s_axi_aw {addr=S_AXI_AWADDR} S_AXI_AWVALID S_AXI_AWREADY"],
        ),
        (
            "i_wr i_data:8 i_rd / o_full o_empty o_data:8",
            &["source push {data=i_data} i_wr !o_full", "sink pop {data=o_data} !o_empty i_rd"],
        ),
        (
            "i_wb_stb i_wb_we i_wb_addr:4 / o_wb_ack o_wb_data:8",
            &["source wb {we=i_wb_we addr=i_wb_addr} i_wb_stb o_wb_ack"],
        ),
        (
            "i_wb_stb i_wb_addr:4 / o_wb_ack o_wb_stall",
            &["source wb {addr=i_wb_addr} i_wb_stb !o_wb_stall"],
        ),
        (
            "i_valid i_ready i_d:8 / o_ready o_valid o_d:8",
            &["source input {d=i_d} i_valid o_ready", "sink output {d=o_d} o_valid i_ready"],
        ),
        (
            "i_valid i_data:8 o_ready / i_ready o_valid o_data:8",
            &["source i {data=i_data} i_valid i_ready", "sink o {data=o_data} o_valid o_ready"],
        ),
        (
            "valid_in data_in:8 ready_out / ready_in valid_out data_out:8",
            &[
                "source in {data=data_in} valid_in ready_in",
                "sink out {data=data_out} valid_out ready_out",
            ],
        ),
        (
            "ins:8 ins_valid outs_ready / ins_ready outs:8 outs_valid",
            &[
                "source ins {data=ins} ins_valid ins_ready",
                "sink outs {data=outs} outs_valid outs_ready",
            ],
        ),
        (
            "inport_valid_i inport_data_i:8 / inport_accept_o",
            &["source inport {data=inport_data_i} inport_valid_i inport_accept_o"],
        ),
        ("req_i op:4 / ack_o", &["source input {op=op} req_i ack_o"]),
        ("valid_i data_i:8 / stall_o", &["source input {data=data_i} valid_i !stall_o"]),
        ("strobe x:8 / busy", &["source input {x=x} strobe !busy"]),
        (
            "v_i data_i:8 yumi_i / ready_o v_o data_o:8",
            &["source input {data=data_i} v_i ready_o", "sink output {data=data_o} v_o yumi_i"],
        ),
        ("data_valid din:8 / dout:8", &["source data {din=din} data_valid "]),
        (
            "din_valid din:512 / dout:512 dout_valid",
            &["source din {data=din} din_valid ", "sink dout {data=dout} dout_valid "],
        ),
        (
            "in_r_dout:32 in_r_empty_n / in_r_read",
            &["source in_r_pop {data=in_r_dout} in_r_empty_n in_r_read"],
        ),
        ("a_full / a_wr_en a_din:8", &["sink a_push {data=a_din} a_wr_en !a_full"]),
        (
            "winc wdata:8 rinc / wfull rdata:8 rempty",
            &["source push {data=wdata} winc !wfull", "sink pop {data=rdata} !rempty rinc"],
        ),
        (
            "req_i:2 data_i_0:8 data_i_1:8 tag_i:6 odd:3 ready_i / gnt_o:2 valid_o data_o:8",
            &[
                "source input_0 {data=data_i_0 tag=tag_i} req_i gnt_o",
                "source input_1 {data=data_i_1 tag=tag_i} req_i gnt_o",
                "sink output {data=data_o} valid_o ready_i",
            ],
        ),
        (
            "arr_valid_i_0 arr_valid_i_1 arr_data_i_0:8 arr_data_i_1:8 / arr_ready_o_0 arr_ready_o_1",
            &[
                "source arr_0 {data=arr_data_i_0} arr_valid_i_0 arr_ready_o_0",
                "source arr_1 {data=arr_data_i_1} arr_valid_i_1 arr_ready_o_1",
            ],
        ),
        (
            "valid_i_0 valid_i_1 data_i_0:8 data_i_1:8 ready_i_0 / \
             ready_o_0 ready_o_1 valid_o_0 data_o_0:8",
            &[
                "source lane_0_in {data=data_i_0} valid_i_0 ready_o_0",
                "source lane_1 {data=data_i_1} valid_i_1 ready_o_1",
                "sink lane_0_out {data=data_o_0} valid_o_0 ready_i_0",
            ],
        ),
        ("wrValid wrData:8 / wrReady", &["source wr {data=wrData} wrValid wrReady"]),
        (
            "data_valid_i data_i:8 data_ready_i / data_ready_o data_o:8 data_valid_o",
            &[
                "source data_in {data=data_i} data_valid_i data_ready_o",
                "sink data_out {data=data_o} data_valid_o data_ready_i",
            ],
        ),
        (
            "req_i we_i addr_i:8 flush_i / gnt_o rvalid_o rdata_o:8 rising",
            &["source input {we=we_i addr=addr_i} req_i gnt_o", "sink r {data=rdata_o} rvalid_o "],
        ),
        (
            "x:8 x_ap_vld y_ap_ack / x_ap_ack y:8 y_ap_vld",
            &["source x {data=x} x_ap_vld x_ap_ack", "sink y {data=y} y_ap_vld y_ap_ack"],
        ),
        (
            "inp_valid_i:2 inp_data_i_0:8 inp_data_i_1:8 oup_ready_i / inp_ready_o:2 oup_valid_o oup_data_o:8",
            &[
                "source inp_0 {data=inp_data_i_0} inp_valid_i inp_ready_o",
                "source inp_1 {data=inp_data_i_1} inp_valid_i inp_ready_o",
                "sink oup {data=oup_data_o} oup_valid_o oup_ready_i",
            ],
        ),
        // No handshakes.
        ("start a:8 / done q:8", &[]),
        ("invalid in_data:8 / ok", &[]),
        ("valid_mask / q", &[]),
    ] {
        assert_eq!(recognized(ports), expected, "{ports}");
    }
}

#[test]
fn ports_of_no_channel_are_kept_and_a_module_without_sources_is_not_usable() {
    let inputs = [("a_valid", 1), ("a_data", 512), ("mode", 65)];
    let channels = Channels::recognize(&ports(&inputs, &[("a_ready", 1)]), &[]);
    assert_eq!(channels.other_inputs, [Port { name: "mode".to_owned(), width: 65 }]);
    assert!(channels.is_usable());
    let sink = ports(&[("a_ready", 1)], &[("a_valid", 1), ("a_data", 8)]);
    assert!(!Channels::recognize(&sink, &[]).is_usable());
    assert!(!Channels::recognize(&ports(&[("mode", 2)], &[("done", 1)]), &[]).is_usable());
}

#[test]
fn enables_are_on_and_what_stops_the_block_is_off() {
    for (name, width, expected) in [
        ("enable_i", 1, Some(1)),
        ("CLK_EN", 1, Some(1)),
        ("oe_n", 1, None),
        ("ce_n", 1, Some(0)),
        ("flush", 1, Some(0)),
        ("scan_en", 1, Some(0)),
        ("soft_rst_ni", 1, Some(1)),
        ("enable", 2, None),
        ("mode", 1, None),
        ("vdd", 1, Some(1)),
        ("VSS", 1, Some(0)),
    ] {
        assert_eq!(held_value(&Port { name: name.to_owned(), width }), expected, "{name}");
    }
}

#[test]
fn bidirectional_ports_are_not_driven() {
    let all = ports(
        &[("pad_in", 1), ("pad_enable", 1), ("req", 1)],
        &[("pad_out", 1), ("gnt", 1), ("q", 8)],
    );
    let mut channels = Channels::recognize(&all, &[]);
    channels.other_inputs = all.inputs[..2].to_vec();
    channels.other_outputs = all.outputs[..1].to_vec();
    let held: Vec<_> =
        channels.held_inputs().iter().map(|(port, value)| (port.name.clone(), *value)).collect();
    assert_eq!(held, [("pad_enable".to_owned(), 0)]);
}

#[test]
fn lanes_share_a_port_in_equal_parts() {
    let all = Channels::recognize(&ports(&[("req", 2), ("tag", 6)], &[("gnt", 2)]), &[]);
    let parts = all.channels.iter().map(|lane| (lane.bit(), lane.part(&lane.payload[0].1)));
    let expected = [(Some(0), Some((2, 0))), (Some(1), Some((5, 3)))];
    assert_eq!(parts.collect::<Vec<_>>(), expected);
}
