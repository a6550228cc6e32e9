// Named constants of ReqRecvCore_Thread_2: state encodings (source S0), values and layouts
// (spec thread2, section 3), fixes (section 7). A range is written msb:lsb.
`ifndef REQRECVCORE_THREAD_2_VH
`define REQRECVCORE_THREAD_2_VH

// ---- States (S0's names and encodings) ---------------------------------------------------------
`define IDLE_s                      6'b000001
`define JUDGE_s                     6'b000010
`define WQE_REQ_s                   6'b000011
`define NEXT_UNIT_s                 6'b000100
`define DATA_UNIT_s                 6'b000101
`define CQ_REQ_s                    6'b000110
`define CQ_RESP_s                   6'b000111
`define EQ_REQ_s                    6'b001000
`define EQ_RESP_s                   6'b001001
`define UPDATE_RQ_s                 6'b001010
`define MR_FOR_SEND_s               6'b001011
`define MR_FOR_WRITE_s              6'b001100
`define MR_FOR_READ_s               6'b001101
`define MR_FOR_CQ_s                 6'b001110
`define MR_FOR_EQ_s                 6'b001111
`define GEN_ACK_s                   6'b010000

// ---- Fixes: bit of FIXES that switches each one on ---------------------------------------------
`define F0_WQE_REQ_WAITS            0
`define F1_SOLICITED_EVENT          1
`define F2_EQ_MR_WAITS              2
`define F3_WRITE_IMM_COMPLETES      3
`define F4_READ_KEY_CHECKED         4
`define F5_LAST_UNIT_ENDS           5
`define F6_ACK_RELIABLE_ONLY        6
`define F7_QP_STATE_CHECKED         7

// ---- Opcodes: net_opcode of the packet header, opcode of an MR request -------------------------
`define SEND_FIRST                  5'd0
`define SEND_MIDDLE                 5'd1
`define SEND_LAST                   5'd2
`define SEND_LAST_WITH_IMM          5'd3
`define SEND_ONLY                   5'd4
`define SEND_ONLY_WITH_IMM          5'd5
`define RDMA_WRITE_FIRST            5'd6
`define RDMA_WRITE_MIDDLE           5'd7
`define RDMA_WRITE_LAST             5'd8
`define RDMA_WRITE_LAST_WITH_IMM    5'd9
`define RDMA_WRITE_ONLY             5'd10
`define RDMA_WRITE_ONLY_WITH_IMM    5'd11
`define RDMA_READ_REQUEST_FIRST     5'd12
`define RDMA_READ_REQUEST_MIDDLE    5'd13
`define RDMA_READ_REQUEST_LAST      5'd14
`define RDMA_READ_REQUEST_ONLY      5'd15
`define RDMA_READ_RESPONSE_FIRST    5'd16
`define ACKNOWLEDGE                 5'd20
`define GEN_CQE                     5'd26
`define GEN_EVENT                   5'd27
// From a read request to the response of the same kind (FIRST, MIDDLE, LAST, ONLY).
`define READ_REQUEST_TO_RESPONSE    (`RDMA_READ_RESPONSE_FIRST - `RDMA_READ_REQUEST_FIRST)

// ---- Service types: those that acknowledge (F6) ------------------------------------------------
`define SERVICE_RC                  3'd0
`define SERVICE_RD                  3'd2
`define SERVICE_XRC                 3'd5

// ---- QP states: those that process messages (F7) -----------------------------------------------
`define QP_RTR                      3'd2
`define QP_RTS                      3'd3
`define QP_SQD                      3'd4
`define QP_SQE                      3'd5

