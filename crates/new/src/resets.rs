//! Which inputs of a module are clocks and resets, by their names.

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Reset {
    pub port: String,
    /// Whether it is active high. Derived from its name if the user did not say.
    pub is_high: Option<bool>,
}

impl Reset {
    /// Default names of the reset input, in any case.
    pub const USUAL: [&str; 18] = [
        "rst",
        "reset",
        "rst_n",
        "reset_n",
        "rstn",
        "resetn",
        "rst_ni",
        "rst_i",
        "reset_i",
        "reset_ni",
        "i_rst",
        "i_reset",
        "i_rst_n",
        "i_reset_n",
        "arst",
        "arst_n",
        "nrst",
        "aresetn",
    ];

    /// The level in reset: as it was said, else as the name says.
    pub fn level(&self) -> bool {
        let port = self.port.to_ascii_lowercase();
        let is_low =
            ["_n", "_ni", "_b", "_l", "rstn", "resetn"].iter().any(|end| port.ends_with(end))
                || ["nrst", "nreset", "n_rst", "n_reset"].iter().any(|part| port.contains(part));
        self.is_high.unwrap_or(!is_low)
    }
}

impl std::str::FromStr for Reset {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let (port, level) =
            text.split_once('=').map_or((text, None), |(port, level)| (port, Some(level)));
        let is_high = match level {
            None => None,
            Some("0") => Some(false),
            Some("1") => Some(true),
            Some(_) => return Err("expected NAME, NAME=1 or NAME=0".to_owned()),
        };
        Ok(Self { port: port.to_owned(), is_high })
    }
}

/// Default names of the clock input.
const USUAL_CLOCKS: [&str; 6] = ["clk", "clk_i", "i_clk", "clock", "aclk", "sys_clk"];

/// The first usual name of a clock among inputs of one bit.
pub fn usual_clock<'a>(inputs: impl Iterator<Item = &'a str>) -> Option<String> {
    let inputs: Vec<&str> = inputs.collect();
    let upper = USUAL_CLOCKS.map(str::to_ascii_uppercase);
    let mut usual = USUAL_CLOCKS.into_iter().chain(upper.iter().map(String::as_str));
    usual.find(|name| inputs.contains(name)).map(str::to_owned)
}

pub fn is_reset_name(name: &str) -> bool {
    let name = name.to_ascii_lowercase();
    let words = || name.split('_').map(|word| word.trim_end_matches(|c: char| c.is_ascii_digit()));
    // Pins of a channel.
    let is_of_channel =
        |word| ["valid", "vld", "ready", "rdy", "ack", "data", "addr"].contains(&word);
    // As in `wrst`, `nreset` and `arstn`; `first` and `burst` are other words.
    let is_reset = |word: &str| {
        let ends = ["rst", "rstn", "reset", "resetn"].iter().find_map(|end| word.strip_suffix(end));
        ends.is_some_and(|before| before.len() <= 1)
    };
    words().any(is_reset) && !words().any(is_of_channel)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn resets_of_several_clocks_are_found_by_their_names() {
        for name in
            ["rst", "wrst_n", "rst_wr_ni", "arstn", "nRST", "read_rst", "rst_n1", "s_axi_aresetn"]
        {
            assert!(is_reset_name(name), "{name}");
        }
        for name in [
            "first",
            "instr_first_cycle_i",
            "burst",
            "worst",
            "restart",
            "prestart",
            "reset_valid",
            "rst_ack_i",
        ] {
            assert!(!is_reset_name(name), "{name}");
        }
    }

    #[test]
    fn a_reset_is_low_if_its_name_says_so_or_the_user() {
        for (text, level) in [
            ("rst", true),
            ("rst_n", false),
            ("aresetn", false),
            ("rst_ni", false),
            ("reset_in", true),
            ("rst_main", true),
            ("RST_N", false),
            ("ARESETN", false),
            ("Reset_L", false),
            ("nRST", false),
            ("i_rst_n", false),
            ("i_rst", true),
            ("RST", true),
            ("rst_n=1", true),
            ("rst=0", false),
        ] {
            assert_eq!(text.parse::<Reset>().unwrap().level(), level, "{text}");
        }
        assert!("rst=2".parse::<Reset>().is_err());
    }
}
