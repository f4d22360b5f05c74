//! Every example of the macro specification that was run (spec 04), in the `sillytavern` profile unless said otherwise.

use indexmap::IndexMap;
use promptside::host::{Clock, Dice, Host};
use promptside::macros::{self, Env, EnvBase, expand};
use promptside::parts::Effects;
use promptside::profile::Profile;
use promptside::scene::Scene;
use serde_json::{Value, json};

/// A small world to expand texts in.
pub struct World {
    pub scene: Scene,
    pub profile: Profile,
    pub outlets: IndexMap<String, String>,
    pub dynamic: Vec<(String, String)>,
    pub original: Option<String>,
    pub draws: Vec<f64>,
    pub clock: Clock,
}

/// Monday 2026-01-05 14:07:09.045 UTC.
pub const MONDAY: i64 = 1_767_622_029_045;

impl World {
    pub fn new(extra: &Value) -> Self {
        let mut value = json!({
            "characters": [{"avatar": "c.png", "card": {"data": {"name": "Character"}}}],
            "chat": {"id": "chat", "metadata": {}, "messages": []},
        });
        for (key, v) in extra.as_object().into_iter().flatten() {
            value[key] = v.clone();
        }
        let scene = Scene::from_value(&value).unwrap().0;
        Self {
            dynamic: scene.macros.clone(),
            scene,
            profile: Profile::sillytavern(),
            outlets: IndexMap::new(),
            original: None,
            draws: vec![0.0; 64],
            clock: Clock { now_ms: MONDAY, ..Clock::default() },
        }
    }

    pub fn plain() -> Self {
        Self::new(&Value::Null)
    }

    pub fn fixed() -> Self {
        Self { profile: Profile::promptside(), ..Self::plain() }
    }

    pub fn legacy() -> Self {
        Self::new(&json!({"settings": {"power_user": {"experimental_macro_engine": false}}}))
    }

    pub fn local(mut self, variables: Value) -> Self {
        self.scene.chat.metadata.insert("variables".into(), variables);
        self
    }

    pub fn run_with(&self, text: &str, change: impl for<'e> FnOnce(Env<'e>) -> Env<'e>) -> (String, Effects) {
        let mut host = Host { clock: self.clock.clone(), ..Host::new(Dice::tape(self.draws.clone())) };
        let mut effects = Effects::default();
        let base = EnvBase::new(&self.scene, Some(0), &self.profile);
        let env = Env {
            outlets: &self.outlets,
            dynamic: &self.dynamic,
            original: self.original.as_deref(),
            ..base.env()
        };
        let out = expand(text, &change(env), &mut host, &mut effects);
        (out, effects)
    }

    pub fn run(&self, text: &str) -> (String, Effects) {
        self.run_with(text, |env| env)
    }

    pub fn text(&self, text: &str) -> String {
        self.run(text).0
    }

    /// Every text of a table gives what stands beside it.
    pub fn table(&self, rows: &[(&str, &str)]) {
        let wrong: Vec<String> = rows
            .iter()
            .filter_map(|(text, want)| {
                let got = self.text(text);
                (got != *want).then(|| format!("{text:?}\n   want {want:?}\n   got  {got:?}"))
            })
            .collect();
        assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    }

    pub fn unchanged(&self, texts: &[&str]) {
        self.table(&texts.iter().map(|t| (*t, *t)).collect::<Vec<_>>());
    }
}

#[test]
fn pipeline() {
    World::plain().table(&[
        ("\\{\\{user\\}\\}", "{{user}}"),
        ("\\{{user}}", "\\User"),
        ("{\\{user}}", "{{user}}"),
        ("\\\\\\{x", "\\\\{x"),
        ("{{if 1}}\\\\{x{{/if}}", "{x"),
        ("a\n{{trim}}\nb", "ab"),
        ("a\r\n\r\n{{trim}}\r\nb", "ab"),
        ("a\n {{trim}} \nb", "a\n  \nb"),
        ("a\n\n{{ trim }}\n\nb", "ab"),
        ("{{if 1}}p\n\n{{trim}}\n\nq{{/if}}", "pq"),
        ("p\n\n{{if 1}}{{trim}}{{/if}}\n\nq", "p\n\n\n\nq"),
        ("<user> <USER> <char> <bot> <CharIfNotGroup>", "User User Character Character Character"),
        ("{{reverse::{{else}}ab}}", "ba\u{0}\u{1f}ESLE\u{1f}\u{0}"),
    ]);
}

#[test]
fn grammar() {
    let w = World::plain().local(json!({"k": "v"}));
    for text in ["{{user!}}", "{{user.name}}", "{{user's}}", "{{user,char}}", "{{user用户}}"] {
        assert_eq!(w.text(text), "User", "{text}");
    }
    w.table(&[("{{user{{char}}}}", "User}}")]);
    w.unchanged(&["{{user;x::y}}", "{{user-}}", "{{user_}}", "{{user2}}", "{{}}", "{{ }}", "{{!}}", "{{/}}"]);
    w.unchanged(&[
        "{{\"a\":1}}",
        "{{1user}}",
        "{{_user}}",
        "{{用户}}",
        "{{유저}}",
        "{{кто}}",
        "{{مستخدم}}",
        "{{😀}}",
    ]);
    for text in ["{{reverse::abc}}", "{{reverse:abc}}", "{{reverse abc}}", "{{ reverse :: abc }}"] {
        assert_eq!(w.text(text), "cba", "{text}");
    }
    w.table(&[
        ("{{reverse:abc::def}}", "fed::cba"),
        ("{{reverse abc def}}", "fed cba"),
        ("{{reverse::\n a\n b \n}}", "b \na"),
        ("{{reverse:::a}}", "a:"),
        ("{{reverse::}}", ""),
        ("{{reverse:}}", ""),
        ("{{reverse|ab}}", "ba|"),
        ("{{reverse}ab}}", "ba}"),
        ("{{reverse::a}b}}", "b}a"),
        ("{{reverse::a}}}", "a}"),
        ("{{reverse::{a}}}", "a{}"),
        ("{{reverse::a{b{{user}}}}", "resUb{a"),
        ("{{reverse:: {{char}} {{user}} }}", "resU retcarahC"),
        ("{{setvar::k::a|b}}{{getvar::k}}", "a|b"),
        ("{{//abc}}|{{// a::b::c }}", "|"),
        ("{{#user}}", "User"),
    ]);
    w.unchanged(&["{{reverse::::a}}", "{{reverse::a::}}", "{{reverse }}", "{{//::a::b}}"]);
}

