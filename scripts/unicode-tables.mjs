// Writes src/js/regexp/tables.rs: case folding and character properties, as this Node's Unicode version has them.
// Usage: node scripts/unicode-tables.mjs > src/js/regexp/tables.rs
const MAX = 0x10ffff;
const isSurrogate = (c) => c >= 0xd800 && c <= 0xdfff;

// --- case ------------------------------------------------------------------------------------------------------------
/** Runs [first, last, stride, delta] of a list of [from, to] pairs in ascending order. */
function runs(pairs) {
  const out = [];
  for (const [from, to] of pairs) {
    const r = out.at(-1);
    if (r && to - from === r.delta) {
      const gap = from - r.last;
      if (r.first === r.last && (gap === 1 || gap === 2)) { r.stride = gap; r.last = from; continue; }
      if (r.first !== r.last && gap === r.stride) { r.last = from; continue; }
    }
    out.push({ first: from, last: from, stride: 1, delta: to - from });
  }
  return out;
}

/** `Canonicalize` without `u`: upper case of one unit, never from outside ASCII into it. */
const upper = [];
for (let c = 0; c < 0x10000; c++) {
  if (isSurrogate(c)) continue;
  const u = String.fromCharCode(c).toUpperCase();
  if (u.length !== 1) continue;
  const cu = u.charCodeAt(0);
  if (cu === c || (c >= 128 && cu < 128)) continue;
  upper.push([c, cu]);
}

/** Simple case folding: the members of each class of `/x/iu` fold to one of them. */
const cased = [];
for (let c = 0; c <= MAX; c++) {
  if (isSurrogate(c)) continue;
  const s = String.fromCodePoint(c);
  if (s.toLowerCase() !== s || s.toUpperCase() !== s || /\p{Changes_When_Casefolded}/u.test(s)) cased.push(c);
}
const everything = cased.map((c) => String.fromCodePoint(c)).join("");
const fold = [];
const done = new Set();
for (const c of cased) {
  if (done.has(c)) continue;
  const members = everything.match(new RegExp(`\\u{${c.toString(16)}}`, "giu")).map((s) => s.codePointAt(0));
  if (members.length < 2) continue;
  members.forEach((m) => done.add(m));
  // Any member would do; the lower-case one gives the fewest runs.
  const target = members.find((m) => m < 128 && m > 96) ?? members.find((m) => !/\p{Changes_When_Casefolded}/u.test(String.fromCodePoint(m))) ?? members[0];
  for (const m of members) if (m !== target) fold.push([m, target]);
}
fold.sort((a, b) => a[0] - b[0]);

