//! Word lists of the mention matcher (spec 01 §P1.8). Data: a host may replace any of them.

/// The lists. Every word may be given in any spelling; it is compared by its key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Words {
    /// Never a name by themselves when they are part of one: articles, titles, kinship.
    pub particles: Vec<String>,
    /// Words that are names too (`Will`, `Rose`): as plain mentions they need a capital or an address.
    pub common: Vec<String>,
    /// What may follow a name in hiragana: particles and honorifics.
    pub japanese: Vec<String>,
    /// Korean honorifics, which may stand between a name and a particle.
    pub korean_honorifics: Vec<String>,
    /// Korean particles.
    pub korean_particles: Vec<String>,
    /// Arabic letters that are written together with the next word.
    pub arabic: Vec<String>,
    /// Likewise in Hebrew.
    pub hebrew: Vec<String>,
    /// Cyrillic case endings.
    pub cyrillic_endings: Vec<String>,
    /// What stands for everyone after `@`.
    pub everyone: Vec<String>,
}

const PARTICLES: &str = "the a an of and or in to de del della di da do dos du van von der den des la le les el al bin ibn ben bint \
    y e zu zum st no san mr mrs ms miss mx dr doctor prof professor sir lady lord dame king queen prince princess captain general \
    major sergeant father mother brother sister uncle aunt old young little big great jr sr ii iii iv и с в на пан герр мистер мисс";

const COMMON: &str = "will may mark rose hope joy grace faith art bill rob pat sue ray dawn summer autumn june april august ivy lily \
    violet ruby pearl sky hunter mason chance angel king queen guard eve max jack frank chase drew grant guy holly jade nick penny \
    rich robin stone storm van victor wade winter wolf star sage raven rain ash brook cliff dean earl duke major bishop page carol \
    gene iris melody miles misty olive red rusty sandy scarlet shadow sunny note system narrator it me you he she we they him her \
    here there";

const JAPANESE: &str = "ちゃん さん くん さま せんぱい どの たん から まで より って とか だけ など なら だよ です だ は が を に へ と も \
    の や で ね よ か な さ";

const KOREAN_HONORIFICS: &str = "씨 님 군 양 선배 선배님 언니 오빠 형 누나 쌤 선생님";

const KOREAN_PARTICLES: &str = "은 는 이 가 이가 이는 을 를 의 에 에게 에게서 에서 께 께서 한테 한테서 와 과 랑 이랑 도 만 까지 부터 \
    처럼 보다 로 으로 아 야 여 이여 이야 이라고 라고 이네 네";

const ARABIC: &str = "و ف ب ل ك س ال وال بال فال كال لل ول وب فل";

const HEBREW: &str = "ו ה ב ל מ ש כ וה כש מה ול וב וש לה בה";

const CYRILLIC_ENDINGS: &str = "а у ом е ы и ой ою ей ею ю я ем ём ь ью ям ами ах ов ев ями ях";

const EVERYONE: &str = "everyone all 全体 全体成员 所有人 みんな 모두";

impl Default for Words {
    fn default() -> Self {
        let list = |text: &str| text.split_ascii_whitespace().map(str::to_owned).collect();
        Self {
            particles: list(PARTICLES),
            common: list(COMMON),
            japanese: list(JAPANESE),
            korean_honorifics: list(KOREAN_HONORIFICS),
            korean_particles: list(KOREAN_PARTICLES),
            arabic: list(ARABIC),
            hebrew: list(HEBREW),
            cyrillic_endings: list(CYRILLIC_ENDINGS),
            everyone: list(EVERYONE),
        }
    }
}