#[test]
fn unclosed_and_malformed() {
    let w = World::plain().local(json!({"a": "va", "n": "1", "m": "vm"}));
    w.table(&[
        ("Test {{ hehe {{user}}", "Test {{ hehe User"),
        ("{{user} and {{char}} and {{user}}", "{{user} and Character and User"),
        ("{{a::{{user}}::{{b", "{{a::User::{{b"),
        ("{{user {{if 1}}x{{/if}} {{char}}", "{{user x Character"),
        ("{{ {{user}} }}", "{{ User }}"),
        ("{{{user}}}", "{User}"),
        ("{{{{user}}}}", "{{User}}"),
        ("{{user}}}}}}", "User}}}}"),
        ("x{{}}y{{user}}", "x{{}}yUser"),
        ("{\"a\":{\"b\":{\"c\":1}}} {{user}}", "{\"a\":{\"b\":{\"c\":1}}} User"),
        ("{{reverse::x{{}}y}} {{user}}", "{{xy}} User"),
        ("{{reverse::{{{user}}}}}", "resu{{{}}}"),
        ("{{reverse::{{ {{user}} x}}", "x resU {{"),
        ("{{reverse::a {{b {{user}} }} c}}", "c }} resU b{{ a"),
        ("{{.}}|{{$}}|{{. }}|", "|||"),
        ("{{.a b}}{{.a.}}{{..a}}{{.$a}}", "vavavava"),
        ("{{.n++ --}}", "2"),
        // Recorded: inside an argument the enclosing macro ends where the malformed shorthand does.
        ("{{random::{{.v.w}}}}", "{{.v}}"),
    ]);
    w.unchanged(&["{{reverse::a {{b c}}", "{{.a.b}}", "{{.a:b}}", "{{.a::b}}", "{{.a|b}}", "{{.a b c}}"]);
    w.unchanged(&["{{.n++5}}", "{{.1}}", "{{.变量}}"]);
}

/// Recorded from the reference, as the spec's own rows are (spec 04 §4.6): each text alone, variables as below.
#[test]
fn malformed_shorthands_as_recorded() {
    let fresh = || World::plain().local(json!({"v": "x", "n": 4, "a-b": "ab"}));
    for (text, want) in [
        // Braces without a head in a value are closed.
        ("{{.q = {{}}[{{.q}}]", "[{{}}]"),
        ("{{.q = a {{1 b}}[{{.q}}]", "[a {{}}1 b]"),
        ("{{.q = {{ # ! 1}} y}}[{{.q}}]", " y}}[{{ # !}} 1]"),
        ("{{.q = {{{user}} z}}[{{.q}}]", " z}}[{{}}{user]"),
        ("{{.q = {{{{{user}}}} b}}[{{.q}}]", "}} b}}[{{}}{{}}{user]"),
        ("{{.q ?? {{.y ?? {{1}}|}}}}|", "{{}}1|}}|"),
        ("{{.q ?? {{reverse::{{1}}|}}}}|", "1{{|}}|"),
        ("{{.q ?? {{用户", "{{.q ?? {{用户"),
        // Marks instead of a name, marks behind one.
        ("{{..}}|{{. .}}|{{.$}}|{{.!}}|{{...}}|{{.! ! v}}|{{.?? v}}|{{.//v}}|", "||||||||"),
        ("{{.v!}}{{.v?}}{{.v~}}{{.v#}}{{.v/}}{{.v ! }}{{.v //}}{{.n++!}}", "xxxxxxx5"),
        ("{{.v1!}}|{{..v.}}|{{.. v b}}|{{. .q = 5}}[{{.q}}]", "|x|x|[5]"),
        // In the value of another: what can be read counts.
        ("{{.q = a {{.v.w}} c}}[{{.q}}]", " c}}[a x]"),
        ("{{.q = a {{.v,b}} c}}[{{.q}}]", " c}}[a x]"),
        ("{{.q = a {{.n++5}} c}}[{{.q}}]", " c}}[a 5]"),
        ("{{.q = a {{.n++ 5 {{user}}}} c}}[{{.q}}]", " c}}[a 5User]"),
        ("{{.q = a {{.v b c}} c}}[{{.q}}]", " c}}[a x b c]"),
        ("{{.q = a {{.v !! c}} c}}[{{.q}}]", " c}}[a x]"),
        ("{{.q = a {{.变b {{user}} }} c}}[{{.q}}]", " c}}[a 变b User]"),
        ("{{.q = a {{.== 1}} c}}[{{.q}}]", " c}}[a == 1]"),
        ("{{.q = a {{...}} c}}[{{.q}}]", "[a  c]"),
        ("{{.q = a {{.v{{user}}}} c}}[{{.q}}]", " c}}[a xUser]"),
        ("{{.q = {{.v.w {{user}}", "{{.q = {{.v.w User"),
        // In an argument: text.
        ("{{reverse::q {{.v,b}} c}}", "b,v.{{ q c}}"),
        ("{{reverse::q {{.变b {{user}} }} c}}", "resU b变.{{ q c}}"),
        ("{{reverse::q {{.v.b :: {{user}} }} c}}", "{{reverse::q {{.v.b :: User }} c}}"),
        ("{{reverse::q {{.v!!}} c}}", "v.{{ q c}}"),
        ("{{reverse::q {{..}} c}}", "c  q"),
        ("q {{.v.b {{user}} }} c", "q {{.v.b User }} c"),
        // Braces with nothing in them leave the reference's lexer inside a macro for one closer longer.
        ("{{reverse::a{{}}{{{user}}}", "{{a{{{user}}}"),
        ("{{reverse::a{{1}}{{{user}}}", "1{{a{User}"),
        ("{{reverse::a{{}}b}}c{{{user}}}", "{{ab}}c{User}"),
        ("{{reverse::{{reverse::a{{}}{{}}c{{{user}}}d}}e{{{user}}}", "{{a{{c{{{user}}}d}}e{User}"),
        ("{{.q=a{{reverse b{{}}c}}|{{.q}}", "|a{{bc"),
        ("{{.q=a{{reverse b{{}}:c}}|{{.q}}", "{{.q=a{{b:c}}|"),
        ("{{.q=a{{reverse b{{}}\"c\"}}|{{.q}}", "{{.q=a{{b\"c\"}}|"),
        ("{{.q=a{{reverse b{{}} :: }}|{{.q}}", "|a{{b"),
        ("{{reverse::{{.q=a{{reverse b{{}}c::d{{user}}}}e}}|", "{{reverse::{{.q=a{{bc::dUser}}e}}|"),
        ("{{incvar::{{.n<= {{}}::{{}}|", "1|"),
        // A comparison reads from left to right.
        ("{{.q > {{.q = 5}}1}}|{{.n < {{.n = 9}}5}}|{{.n}}", "false|true|9"),
        // A comment's single colon is a separator.
        ("{{//:a}}", ""),
        ("{{// :/a}}", "{{// :/a}}"),
        ("a{{//}}b{{//:/}}c", "ac"),
        // A call that fails with nothing between its tags loses the closing one whole.
        ("{{unknown::a}}{{/unknown}}|{{setvar::}}{{/setvar}}|", "{{unknown::a}}|{{setvar::}}|"),
        ("{{unknown}} {{/unknown}}|", "{{unknown}}}}|"),
    ] {
        fresh().table(&[(text, want)]);
    }
    fresh().unchanged(&[
        "{{.== 5}}",
        "{{.|| x}}",
        "{{.+= 1}}",
        "{{.++}}",
        "{{.v !! }}",
        "{{.v ! b}}",
        "{{.! 1}}",
        "{{..变}}",
    ]);
}

