//! What odd expressions are made of: texts, numbers, and whatever one function or another reads.

/// Local values that expressions refer to, as they are written in a configuration.
#[rustfmt::skip]
pub const NAMES: &[(&str, &str)] = &[
    ("us", "tostring(terraform_data.u.id)"),
    ("un", "tonumber(terraform_data.u.id)"),
    ("ub", "tobool(terraform_data.u.id)"),
    ("ud", "terraform_data.u.id"),
    ("ul", "split(\",\", terraform_data.u.id)"),
    ("uset", "toset(split(\",\", terraform_data.u.id))"),
    ("ulm", "[\"a\", tostring(terraform_data.u.id)]"),
    (
        "um", "tomap({ a = \"x\", b = tostring(terraform_data.u.id) })",
    ),
    ("up", "\"pre-${tostring(terraform_data.u.id)}\""),
    ("uo", "{ a = 1, b = terraform_data.u.id }"),
    ("ss", "sensitive(\"hunter2\")"),
    ("sn", "sensitive(7)"),
    ("sl", "sensitive([\"a\", \"b\"])"),
    ("slm", "[\"a\", sensitive(\"b\")]"),
    ("sm", "sensitive({ a = 1, b = \"x\" })"),
    ("smm", "{ a = sensitive(1), b = \"x\" }"),
    ("su", "sensitive(tostring(terraform_data.u.id))"),
    ("ls", "tolist([\"b\", \"a\", \"c\"])"),
    ("ln", "tolist([3, 1, 2])"),
    ("lo", "tolist([{ a = 1, b = \"x\" }, { a = 2, b = null }])"),
    ("st", "toset([\"b\", \"a\"])"),
    ("so", "toset([{ a = 2 }, { a = 1 }])"),
    ("ms", "tomap({ k = \"v\", a = \"b\" })"),
    ("ml", "tomap({ k = [\"v\"], a = [\"v\", \"b\"] })"),
    ("mo", "tomap({ k = { n = 1 }, a = { n = 2 } })"),
    ("ob", "{ a = 1, b = [true, null], c = { d = \"e\" } }"),
    ("ns", "tostring(null)"),
    ("nl", "tolist(null)"),
    ("nm", "tomap(null)"),
    ("nd", "null"),
    ("el", "tolist([])"),
    ("em", "tomap({})"),
    ("es", "toset([])"),
    ("els", "slice(tolist([\"x\"]), 0, 0)"),
    ("t0", "\"a $${x} %%{ if b }yes%%{ else }no%%{ endif }\""),
    (
        "t1", "\"%%{ for i, v in l ~}\\n $${i}=$${v}\\n%%{ endfor ~}\\n\"",
    ),
    ("t2", "\"$${upper(x)}$${nosuch}\""),
    ("t3", "\"$${x\""),
    ("t4", "\"$${l}\""),
    ("t5", "\"$$${x} $${~ x ~} end\""),
];

/// Functions whose answer depends on the moment, the machine or a compressor, or that take files or
/// keys.
#[rustfmt::skip]
pub const LEFT_OUT: &[&str] = &[
    "base64gzip", "bcrypt", "rsadecrypt", "timestamp", "plantimestamp", "uuid", "file",
    "filebase64", "filebase64sha256", "filebase64sha512", "fileexists", "filemd5", "fileset",
    "filesha1", "filesha256", "filesha512", "templatefile", "abspath", "pathexpand",
    "base64gunzip", "cidrcontains", "convert", "urldecode",
];

#[rustfmt::skip]
pub const TEXTS: &[&str] = &[
    "", "a", "B", "abc", "a,b,c", "10", "-2.5", "true", "héllo wörld", "  x y \t", "a\nb\n", "日本語",
    "e\u{301}", "👩‍👩‍👧x", "🇩🇪🇫🇷", "ÀÉ", "ß", "ǆ", "İ", "ﬁ", "a-b_c.d", "x1y22", "0x1F", "1e3",
    " 5", "5 ", "+5", "05", "1_000", "Inf", "NaN", "null", "false", "True", "1", "0", "%", "%s",
    "$", "\\", "\"", "'", "/", "//", "/a/b/../c.txt", "./x", "~/x", "a\r\nb\r\n", "\r", "\u{0}",
    "\u{feff}x", "\u{200d}", "\u{1F1E9}", "한국어", "각", "ก็", "i\u{307}", "Å", "a\u{30a}",
    "\u{2028}", "<&>", "ΑΣ", "ς", "9007199254740993", "1.00", "1e400", "00", "-0", "-", ".", "..",
    "a b  c", "-a--b-", "{}", "[]", "((", "${", "%{", "ｆｕｌｌ", "\u{1d54f}", "aaa", "foo bar",
    "don't stop", "McDONALD o'neil", "hello-world_x.y", "a\tb", "\u{a0}x\u{a0}",
    "\u{3000}x\u{3000}",
];

