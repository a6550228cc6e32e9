//! Checks of a request against its packet and the memory that it must name.

use super::*;

/// The purpose of a request, after checking that it belongs to the packet.
pub fn belongs(packet: &Packet, head: &MrHead, data: &MrData) -> Result<Obligation, Violation> {
    let header = &packet.header;
    let net_opcode = header.net_opcode.get();
    let (due, opcode) = match (data.opcode.get(), Operation::from_opcode(net_opcode)) {
        (codes::GEN_CQE, _) => (Obligation::Cqe, codes::GEN_CQE),
        (codes::GEN_EVENT, _) => (Obligation::Event, codes::GEN_EVENT),
        (codes::ACKNOWLEDGE, _) => (Obligation::Ack, codes::ACKNOWLEDGE),
        (_, Operation::Read) => (Obligation::Remote, net_opcode + codes::READ_RESPONSE),
        (_, operation) if operation.is_send() => (Obligation::Payload, net_opcode),
        _ => (Obligation::Remote, net_opcode),
    };
    let seen = [
        data.opcode.get(),
        head.local_qpn.get(),
        data.local_qpn.get(),
        data.remote_qpn.get(),
        data.service_type.get(),
    ];
    let expected = [
        opcode,
        header.local_qpn.get() & 0xff,
        header.local_qpn.get(),
        header.remote_qpn.get(),
        header.service_type.get(),
    ];
    require!(
        seen == expected,
        OWN,
        "(opcode, head's QP, local QP, remote QP, service) {seen:x?}, expected {expected:x?}"
    )?;
    Ok(due)
}

/// Checks a payload request against the unit at the cursor. Returns its bytes and the expected
/// request.
pub fn payload(
    account: &mut PacketObligations,
    packet: &Packet,
    head: &MrHead,
) -> Result<(u64, MrRequest), Violation> {
    let mut unit_start = 0;
    let unit = units(packet).find_map(|unit| {
        let start = unit_start;
        unit_start += unit.byte_cnt.get();
        (account.cursor < unit_start).then_some((start, unit))
    });
    let Some((start, unit)) = unit else {
        return Err(Violation::new(PAYLOAD, "a request beyond the WQE's last unit"));
    };
    let inside = account.cursor - start;
    let before = account.paid[Obligation::Payload as usize];
    let left = account.owed[Obligation::Payload as usize] - before;
    let length = left.min(unit.byte_cnt.get() - inside);
    require!(length > 0, PAYLOAD, "a request beyond the packet's payload")?;
    let address = unit.laddr.get().wrapping_add(inside);
    let memory = Memory { key: unit.lkey.get(), address, length };
    names(PAYLOAD, head, memory)?;
    account.cursor += length;
    // If the WQE is too short, the packet is longer than the obligation.
    let is_last = before + length == packet.header.pkt_length.get();
    Ok((length, MrRequest::send(packet, memory, unit.inline.get(), is_last)))
}

/// Checks the request of an RDMA operation. For a READ, F4 determines whether the key is checked.
pub fn remote(
    packet: &Packet,
    head: &MrHead,
    read_is_checked: bool,
) -> Result<MrRequest, Violation> {
    let header = &packet.header;
    let (key, address) = (header.rkey.get(), header.raddr.get());
    let memory = Memory { key, address, length: header.pkt_length.get() };
    names(REMOTE, head, memory)?;
    Ok(match Operation::from_opcode(header.net_opcode.get()) {
        Operation::Read => MrRequest::read(packet, memory, read_is_checked),
        _ => MrRequest::write(packet, memory),
    })
}

/// Checks that a request names the expected memory.
fn names(check: &str, head: &MrHead, memory: Memory) -> Result<(), Violation> {
    let (key, address) = (head.key.get(), head.address.get());
    let seen = Memory { key, address, length: head.length.get() };
    require!(seen == memory, check, "{seen:x?}, expected {memory:x?}")
}
