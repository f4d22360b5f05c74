//! Every built-in macro and alias of spec 04 §11, in both engines; macros of the host; what editors and callers are told.

use promptside::host::{Dice, Host};
use promptside::macros::{self, Env, EnvBase, SpanStatus, explain};
use promptside::parts::Effects;
use promptside::profile::Profile;
use promptside::scene::Scene;
use serde_json::{Value, json};

use crate::macros_spec::World;

/// A world in which every macro has a value of its own.
fn world() -> World {
    let sequences = [
        "story_string_prefix",
        "story_string_suffix",
        "input_sequence",
        "input_suffix",
        "output_sequence",
        "output_suffix",
        "system_sequence",
        "system_suffix",
        "first_output_sequence",
        "last_output_sequence",
        "first_input_sequence",
        "last_input_sequence",
        "stop_sequence",
        "user_alignment_message",
        "last_system_sequence",
    ];
    let mut instruct: Value = sequences
        .iter()
        .map(|s| ((*s).to_owned(), json!(format!("<{s}>"))))
        .collect::<serde_json::Map<_, _>>()
        .into();
    instruct["enabled"] = json!(true);
    let card = json!({
        "name": "洛恩", "description": "描述", "personality": "性格", "scenario": "Сцена", "first_mes": "やあ", "mes_example": "<START>\nA: 예",
        "system_prompt": "SYS", "post_history_instructions": "PHI", "creator_notes": "โน้ต", "character_version": "1.2", "alternate_greetings": ["مرحبا"],
        "extensions": {"depth_prompt": {"prompt": "深度", "depth": 4, "role": "system"}},
    });
    let mut w = World::new(&json!({
        "characters": [{"avatar": "lorne.png", "card": {"data": card}}, {"avatar": "b.png", "card": {"data": {"name": "Béa"}}}],
        "persona": {"name": "旅人", "description": "P"},
        "chat": {
            "id": "chat",
            "metadata": {"variables": {"v": "L", "o": "{\"k\":\"e\"}"}, "note_prompt": "注", "lastInContextMessageId": 1, "chat_id_hash": 1},
            "messages": [
                {"name": "旅人", "is_user": true, "mes": "喂", "extra": {"memory": "Σ"}},
                {"name": "洛恩", "mes": "嗯", "swipes": ["嗯", "啊"], "swipe_id": 0},
            ],
        },
        "variables": {"global": {"g": "G", "o": "[\"e\"]"}},
        "preset": {"chat_completion_source": "openai", "openai_model": "gpt-4o", "openai_max_context": 8000, "openai_max_tokens": 500},
        "settings": {
            "power_user": {
                "instruct": instruct,
                "sysprompt": {"enabled": true, "content": "S"},
                "context": {"chat_start": "开始", "example_separator": "—"},
                "reasoning": {"prefix": "<想>", "suffix": "</想>", "separator": "|"},
            },
            "extensions": {
                "note": {"default": "D", "chara": [{"name": "lorne", "prompt": "own"}]},
                "sd": {"character_prompts": {"lorne": "+"}, "character_negative_prompts": {"lorne": "-"}},
            },
        },
        "macros": {"isMobile": true, "availableExpressions": "joy, 悲", "defaultExpression": "joy", "lastExpression": "悲", "lastExpression::Béa": "joy"},
    }));
    w.outlets.insert("key".into(), "出口".into());
    w.original = Some("原".into());
    w
}