// ---- fetch_cxt_egress_head: the QP, CQ and EQ contexts -----------------------------------------
`define CXT_QP_STATE                37:35
`define CXT_RQ_ENTRY_SZ_LOG         47:40
`define CXT_RCV_CQN                 63:48
`define CXT_QP_PD                   95:64
`define CXT_RQ_LKEY                 127:96
`define CXT_RQ_LENGTH               159:128
`define CXT_CQ_LOG_SIZE             167:160
`define CXT_CQ_COMP_EQN             215:192   // the 24 bits an EQ number has
`define CXT_CQ_PD                   255:224
`define CXT_CQ_LKEY                 287:256
`define CXT_EQ_LOG_SIZE             295:288
`define CXT_EQ_PD                   351:320
`define CXT_EQ_LKEY                 383:352

// ---- fetch_cxt_egress_data: the packet header --------------------------------------------------
`define HDR_REMOTE_QPN              23:0
`define HDR_NET_OPCODE              28:24
`define HDR_SERVICE_TYPE            31:29
`define HDR_LOCAL_QPN               55:32
`define HDR_SOLICITED               56
`define HDR_RKEY                    95:64
`define HDR_RADDR                   159:96
`define HDR_IMMEDIATE               191:160
`define HDR_DIP                     319:288
`define HDR_SIP                     351:320
`define HDR_PKT_START_ADDR          367:352
`define HDR_PKT_LENGTH              383:368

// ---- wqe_resp_data: beat 1 is the NextUnit, the others are DataUnits ---------------------------
`define NEXT_UNIT_NEXT_WQE_ADDR     31:6
`define NEXT_UNIT_NEXT_WQE_SIZE     37:32
`define NEXT_UNIT_CUR_WQE_SIZE      77:70
`define DATA_UNIT_BYTE_CNT          30:0
`define DATA_UNIT_INLINE            31
`define DATA_UNIT_LKEY              63:32
`define DATA_UNIT_LADDR             127:64

// ---- wqe_req_head ------------------------------------------------------------------------------
`define WQE_REQ_LOCAL_QPN           23:0
`define WQE_REQ_RQ_ENTRY_SZ_LOG     31:24
`define WQE_REQ_RQ_LKEY             63:32
`define WQE_REQ_RQ_LENGTH           95:64
`define WQE_REQ_QP_PD               127:96

// ---- cq_req_head / eq_req_head, cq_resp_head / eq_resp_head ------------------------------------
`define CQ_REQ_CQN                  15:0      // a CQ number has 16 bits, 23:16 are 0
`define CQ_REQ_LENGTH               63:32
`define EQ_REQ_EQN                  23:0
`define EQ_REQ_LENGTH               63:32
`define RESP_LADDR                  95:32

// ---- fetch_mr_ingress_head ---------------------------------------------------------------------
`define MR_HEAD_QP                  7:0
`define MR_HEAD_SLOT_COUNT          30:24
`define MR_HEAD_BYPASS              31
`define MR_HEAD_FLAGS               63:32
`define MR_HEAD_PD                  95:64
`define MR_HEAD_KEY                 127:96
`define MR_HEAD_ADDR                191:128
`define MR_HEAD_LENGTH              223:192
// Values of its slot count and of its flags.
`define MR_ONE_SLOT                 7'd1
`define MR_FLAG_LOCAL_WRITE         32'h0000_0001
`define MR_FLAG_REMOTE_WRITE        32'h0000_0002
`define MR_FLAG_REMOTE_READ         32'h0000_0004
`define MR_FLAG_REL_ADDR            32'h0200_0000
`define MR_FLAG_ABS_ADDR            32'h0400_0000

// ---- fetch_mr_ingress_data ---------------------------------------------------------------------
`define MR_DATA_LOCAL_QPN           23:0
`define MR_DATA_TAIL                31:24
`define MR_DATA_REMOTE_QPN          55:32
`define MR_DATA_OPCODE              60:56
`define MR_DATA_SERVICE_TYPE        63:61
`define MR_DATA_IMMEDIATE           95:64
`define MR_DATA_PKT_LENGTH          111:96
`define MR_DATA_PKT_START_ADDR      127:112
`define MR_DATA_WQE_ADDR            151:128
`define MR_DATA_NET_OPCODE          156:152
`define MR_DATA_STATUS              159:157
`define MR_DATA_SIP                 191:160
`define MR_DATA_DIP                 223:192
// Values of its tail and of its status.
`define TAIL_NONE                   8'h00
`define TAIL_LAST                   8'hFF
`define STATUS_GOOD                 3'd0
`define STATUS_LOCAL_LENGTH_ERROR   3'd1

// ---- Sizes -------------------------------------------------------------------------------------
`define CQE_BYTES                   32'd32
`define EQE_BYTES                   32'd32
`define SLOT_BYTES_LOG              4         // the RQ is addressed in slots of 16 bytes
`define RQ_ENTRY_SZ_LOG_MIN         8'd6
`define RQ_ENTRY_SZ_LOG_MAX         8'd10
`define CACHE_CELL_SLOTS            27'd256
`define QP_COUNT                    256       // values of local_qpn[7:0]

`endif