#[test]
fn what_stays_raw() {
    let w = World::plain();
    w.table(&[
        ("Test: {{unknown::{{newline}}}}", "Test: {{unknown::\n}}"),
        ("{{ unknown :: {{user}} }}", "{{ unknown :: User }}"),
        ("{{user Something {{char}}}}", "{{user Something Character}}"),
    ]);
    w.unchanged(&[
        "{{char::extra}}",
        "{{newline::x}}",
        "{{newline::1.5}}",
        "{{newline::}}",
        "{{newline::-1}}",
    ]);
    w.unchanged(&["{{/getvar::{{char}}}}"]);
}

#[test]
fn scopes() {
    let w = World::plain();
    w.table(&[
        ("{{setvar::x}}Hello {{user}}!{{/setvar}}{{getvar::x}}", "Hello User!"),
        ("{{reverse}}hello{{/reverse}}", "olleh"),
        ("{{Reverse}}ab{{/REVERSE}}", "ba"),
        ("{{setvar::l1}}A{{setvar::l2}}B{{/setvar}}C{{/setvar}}{{getvar::l1}}|{{getvar::l2}}", "AC|B"),
        ("{{reverse}}a{{reverse::b}}{{/reverse}}", "ba"),
        ("{{reverse}}a{{reverse}}b{{/reverse}}", "{{reverse}}ab"),
        ("{{user}} {{user}} {{/user}}", "{{user}} User {{/user}}"),
        ("{{if::1::a}}{{if 1}}b{{/if}}{{/if}}", "{{if::1::a}}b{{/if}}"),
        ("{{reverse}}a{{if 1}}b{{/reverse}}c{{/if}}", "b}}1 fi{{ac{{/if}}"),
        ("{{user}}Hello {{char}}!{{/user}}", "{{user}}Hello Character!{{/user}}"),
        ("{{setvar::a::1}}x{{/setvar}}[{{.a}}]", "{{setvar::a::1}}x{{/setvar}}[]"),
        ("{{description}}x{{/charDescription}}", "x{{/charDescription}}"),
        ("{{#setvar::z}} q {{/setvar}}[{{.z}}]", "[ q ]"),
        (
            "{{setvar::m}}\n  parent\n    child\n  sibling\n{{/setvar}}[{{getvar::m}}]",
            "[parent\n  child\nsibling]",
        ),
        ("{{trim}}  outer {{trim}}  inner  {{/trim}} outer  {{/trim}}", "outer inner outer"),
        ("x\n\n{{trim}}{{/trim}}\n\ny", "x\n\n\n\ny"),
        ("Before{{//}}comment {{user}}{{///}}After", "BeforeAfter"),
        ("{{comment}}a{{/comment}}b", "b"),
        ("{{unknown}}a {{user}} b{{/unknown}}", "{{unknown}}a User b}}"),
        ("{{setvar::}}x{{/setvar}}", "{{setvar::}}x}}"),
    ]);
    w.unchanged(&[
        "{{user}} {{user}} {{/user}} {{/user}}",
        "{{random}}a,b{{/random}}",
        "{{//}}a{{/comment}}b",
    ]);
    w.unchanged(&["{{/ //}}", "{{// /usr/bin}}"]);
}

#[test]
fn order_of_evaluation() {
    let w = World::plain();
    w.table(&[
        ("A {{setvar::t::4}}{{getvar::t}} B {{setvar::t::2}}{{getvar::t}} C", "A 4 B 2 C"),
        ("{{getvar::x}}{{setvar::x::late}}", ""),
        ("{{setvar::x::{{user}}}}[{{getvar::x}}]", "[User]"),
        ("{{// {{setvar::z::1}}}}[{{getvar::z}}]", "[1]"),
    ]);
    let wrap: fn(&str) -> String = |x| format!("<{x}>");
    let got = w.run_with("{{user}} {{unk}} {{newline}}", |env| Env { post_process: Some(wrap), ..env });
    assert_eq!(got.0, "<User> {{unk}} <\n>");
}