// --- properties --------------------------------------------------------------------------------------------------------
const GC = {
  Cn: "Unassigned", Lu: "Uppercase_Letter", Ll: "Lowercase_Letter", Lt: "Titlecase_Letter", Lm: "Modifier_Letter", Lo: "Other_Letter",
  Mn: "Nonspacing_Mark", Mc: "Spacing_Mark", Me: "Enclosing_Mark", Nd: "Decimal_Number", Nl: "Letter_Number", No: "Other_Number",
  Pc: "Connector_Punctuation", Pd: "Dash_Punctuation", Ps: "Open_Punctuation", Pe: "Close_Punctuation", Pi: "Initial_Punctuation",
  Pf: "Final_Punctuation", Po: "Other_Punctuation", Sm: "Math_Symbol", Sc: "Currency_Symbol", Sk: "Modifier_Symbol", So: "Other_Symbol",
  Zs: "Space_Separator", Zl: "Line_Separator", Zp: "Paragraph_Separator", Cc: "Control", Cf: "Format", Co: "Private_Use", Cs: "Surrogate",
};
const SCRIPTS = `Adlm=Adlam Aghb=Caucasian_Albanian Ahom=Ahom Arab=Arabic Armi=Imperial_Aramaic Armn=Armenian Avst=Avestan Bali=Balinese Bamu=Bamum
Bass=Bassa_Vah Batk=Batak Beng=Bengali Bhks=Bhaiksuki Bopo=Bopomofo Brah=Brahmi Brai=Braille Bugi=Buginese Buhd=Buhid Cakm=Chakma
Cans=Canadian_Aboriginal Cari=Carian Cham=Cham Cher=Cherokee Chrs=Chorasmian Copt=Coptic Cpmn=Cypro_Minoan Cprt=Cypriot Cyrl=Cyrillic
Deva=Devanagari Diak=Dives_Akuru Dogr=Dogra Dsrt=Deseret Dupl=Duployan Egyp=Egyptian_Hieroglyphs Elba=Elbasan Elym=Elymaic Ethi=Ethiopic
Gara=Garay Geor=Georgian Glag=Glagolitic Gong=Gunjala_Gondi Gonm=Masaram_Gondi Goth=Gothic Gran=Grantha Grek=Greek Gujr=Gujarati
Gukh=Gurung_Khema Guru=Gurmukhi Hang=Hangul Hani=Han Hano=Hanunoo Hatr=Hatran Hebr=Hebrew Hira=Hiragana Hluw=Anatolian_Hieroglyphs
Hmng=Pahawh_Hmong Hmnp=Nyiakeng_Puachue_Hmong Hung=Old_Hungarian Ital=Old_Italic Java=Javanese Kali=Kayah_Li Kana=Katakana Kawi=Kawi
Khar=Kharoshthi Khmr=Khmer Khoj=Khojki Kits=Khitan_Small_Script Knda=Kannada Krai=Kirat_Rai Kthi=Kaithi Lana=Tai_Tham Laoo=Lao Latn=Latin
Lepc=Lepcha Limb=Limbu Lina=Linear_A Linb=Linear_B Lisu=Lisu Lyci=Lycian Lydi=Lydian Mahj=Mahajani Maka=Makasar Mand=Mandaic
Mani=Manichaean Marc=Marchen Medf=Medefaidrin Mend=Mende_Kikakui Merc=Meroitic_Cursive Mero=Meroitic_Hieroglyphs Mlym=Malayalam Modi=Modi
Mong=Mongolian Mroo=Mro Mtei=Meetei_Mayek Mult=Multani Mymr=Myanmar Nagm=Nag_Mundari Nand=Nandinagari Narb=Old_North_Arabian Nbat=Nabataean
Newa=Newa Nkoo=Nko Nshu=Nushu Ogam=Ogham Olck=Ol_Chiki Onao=Ol_Onal Orkh=Old_Turkic Orya=Oriya Osge=Osage Osma=Osmanya Ougr=Old_Uyghur
Palm=Palmyrene Pauc=Pau_Cin_Hau Perm=Old_Permic Phag=Phags_Pa Phli=Inscriptional_Pahlavi Phlp=Psalter_Pahlavi Phnx=Phoenician
Plrd=Miao Prti=Inscriptional_Parthian Rjng=Rejang Rohg=Hanifi_Rohingya Runr=Runic Samr=Samaritan Sarb=Old_South_Arabian Saur=Saurashtra
Sgnw=SignWriting Shaw=Shavian Shrd=Sharada Sidd=Siddham Sind=Khudawadi Sinh=Sinhala Sogd=Sogdian Sogo=Old_Sogdian Sora=Sora_Sompeng
Soyo=Soyombo Sund=Sundanese Sunu=Sunuwar Sylo=Syloti_Nagri Syrc=Syriac Tagb=Tagbanwa Takr=Takri Tale=Tai_Le Talu=New_Tai_Lue Taml=Tamil
Tang=Tangut Tavt=Tai_Viet Telu=Telugu Tfng=Tifinagh Tglg=Tagalog Thaa=Thaana Thai=Thai Tibt=Tibetan Tirh=Tirhuta Tnsa=Tangsa Todr=Todhri
Toto=Toto Tutg=Tulu_Tigalari Ugar=Ugaritic Vaii=Vai Vith=Vithkuqi Wara=Warang_Citi Wcho=Wancho Xpeo=Old_Persian Xsux=Cuneiform
Berf=Beria_Erfe Sidt=Sidetic Tayo=Tai_Yo Tols=Tolong_Siki Yezi=Yezidi Yiii=Yi Zanb=Zanabazar_Square Zinh=Inherited Zyyy=Common`.split(/\s+/).map((s) => s.split("="));
const BINARY = `AHex=ASCII_Hex_Digit Alpha=Alphabetic Dash DI=Default_Ignorable_Code_Point Dep=Deprecated Dia=Diacritic Emoji EComp=Emoji_Component EMod=Emoji_Modifier
EBase=Emoji_Modifier_Base EPres=Emoji_Presentation Ext=Extender ExtPict=Extended_Pictographic Hex=Hex_Digit IDC=ID_Continue IDS=ID_Start
Ideo=Ideographic Join_C=Join_Control Lower=Lowercase Math NChar=Noncharacter_Code_Point Pat_Syn=Pattern_Syntax Pat_WS=Pattern_White_Space
QMark=Quotation_Mark Radical RI=Regional_Indicator STerm=Sentence_Terminal Term=Terminal_Punctuation UIdeo=Unified_Ideograph
Upper=Uppercase VS=Variation_Selector space=White_Space XIDC=XID_Continue XIDS=XID_Start Cased`.split(/\s+/).map((s) => s.split("="));

const has = (name) => { const r = new RegExp(`\\p{${name}}`, "u"); return (c) => r.test(String.fromCodePoint(c)); };
const kinds = Object.keys(GC);
const gcOf = new Uint8Array(MAX + 1);
kinds.forEach((k, i) => { const t = has(k); for (let c = 0; c <= MAX; c++) if (t(c)) gcOf[c] = i; });

