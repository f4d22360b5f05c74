//! How a reply will be read. Made with the request and used by `provider` (stops, capped) and `reply` (stops and labels, whole),
//! so that what was sent and what is cut cannot drift apart.

/// Someone whose label may turn up in a reply.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Participant {
    /// Avatar, or `user` for the persona.
    pub id: String,
    /// Names it goes by, the display name first.
    pub names: Vec<String>,
}

/// Everything the clean-up needs to know about the request a reply answers.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Reading {
    /// The persona's name (`name1`).
    pub user: String,
    /// The speaker's name (`name2`).
    pub char: String,
    /// The speaker; when impersonating, the user.
    pub own: Participant,
    /// Everyone else who may be labelled: the user first (unless impersonating), then members in list order, muted ones too.
    pub others: Vec<Participant>,
    /// Names of all members in list order, whether or not they equal another name; empty outside a group (spec 01 §13 step 9).
    pub members: Vec<String>,
    /// A group is selected.
    pub in_group: bool,
    /// Custom stop strings, expanded and uncapped.
    pub stop: Vec<String>,
    /// Expanded "start reply with"; empty for none.
    pub start_with: String,
    /// When continuing: the text that was already accepted, postfix included; empty otherwise.
    pub continued: String,
}
