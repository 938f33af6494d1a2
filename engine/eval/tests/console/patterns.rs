//! Regular expressions of RE2's syntax, or nearly so, and texts for them.

use super::odd::Odd;

#[rustfmt::skip] // lists of things to pick from
impl Odd {
    /// A pattern, not quoted.
    pub fn pattern(&mut self, depth: usize) -> String {
        let mut out = String::new();
        for _ in 0..=self.below(3) {
            out.push_str(&self.alternative(depth));
            if self.one_in(8) {
                out.push('|');
            }
        }
        out
    }

    fn alternative(&mut self, depth: usize) -> String {
        let mut out = self.atom(depth);
        if self.one_in(2) {
            return out;
        }
        out.push_str(self.pick(&[
            "", "", "", "", "", "", "*", "+", "?", "*?", "+?", "??", "{2}", "{1,}", "{0,2}",
            "{1,3}?", "{,2}", "{2,1}", "{1001}", "{0}", "**", "+*", "{", "{a}", "{1", "{1,2,3}",
            "*{2}", "{-1}", "{ 1}", "++",
        ]));
        out
    }

    fn atom(&mut self, depth: usize) -> String {
        if self.one_in(2) {
            return self
                .pick(&[
                    "a", "b", "o", ".", "\\d", "\\w", "[a-z]", "x", "\\pL", "^", "$", "\\b",
                    "(?i)", "é", "(a)", "(?:b|)", "[^a]", "(o|a)", "(?P<n>.)",
                ])
                .to_owned();
        }
        if depth > 0 && self.one_in(4) {
            let inner = self.pattern(depth - 1);
            let open = self.pick(&[
                "(", "(", "(?:", "(?i:", "(?P<n>", "(?<n>", "(?P<m>", "(?s-m:", "(?-i:", "(?U:",
                "(?=", "(?!", "(?<=", "(?>", "(?x:", "(?P=n)", "(?P<1>", "(?P<>", "(?<é>", "(?#",
                "(?P<a_1>", "(?P<a-b>", "(?ims:", "(?:?", "(?i-s:", "(?-:", "(?i-i:", "(?'n'",
            ]);
            return format!("{open}{inner})");
        }
        if self.one_in(5) {
            return self.class();
        }
        self.pick(&[
            "a", "b", "o", "x", "1", "é", "日", " ", "-", ".", ".", "\\d", "\\w", "\\s", "\\D",
            "\\W", "\\S", "\\b", "\\B", "^", "$", "\\A", "\\z", "\\Z", "\\C", "\\pL", "\\p{Lu}",
            "\\PN", "\\p{^Greek}", "\\p{Han}", "\\pX", "\\p{Foo}", "\\p{L", "\\Qa.b\\E", "\\Q(\\E",
            "\\Qx", "\\E", "\\n", "\\t", "\\r", "\\f", "\\v", "\\a", "\\e", "\\x41", "\\x{e9}",
            "\\x{110000}", "\\x", "\\x4", "\\101", "\\0", "\\1", "\\8", "\\u00e9", "\\.", "\\-",
            "\\/", "\\\\", "\\_", "\\é", "\\<", "\\h", "\\R", "\\G", "\\K", "\\X", "\\cA", "(?i)",
            "(?s)", "(?m)", "(?U)", "(?im-s)", "(?x)", "(?", "(?P", "(", ")", "]", "}", "{", "|",
            "/", "&&", "~", "#", "\\", "\\N", "\\p{Letter}", "\\p{L}", "\\p{Latin}", "\\pZ",
            "\\p{Any}", "\\p{N}", "\\p{Emoji}", "\\p{Script=Greek}", "\\p{lu}", "\\p{Cyrillic}",
            "\\x{}", "\\x{41", "\\Q\\E", "\\012", "\\07",
        ])
        .to_owned()
    }

    fn class(&mut self) -> String {
        let mut out = String::from("[");
        out.push_str(self.pick(&["", "", "^", "]", "^]", "-"]));
        for _ in 0..=self.below(3) {
            out.push_str(self.pick(&[
                "a", "a-z", "A-Z", "0-9", "é", "\\d", "\\w", "\\s", "\\D", "\\pL", "\\p{Lu}",
                "\\PL", "[:alpha:]", "[:^digit:]", "[:word:]", "[:foo:]", "[:upper:]", "[", "&&",
                "--", "~~", "-", "z-a", "\\-", "\\]", "\\n", "\\x41-\\x43", "a-", "\\b", ".", "^",
                "$", "[a]", "[.a.]", "[=a=]", "\\Qa\\E", "\\d-z", "a-\\d", "[:alpha", "\\e", "#",
                " ", "日-本", "&&b", "[:space:]", "[:ascii:]", "[:punct:]", "[:xdigit:]", "\\W",
            ]));
        }
        if !self.one_in(30) {
            out.push(']');
        }
        out
    }

    /// A text in which to look.
    pub fn subject(&mut self) -> &'static str {
        self.pick(&[
            "", "a", "abc", "aab1 o-x", "héllo wörld", "日本語 x", "a.b(c", "A\nb\nc\n",
            "foo bar_baz 42", "\t\r\n", "xoxo", "/a/b", "ÀÉ é", "a\u{0}b", "\\d{}[]", "ſK", "½²Ⅳ",
            "oo\naa",
        ])
    }

    /// A replacement.
    pub fn replacement(&mut self) -> &'static str {
        self.pick(&[
            "<$0>", "$1", "${n}", "$n_", "$$", "", "\\", "${1}a", "$1a", "$", "${", "$é", "${m}$2",
            "\\1",
        ])
    }
}