/// Text, what the new engine makes of it, and the old one; `=` for the same, `raw` for unchanged.
const ROWS: &[(&str, &str, &str)] = &[
    // 11.1
    ("{{newline}}", "\n", "="),
    ("{{newline::2}}", "\n\n", "raw"),
    ("{{space}}", " ", "raw"),
    ("{{space::2}}", "  ", "raw"),
    ("{{noop}}", "", "="),
    ("a\n{{trim}}\nb", "ab", "="),
    ("{{trim}} a {{/trim}}", "a", " a {{/trim}}"),
    ("{{reverse::洛😀}}", "😀洛", "😀洛:"),
    ("{{// x}}", "", "="),
    ("{{comment::x}}", "", "raw"),
    ("{{comment}}x{{/comment}}", "", "raw"),
    ("{{if 1}}a{{else}}b{{/if}}", "a", "raw"),
    ("{{input}}", "入", "="),
    ("{{outlet::key}}", "出口", "="),
    ("{{banned::x}}", "", "raw"),
    // 11.2
    ("{{user}}", "旅人", "="),
    ("{{char}}", "洛恩", "="),
    ("{{group}}", "洛恩", "="),
    ("{{charIfNotGroup}}", "洛恩", "="),
    ("{{groupNotMuted}}", "洛恩", "="),
    ("{{notChar}}", "旅人", "="),
    // 11.3
    ("{{charPrompt}}", "SYS", "="),
    ("{{charInstruction}}", "PHI", "="),
    ("{{charJailbreak}}", "raw", "PHI"),
    ("{{charDescription}}", "描述", "raw"),
    ("{{description}}", "描述", "="),
    ("{{charPersonality}}", "性格", "raw"),
    ("{{personality}}", "性格", "="),
    ("{{charScenario}}", "Сцена", "raw"),
    ("{{scenario}}", "Сцена", "="),
    ("{{persona}}", "P", "="),
    ("{{mesExamplesRaw}}", "<START>\nA: 예", "="),
    ("{{mesExamples}}", "<START>\nA: 예\n", "="),
    ("{{charDepthPrompt}}", "深度", "="),
    ("{{charCreatorNotes}}", "โน้ต", "raw"),
    ("{{creatorNotes}}", "โน้ต", "="),
    ("{{charVersion}}", "1.2", "="),
    ("{{version}}", "1.2", "raw"),
    ("{{char_version}}", "1.2", "="),
    ("{{charFirstMessage}}", "やあ", "raw"),
    ("{{greeting}}", "やあ", "raw"),
    ("{{greeting::1}}|{{charFirstMessage::0}}", "مرحبا|やあ", "raw"),
    ("{{original}}{{original}}", "原", "="),
    // 11.4
    ("{{lastMessage}}", "嗯", "="),
    ("{{lastMessageId}}", "1", "="),
    ("{{lastUserMessage}}", "喂", "="),
    ("{{lastCharMessage}}", "嗯", "="),
    ("{{allChatRange}}", "0-1", "="),
    ("{{lastSwipeId}}", "2", "="),
    ("{{currentSwipeId}}", "1", "="),
    ("{{firstIncludedMessageId}}", "1", "="),
    ("{{firstDisplayedMessageId}}", "0", "="),
    ("{{lastGenerationType}}", "normal", "raw"),
    // 11.5
    ("{{model}}", "gpt-4o", "="),
    ("{{maxContext}}", "8000", "="),
    ("{{maxContextTokens}}", "8000", "="),
    ("{{maxResponse}}", "500", "="),
    ("{{maxResponseTokens}}", "500", "="),
    ("{{maxPrompt}}", "7500", "="),
    ("{{maxPromptTokens}}", "7500", "="),
    ("{{isMobile}}", "true", "="),
    ("{{hasExtension::regex}}|{{hasExtension::none}}", "true|false", "raw"),
    // 11.6
    ("{{random::a::b}}", "a", "="),
    ("{{pick::a::a}}", "a", "="),
    ("{{roll d6}}", "1", "="),
    ("{{time}}", "2:07 PM", "="),
    ("{{date}}", "January 5, 2026", "="),
    ("{{weekday}}", "Monday", "="),
    ("{{isotime}}", "14:07", "="),
    ("{{isodate}}", "2026-01-05", "="),
    ("{{datetimeformat YYYY}}", "2026", "="),
    ("{{idleDuration}}", "just now", "raw"),
    ("{{idle_duration}}", "just now", "="),
    ("{{timeDiff::2023::2024}}", "a year ago", "="),
    // 11.7
    ("{{setvar::x::1}}{{getvar::x}}", "1", "="),
    ("{{addvar::x::2}}{{addvar::x::3}}{{getvar::x}}", "5", "="),
    ("{{incvar::n}}", "1", "="),
    ("{{decvar::n}}", "-1", "="),
    ("{{getvar::v}}", "L", "="),
    ("{{hasvar::v}}{{varexists::w}}", "truefalse", "raw"),
    ("{{deletevar::v}}{{hasvar::v}}", "false", "raw"),
    ("{{flushvar::v}}{{varexists::v}}", "false", "raw"),
    ("{{setvarkey::k::a::1}}{{getvar::k}}", "{\"a\":\"1\"}", "{{setvarkey::k::a::1}}"),
    ("{{setvarindex::k::0::1}}{{getvarindex::k::0}}", "1", "raw"),
    ("{{getvarkey::o::k}}", "e", "raw"),
    ("{{setglobalvar::x::1}}{{getglobalvar::x}}", "1", "="),
    ("{{addglobalvar::x::2}}{{getglobalvar::x}}", "2", "="),
    ("{{incglobalvar::n}}", "1", "="),
    ("{{decglobalvar::n}}", "-1", "="),
    ("{{getglobalvar::g}}", "G", "="),
    ("{{hasglobalvar::g}}{{globalvarexists::w}}", "truefalse", "raw"),
    ("{{deleteglobalvar::g}}{{hasglobalvar::g}}", "false", "raw"),
    ("{{flushglobalvar::g}}{{globalvarexists::g}}", "false", "raw"),
    ("{{setglobalvarkey::k::a::1}}{{getglobalvarkey::k::a}}", "1", "raw"),
    ("{{setglobalvarindex::k::1::1}}{{getglobalvarindex::o::0}}", "e", "raw"),
    // 11.8
    ("{{instructStoryStringPrefix}}", "<story_string_prefix>", "="),
    ("{{instructStoryStringSuffix}}", "<story_string_suffix>", "="),
    ("{{instructUserPrefix}}{{instructInput}}", "<input_sequence><input_sequence>", "="),
    ("{{instructUserSuffix}}", "<input_suffix>", "="),
    ("{{instructAssistantPrefix}}{{instructOutput}}", "<output_sequence><output_sequence>", "="),
    ("{{instructAssistantSuffix}}{{instructSeparator}}", "<output_suffix><output_suffix>", "="),
    ("{{instructSystemPrefix}}{{instructSystemSuffix}}", "<system_sequence><system_suffix>", "="),
    ("{{instructFirstAssistantPrefix}}", "<first_output_sequence>", "="),
    ("{{instructFirstOutputPrefix}}", "<first_output_sequence>", "raw"),
    ("{{instructFirstOutput}}", "raw", "<first_output_sequence>"),
    ("{{instructLastAssistantPrefix}}", "<last_output_sequence>", "="),
    ("{{instructLastOutputPrefix}}", "<last_output_sequence>", "raw"),
    ("{{instructLastOutput}}", "raw", "<last_output_sequence>"),
    (
        "{{instructFirstUserPrefix}}{{instructFirstInput}}",
        "<first_input_sequence><first_input_sequence>",
        "=",
    ),
    ("{{instructLastUserPrefix}}{{instructLastInput}}", "<last_input_sequence><last_input_sequence>", "="),
    ("{{instructStop}}", "<stop_sequence>", "="),
    ("{{instructUserFiller}}", "<user_alignment_message>", "="),
    ("{{instructSystemInstructionPrefix}}", "<last_system_sequence>", "="),
    ("{{defaultSystemPrompt}}{{instructSystem}}{{instructSystemPrompt}}", "SSS", "="),
    ("{{systemPrompt}}", "SYS", "="),
    ("{{exampleSeparator}}", "—", "raw"),
    ("{{chatSeparator}}", "—", "="),
    ("{{chatStart}}", "开始", "="),
    ("{{reasoningPrefix}}{{reasoningSuffix}}{{reasoningSeparator}}", "<想></想>|", "raw"),
    // 11.9
    ("{{authorsNote}}", "注", "="),
    ("{{charAuthorsNote}}", "own", "="),
    ("{{defaultAuthorsNote}}", "D", "="),
    ("{{summary}}", "Σ", "="),
    ("{{charPrefix}}{{charNegativePrefix}}", "+-", "="),
    ("{{defaultExpression}}|{{availableExpressions}}", "joy|joy, 悲", "="),
    ("{{lastExpression}}", "悲", "="),
    ("{{lastExpression::Béa}}", "joy", "="),
    // 11.10: not of this engine
    ("{{name}}", "raw", "="),
    ("{{match}}", "raw", "="),
    ("{0}", "raw", "="),
    ("{{pipe}}", "raw", "="),
    ("{{var::x}}", "raw", "="),
    ("{{timesIndex}}", "raw", "="),
];

