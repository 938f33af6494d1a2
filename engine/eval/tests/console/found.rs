//! Expressions that once were answered otherwise here than by the binary, found by
//! [`super::differential`], with its answers: as the console prints them, each run of white space as one
//! space, `"#ERR"` where it fails.

use super::differential::{ours, scope};

#[rustfmt::skip] // a table
const FOUND: &[(&str, &str)] = &[
    (r#"pow(10, 308)"#, r#"100000000000000060000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000"#),
    (r#"pow(2, 1.5)"#, r#"2.82842712474619"#),
    (r#"pow(3, -2)"#, r#"0.1111111111111111"#),
    (r#"pow(1.1, 10)"#, r#"2.593742460100002"#),
    (r#"pow(7, 0.3)"#, r#"1.792789962520997"#),
    (r#"pow(2, 1023)"#, r#"89884656743115800000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000"#),
    (r#"log(2, 3)"#, r#"0.6309297535714575"#),
    (r#"log(3, 100)"#, r#"0.23856062735983116"#),
    (r#"log(10, 2)"#, r#"3.3219280948873626"#),
    (r#"log(1000, 10)"#, r#"2.9999999999999996"#),
    (r#"log(0.1, 3)"#, r#"-2.095903274289385"#),
    (r#"log(7, 10)"#, r#"0.8450980400142567"#),
    (r#"log(123456789, 10)"#, r#"8.09151497716927"#),
    (r#"log(2, 10)"#, r#"0.30102999566398114"#),
    (r#"log(1e-300, 2)"#, r#"-996.5784284662087"#),
    (r#"log(99, 3)"#, r#"4.1826583386441385"#),
    (r#"log(1e300, 7)"#, r#"354.9883987364815"#),
    (r#"floor(-0)"#, r#"0"#),
    (r#"floor(0 * -1)"#, r#"0"#),
    (r#"format("%d", -0)"#, r#""0""#),
    (r#"substr("hello", -2, 0)"#, r#""lo""#),
    (r#"substr("hello", -9, 0)"#, r#""hello""#),
    (r#"substr("hello", 1, 0)"#, r#""""#),
    (r#"base64decode("Zm9vYh==")"#, r#""foob""#),
    (r#"textdecodebase64("Zm9vYh==", "UTF-8")"#, r#""foob""#),
    (r#"textencodebase64("a", "unicode-1-1-utf-8")"#, r##""#ERR""##),
    (r#"textencodebase64("a", "iso8859-1")"#, r##""#ERR""##),
    (r#"textencodebase64("a", "cp1251")"#, r##""#ERR""##),
    (r#"textencodebase64("é", "CP936")"#, r#""qKY=""#),
    (r#"textencodebase64("é", "csUTF8")"#, r#""w6k=""#),
    (r#"textencodebase64("€", "latin10")"#, r#""pA==""#),
    (r#"timecmp("2024-01-01T00:00:00+24:00", "2024-01-01T00:00:00Z")"#, r#"-1"#),
    (r#"timecmp("2024-01-01T00:00:00,5Z", "2024-01-01T00:00:00Z")"#, r#"1"#),
    (r#"timecmp("2024-01-01T0:00:00Z", "2024-01-01T00:00:00Z")"#, r#"0"#),
    (r#"timecmp("2024-01-01T00:00:00+00:60", "2024-01-01T00:00:00Z")"#, r#"-1"#),
    (r#"timecmp("2024-01-01T00:00:00+25:00", "2024-01-01T00:00:00Z")"#, r##""#ERR""##),
    (r#"timeadd("0000-01-01T00:00:00Z", "-10m")"#, r#""-0001-12-31T23:50:00Z""#),
    (r#"yamlencode("\ufeffé g\t\"x")"#, r#"<<-EOT "\uFEFF\xE9\x20\x67\t\"\x78" EOT"#),
    (r#"formatlist("%z", [])"#, r#"tolist([])"#),
    (r#"formatlist("%z", [], 1)"#, r#"tolist([])"#),
    (r#"formatlist("%s", [], [1])"#, r##""#ERR""##),
    (r#"coalesce("", local.st, null)"#, r#""""#),
    (r#"coalesce(1, ["a"], null)"#, r#"1"#),
    (r#"coalesce(1, true, null)"#, r#"1"#),
    (r#"coalesce(1, true)"#, r##""#ERR""##),
    (r#"coalesce("a", local.ss)"#, r#"(sensitive value)"#),
    (r#"coalesce(null, local.smm)"#, r#"(sensitive value)"#),
    (r#"coalescelist([], [local.sn])"#, r#"(sensitive value)"#),
    (r#"coalescelist(local.nl, ["a"])"#, r#"[ "a", ]"#),
    (r#"coalescelist(["a"], 5)"#, r##""#ERR""##),
    (r#"coalescelist(["a"], local.sl)"#, r#"(sensitive value)"#),
    (r#"coalescelist([], {}, ["a"])"#, r##""#ERR""##),
    (r#"(true ? "a" : local.ss)"#, r#"(sensitive value)"#),
    (r#"(true ? ["a"] : [local.ss])"#, r#"[ "a", ]"#),
    (r#"(false ? null : local.sl)"#, r#"(sensitive value)"#),
    (r#"(local.ub ? [][1] : 1)"#, r#"(known after apply)"#),
    (r#"(local.ub ? upper([]) : local.ob.nope)"#, r#"(known after apply)"#),
    (r#"[for x in [local.sl] : x if x != null]"#, r#"(sensitive value)"#),
    (r#"{a = local.sn} != null"#, r#"(sensitive value)"#),
    (r#"[local.sn] == ["x"]"#, r#"(sensitive value)"#),
    (r#"tolist([local.sn]) == tolist([8])"#, r#"(sensitive value)"#),
    (r#"contains(local.ln, [{ a = local.us }, local.ob])"#, r#"false"#),
    (r#"(local.ub == local.el)"#, r#"false"#),
    (r#"(local.us == [])"#, r#"false"#),
    (r#"(local.ul == local.el)"#, r#"false"#),
    (r#"([local.us] == ["a", "b"])"#, r#"false"#),
    (r#"([local.us] == [1])"#, r#"false"#),
    (r#"length(local.up) > 3"#, r#"true"#),
    (r#"[for k, x in { a = local.up, b = "x" } : k if length(x) > 0]"#, r#"[ "a", "b", ]"#),
    (r#"slice(local.ul, 3, 1.5)"#, r##""#ERR""##),
    (r#"slice(local.ul, -1, 1)"#, r##""#ERR""##),
    (r#"matchkeys(local.ul, local.so, toset([16]))"#, r##""#ERR""##),
    (r#"matchkeys([1, 2], ["a"], [local.us])"#, r##""#ERR""##),
    (r#"templatestring(local.t0, { x = 1, b = true, y = [sensitive(1)] })"#, r#"(sensitive value)"#),
    (r#"templatestring(["/"].0, {})"#, r##""#ERR""##),
    (r#"try(trimspace([local.us]), "no")"#, r#""no""#),
    (r#"try([local.us][3], 5)"#, r#"5"#),
    (r#"try(length([local.us]), 5)"#, r#"1"#),
    (r#"can([local.us][3])"#, r#"false"#),
    (r#"can(tonumber(local.us))"#, r#"(known after apply)"#),
    (r#"can(length([local.us]))"#, r#"true"#),
    (r#"(false ? local.mo : null)"#, r#"tomap(null) /* of object */"#),
    (r#"(false ? tolist([[1]]) : null)"#, r#"tolist(null) /* of tuple */"#),
    (r#"[sensitive(local.us)]"#, r#"(known after apply)"#),
    (r#"local.um[local.ss]"#, r##""#ERR""##),
    (r#"regexall("(?P<n>a)(?P<n>b)", "ab")"#, r#"tolist([ { "n" = "b" }, ])"#),
    (r#"regexall("(?P<1>a)", "ab")"#, r#"tolist([ { "1" = "a" }, ])"#),
    (r#"regexall("(?)a", "ab")"#, r#"tolist([ "a", ])"#),
    (r#"regexall("^*a", "ab")"#, r#"tolist([ "a", ])"#),
    (r#"regexall("a(?i)*", "aaA")"#, r#"tolist([ "aa", "", ])"#),
    (r#"regexall("(a){0}b", "ab")"#, r#"tolist([ [ tostring(null), ], ])"#),
    (r#"regexall("(?i)\\w+", "ſK")"#, r#"tolist([ "ſK", ])"#),
    (r#"regexall("\\p{Letter}", "a")"#, r##""#ERR""##),
    (r#"regexall("\\p{lu}", "a")"#, r##""#ERR""##),
    (r#"regexall("\\<", "<")"#, r#"tolist([ "<", ])"#),
    (r#"regexall("\\E", "a")"#, r##""#ERR""##),
    (r#"regexall("[[:alphaa-z[:alpha:]]", "a")"#, r##""#ERR""##),
    (r#"replace("ab", "/(?P<n>a)/", "[$n][$é][$01][$0]")"#, r#""[a][][][a]b""#),
    (r#"replace("ab", "/a/", "$1x$${")"#, r#""${b""#),
];

#[test]
fn what_was_found_is_mended() {
    let functions = super::recorded::builtins();
    let scope = scope(&functions);
    let mut wrong = Vec::new();
    for (expression, there) in FOUND {
        let here = ours(expression, &scope, &functions, true);
        let here = here.split_whitespace().collect::<Vec<_>>().join(" ");
        if here.trim_end_matches(',') != *there {
            wrong.push(format!("{expression}\n    here  {here}\n    there {there}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
