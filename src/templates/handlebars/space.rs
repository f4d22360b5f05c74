//! Which blanks around tags are taken off: those that `~` asks for, and the rest of a line on which a block tag or a comment
//! stands alone.

use super::tree::{Block, Node, Program, Strip};
use crate::js;

/// What a node asks for.
#[derive(Clone, Copy, Default)]
struct Wish {
    strip: Strip,
    open_alone: bool,
    close_alone: bool,
    inline_alone: bool,
}

/// Takes them off in a whole program; the contents of a node come before what surrounds it.
pub(super) fn control(program: &mut Program, root: bool) {
    for i in 0..program.body.len() {
        let wish = match program.body.get_mut(i) {
            Some(Node::Comment(strip)) => Wish { strip: *strip, inline_alone: true, ..Wish::default() },
            Some(Node::Mustache(_, strip)) => Wish { strip: *strip, ..Wish::default() },
            Some(Node::Block(block)) => inside(block),
            _ => continue,
        };
        let body = &mut program.body;
        let before = blank_before(body, Some(i), root);
        let after = blank_after(body, Some(i), root);
        if wish.strip.close {
            trim_after(body, Some(i), true);
        }
        if wish.strip.open {
            trim_before(body, Some(i), true);
        }
        if wish.inline_alone && before && after {
            trim_after(body, Some(i), false);
            trim_before(body, Some(i), false);
        }
        if wish.open_alone && before {
            if let Some(Node::Block(block)) = body.get_mut(i)
                && let Some(first) = block.program.as_mut().or(block.inverse.as_mut())
            {
                trim_after(&mut first.body, None, false);
            }
            trim_before(body, Some(i), false);
        }
        if wish.close_alone && after {
            trim_after(body, Some(i), false);
            if let Some(Node::Block(block)) = body.get_mut(i)
                && let Some(last) = block.inverse.as_mut().or(block.program.as_mut())
            {
                trim_before(&mut last.body, None, false);
            }
        }
    }
}

/// The parts of a block.
fn inside(block: &mut Block) -> Wish {
    for program in [block.program.as_mut(), block.inverse.as_mut()].into_iter().flatten() {
        control(program, false);
    }
    let (strip, middle) = (Strip { open: block.open.open, close: block.close.close }, block.middle);
    let both = block.program.is_some() && block.inverse.is_some();
    let opened_closes = block.open.close;
    let closing_opens = block.close.open;
    let (first, second) = match (block.program.as_mut(), block.inverse.as_mut()) {
        (Some(program), inverse) => (program, inverse),
        (None, Some(inverse)) => (inverse, None),
        (None, None) => return Wish { strip, ..Wish::default() },
    };
    let Some(second) = second.filter(|_| both) else {
        let wish = Wish {
            strip,
            open_alone: blank_after(&first.body, None, false),
            close_alone: blank_before(&first.body, None, false),
            inline_alone: false,
        };
        if opened_closes {
            trim_after(&mut first.body, None, true);
        }
        if closing_opens {
            trim_before(&mut first.body, None, true);
        }
        return wish;
    };
    let wish = Wish {
        strip,
        open_alone: blank_after(&first.body, None, false),
        close_alone: second_mut(second).is_some_and(|p| blank_before(&p.body, None, false)),
        inline_alone: false,
    };
    if opened_closes {
        trim_after(&mut first.body, None, true);
    }
    if middle.open {
        trim_before(&mut first.body, None, true);
    }
    if middle.close
        && let Some(p) = second_mut(second)
    {
        trim_after(&mut p.body, None, true);
    }
    if closing_opens && let Some(p) = last_of(second) {
        trim_before(&mut p.body, None, true);
    }
    let alone = blank_before(&first.body, None, false)
        && second_mut(second).is_some_and(|p| blank_after(&p.body, None, false));
    if alone {
        trim_before(&mut first.body, None, false);
        if let Some(p) = second_mut(second) {
            trim_after(&mut p.body, None, false);
        }
    }
    wish
}

/// The program behind the first else.
fn second_mut(inverse: &mut Program) -> Option<&mut Program> {
    if !inverse.chained {
        return Some(inverse);
    }
    match inverse.body.first_mut() {
        Some(Node::Block(block)) => block.program.as_mut(),
        _ => None,
    }
}

/// The program behind the last else.
fn last_of(inverse: &mut Program) -> Option<&mut Program> {
    if !inverse.chained {
        return Some(inverse);
    }
    match inverse.body.last_mut() {
        Some(Node::Block(block)) => {
            if block.inverse.is_some() {
                block.inverse.as_mut().and_then(last_of)
            } else {
                block.program.as_mut()
            }
        }
        _ => None,
    }
}

/// The index before, or that of the last; likewise for the next.
fn before(body: &[Node], at: Option<usize>) -> Option<usize> {
    at.unwrap_or(body.len()).checked_sub(1)
}

fn after(at: Option<usize>) -> usize {
    at.map_or(0, |i| i + 1)
}

/// Whether nothing but blanks stands between a node and the line's start.
fn blank_before(body: &[Node], at: Option<usize>, root: bool) -> bool {
    let Some(i) = before(body, at) else { return root };
    let sibling = i > 0;
    let Some(Node::Content(content)) = body.get(i) else { return false };
    let blanks = content.original.rsplit(|c| !js::is_space(c)).next().unwrap_or("");
    blanks.contains('\n') || (!sibling && root && blanks.len() == content.original.len())
}

/// Whether nothing but blanks stands between a node and the line's end.
fn blank_after(body: &[Node], at: Option<usize>, root: bool) -> bool {
    let i = after(at);
    let Some(next) = body.get(i) else { return root };
    let sibling = body.get(i + 1).is_some();
    let Node::Content(content) = next else { return false };
    let blanks = content.original.split(|c| !js::is_space(c)).next().unwrap_or("");
    blanks.contains('\n') || (!sibling && root && blanks.len() == content.original.len())
}

fn trim_after(body: &mut [Node], at: Option<usize>, all: bool) {
    let Some(Node::Content(content)) = body.get_mut(after(at)) else { return };
    if !all && content.right {
        return;
    }
    let kept = if all {
        js::trim_start(&content.value)
    } else {
        let line = content.value.trim_start_matches([' ', '\t']);
        line.strip_prefix("\r\n").or_else(|| line.strip_prefix('\n')).unwrap_or(line)
    };
    content.right = kept.len() != content.value.len();
    content.value = kept.to_owned();
}

fn trim_before(body: &mut [Node], at: Option<usize>, all: bool) {
    let Some(i) = before(body, at) else { return };
    let Some(Node::Content(content)) = body.get_mut(i) else { return };
    if !all && content.left {
        return;
    }
    let kept = if all { js::trim_end(&content.value) } else { content.value.trim_end_matches([' ', '\t']) };
    content.left = kept.len() != content.value.len();
    content.value = kept.to_owned();
}