#[test]
fn every_built_in_in_both_engines() {
    let wrong: Vec<String> = ROWS
        .iter()
        .flat_map(|&(text, new, old)| {
            let means = |column: &'static str, same: &str| match column {
                "raw" => text.to_owned(),
                "=" => same.to_owned(),
                other => other.to_owned(),
            };
            let new = means(new, text);
            let old = means(old, &new);
            let run = |legacy: bool| {
                let mut w = world();
                w.scene.settings.experimental_macro_engine = !legacy;
                w.run_with(text, |env| Env { input: "入", last_generation_type: "normal", ..env }).0
            };
            [(false, new), (true, old)].into_iter().filter_map(move |(legacy, want)| {
                let got = run(legacy);
                (got != want).then(|| format!("{text} legacy {legacy}\n   want {want:?}\n   got  {got:?}"))
            })
        })
        .collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    let shown = ROWS.iter().map(|r| r.0.to_ascii_lowercase()).collect::<String>();
    let missing: Vec<&str> = macros::names().filter(|n| !shown.contains(&format!("{{{{{n}"))).collect();
    assert!(missing.is_empty(), "no row for {missing:?}");
}

/// spec 04 §11.8: empty while instruct mode, or the system prompt, is off.
#[test]
fn templates_that_are_off_insert_nothing() {
    let mut w = world();
    w.scene.settings.power_user.insert("instruct".into(), json!({"enabled": false, "input_sequence": "<i>"}));
    w.scene.settings.power_user.insert("sysprompt".into(), json!({"enabled": false, "content": "S"}));
    w.table(&[(
        "[{{instructInput}}{{instructStop}}{{systemPrompt}}{{defaultSystemPrompt}}]{{chatStart}}",
        "[]开始",
    )]);
    // A later sequence that is empty is stood in for by the general one.
    w.scene.settings.power_user.insert(
        "instruct".into(),
        json!({"enabled": true, "output_sequence": "<o>", "input_sequence": "<i>"}),
    );
    w.table(&[("{{instructLastOutputPrefix}}{{instructFirstInput}}", "<o><i>")]);
}