#[test]
fn conditions() {
    World::plain().local(json!({"flag": "1", "n": 1})).table(&[
        ("{{if yes}}then{{else}}else{{/if}}", "then"),
        ("{{if::}}then{{else}}else{{/if}}", "else"),
        (
            "{{if off}}a{{/if}}|{{if OFF}}a{{/if}}|{{if FALSE}}a{{/if}}|{{if 00}}a{{/if}}|{{if null}}a{{/if}}",
            "|||a|a",
        ),
        ("{{if no}}a{{/if}}", "a"),
        ("{{if notamacro}}a{{/if}}", "a"),
        ("{{if char}}Name: {{char}}{{/if}}", "Name: Character"),
        ("{{if noop}}x{{else}}y{{/if}}", "y"),
        ("{{if description}}a{{else}}b{{/if}}", "b"),
        ("{{if getvar}}a{{/if}}", "a"),
        ("{{if random}}x{{else}}y{{/if}}", "y"),
        ("{{if !yes}}a{{else}}b{{/if}}", "b"),
        ("{{if ! .empty}}Empty{{/if}}", "Empty"),
        ("{{if !}}a{{else}}b{{/if}}", "a"),
        ("{{if .flag}}Yes{{/if}}", "Yes"),
        ("{{if .n > 3}}y{{else}}n{{/if}}", "y"),
        ("{{if {{.n > 3}}}}y{{else}}n{{/if}}", "n"),
        ("{{if::1::yes{{else}}no}}", "yes"),
        ("{{if::0::yes{{else}}no}}", "no"),
        ("{{if 1}}{{if 0}}x{{else}}y{{/if}}{{else}}z{{/if}}", "y"),
        ("{{if 0}}{{if::1::a}}{{if::1::b}}{{else}}found{{/if}}", "found"),
        ("{{if 0}}a{{else}}b{{else}}c{{/if}}", "bc"),
        ("{{if yes}}\n  # Title\n  Body\n{{/if}}", "# Title\nBody"),
        ("{{#if yes}}\n  kept  \n{{/if}}", "\n  kept  \n"),
        ("{{#if::1::  a  }}|", "a|"),
        ("{{if 1}}a{{/if junk}}", "a"),
        ("{{if 0}}{{setvar::v::1}}{{else}}e{{/if}}[{{getvar::v}}]", "e[]"),
        ("{{IF 1}}a{{ELSE}}b{{/if}}", "ab"),
        ("{{IF 0}}a{{ELSE}}b{{/if}}", ""),
        // Addendum 4.
        ("{{if 1}}a {{reverse::b{{else}}c{{/if}}", "a {{reverse::bc"),
        ("{{if 0}}a {{reverse::b{{else}}c{{/if}}", ""),
    ]);
    World::plain().unchanged(&["{{if a::b::c}}", "{{if::1::a::b}}", "{{if}}x{{/if}}", "{{if 1}}x"]);
}

#[test]
fn variables_before_and_after() {
    type Row<'a> = (Value, &'a str, &'a str, Value);
    let unset = || json!(null);
    let gone = json!("(none)");
    let rows: Vec<Row<'_>> = vec![
        (json!("05"), "{{getvar::x}}", "5", unset()),
        (json!("1.0"), "{{getvar::x}}", "1", unset()),
        (json!("0x10"), "{{getvar::x}}", "16", unset()),
        (json!("1e3"), "{{getvar::x}}", "1000", unset()),
        (json!(" 7 "), "[{{getvar::x}}]", "[7]", unset()),
        (json!("  "), "[{{getvar::x}}]", "[  ]", unset()),
        (json!(false), "{{getvar::x}}", "0", unset()),
        (json!(null), "{{getvar::x}}", "0", unset()),
        (json!(true), "{{getvar::x}}", "1", unset()),
        (json!([1, 2]), "{{getvar::x}}", "[1,2]", unset()),
        (json!("123456789012345678901"), "{{getvar::x}}", "123456789012345680000", unset()),
        (gone.clone(), "{{addvar::x::3}}", "", json!(3)),
        (json!("0"), "{{addvar::x::foo}}", "", json!("foo")),
        (json!("5"), "{{addvar::x::b}}", "", json!("5b")),
        (json!("5"), "{{addvar::x::}}", "", json!(5)),
        (json!("a"), "{{incvar::x}}", "a1", json!("a1")),
        (json!("[1]"), "{{addvar::x::2}}{{getvar::x}}", "[1,\"2\"]", json!("[1,\"2\"]")),
        (gone.clone(), "{{setvarkey::x::2::c}}{{getvarkey::x::0}}", "null", json!("[null,null,\"c\"]")),
        (gone.clone(), "{{setvarkey::x::k::v}}{{getvar::x}}", "{\"k\":\"v\"}", json!("{\"k\":\"v\"}")),
        (json!("[1,{\"a\":[2]}]"), "{{getvarkey::x::1}}", "{\"a\":[2]}", unset()),
        (json!("plain"), "{{setvarkey::x::k::v}}{{getvarkey::x::k}}", "plain", unset()),
        (json!("1"), "{{hasvar::x}}{{deletevar::x}}{{hasvar::x}}", "truefalse", gone.clone()),
        // Whole numbers come first in an object, and numbers print as JavaScript does.
        (json!("{\"b\":1.0,\"1\":2}"), "{{setvarkey::x::0::z}}", "", json!("{\"0\":\"z\",\"1\":2,\"b\":1}")),
        (json!("0.1"), "{{addvar::x::0.2}}{{getvar::x}}", "0.30000000000000004", json!(0.1 + 0.2)),
    ];
    for (before, text, out, after) in rows {
        let w = World::plain();
        let w = if before == gone { w } else { w.local(json!({"x": before})) };
        let (got, effects) = w.run(text);
        assert_eq!(got, out, "{text} on {before}");
        let written = effects.local.get("x");
        if after == gone {
            assert_eq!(written, Some(&None), "{text}");
        } else if after.is_null() {
            assert!(written.is_none(), "{text} writes {written:?}");
        } else {
            assert_eq!(written, Some(&Some(after)), "{text} on {before}");
        }
    }
}

