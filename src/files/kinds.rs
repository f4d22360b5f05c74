//! The closed sets of spec 08 §12: what a file is, and what it came in.

/// What a file is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// A character.
    Card,
    /// One chat, or several of another frontend.
    Chat,
    /// A lorebook (World Info).
    Lorebook,
    /// A group.
    Group,
    /// A backup of personas.
    Personas,
    /// Regex scripts.
    Regex,
    /// An export of the prompt manager.
    Prompts,
    /// A chat-completion preset.
    PresetChat,
    /// A context template.
    PresetContext,
    /// An instruct template.
    PresetInstruct,
    /// A system prompt.
    PresetSysprompt,
    /// A reasoning template.
    PresetReasoning,
    /// Text-completion samplers.
    PresetTextgen,
    /// Several templates in one file.
    PresetMaster,
}

impl Kind {
    /// All of them.
    pub const ALL: &'static [Self] = &[
        Self::Card,
        Self::Chat,
        Self::Lorebook,
        Self::Group,
        Self::Personas,
        Self::Regex,
        Self::Prompts,
        Self::PresetChat,
        Self::PresetContext,
        Self::PresetInstruct,
        Self::PresetSysprompt,
        Self::PresetReasoning,
        Self::PresetTextgen,
        Self::PresetMaster,
    ];

    /// The stable name.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Card => "card",
            Self::Chat => "chat",
            Self::Lorebook => "lorebook",
            Self::Group => "group",
            Self::Personas => "personas",
            Self::Regex => "regex",
            Self::Prompts => "prompts",
            Self::PresetChat => "preset-chat",
            Self::PresetContext => "preset-context",
            Self::PresetInstruct => "preset-instruct",
            Self::PresetSysprompt => "preset-sysprompt",
            Self::PresetReasoning => "preset-reasoning",
            Self::PresetTextgen => "preset-textgen",
            Self::PresetMaster => "preset-master",
        }
    }

    /// The kind of a name.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.iter().copied().find(|kind| kind.as_str() == name)
    }

    /// Under which key the result holds the value: all presets and prompts are `preset`.
    pub const fn field(self) -> &'static str {
        match self {
            Self::Card | Self::Chat | Self::Lorebook | Self::Group | Self::Personas | Self::Regex => {
                self.as_str()
            }
            _ => "preset",
        }
    }
}

/// What a value came in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Container {
    /// A PNG with a text chunk.
    Png,
    /// An animated PNG with a text chunk.
    Apng,
    /// A ZIP with `card.json`.
    Charx,
    /// A Backyard archive.
    Byaf,
    /// A ZIP with one card picture.
    Zip,
    /// JSON text.
    Json,
    /// One JSON object a line.
    Jsonl,
    /// YAML text.
    Yaml,
}

impl Container {
    /// The stable name.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Png => "png",
            Self::Apng => "apng",
            Self::Charx => "charx",
            Self::Byaf => "byaf",
            Self::Zip => "zip",
            Self::Json => "json",
            Self::Jsonl => "jsonl",
            Self::Yaml => "yaml",
        }
    }
}
