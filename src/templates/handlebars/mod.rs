//! The part of the Handlebars language that story strings are written in: a template and named texts -> a text
//! (spec 07 §2.3). HTML is not escaped, partials and decorators do not exist.
//!
//! A name that is neither a text nor a helper becomes the macro of that name, for the macro engine to read afterwards; what
//! follows it after a blank is lost, as in the reference. Reading order: `parse` (text -> tree) -> `space` (which blanks around
//! tags go) -> `render`.

mod parse;
mod render;
mod space;
mod tree;

pub(crate) use parse::parse;
pub(crate) use render::render;

/// Why a template cannot be read or rendered, and where: a UTF-16 offset in the template.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TemplateError {
    /// What is wrong.
    pub message: String,
    /// Where, as far as it is known.
    pub offset: Option<usize>,
}

impl TemplateError {
    fn at(offset: usize, message: impl Into<String>) -> Self {
        Self { message: message.into(), offset: Some(offset) }
    }

    fn new(message: impl Into<String>) -> Self {
        Self { message: message.into(), offset: None }
    }
}

impl std::fmt::Display for TemplateError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self.offset {
            Some(offset) => write!(f, "{} (at {offset})", self.message),
            None => f.write_str(&self.message),
        }
    }
}

/// Renders a template with texts by name.
pub fn handlebars(template: &str, values: &[(&str, &str)]) -> Result<String, TemplateError> {
    render(&parse(template)?, values)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn run(template: &str) -> Result<String, TemplateError> {
        handlebars(template, &[("description", "D"), ("system", ""), ("char", "洛恩")])
    }

    #[test]
    fn the_facts_of_the_specification() {
        // Spec 07 §2.3 [run].
        for (template, want) in [
            ("{{#if system}}x{{else}}y{{/if}}", "y"),
            ("{{#if description}}\n{{description}}\n{{/if}}\nEND", "D\nEND"),
            ("  {{#if description}}\n{{description}}\n  {{/if}}  \nEND", "D\nEND"),
            ("{{~description~}} z", "Dz"),
            ("a \n {{~description~}}\n z", "aDz"),
            ("{{{description}}}", "D"),
            ("{{&description}}", "D"),
            ("{{! c }}x", "x"),
            ("{{!-- c }} --}}x", "x"),
            ("{{#unless system}}…{{/unless}}", "…"),
            ("{{lookup this \"description\"}}", "D"),
            ("{{#with description}}<{{this}}>{{/with}}", "<D>"),
            ("{{#each this}}{{@key}}={{this}};{{/each}}", "description=D;system=;char=洛恩;"),
            ("{{#each this}}{{#if @last}}!{{else}}{{@index}}{{/if}}{{/each}}", "01!"),
            ("{{Description}}", "{{Description}}"),
            ("{{unknown}}", "{{unknown}}"),
            ("{{char.name}}", ""),
            ("{{random::a::b}}", "{{random::a::b}}"),
            ("{{roll 1d6}}", "{{roll}}"),
            ("{{getvar::x y}}", "{{getvar::x}}"),
            ("{{reverse:abc}}{{newline::2}}", "{{reverse:abc}}{{newline::2}}"),
            ("{{{{x}}}}y{{{{/x}}}}", "y"),
            ("{{{{x}}}}{{description}}{{{{/x}}}}", "{{description}}"),
            ("\\{{description}} {{description}}", "{{description}} D"),
            ("\\\\{{description}}", "\\D"),
            ("{{#description}}a{{/description}}b", "ab"),
            ("{{^nothing}}a{{/nothing}}", ""),
            ("{{#if nothing}}a{{else if description}}b{{else}}c{{/if}}", "b"),
            ("x\n{{trim}}", "x\n{{trim}}"),
            ("{{description}}{{trim}}", "D{{trim}}"),
            ("{{#if (lookup this 'system')}}a{{^}}b{{/if}}", "b"),
            ("{{this.description}}{{./char}}{{[char]}}", "D洛恩洛恩"),
            ("{{#with description}}{{../char}}{{@root.char}}{{/with}}", "洛恩洛恩"),
            ("{{#with description as |d|}}{{d}}{{/with}}", "D"),
            ("{{description.length}}{{\"char\"}}", "1洛恩"),
        ] {
            assert_eq!(run(template).as_deref(), Ok(want), "{template}");
        }
    }

    #[test]
    fn what_cannot_be_read() {
        for template in [
            "{{random:a,b}}",
            "{{// note}}",
            "{{",
            "{{description",
            "{{#if description}}x",
            "{{#if description}}x{{/unless}}",
            "{{/if}}",
            "{{> partial}}",
            "{{else}}",
            "{{#if}}x{{/if}}",
            "{{description 1}}",
            "{{#* x}}{{/x}}",
            "{{}}",
            "{{foo/../bar}}",
        ] {
            assert!(run(template).is_err(), "{template}");
        }
        assert_eq!(run("水{{random:a,b}}").unwrap_err().offset, Some(11));
    }

    #[test]
    fn blanks_around_blocks() {
        for (template, want) in [
            ("a\n{{#if description}}\nb\n{{else}}\nc\n{{/if}}\nd", "a\nb\nd"),
            ("{{#if system}}{{system}}\n{{/if}}{{description}}\n", "D\n"),
            (
                "{{#if description}}{{description}}\n{{/if}}{{#if char}}{{char}}\n{{/if}}{{trim}}",
                "D\n洛恩\n{{trim}}",
            ),
            ("a {{! x }}\n b", "a \n b"),
            ("a\n {{! x }} \n b", "a\n b"),
            ("{{#if description~}}  x  {{~/if}} y", "x y"),
            ("a {{~#if description}} x {{/if~}} y", "a x y"),
        ] {
            assert_eq!(run(template).as_deref(), Ok(want), "{template:?}");
        }
    }

    #[test]
    fn hostile_templates_end() {
        let deep = "{{#if description}}".repeat(500);
        assert!(run(&deep).is_err());
        let wide = format!("{}x{}", "{{#each @root}}".repeat(40), "{{/each}}".repeat(40));
        assert!(run(&wide).is_err());
        let long = "{{description}}{{#if char}}x{{/if}}".repeat(5_000);
        assert_eq!(run(&long).unwrap().len(), 10_000);
    }
}