#[test]
fn variables_by_name_of_javascript() {
    let w = World::plain();
    w.table(&[
        ("{{getvar::toString}}", "function toString() { [native code] }"),
        ("{{hasvar::toString}}{{hasvar::other}}", "truefalse"),
        ("{{setvar::__proto__::x}}[{{getvar::__proto__}}]", "[{}]"),
        ("{{setvar::constructor::x}}[{{getvar::constructor}}]", "[x]"),
    ]);
}

#[test]
fn shorthands() {
    World::plain().local(json!({"x": "5", "m": "M"})).table(&[
        ("{{.x = 5}}{{.x++}}{{.x += 10}}{{.x}}", "616"),
        ("{{ .m = spaced }}{{.m}}", "spaced"),
        ("{{.q = a::b = c }}[{{.q}}]", "[a::b = c]"),
        ("{{.g = Hello {{user}}}}{{.g}}", "Hello User"),
        ("{{.z -= 0x10}}{{.z}}", "-16"),
        ("{{.new ??= created}}{{.new}}", "createdcreated"),
        ("{{.m ?? {{.t = evaluated}}fallback}}[{{.t}}]", "M[]"),
        ("{{.x == 5}}{{.x == 5.0}}{{.x != 5}}", "truefalsefalse"),
        ("{{.y > -1}}|{{.y < 1}}|{{.y == }}", "true|true|true"),
        ("{{.x = {{if 1}}a{{/if}}}}[{{.x}}]", "[{{if 1}}a{{/if}}]"),
        ("{{.x}}val{{/.x}}", "5val5"),
        ("{{.a--b = 1}}{{.a--b}}|{{.a--}}", "1|-1"),
        ("{{$g = 1}}{{$g++}}{{.g}}", "2"),
        // Addendum 3 and 5.
        ("{{.a = x{{space::3}}}}[{{.a}}]", "[x]"),
        ("{{setvar::a::x{{space::3}}}}[{{.a}}]", "[x   ]"),
        ("{{.a = {{user}}b{{/user}}}}[{{.a}}]", "[UserbUser]"),
        ("{{.a = b{{///}}}}[{{.a}}]", "[b]"),
    ]);
    World::plain().local(json!({"x": "off"})).table(&[("{{.x || d}}|{{.x ?? d}}", "d|off")]);
    World::plain().local(json!({"x": " "})).table(&[("[{{.x || d}}]", "[ ]")]);
}

#[test]
fn picks() {
    let mut w = World::plain();
    w.scene.chat.metadata.insert("chat_id_hash".into(), json!(123_456));
    w.table(&[
        ("{{pick::a::b::c}}", "a"),
        ("x {{pick::a::b::c}}", "x a"),
        ("{{pick::a::b::c}}{{pick::a::b::c}}", "ba"),
        ("{{pick a,b,c}}", "a"),
        ("{{if 1}}{{pick::a::b::c}}{{/if}}", "c"),
        ("{{reverse::{{pick::a::b::c}}}}", "c"),
        ("<USER>{{pick::a::b::c}}", "Usera"),
        ("你好{{pick::红::绿::蓝}}", "你好蓝"),
    ]);
    w.scene.chat.metadata.insert("pick_reroll_seed".into(), json!(1));
    w.table(&[("{{pick::a::b::c}}", "b")]);
    w.scene.chat.metadata.remove("pick_reroll_seed");
    w.scene.chat.metadata.insert("chat_id_hash".into(), json!(0));
    w.table(&[("{{pick::a::b::c}}", "b")]);
    w.scene.chat.metadata.remove("chat_id_hash");
    w.scene.chat.metadata.insert("main_chat".into(), json!("main"));
    let (got, effects) = w.run("{{pick::a::b::c}}");
    assert_eq!(got, "b");
    assert_eq!(effects.metadata["chat_id_hash"], Some(json!(5_117_801_401_981_229_u64)));
}

#[test]
fn dice() {
    let w = World::plain();
    for (text, want) in [
        ("{{roll 1d1+4}}", "5"),
        ("{{roll 2d1-1}}", "1"),
        ("{{roll d1}}", "1"),
        ("{{roll 1D1}}", "1"),
        ("{{roll 1d1 + 4}}", ""),
        ("{{roll 0d6}}", ""),
        ("{{roll 1d0}}", ""),
    ] {
        assert_eq!(w.text(text), want, "{text}");
    }
    // Addendum 2: what spends a draw.
    for (text, spent) in [("{{random}}", 0), ("{{random::}}", 1), ("{{random:}}", 1), ("{{random:only}}", 1)]
    {
        let mut host = Host::new(Dice::seeded(1));
        let base = EnvBase::new(&w.scene, Some(0), &w.profile);
        expand(text, &base.env(), &mut host, &mut Effects::default());
        assert_eq!(host.dice.drawn().len(), spent, "{text}");
    }
}