/// spec 04 §12: host macros win, take no arguments but those given, and what they insert is not looked at again.
#[test]
fn macros_of_the_host() {
    for (profile, scoped) in
        [(Profile::sillytavern(), "{{weather}}x}}"), (Profile::promptside(), "雨x{{/weather}}")]
    {
        let mut w = World::new(&json!({"macros": {
            "weather": "雨", "Level": 7, "dark": false, "user": "{{char}}", "time::Asia/Tokyo": "11:07 PM", "hasExtension::mine": true, "dice::2::6": "7",
        }}));
        w.profile = profile;
        w.table(&[
            ("{{weather}} {{LEVEL}} {{dark}} {{user}}", "雨 7 false {{char}}"),
            ("{{time::asia/tokyo}}|{{time}}|{{time::UTC+1}}", "11:07 PM|2:07 PM|3:07 PM"),
            (
                "{{hasExtension::mine}}{{hasExtension::other}}{{dice::2::6}}{{dice::1::6}}",
                "truefalse7{{dice::1::6}}",
            ),
            ("{{weather::x}}", "{{weather::x}}"),
            ("{{reverse::{{weather}}风}}", "风雨"),
            ("{{if weather}}a{{else}}b{{/if}}", "a"),
        ]);
        assert_eq!(w.text("{{weather}}x{{/weather}}"), scoped);
        w.scene.settings.experimental_macro_engine = false;
        assert_eq!(
            w.text("{{weather}} {{user}} {{level}}"),
            "雨 Character 7",
            "the old engine looks at values again"
        );
    }
    let odd =
        json!({"characters": [], "macros": {"天气": "x", "a b": "x", "list": [], "ok-1_": "x", "": "x"}});
    let (scene, warnings) = Scene::from_value(&odd).unwrap();
    assert_eq!(scene.macros, [("ok-1_".to_owned(), "x".to_owned())]);
    assert_eq!(warnings.len(), 4);
}

#[test]
fn editors_are_told_what_each_macro_inserts() {
    let mut w = World::new(&json!({"macros": {"weather": "雨", "time::x": "now"}}));
    w.draws = vec![0.9, 0.0];
    for profile in [Profile::sillytavern(), Profile::promptside()] {
        w.profile = profile;
        let tell = |text: &str| {
            let base = EnvBase::new(&w.scene, Some(0), &w.profile);
            let mut host = Host { clock: w.clock.clone(), ..Host::new(Dice::tape(w.draws.clone())) };
            let mut effects = Effects::default();
            let (result, spans) = explain(text, &base.env(), &mut host, &mut effects);
            assert_eq!(result, w.text(text), "the same as without looking");
            spans
                .into_iter()
                .map(|s| format!("{}={}", s.name, s.value.as_deref().unwrap_or("-")))
                .collect::<Vec<_>>()
        };
        assert_eq!(
            tell(
                "😀<USER> {{time_UTC+2}}<bot>{{random::a::{{user}}}} {{weather}} {{foo}}<char>{{setvar::x::洛}}{{.x}}"
            ),
            [
                "USER=User",
                "time_UTC=4:07 PM",
                "bot=Character",
                "random=User",
                "user=User",
                "weather=雨",
                "foo=-",
                "char=Character",
                "setvar=",
                ".x=洛"
            ]
        );
        assert_eq!(
            tell("{{if 0}}{{user}}{{else}}{{char}}{{/if}}{{reverse}}a{{/reverse}}")[..5],
            ["if=Character", "user=-", "else=-", "char=Character", "if=-"]
        );
        assert_eq!(tell("plain"), [""; 0]);
        let status = |text: &str| macros::parse(text, &["weather", "time::x"], &w.profile)[0].status;
        assert_eq!(
            ["{{weather}}", "{{weather::1}}", "{{time::x}}", "{{sun}}", "{{user::x}}"].map(status),
            [
                SpanStatus::Expands,
                SpanStatus::Arguments,
                SpanStatus::Expands,
                SpanStatus::Unknown,
                SpanStatus::Arguments
            ]
        );
    }
}
