"""The peer in cocotb: `bench.py build RTL FOLDER`, then `bench.py run FOLDER CYCLES`.

A run prints, as its last line, the checksum of all outputs. With GENERATOR=splitmix64 in the environment it draws what the
other peers draw.
"""

import os
import random
import sys
from pathlib import Path

import cocotb
from cocotb.clock import Clock
from cocotb.triggers import FallingEdge, ReadOnly
from cocotb_tools.runner import get_runner

TOP = "ReqRecvCore_Thread_2"
# See plain/bench.cpp.
MODULUS = 2**32 - 1

WIDE = {
    "fetch_cxt_egress_head": 416,
    "fetch_cxt_egress_data": 488,
    "wqe_resp_head": 576,
    "wqe_resp_data": 128,
    "cq_resp_head": 96,
    "eq_resp_head": 96,
}
NARROW = {
    "fetch_cxt_egress_valid": 1,
    "fetch_cxt_egress_start": 1,
    "fetch_cxt_egress_last": 1,
    "fetch_mr_ingress_ready": 1,
    "wqe_req_ready": 1,
    "wqe_resp_valid": 1,
    "wqe_resp_start": 1,
    "wqe_resp_last": 1,
    "cache_offset_dout": 8,
    "cache_owned_dout": 8,
    "rq_offset_dout": 24,
    "cq_req_ready": 1,
    "cq_resp_valid": 1,
    "eq_req_ready": 1,
    "eq_resp_valid": 1,
}
OUTPUTS = """
    fetch_cxt_egress_ready fetch_mr_ingress_valid fetch_mr_ingress_head fetch_mr_ingress_data
    fetch_mr_ingress_start fetch_mr_ingress_last wqe_req_valid wqe_req_head wqe_req_start wqe_req_last
    wqe_resp_ready cache_offset_wen cache_offset_addr cache_offset_din cache_owned_wen cache_owned_addr
    cache_owned_din rq_offset_wen rq_offset_addr rq_offset_din cq_req_valid cq_req_head cq_resp_ready
    eq_req_valid eq_req_head eq_resp_ready
""".split()


def splitmix64():
    """The generator of the other peers. In Python it is slow, so it is not measured with it."""
    mask = 2**64 - 1
    state = 1

    def draw(width):
        nonlocal state
        value = 0
        for position in range(0, width, 64):
            state = (state + 0x9E3779B97F4A7C15) & mask
            word = ((state ^ (state >> 30)) * 0xBF58476D1CE4E5B9) & mask
            word = ((word ^ (word >> 27)) * 0x94D049BB133111EB) & mask
            value |= (word ^ (word >> 31)) << position
        return value & ((1 << width) - 1)

    return draw


@cocotb.test()
async def drive(dut):
    cycles = int(os.environ["CYCLES"])
    draw = splitmix64() if os.environ.get("GENERATOR") == "splitmix64" else random.getrandbits
    wide = [(getattr(dut, name), width) for name, width in WIDE.items()]
    narrow = [(getattr(dut, name), width, (1 << width) - 1) for name, width in NARROW.items()]
    outputs = [getattr(dut, name) for name in OUTPUTS]
    # Made once: what a trigger costs is paid in each cycle.
    read_only, falling = ReadOnly(), FallingEdge(dut.clk)
    checksum = 0
    Clock(dut.clk, 2, unit="step").start(start_high=False)
    dut.rst.value = 1
    for cycle in range(cycles):
        if cycle == 1:
            dut.rst.value = 0
        for port, width in wide:
            port.value = draw(width)
        bits = draw(64)
        for port, width, mask in narrow:
            port.value = bits & mask
            bits >>= width
        await read_only
        checksum = (2 * checksum + sum([int(port.value) for port in outputs])) % MODULUS
        await falling
    Path(os.environ["RESULT"]).write_text(f"{checksum}\n")


def main():
    runner = get_runner("verilator")
    match sys.argv[1:]:
        case ["build", rtl, folder]:
            arguments = ["-O3", "-CFLAGS", "-O3"]
            runner.build(sources=[rtl], hdl_toplevel=TOP, build_dir=folder, build_args=arguments)
        case ["run", folder, cycles]:
            result = Path(folder) / "result"
            result.unlink(missing_ok=True)
            runner.test(
                hdl_toplevel=TOP,
                # Not built by this runner object, which then does not know.
                hdl_toplevel_lang="verilog",
                test_module=Path(__file__).stem,
                build_dir=folder,
                test_dir=folder,
                extra_env={"CYCLES": cycles, "RESULT": str(result), "COCOTB_LOG_LEVEL": "WARNING"},
            )
            print(result.read_text(), end="")


if __name__ == "__main__":
    main()