#[test]
fn moment_tokens() {
    let table = "YYYY 2026|YY 26|Y 2026|M 1|MM 01|MMM Jan|MMMM January|Mo 1st|Q 1|D 5|DD 05|Do 5th|DDD 5|DDDD 005|d 1|do 1st\
        |dd Mo|ddd Mon|dddd Monday|e 1|E 1|w 2|ww 02|W 2|WW 02|gggg 2026|GGGG 2026|H 14|HH 14|h 2|hh 02|k 14|kk 14|m 7|mm 07\
        |s 9|ss 09|S 0|SS 04|SSS 045|A PM|a pm|X 1767622029|x 1767622029045|Z +00:00|ZZ +0000|z |LT 2:07 PM|LTS 2:07:09 PM\
        |L 01/05/2026|LL January 5, 2026|LLL January 5, 2026 2:07 PM|LLLL Monday, January 5, 2026 2:07 PM|l 1/5/2026\
        |ll Jan 5, 2026|lll Jan 5, 2026 2:07 PM|llll Mon, Jan 5, 2026 2:07 PM";
    let w = World::plain();
    for row in table.split('|') {
        let (token, want) = row.split_once(' ').unwrap();
        assert_eq!(w.text(&format!("{{{{datetimeformat::{token}}}}}")), want, "{token}");
    }
    w.table(&[
        ("{{datetimeformat::[today is] dddd}}", "today is Monday"),
        ("{{datetimeformat::YYYY-MM-DD [at] h:mm a}}", "2026-01-05 at 2:07 pm"),
        ("{{datetimeformat::}}", "2026-01-05T14:07:09+00:00"),
        ("{{datetimeformat::YYYY年M月D日}}", "2026年1月5日"),
        // Addendum 6, on another day.
        ("{{datetimeformat::\\d}}", "d"),
        ("{{datetimeformat::\\YYYY\\-MM}}", "YYYY-01"),
        ("{{datetimeformat::\\[D\\]}}", "[5]"),
        ("{{datetimeformat::[open D}}", "[op1n 5"),
        (
            "{{time}}|{{date}}|{{weekday}}|{{isotime}}|{{isodate}}",
            "2:07 PM|January 5, 2026|Monday|14:07|2026-01-05",
        ),
        (
            "{{time::UTC+2}}|{{time_UTC-10}}|{{time::UTC+530}}|{{time::UTC+5:30}}|{{time::utc+2}}",
            "4:07 PM|4:07 AM|10:57 PM|2:07 PM|2:07 PM",
        ),
        ("{{time_utc+2}}", "2:07 PM"),
    ]);
    let mut east = World::plain();
    east.clock.offset_minutes = 330;
    east.table(&[("{{time}} {{datetimeformat::Z}} {{datetimeformat::HH:mm}}", "7:37 PM +05:30 19:37")]);
    for (day, name) in [
        (1, "1st"),
        (2, "2nd"),
        (3, "3rd"),
        (11, "11th"),
        (12, "12th"),
        (13, "13th"),
        (21, "21st"),
        (22, "22nd"),
    ] {
        let mut w = World::plain();
        w.clock.now_ms = MONDAY + (day - 5) * 86_400_000;
        assert_eq!(w.text("{{datetimeformat::Do}}"), name);
    }
}

#[test]
fn differences_of_time() {
    let w = World::plain();
    let diff = |a: &str, b: &str| w.text(&format!("{{{{timeDiff::{a}::{b}}}}}"));
    let noon = "2023-01-01 12:00:00";
    for (a, b, want) in [
        (noon, "2023-01-01 15:00:00", "3 hours ago"),
        ("2023-01-01 15:00:00", noon, "in 3 hours"),
        (noon, noon, "a few seconds ago"),
        (noon, "2023-01-01 12:00:44", "a few seconds ago"),
        (noon, "2023-01-01 12:00:45", "a minute ago"),
        (noon, "2023-01-01 12:01:30", "2 minutes ago"),
        (noon, "2023-01-01 12:44:30", "an hour ago"),
        (noon, "2023-01-02 09:30:00", "a day ago"),
        (noon, "2023-01-26 12:00:00", "25 days ago"),
        (noon, "2023-01-27 12:00:00", "a month ago"),
        ("2023-01-01", "2023-11-15", "10 months ago"),
        ("2022-01-01", "2023-01-01", "a year ago"),
        ("garbage", noon, "Invalid date"),
        ("2:07 PM", noon, "Invalid date"),
        ("January 5, 2026", "2026-01-05", "a few seconds ago"),
        ("2023", "2024", "a year ago"),
        ("0", "2025-03-03 12:00", "25 years ago"),
        ("Mon, 05 Jan 2026 14:00:00 +0100", "2026-01-05T13:00Z", "a few seconds ago"),
        ("2026-W02-1", "20260105T000000Z", "a few seconds ago"),
        ("2023-13-01", noon, "Invalid date"),
        ("1月5日", noon, "Invalid date"),
    ] {
        assert_eq!(diff(a, b), want, "{a} and {b}");
    }
    let dates: Vec<Value> = vec![
        json!("2026-01-05T13:37:09.000Z"),
        json!(MONDAY - 30 * 60_000),
        json!((MONDAY - 30 * 60_000).to_string()),
        json!("January 5, 2026 1:37pm"),
        json!("2026-01-05@13h37m09s"),
        json!("2026-01-05@13h37m09s123ms"),
        json!("2026-1-5 @13h 37m 9s 682ms"),
    ];
    for date in dates {
        let messages = json!([
            {"name": "User", "is_user": true, "mes": "a", "send_date": date},
            {"name": "System", "is_system": true, "mes": "hidden"},
            {"name": "Character", "mes": "b"},
        ]);
        let w = World::new(&json!({"chat": {"id": "c", "messages": messages}}));
        assert_eq!(w.text("{{idleDuration}}"), "30 minutes", "{date}");
    }
    assert_eq!(w.text("{{idle_duration}}"), "just now");
}