/** Variable-length numbers, seven bits a byte, low first. */
function varint(out, n) { while (n > 127) { out.push((n & 127) | 128); n >>>= 7; } out.push(n); }

function partition(values, bits) {
  const out = [];
  for (let c = 0; c <= MAX; ) {
    let e = c;
    while (e <= MAX && values[e] === values[c]) e++;
    varint(out, (e - c) * (1 << bits) + values[c]);
    c = e;
  }
  return out;
}

const scriptOf = new Uint8Array(MAX + 1);
const scripts = SCRIPTS.filter(([short]) => { try { new RegExp(`\\p{sc=${short}}`, "u"); return true; } catch { return false; } });
scripts.forEach(([short], i) => { const t = has(`sc=${short}`); for (let c = 0; c <= MAX; c++) if (t(c)) scriptOf[c] = i + 1; });

/** A property as the categories it mostly equals, and the lengths of alternate runs that agree with them or do not. */
function binary(name) {
  const t = has(name);
  const inside = new Array(kinds.length).fill(0), outside = new Array(kinds.length).fill(0);
  const is = new Uint8Array(MAX + 1);
  for (let c = 0; c <= MAX; c++) { is[c] = t(c) ? 1 : 0; (is[c] ? inside : outside)[gcOf[c]]++; }
  const best = () => {
    let mask = 0;
    kinds.forEach((_, i) => { if (inside[i] > outside[i]) mask += 2 ** i; });
    return mask;
  };
  const encode = (mask) => {
    const out = [];
    let differs = 0, length = 0;
    for (let c = 0; c <= MAX; c++) {
      const d = is[c] ^ (Math.floor(mask / 2 ** gcOf[c]) & 1);
      if (d !== differs) { varint(out, length); length = 0; differs = d; }
      length++;
    }
    return out; // the last run is implied
  };
  const [plain, clever] = [0, best()].map((m) => [m, encode(m)]);
  const [mask, bytes] = clever[1].length < plain[1].length ? clever : plain;
  return { mask, bytes };
}

// --- output ------------------------------------------------------------------------------------------------------------
const hex = (n) => "0x" + n.toString(16);
const bytes = (list) => {
  let out = "", line = "";
  for (const b of list) {
    line += "\\x" + b.toString(16).padStart(2, "0");
    if (line.length > 100) { out += line + "\\\n      "; line = ""; }
  }
  return `b"${out}${line}"`;
};
const folds = (pairs) => runs(pairs).map((r) => `    (${hex(r.first)}, ${hex(r.last)}, ${r.stride}, ${r.delta}),`).join("\n");
const log = [];
let o = `//! Case and character properties, Unicode ${process.versions.unicode}. Written by \`scripts/unicode-tables.mjs\`; not edited by hand.
//! What each table means is said where it is read: \`fold.rs\`, \`props.rs\`.

/// A run of case mappings: first, last, stride, what to add.
pub(super) type Run = (u32, u32, u8, i32);

/// Upper case of one UTF-16 unit.
#[rustfmt::skip]
pub(super) const UPPER: &[Run] = &[
${folds(upper)}
];

/// Simple case folding.
#[rustfmt::skip]
pub(super) const FOLD: &[Run] = &[
${folds(fold)}
];

/// General categories, in the order of their numbers: short name, long name.
pub(super) const CATEGORIES: &[(&str, &str)] = &[
${kinds.map((k) => `    ("${k}", "${GC[k]}"),`).join("\n")}
];

/// Runs of general categories: length * 32 + number.
#[rustfmt::skip]
pub(super) const CATEGORY: &[u8] =
    ${bytes(partition(gcOf, 5))};

/// Scripts, number 1 first: short name, long name.
pub(super) const SCRIPTS: &[(&str, &str)] = &[
${scripts.map(([s, l]) => `    ("${s}", "${l}"),`).join("\n")}
];

/// Runs of scripts: length * 256 + number.
#[rustfmt::skip]
pub(super) const SCRIPT: &[u8] =
    ${bytes(partition(scriptOf, 8))};

/// A binary property: short name, long name, categories it starts from, where it differs from them.
pub(super) type Binary = (&'static str, &'static str, u32, &'static [u8]);

/// Binary properties.
#[rustfmt::skip]
pub(super) const BINARY: &[Binary] = &[
`;
for (const [short, long = short] of BINARY) {
  const { mask, bytes: b } = binary(long);
  log.push(`${long} ${b.length}`);
  o += `    ("${short}", "${long}", ${hex(mask)},\n     ${bytes(b)}),\n`;
}
o += "];\n";
console.error(`upper ${runs(upper).length} fold ${runs(fold).length} gc ${partition(gcOf, 5).length} sc ${partition(scriptOf, 8).length}\n${log.join("\n")}`);
process.stdout.write(o);
