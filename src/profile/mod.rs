//! The switches between "exactly as SillyTavern 1.19.0" and "its documented faults put right".
//!
//! Every difference stands under a named switch, one file an area, related fixes under one name. [`ALL`] is the single list;
//! `docs/differences.md` is generated from it, and a test demands a case on both sides of each.

mod switches;

use std::collections::BTreeMap;

pub use switches::*;

use crate::error::{Code, Error};

/// One difference between the profiles: off = as the reference does it, on = put right.
#[derive(Debug)]
pub struct Switch {
    /// `area.fact`, stable.
    pub name: &'static str,
    /// What happens when it is off: the reference's behaviour, one sentence.
    pub off: &'static str,
    /// What happens when it is on, one sentence.
    pub on: &'static str,
    /// Faults of the specifications that it puts right, such as `01 F12`.
    pub faults: &'static [&'static str],
}

/// Which set of rules to start from.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Base {
    /// All switches off.
    SillyTavern,
    /// All switches on.
    #[default]
    Promptside,
}

/// A base and the switches that differ from it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Profile {
    base: Base,
    overrides: BTreeMap<String, bool>,
}

impl Profile {
    /// Exactly as SillyTavern 1.19.0.
    pub const fn sillytavern() -> Self {
        Self { base: Base::SillyTavern, overrides: BTreeMap::new() }
    }

    /// Faults put right. The default.
    pub const fn promptside() -> Self {
        Self { base: Base::Promptside, overrides: BTreeMap::new() }
    }

    /// A profile by its name: `sillytavern` or `promptside`.
    pub fn named(name: &str) -> Result<Self, Error> {
        match name {
            "sillytavern" => Ok(Self::sillytavern()),
            "promptside" => Ok(Self::promptside()),
            other => Err(Error::new(
                Code::OptionUnknown,
                "profile",
                format!("unknown profile {other:?}; use \"promptside\" or \"sillytavern\""),
            )),
        }
    }

    /// Turns one switch on or off.
    pub fn set(&mut self, name: &str, on: bool) -> Result<(), Error> {
        if ALL.iter().any(|s| s.name == name) {
            self.overrides.insert(name.to_owned(), on);
            return Ok(());
        }
        Err(Error::new(
            Code::OptionUnknown,
            format!("switches.{name}"),
            "no such switch; docs/differences.md lists them",
        ))
    }

    /// Whether a fault is put right.
    pub fn on(&self, switch: &Switch) -> bool {
        self.overrides.get(switch.name).copied().unwrap_or(self.base == Base::Promptside)
    }

    /// The base.
    pub const fn base(&self) -> Base {
        self.base
    }
}