#[rustfmt::skip]
pub const NUMBERS: &[&str] = &[
    "0", "1", "2", "3", "-1", "7", "10", "16", "32", "36", "62", "63", "0.1", "1.5", "-2.25",
    "2.5", "-0.5", "100", "1e3", "255", "1e-3", "9007199254740993", "12345678901234567890.123",
    "1e30", "-1e-30", "0.1 + 0.2", "1/3", "-0", "1e308", "1e400", "18446744073709551615",
    "18446744073709551616", "9223372036854775807", "9223372036854775808", "-9223372036854775808",
    "-9223372036854775809", "3.0000000000000000000001", "1/0", "64", "128", "256", "4294967296",
    "0.30000000000000004", "1e-400",
    "123456789012345678901234567890123456789012345678901234567890.5", "5 % 3", "-5 % 3", "2.5 % 1",
    "999999999999999999999", "1e21", "1e20", "1e-7", "0.000001",
];

#[rustfmt::skip]
pub const NETWORKS: &[&str] = &[
    "10.0.0.0/16", "10.1.2.3/8", "10.0.0.0/32", "0.0.0.0/0", "192.168.1.0/24", "10.0.0.0",
    "10.0.0.0/33", "10.0.0.0/-1", "10.0.0/8", "010.0.0.0/8", "10.0.0.0/08", "256.0.0.0/8",
    "fd00::/8", "fd00:fd12:3456:7890:00a2::/72", "::/0", "::1/128", "2001:db8::/32",
    "::ffff:1.2.3.4/120", "::ffff:1.2.3.4/24", "2001:db8::/129", "2001:DB8:0:0:1::/80",
    "fe80::1%eth0/64", "10.0.0.0/16 ", "", "x/y", "10.0.0.0/1/2", "1.2.3.4/31", "::1.2.3.4/100",
    "2001:db8::1/64", "0:0:0:0:0:ffff:a00:1/128",
];

#[rustfmt::skip]
pub const TIMES: &[&str] = &[
    "2024-02-29T12:30:00Z", "2024-02-29T13:05:09+05:30", "2023-02-29T00:00:00Z",
    "2024-12-31T23:59:59Z", "2024-12-31T23:59:60Z", "2024-01-01T00:00:00.123456789Z",
    "2024-01-01T00:00:00.5Z", "2024-01-01t00:00:00z", "2024-01-01 00:00:00Z", "2024-1-1T00:00:00Z",
    "0000-01-01T00:00:00Z", "9999-12-31T23:59:59Z", "0001-01-01T00:00:00Z", "2024-01-01T00:00:00",
    "2024-01-01T24:00:00Z", "2024-13-01T00:00:00Z", "2024-01-01T00:00:00-00:00",
    "2024-01-01T00:00:00+00:00", "2024-01-01T00:00:00-08:00", "2024-01-01T00:00:00+24:00",
    "2024-01-01T00:00:00+23:59", "2024-01-01T00:00:00+0530", "2024-01-01T00:00Z", "", "2024",
    "2024-01-01T00:00:00,5Z", "10000-01-01T00:00:00Z", "2024-07-04T09:08:07Z",
    "2024-01-01T00:00:00.Z", "2024-01-01T12:00:00Z",
];

#[rustfmt::skip]
pub const DURATIONS: &[&str] = &[
    "1h", "90m", "1h30m", "-1.5h", "1d", "", "0", "5", "+5s", "1000000h", "1h-1m", ".5s", "5.s",
    "1.s", "1us", "1µs", "1μs", "1ns", "1ms", "1.123456789123s", " 1h", "1h ", "1H", "1 h", "-",
    "+", ".", "1h1h", "-0s", "9223372036854775807ns", "9223372036854775808ns",
    "2562047h47m16.854775807s", "2562048h", "1e3s", "-10m", "24h", "8760h", "100000h",
];

