  // Named constants of ReqRecvCore_Thread_2: state encodings (source S0), values and layouts
  // (spec thread2, section 3), fixes (section 7). The module includes them. A field is named by its
  // lowest bit; its range is behind it.

  // verilator lint_off UNUSEDPARAM
  // ---- States (S0's names and encodings) -------------------------------------------------------
  localparam [5:0] IDLE_s                 = 6'b000001;
  localparam [5:0] JUDGE_s                = 6'b000010;
  localparam [5:0] WQE_REQ_s              = 6'b000011;
  localparam [5:0] NEXT_UNIT_s            = 6'b000100;
  localparam [5:0] DATA_UNIT_s            = 6'b000101;
  localparam [5:0] CQ_REQ_s               = 6'b000110;
  localparam [5:0] CQ_RESP_s              = 6'b000111;
  localparam [5:0] EQ_REQ_s               = 6'b001000;
  localparam [5:0] EQ_RESP_s              = 6'b001001;
  localparam [5:0] UPDATE_RQ_s            = 6'b001010;
  localparam [5:0] MR_FOR_SEND_s          = 6'b001011;
  localparam [5:0] MR_FOR_WRITE_s         = 6'b001100;
  localparam [5:0] MR_FOR_READ_s          = 6'b001101;
  localparam [5:0] MR_FOR_CQ_s            = 6'b001110;
  localparam [5:0] MR_FOR_EQ_s            = 6'b001111;
  localparam [5:0] GEN_ACK_s              = 6'b010000;

  // ---- Fixes: bit of FIXES that switches each one on -------------------------------------------
  localparam F0_WQE_REQ_WAITS             = 0;
  localparam F1_SOLICITED_EVENT           = 1;
  localparam F2_EQ_MR_WAITS               = 2;
  localparam F3_WRITE_IMM_COMPLETES       = 3;
  localparam F4_READ_KEY_CHECKED          = 4;
  localparam F5_LAST_UNIT_ENDS            = 5;
  localparam F6_ACK_RELIABLE_ONLY         = 6;
  localparam F7_QP_STATE_CHECKED          = 7;

  // ---- Opcodes: net_opcode of the packet header, opcode of an MR request -----------------------
  localparam [4:0] SEND_FIRST             = 5'd0;
  localparam [4:0] SEND_MIDDLE            = 5'd1;
  localparam [4:0] SEND_LAST              = 5'd2;
  localparam [4:0] SEND_LAST_WITH_IMM     = 5'd3;
  localparam [4:0] SEND_ONLY              = 5'd4;
  localparam [4:0] SEND_ONLY_WITH_IMM     = 5'd5;
  localparam [4:0] RDMA_WRITE_FIRST       = 5'd6;
  localparam [4:0] RDMA_WRITE_MIDDLE      = 5'd7;
  localparam [4:0] RDMA_WRITE_LAST        = 5'd8;
  localparam [4:0] RDMA_WRITE_LAST_WITH_IMM = 5'd9;
  localparam [4:0] RDMA_WRITE_ONLY        = 5'd10;
  localparam [4:0] RDMA_WRITE_ONLY_WITH_IMM = 5'd11;
  localparam [4:0] RDMA_READ_REQUEST_FIRST = 5'd12;
  localparam [4:0] RDMA_READ_REQUEST_MIDDLE = 5'd13;
  localparam [4:0] RDMA_READ_REQUEST_LAST = 5'd14;
  localparam [4:0] RDMA_READ_REQUEST_ONLY = 5'd15;
  localparam [4:0] RDMA_READ_RESPONSE_FIRST = 5'd16;
  localparam [4:0] ACKNOWLEDGE            = 5'd20;
  localparam [4:0] GEN_CQE                = 5'd26;
  localparam [4:0] GEN_EVENT              = 5'd27;
  // From a read request to the response of the same kind (FIRST, MIDDLE, LAST, ONLY).
  localparam [4:0] READ_REQUEST_TO_RESPONSE = RDMA_READ_RESPONSE_FIRST - RDMA_READ_REQUEST_FIRST;

  // ---- Service types: those that acknowledge (F6) ----------------------------------------------
  localparam [2:0] SERVICE_RC             = 3'd0;
  localparam [2:0] SERVICE_RD             = 3'd2;
  localparam [2:0] SERVICE_XRC            = 3'd5;

  // ---- QP states: those that process messages (F7) ---------------------------------------------
  localparam [2:0] QP_RTR                 = 3'd2;
  localparam [2:0] QP_RTS                 = 3'd3;
  localparam [2:0] QP_SQD                 = 3'd4;
  localparam [2:0] QP_SQE                 = 3'd5;

  // ---- fetch_cxt_egress_head: the QP, CQ and EQ contexts ---------------------------------------
  localparam CXT_QP_STATE                 = 35;         // 37:35
  localparam CXT_RQ_ENTRY_SZ_LOG          = 40;         // 47:40
  localparam CXT_RCV_CQN                  = 48;         // 63:48
  localparam CXT_QP_PD                    = 64;         // 95:64
  localparam CXT_RQ_LKEY                  = 96;         // 127:96
  localparam CXT_RQ_LENGTH                = 128;        // 159:128
  localparam CXT_CQ_LOG_SIZE              = 160;        // 167:160
  localparam CXT_CQ_COMP_EQN              = 192;        // 215:192; the 24 bits an EQ number has
  localparam CXT_CQ_PD                    = 224;        // 255:224
  localparam CXT_CQ_LKEY                  = 256;        // 287:256
  localparam CXT_EQ_LOG_SIZE              = 288;        // 295:288
  localparam CXT_EQ_PD                    = 320;        // 351:320
  localparam CXT_EQ_LKEY                  = 352;        // 383:352

  // ---- fetch_cxt_egress_data: the packet header ------------------------------------------------
  localparam HDR_REMOTE_QPN               = 0;          // 23:0
  localparam HDR_NET_OPCODE               = 24;         // 28:24
  localparam HDR_SERVICE_TYPE             = 29;         // 31:29
  localparam HDR_LOCAL_QPN                = 32;         // 55:32
  localparam HDR_SOLICITED                = 56;
  localparam HDR_RKEY                     = 64;         // 95:64
  localparam HDR_RADDR                    = 96;         // 159:96
  localparam HDR_IMMEDIATE                = 160;        // 191:160
  localparam HDR_DIP                      = 288;        // 319:288
  localparam HDR_SIP                      = 320;        // 351:320
  localparam HDR_PKT_START_ADDR           = 352;        // 367:352
  localparam HDR_PKT_LENGTH               = 368;        // 383:368

  // ---- wqe_resp_data: beat 1 is the NextUnit, the others are DataUnits -------------------------
  localparam NEXT_UNIT_NEXT_WQE_ADDR      = 6;          // 31:6
  localparam NEXT_UNIT_NEXT_WQE_SIZE      = 32;         // 37:32
  localparam NEXT_UNIT_CUR_WQE_SIZE       = 70;         // 77:70
  localparam DATA_UNIT_BYTE_CNT           = 0;          // 30:0
  localparam DATA_UNIT_INLINE             = 31;
  localparam DATA_UNIT_LKEY               = 32;         // 63:32
  localparam DATA_UNIT_LADDR              = 64;         // 127:64

  // ---- wqe_req_head ----------------------------------------------------------------------------
  localparam WQE_REQ_LOCAL_QPN            = 0;          // 23:0
  localparam WQE_REQ_RQ_ENTRY_SZ_LOG      = 24;         // 31:24
  localparam WQE_REQ_RQ_LKEY              = 32;         // 63:32
  localparam WQE_REQ_RQ_LENGTH            = 64;         // 95:64
  localparam WQE_REQ_QP_PD                = 96;         // 127:96

  // ---- cq_req_head / eq_req_head, cq_resp_head / eq_resp_head ----------------------------------
  localparam CQ_REQ_CQN                   = 0;          // 15:0; a CQ number has 16 bits
  localparam CQ_REQ_LENGTH                = 32;         // 63:32
  localparam EQ_REQ_EQN                   = 0;          // 23:0
  localparam EQ_REQ_LENGTH                = 32;         // 63:32
  localparam RESP_LADDR                   = 32;         // 95:32

  // ---- fetch_mr_ingress_head -------------------------------------------------------------------
  localparam MR_HEAD_QP                   = 0;          // 7:0
  localparam MR_HEAD_SLOT_COUNT           = 24;         // 30:24
  localparam MR_HEAD_BYPASS               = 31;
  localparam MR_HEAD_FLAGS                = 32;         // 63:32
  localparam MR_HEAD_PD                   = 64;         // 95:64
  localparam MR_HEAD_KEY                  = 96;         // 127:96
  localparam MR_HEAD_ADDR                 = 128;        // 191:128
  localparam MR_HEAD_LENGTH               = 192;        // 223:192
  // Values of its slot count and of its flags.
  localparam [6:0] MR_ONE_SLOT            = 7'd1;
  localparam [31:0] MR_FLAG_LOCAL_WRITE   = 32'h0000_0001;
  localparam [31:0] MR_FLAG_REMOTE_WRITE  = 32'h0000_0002;
  localparam [31:0] MR_FLAG_REMOTE_READ   = 32'h0000_0004;
  localparam [31:0] MR_FLAG_REL_ADDR      = 32'h0200_0000;
  localparam [31:0] MR_FLAG_ABS_ADDR      = 32'h0400_0000;

  // ---- fetch_mr_ingress_data -------------------------------------------------------------------
  localparam MR_DATA_LOCAL_QPN            = 0;          // 23:0
  localparam MR_DATA_TAIL                 = 24;         // 31:24
  localparam MR_DATA_REMOTE_QPN           = 32;         // 55:32
  localparam MR_DATA_OPCODE               = 56;         // 60:56
  localparam MR_DATA_SERVICE_TYPE         = 61;         // 63:61
  localparam MR_DATA_IMMEDIATE            = 64;         // 95:64
  localparam MR_DATA_PKT_LENGTH           = 96;         // 111:96
  localparam MR_DATA_PKT_START_ADDR       = 112;        // 127:112
  localparam MR_DATA_WQE_ADDR             = 128;        // 151:128
  localparam MR_DATA_NET_OPCODE           = 152;        // 156:152
  localparam MR_DATA_STATUS               = 157;        // 159:157
  localparam MR_DATA_SIP                  = 160;        // 191:160
  localparam MR_DATA_DIP                  = 192;        // 223:192
  // Values of its tail and of its status.
  localparam [7:0] TAIL_NONE              = 8'h00;
  localparam [7:0] TAIL_LAST              = 8'hFF;
  localparam [2:0] STATUS_GOOD            = 3'd0;
  localparam [2:0] STATUS_LOCAL_LENGTH_ERROR = 3'd1;

  // ---- Sizes -----------------------------------------------------------------------------------
  localparam [31:0] CQE_BYTES             = 32'd32;
  localparam [31:0] EQE_BYTES             = 32'd32;
  localparam SLOT_BYTES_LOG               = 4;          // the RQ is addressed in slots of 16 bytes
  localparam [7:0] RQ_ENTRY_SZ_LOG_MIN    = 8'd6;
  localparam [7:0] RQ_ENTRY_SZ_LOG_MAX    = 8'd10;
  localparam [26:0] CACHE_CELL_SLOTS      = 27'd256;
  localparam QP_COUNT                     = 256;        // values of local_qpn[7:0]
  // verilator lint_on UNUSEDPARAM
