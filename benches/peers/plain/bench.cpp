// A testbench as one would write it against Verilator's output: random inputs, two evaluations a cycle,
// every output read. Prints the checksum of them.

#include "VReqRecvCore_Thread_2.h"
#include "verilated.h"

#include <cinttypes>
#include <cstdint>
#include <cstdio>
#include <cstdlib>

namespace {

// splitmix64
uint64_t state = 1;

uint64_t draw() {
    uint64_t word = state += 0x9e3779b97f4a7c15;
    word = (word ^ (word >> 30)) * 0xbf58476d1ce4e5b9;
    word = (word ^ (word >> 27)) * 0x94d049bb133111eb;
    return word ^ (word >> 31);
}

// One draw for each 64 bits of a wide port.
template <std::size_t WORDS>
void fill(VlWide<WORDS>& port, unsigned width) {
    for (std::size_t index = 0; index < WORDS; index += 2) {
        const uint64_t word = draw();
        port[index] = static_cast<uint32_t>(word);
        if (index + 1 < WORDS) port[index + 1] = static_cast<uint32_t>(word >> 32);
    }
    if (width % 32 != 0) port[WORDS - 1] &= (1U << width % 32) - 1;
}

// One draw for all narrow ports, each of which takes its bits.
uint64_t take(uint64_t& bits, unsigned width) {
    const uint64_t value = bits & ((uint64_t{1} << width) - 1);
    bits >>= width;
    return value;
}

void drive(VReqRecvCore_Thread_2& top) {
    fill(top.fetch_cxt_egress_head, 416);
    fill(top.fetch_cxt_egress_data, 488);
    fill(top.wqe_resp_head, 576);
    fill(top.wqe_resp_data, 128);
    fill(top.cq_resp_head, 96);
    fill(top.eq_resp_head, 96);
    uint64_t bits = draw();
    top.fetch_cxt_egress_valid = take(bits, 1);
    top.fetch_cxt_egress_start = take(bits, 1);
    top.fetch_cxt_egress_last = take(bits, 1);
    top.fetch_mr_ingress_ready = take(bits, 1);
    top.wqe_req_ready = take(bits, 1);
    top.wqe_resp_valid = take(bits, 1);
    top.wqe_resp_start = take(bits, 1);
    top.wqe_resp_last = take(bits, 1);
    top.cache_offset_dout = take(bits, 8);
    top.cache_owned_dout = take(bits, 8);
    top.rq_offset_dout = take(bits, 24);
    top.cq_req_ready = take(bits, 1);
    top.cq_resp_valid = take(bits, 1);
    top.eq_req_ready = take(bits, 1);
    top.eq_resp_valid = take(bits, 1);
}

// A number modulo 2^32 - 1 is the sum of its words of 32 bits: what a port adds does not depend on how a
// language holds it.
constexpr uint64_t MODULUS = 0xffffffff;

template <std::size_t WORDS>
uint64_t sum(const VlWide<WORDS>& port) {
    uint64_t total = 0;
    for (std::size_t index = 0; index < WORDS; ++index) total += port[index];
    return total;
}

// Narrow ports have 32 bits at most, but for two of 64.
uint64_t sum(uint64_t port) { return (port >> 32) + (port & 0xffffffff); }

uint64_t read(const VReqRecvCore_Thread_2& top) {
    return sum(top.fetch_cxt_egress_ready) + sum(top.fetch_mr_ingress_valid) + sum(top.fetch_mr_ingress_head)
        + sum(top.fetch_mr_ingress_data) + sum(top.fetch_mr_ingress_start) + sum(top.fetch_mr_ingress_last)
        + sum(top.wqe_req_valid) + sum(top.wqe_req_head) + sum(top.wqe_req_start) + sum(top.wqe_req_last)
        + sum(top.wqe_resp_ready) + sum(top.cache_offset_wen) + sum(top.cache_offset_addr)
        + sum(top.cache_offset_din) + sum(top.cache_owned_wen) + sum(top.cache_owned_addr)
        + sum(top.cache_owned_din) + sum(top.rq_offset_wen) + sum(top.rq_offset_addr) + sum(top.rq_offset_din)
        + sum(top.cq_req_valid) + sum(top.cq_req_head) + sum(top.cq_resp_ready) + sum(top.eq_req_valid)
        + sum(top.eq_req_head) + sum(top.eq_resp_ready);
}

}  // namespace

int main(int, char** argv) {
    const uint64_t cycles = std::strtoull(argv[1], nullptr, 10);
    VerilatedContext context;
    VReqRecvCore_Thread_2 top{&context};
    uint64_t checksum = 0;
    for (uint64_t cycle = 0; cycle < cycles; ++cycle) {
        top.clk = 0;
        top.rst = cycle == 0;
        drive(top);
        top.eval();
        checksum = (2 * checksum + read(top)) % MODULUS;
        top.clk = 1;
        top.eval();
    }
    top.final();
    std::printf("%" PRIu64 "\n", checksum);
}