#[rustfmt::skip]
pub const BASE64: &[&str] = &[
    "Zm9v", "Zm9vYg==", "Zm9vYg", "Zm9vYg=", "Zm9v\nYg==", "Z", "====", "", "/w==", "_w==",
    "Zm9vYh==", "Zm 9v", "8J+RqQ==", "AA==", "Zm9vYg==x", "//8=", "aMOp", "YQ==\r\n", "6Q==",
    "/v8A4Q==", "4QA=",
];

#[rustfmt::skip]
pub const JSONS: &[&str] = &[
    "{\"k\":[1,2]}", "[]", "{}", "null", "true", "\"a\"", "1", "-0", "1e400",
    "12345678901234567890.5", "1.0", "[1,\"a\",null]", "{\"a\":1,\"a\":2}", "{a:1}", "[1,]", "",
    " ", " [1] ", "[1] x", "\"\\u00e9\\n\"", "\"\\ud83d\\ude00\"", "\"\\ud83d\"", "{\"\":1}",
    "{\"b\":1,\"a\":{\"c\":[]}}", "01", "+1", ".5", "1.", "1E2", "nul", "[[[[1]]]]",
    "{\"a\":null}", "'a'", "\"\t\"", "[true,false]", "0.1", "1e-5",
    "100000000000000000000000000000000000000001",
];

#[rustfmt::skip]
pub const YAMLS: &[&str] = &[
    "k: [1, x]", "- a\n- b\n", "a: 1\nb: two\n", "~", "null", "yes", "No", "on", "y", "0o17",
    "017", "0x1f", "0b11", "1_000", "1e3", ".inf", "-.Inf", ".nan", "2024-01-02",
    "2024-01-02T03:04:05Z", "a: &x 1\nb: *x\n", "a: &x {c: 1}\nb:\n  <<: *x\n  d: 2\n",
    "\"quoted\"", "'it''s'", "|\n  a\n  b\n", ">\n  a\n  b\n", "{a: b, c: [d]}", "a: b: c",
    "a:\n- b\n- c\n", "!!str 1", "!!int \"1\"", "!!set {a, b}", "? a\n: b\n", "1: a\n",
    "true: a\n", "null: a", "---\na: 1\n", "---\na: 1\n---\nb: 2\n", "a: 1\na: 2\n", "# c", "",
    "  ", "a: 'x", "[a", "@x", "`x", "%x", "- - a\n  - b\n", "a: !!binary Zm9v", "12:30:45", "1.5",
    "-1", "+1", "0", "1e400", "12345678901234567890", "!x y", "a: \"\\u00e9\\x41\"", "\"a\\\n b\"",
    "a: |-\n  x\n   y\n\n", "a: >+\n  x\n\n", "k: v # c", "k: v#c", "- ", "a:", "? [a]\n: b",
    "{a: 1, b}", "[a: b]", "*x",
];

#[rustfmt::skip]
pub const CSVS: &[&str] = &[
    "a,b\n1,2\n", "a,b\n1\n", "a,b\n1,2,3\n", "a,a\n1,2\n", "a\n\"x\"\"y\"\n", "a\n\"x\ny\"\n",
    "a,b\r\n1,2\r\n", "", "\n", "a", "a,b", "\"a\n", "a\nx\"y\n", "a\n\"x\"y\n", ",\n1,2\n",
    "a b, c\n1, 2\n", "a\n\n1\n", "é\nü\n", "a\n\"\"\n", "\u{feff}a\n1\n",
];

#[rustfmt::skip]
pub const ENCODINGS: &[&str] = &[
    "UTF-8", "utf-8", "UTF-16LE", "UTF-16BE", "UTF-16", "ISO-8859-1", "latin1", "windows-1252",
    "Shift_JIS", "EUC-JP", "GBK", "GB18030", "Big5", "EUC-KR", "KOI8-R", "IBM437", "US-ASCII", "x",
    "", "ISO-2022-JP", "macintosh", "ISO-8859-15", "windows-1251", "UTF-32", "UTF-7", "IBM866",
    "windows-874", "HZ-GB-2312", "cp1252", "ISO-8859-8-I", "unicode-1-1-utf-8",
];
