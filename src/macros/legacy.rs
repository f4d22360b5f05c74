//! The engine before 1.17 (spec 04 §13).

use super::env::Env;
use super::eval::Shared;
use crate::host::Host;
use crate::parts::Effects;

pub(super) fn substitute(
    text: &str,
    env: &Env<'_>,
    host: &mut Host,
    effects: &mut Effects,
    shared: &mut Shared,
) -> String {
    super::eval::substitute(text, env, host, effects, shared)
}
