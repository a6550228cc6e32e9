//! The structs and enums of the ports, from the RTL.
//!
//! A struct reads and writes the bits of a port. Reports show the names of fields and values.

cosim_core::layout! {
    /// `regblock__in_t`.
    pub struct HwifIn in crate::rtl::Bits79 {
        /// Bits 78 to 75.
        control_mode_next [78 : 75],
        /// Bits 74 to 74.
        control_mode_we [74 : 74],
        /// Bits 73 to 66.
        control_limit_next [73 : 66],
        /// Bits 65 to 65.
        control_limit_we [65 : 65],
        /// Bits 64 to 64.
        control_locked_swwe [64 : 64],
        /// Bits 63 to 56.
        status_load_next [63 : 56],
        /// Bits 55 to 48.
        status_code_next [55 : 48],
        /// Bits 47 to 47.
        status_code_we [47 : 47],
        /// Bits 46 to 46.
        flags_done_hwset [46 : 46],
        /// Bits 45 to 45.
        flags_armed_hwclr [45 : 45],
        /// Bits 44 to 44.
        flags_seen_hwclr [44 : 44],
        /// Bits 43 to 43.
        flags_seen_hwset [43 : 43],
        /// Bits 42 to 42.
        flags_idle_hwclr [42 : 42],
        /// Bits 41 to 41.
        flags_stopped_hwset [41 : 41],
        /// Bits 40 to 40.
        counters_events_incr [40 : 40],
        /// Bits 39 to 39.
        counters_credits_incr [39 : 39],
        /// Bits 38 to 36.
        counters_credits_incrvalue [38 : 36],
        /// Bits 35 to 35.
        counters_credits_decr [35 : 35],
        /// Bits 34 to 32.
        counters_credits_decrvalue [34 : 32],
        /// Bits 31 to 31.
        counters_budget_decr [31 : 31],
        /// Bits 30 to 30.
        interrupts_alarm_next [30 : 30],
        /// Bits 29 to 29.
        interrupts_rise_next [29 : 29],
        /// Bits 28 to 27.
        interrupts_change_next [28 : 27],
        /// Bits 26 to 26.
        interrupts_live_next [26 : 26],
        /// Bits 25 to 22.
        interrupts_cause_next [25 : 22],
        /// Bits 21 to 21.
        channel_1_active_hwclr [21 : 21],
        /// Bits 20 to 20.
        channel_1_active_hwset [20 : 20],
        /// Bits 19 to 12.
        channel_1_sample_next [19 : 12],
        /// Bits 11 to 11.
        channel_1_sample_we [11 : 11],
        /// Bits 10 to 10.
        channel_0_active_hwclr [10 : 10],
        /// Bits 9 to 9.
        channel_0_active_hwset [9 : 9],
        /// Bits 8 to 1.
        channel_0_sample_next [8 : 1],
        /// Bits 0 to 0.
        channel_0_sample_we [0 : 0],
    }
}

cosim_core::layout! {
    /// `regblock__out_t`.
    pub struct HwifOut in crate::rtl::Bits143 {
        /// Bits 142 to 142.
        control_enable_value [142 : 142],
        /// Bits 141 to 141.
        control_enable_swmod [141 : 141],
        /// Bits 140 to 140.
        control_start_value [140 : 140],
        /// Bits 139 to 136.
        control_mode_value [139 : 136],
        /// Bits 135 to 128.
        control_limit_value [135 : 128],
        /// Bits 127 to 120.
        control_locked_value [127 : 120],
        /// Bits 119 to 119.
        status_load_swacc [119 : 119],
        /// Bits 118 to 111.
        status_code_value [118 : 111],
        /// Bits 110 to 79.
        scratch_value_value [110 : 79],
        /// Bits 78 to 78.
        flags_done_value [78 : 78],
        /// Bits 77 to 77.
        flags_armed_value [77 : 77],
        /// Bits 76 to 73.
        flags_toggle_value [76 : 73],
        /// Bits 72 to 72.
        flags_toggle_anded [72 : 72],
        /// Bits 71 to 71.
        flags_toggle_ored [71 : 71],
        /// Bits 70 to 70.
        flags_toggle_xored [70 : 70],
        /// Bits 69 to 69.
        flags_seen_value [69 : 69],
        /// Bits 68 to 68.
        flags_seen_swmod [68 : 68],
        /// Bits 67 to 67.
        flags_idle_value [67 : 67],
        /// Bits 66 to 66.
        flags_stopped_value [66 : 66],
        /// Bits 65 to 58.
        counters_events_value [65 : 58],
        /// Bits 57 to 57.
        counters_events_overflow [57 : 57],
        /// Bits 56 to 56.
        counters_events_incrthreshold [56 : 56],
        /// Bits 55 to 48.
        counters_credits_value [55 : 48],
        /// Bits 47 to 47.
        counters_credits_overflow [47 : 47],
        /// Bits 46 to 46.
        counters_credits_underflow [46 : 46],
        /// Bits 45 to 38.
        counters_budget_value [45 : 38],
        /// Bits 37 to 37.
        counters_budget_decrthreshold [37 : 37],
        /// Bits 36 to 36.
        interrupts_alarm_value [36 : 36],
        /// Bits 35 to 35.
        interrupts_rise_value [35 : 35],
        /// Bits 34 to 33.
        interrupts_change_value [34 : 33],
        /// Bits 32 to 32.
        interrupts_live_value [32 : 32],
        /// Bits 31 to 28.
        interrupts_cause_value [31 : 28],
        /// Bits 27 to 27.
        interrupts_intr [27 : 27],
        /// Bits 26 to 26.
        enables_alarm_value [26 : 26],
        /// Bits 25 to 25.
        enables_rise_value [25 : 25],
        /// Bits 24 to 23.
        enables_change_value [24 : 23],
        /// Bits 22 to 22.
        enables_live_value [22 : 22],
        /// Bits 21 to 18.
        masks_cause_value [21 : 18],
        /// Bits 17 to 10.
        channel_1_threshold_value [17 : 10],
        /// Bits 9 to 9.
        channel_1_active_value [9 : 9],
        /// Bits 8 to 1.
        channel_0_threshold_value [8 : 1],
        /// Bits 0 to 0.
        channel_0_active_value [0 : 0],
    }
}