#[test]
fn more_examples() {
    let w = World::plain();
    for text in ["{{ user }}", "{{\nuser\n}}", "{{! user}}", "{{!?~>#user}}", "{{user\u{a0}}}"] {
        assert_eq!(w.text(text), "User", "{text}");
    }
    for text in ["{{space::3}}|", "{{space 3}}|", "{{space:: 3 }}|"] {
        assert_eq!(w.text(text), "   |");
    }
    w.table(&[
        ("{{user}} {{CHAR}} {{uSeR}}", "User Character User"),
        ("{{space::0}}|", "|"),
        ("{{random:a::a}}{{random:: a :: a }}{{random a,a}}", "aaa"),
        ("{{random:a\\,b}}", "a,b"),
        ("{{random}}{{random:}}{{random::}}", ""),
        ("{{original}}", "{{original}}"),
        ("a\n{{trim::x}}\nb", "ab"),
        ("{{reverse::a😀é洛}}", "洛é😀a"),
    ]);
    let data = json!({"name": "Character", "character_version": "v{{user}}", "first_mes": " hi {{user}} ",
        "alternate_greetings": ["alt 1", "alt 2"], "mes_example": "<START>\nA: a\n<START>\nc"});
    let mut w = World::new(&json!({"characters": [{"avatar": "c.png", "card": {"data": data}}]}));
    w.table(&[
        ("{{charVersion}}", "v{{user}}"),
        ("[{{greeting}}][{{greeting::1}}][{{greeting::3}}][{{greeting::-1}}]", "[hi User][alt 1][][]"),
        ("{{mesExamples}}", "<START>\nA: a\n<START>\nc\n"),
    ]);
    let (examples, _) = w.run_with("{{mesExamples}}", |env| Env { chat_completion: false, ..env });
    assert_eq!(examples, "***\nA: a\n***\nc\n");
    w.outlets.insert("a".into(), "OUT {{user}}".into());
    w.original = Some("ORIG {{user}}".into());
    w.dynamic =
        [("x", "{{user}}"), ("y", "s"), ("Z", "5")].map(|(k, v)| (k.to_owned(), v.to_owned())).to_vec();
    w.table(&[
        ("{{outlet::a}}|{{outlet::A}}|{{outlet a}}", "OUT {{user}}||OUT {{user}}"),
        ("{{original}}-{{original}}", "ORIG {{user}}-"),
        ("{{x}} {{y::1}} {{z}}", "{{user}} {{y::1}} 5"),
    ]);
    w.dynamic = vec![("user".into(), "DYN".into())];
    w.table(&[("{{user}}", "DYN")]);
}

#[test]
fn chat_values() {
    let world = |messages: Value| World::new(&json!({"chat": {"id": "c", "messages": messages}}));
    world(json!([
        {"is_user": true, "mes": "u1"}, {"mes": "a1"}, {"is_user": true, "mes": "u2"},
        {"is_system": true, "mes": "SYS"},
    ]))
    .table(&[(
        "{{lastMessage}}|{{lastMessageId}}|{{lastUserMessage}}|{{lastCharMessage}}|{{allChatRange}}",
        "SYS|3|u2|a1|0-3",
    )]);
    world(json!([{"is_user": true, "mes": "u1"}, {"mes": "a1", "swipes": ["x", "y"], "swipe_id": 2}]))
        .table(&[("{{lastMessage}}|{{lastCharMessage}}|{{lastSwipeId}}|{{currentSwipeId}}", "u1||2|3")]);
}

fn group(extra: &Value) -> Value {
    let card = |name: &str, data: Value| {
        let mut data = data;
        data["name"] = json!(name);
        json!({"data": data})
    };
    let mut group =
        json!({"members": ["s.png", "l.png", "m.png", "gone.png"], "disabled_members": ["m.png"]});
    for (key, v) in extra.as_object().unwrap() {
        group[key] = v.clone();
    }
    json!({
        "characters": [
            {"avatar": "l.png", "card": card("Lorne", json!({"description": "  Old hunter.  ", "scenario": "Cabin",
                "mes_example": "{{char}}: hm."}))},
            {"avatar": "s.png", "card": card("Seraphina", json!({"description": "{{char}} guards the glade.\n<fieldname> of {{char}}",
                "personality": " kind ", "scenario": "Forest", "mes_example": "<START>\n{{user}}: hi\n{{char}}: hello"}))},
            {"avatar": "m.png", "card": card("Mira", json!({"description": "Bard", "personality": "loud"}))},
        ],
        "group": group,
    })
}

#[test]
fn joined_cards() {
    let read = |extra: Value, speaker: usize, text: &str| {
        let w = World::new(&group(&extra));
        let base = EnvBase::new(&w.scene, Some(speaker), &w.profile);
        let out = expand(text, &base.env(), &mut Host::new(Dice::tape([])), &mut Effects::default());
        let all = base.card_texts(&mut Host::new(Dice::tape([])), &mut Effects::default());
        assert_eq!(
            expand("{{description}}", &base.env(), &mut Host::new(Dice::tape([])), &mut Effects::default()),
            all.description
        );
        out
    };
    let (s, l) = ("Seraphina guards the glade.\nDescription of Seraphina", "Old hunter.");
    let both = format!("{s}\n{l}");
    let d = "{{description}}";
    assert_eq!(read(json!({"generation_mode": 1}), 0, d), both);
    assert_eq!(read(json!({"generation_mode": 1}), 2, d), format!("{both}\nBard"));
    assert_eq!(read(json!({"generation_mode": 2}), 0, d), format!("{both}\nBard"));
    assert_eq!(read(json!({"generation_mode": 0}), 0, d), l);
    let brackets = json!({"generation_mode": 1, "generation_mode_join_prefix": "[{{char}} <FIELDNAME>: ",
        "generation_mode_join_suffix": "]"});
    assert_eq!(
        read(brackets.clone(), 0, d),
        format!("[Seraphina Description: {s}]\n[Lorne Description: {l}]")
    );
    let heads = json!({"generation_mode": 1, "generation_mode_join_prefix": "## {{char}} <FIELDNAME>\n",
        "generation_mode_join_suffix": "\n"});
    assert_eq!(read(heads, 0, d), format!("## Seraphina Description\n{s}\n\n## Lorne Description\n{l}\n"));
    assert_eq!(read(json!({"generation_mode": 1}), 0, "{{personality}}"), "kind");
    assert_eq!(read(json!({"generation_mode": 1}), 0, "{{scenario}}"), "Forest\nCabin");
    assert_eq!(
        read(json!({"generation_mode": 1}), 0, "{{mesExamplesRaw}}"),
        "<START>\nUser: hi\nSeraphina: hello\n<START>\nLorne: hm."
    );
    assert_eq!(
        read(brackets, 0, "{{mesExamplesRaw}}"),
        "[Seraphina Example Messages: <START>\nUser: hi\nSeraphina: hello]\n[Lorne Example Messages: <START>\nLorne: hm.]"
    );
    for (mode, over, want) in [
        (1, " Both in {{char}} camp ", "Both in Lorne camp"),
        (1, "  ", "Forest\nCabin"),
        (0, "  ", ""),
        (0, "", "Cabin"),
    ] {
        let mut w = World::new(&group(&json!({"generation_mode": mode})));
        w.scene.chat.metadata.insert("scenario".into(), json!(over));
        assert_eq!(w.text("{{scenario}}"), want, "{mode} {over:?}");
    }
}

