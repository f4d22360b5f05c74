//! Every loop that input can drive has a bound here: a number, a default, and the error or report it leads to.
//! `docs/untrusted.md` prints this table.

/// Bounds on work. All are options; the defaults suit a page that opens strangers' files.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Macro nesting (spec 04 Part 3 rule 2).
    pub macro_depth: usize,
    /// Macro executions in one text (rule 3).
    pub macro_steps: usize,
    /// Bytes of one expanded text (rule 3).
    pub macro_output: usize,
    /// Line feeds or spaces of one `{{newline}}` or `{{space}}`, and items of one list (rule 3).
    pub macro_list: usize,
    /// Dice of one `{{roll}}` (rule 3).
    pub macro_dice: u64,
    /// Bytes of one variable's value (rule 3).
    pub macro_value: usize,
    /// Bytes of all variables that one request writes (rule 3).
    pub macro_values: usize,
    /// Bytes of a variable's name (rule 3).
    pub macro_name: usize,
    /// Steps of one regular expression on one text (spec 05 §3.4).
    pub regex_steps: u64,
    /// Steps of all regular expressions of one request.
    pub regex_total: u64,
    /// Regex scripts of one card, one preset or the user (spec 05 §3.4); the rest is ignored.
    pub scripts: usize,
    /// Bytes of a script's find text; a longer one switches the script off.
    pub script_find: usize,
    /// Bytes of a script's replacement; likewise.
    pub script_replace: usize,
    /// Trim texts of a script; the rest is ignored.
    pub script_trims: usize,
    /// Bytes of a trim text; a longer one is ignored.
    pub script_trim: usize,
    /// UTF-16 units of a text that a script runs on; it leaves a longer one alone.
    pub script_text: usize,
    /// UTF-16 units that a script may make of a text, or 20 times that text if this is more.
    pub script_output: usize,
    /// Matches of one script in one text.
    pub script_matches: usize,
    /// Recursion rounds of one lorebook scan.
    pub lore_loops: usize,
    /// Bytes of one file.
    pub file_bytes: usize,
    /// Bytes of one inflated text chunk or JSON entry.
    pub inflated_bytes: usize,
    /// Entries of one archive.
    pub zip_entries: usize,
    /// Bytes inflated from one archive, all entries together.
    pub zip_bytes: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            macro_depth: 64,
            macro_steps: 20_000,
            macro_output: 2 << 20,
            macro_list: 10_000,
            macro_dice: 10_000,
            macro_value: 256 << 10,
            macro_values: 4 << 20,
            macro_name: 256,
            regex_steps: 5_000_000,
            regex_total: 50_000_000,
            scripts: 200,
            script_find: 16 << 10,
            script_replace: 256 << 10,
            script_trims: 100,
            script_trim: 1 << 10,
            script_text: 1 << 20,
            script_output: 4 << 20,
            script_matches: 100_000,
            lore_loops: 4_000,
            file_bytes: 512 << 20,
            inflated_bytes: 64 << 20,
            zip_entries: 10_000,
            zip_bytes: 1 << 30,
        }
    }
}