#[test]
fn group_names() {
    let w = World::new(&group(&json!({})));
    w.table(&[
        ("{{group}}|{{groupNotMuted}}|{{notChar}}", "Seraphina, Lorne, Mira|Seraphina, Lorne|Seraphina"),
        ("<GROUP>|{{charIfNotGroup}}", "Seraphina, Lorne, Mira|Seraphina, Lorne, Mira"),
    ]);
    let names = ["Ann", "Bob", "Cyd", "Bob"];
    let cards: Vec<Value> = ["a", "b", "c", "d"]
        .iter()
        .zip(names)
        .map(|(id, name)| json!({"avatar": id, "card": {"data": {"name": name}}}))
        .collect();
    let scene = json!({"characters": cards, "group": {"members": ["a", "b", "c", "missing", "d"], "disabled_members": ["c"]}});
    let lists = |w: &World| {
        let base = EnvBase::new(&w.scene, Some(1), &w.profile);
        let mut host = Host::new(Dice::tape([]));
        expand("{{group}}|{{groupNotMuted}}|{{notChar}}", &base.env(), &mut host, &mut Effects::default())
    };
    let mut w = World::new(&scene);
    assert_eq!(lists(&w), "Ann, Bob, Cyd, Bob|Ann, Bob, Bob|Ann");
    w.profile = Profile::promptside();
    assert_eq!(lists(&w), "Ann, Bob, Cyd, Bob|Ann, Bob, Bob|Ann, Cyd, Bob, User");
    let mut old = scene;
    old["settings"] = json!({"power_user": {"experimental_macro_engine": false}});
    assert_eq!(lists(&World::new(&old)), "Ann, Bob, Cyd, Bob|Ann, Bob, Bob|Ann, Cyd, User");
}

#[test]
fn notes_at_depth() {
    let note = |text: &str, role: &str| json!({"depth_prompt": {"prompt": text, "depth": 2, "role": role}});
    let mut scene = group(&json!({"generation_mode": 1}));
    for (i, (text, role)) in
        [("{{char}} L", "user"), (" ", "system"), ("M", "assistant")].into_iter().enumerate()
    {
        scene["characters"][i]["card"]["data"]["extensions"] = note(text, role);
    }
    let keys = |w: &World, speaker: usize| -> Vec<(String, String, i64)> {
        let base = EnvBase::new(&w.scene, Some(speaker), &w.profile);
        let notes = base.depth_notes(&mut Host::new(Dice::tape([])), &mut Effects::default());
        notes.into_iter().map(|n| (n.key, n.text, n.depth)).collect()
    };
    let w = World::new(&scene);
    let l = ("DEPTH_PROMPT_0".to_owned(), "Lorne L".to_owned(), 2);
    assert_eq!(keys(&w, 0), std::slice::from_ref(&l));
    assert_eq!(keys(&w, 2), [l, ("DEPTH_PROMPT_1".to_owned(), "M".to_owned(), 2)]);
    scene["group"]["generation_mode"] = json!(0);
    assert_eq!(keys(&World::new(&scene), 0), [("DEPTH_PROMPT".to_owned(), "Lorne L".to_owned(), 2)]);
}

#[test]
fn legacy_engine() {
    let mut w = World::legacy();
    w.outlets.insert("a".into(), "OUT".into());
    w.table(&[
        ("{{user}} {{CHAR}} <USER> <bot>", "User Character User Character"),
        ("{{ user }} {{if 1}}x{{/if}} \\{", "{{ user }} {{if 1}}x{{/if}} \\{"),
        ("{{getvar::x}}{{setvar::x::late}}", "late"),
        ("{{setvar::x::{{user}}}}[{{getvar::x}}]", "}}[{{user]"),
        ("[{{setvar:: x ::  a }}{{getvar::x}}]", "[  a ]"),
        ("{{reverse::ab}}|{{reverse:ab😀}}", "ba:|😀ba"),
        ("{{roll::1d6}}|{{roll:6}}|{{roll d6}}", "|1|1"),
        ("a{{// x\ny }}b{{newline}}c{{noop}}", "ab\nc"),
        ("a\n\n{{trim}}\nb", "ab"),
        ("{{random::a ::b}}|{{random:: a , b}}|{{random :c}}", "a |a|c"),
        ("{{outlet:: a }}{{space}}", "OUT{{space}}"),
        ("{{incvar::n}}{{incvar::n}}{{addvar::n::3}}{{getvar::n}}", "455"),
        ("{{time}} {{time_UTC+2}} {{datetimeformat YYYY}}", "2:07 PM 4:07 PM 2026"),
        ("{{timeDiff::2023-01-01::2023-01-03}}", "2 days ago"),
        ("{{currentSwipeId}}|{{lastSwipeId}}", "NaN|"),
        ("{{{user}}}", "{User}"),
    ]);
    w.scene.persona.name = "{{char}}".into();
    assert_eq!(w.text("{{user}}"), "Character");
    let (_, effects) = w.run("{{banned \"a\"}}{{banned b}}");
    assert_eq!(effects.banned, ["a"]);
    let data = json!({"name": "C", "description": "D {{scenario}}", "scenario": "S", "post_history_instructions": "P"});
    let card = json!([{"avatar": "c.png", "card": {"data": data}}]);
    let settings = json!({"power_user": {"experimental_macro_engine": false}});
    World::new(&json!({"characters": card, "settings": settings}))
        .table(&[("{{description}}|{{charJailbreak}}", "D S|P")]);
    World::new(&json!({"characters": card}))
        .table(&[("{{description}}|{{charJailbreak}}", "D |{{charJailbreak}}")]);
}

#[test]
fn hashes_are_public() {
    assert_eq!(macros::hash53("main"), 5_117_801_401_981_229);
}
