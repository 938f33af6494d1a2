//! Laws that hold for every value: codecs round trip, conversion is idempotent, orders are total.
//!
//! Values are generated from a fixed seed; how many follows `FORMWORK_TEST_BUDGET` (seconds, default
//! 10, of which each law takes a small share).
#![allow(clippy::unwrap_used, clippy::print_stdout)] // a test: helpers outside test functions too

use std::time::{Duration, Instant};

use formwork_values::{
    Marks, Number, Path, Refinement, Type, Value, can_convert, convert, from_msgpack,
    implied_from_json, to_msgpack, unify, value_from_json, value_to_json, value_to_json_as,
};

/// A small deterministic generator (xorshift), so that a failure names its seed.
struct Source(u64);

impl Source {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }

    fn below(&mut self, n: u64) -> u64 {
        self.next() % n
    }

    fn name(&mut self) -> String {
        ["a", "b", "c", "é", "a b", "", "1"][self.below(7) as usize].to_owned()
    }

    fn number(&mut self) -> Number {
        match self.below(6) {
            0 => Number::literal(self.next() as i64 >> self.below(60)),
            1 => Number::from_f64(f64::from_bits(self.next()))
                .filter(|n| !n.is_infinite())
                .map_or(
                    Number::ONE,
                    // what comes from a float has fewer bits; a literal reads back with all
                    |n| Number::parse(&n.to_text()).unwrap(),
                ),
            2 => Number::parse(&format!("{}.{}", self.below(1000), self.next())).unwrap(),
            3 => Number::parse(&format!("-{}{}", self.next(), self.next())).unwrap(),
            4 => Number::parse(&format!("{}e-{}", self.next(), self.below(300))).unwrap(),
            _ => Number::literal(self.below(5) as i64),
        }
    }

    fn text(&mut self) -> String {
        let parts = [
            "x", "1", "true", "é", "e\u{301}", "\n", "\"", "\\", "<", "\u{2028}", "日本", "\u{1}",
        ];
        (0..self.below(5))
            .map(|_| parts[self.below(parts.len() as u64) as usize])
            .collect()
    }

    fn ty(&mut self, depth: u32) -> Type {
        let n = if depth == 0 { 4 } else { 9 };
        match self.below(n) {
            0 => Type::Bool,
            1 | 2 => Type::String,
            3 => Type::Number,
            4 => Type::list(self.ty(depth - 1)),
            5 => Type::set(self.ty(depth - 1)),
            6 => Type::map(self.ty(depth - 1)),
            7 => {
                let n = self.below(4);
                let attributes: Vec<_> =
                    (0..n).map(|_| (self.name(), self.ty(depth - 1))).collect();
                Type::object(attributes)
            }
            _ => {
                let n = self.below(4);
                Type::tuple((0..n).map(|_| self.ty(depth - 1)).collect::<Vec<_>>())
            }
        }
    }

    fn value(&mut self, ty: &Type, unknown: bool) -> Value {
        match self.below(12) {
            0 => return Value::null(ty.clone()),
            1 if unknown => {
                let known = match self.below(3) {
                    0 => Refinement::NONE,
                    1 => Refinement::NOT_NULL,
                    _ => Refinement {
                        not_null: true,
                        prefix: Some("pre-".into()),
                        lower: Some((Number::literal(-3), true)),
                        upper: Some((Number::parse("7.25").unwrap(), false)),
                        min_length: 1,
                        max_length: Some(300),
                    },
                };
                return Value::unknown_with(ty.clone(), known);
            }
            _ => {}
        }
        let count = self.below(4);
        match ty {
            Type::Dynamic => Value::dynamic(),
            Type::Bool => Value::bool(self.below(2) == 0),
            Type::Number => Value::number(self.number()),
            Type::String => Value::string(self.text()),
            Type::List(e) => Value::list(
                (**e).clone(),
                (0..count).map(|_| self.value(e, unknown)).collect(),
            ),
            Type::Set(e) => Value::set(
                (**e).clone(),
                (0..count).map(|_| self.value(e, unknown)).collect(),
            ),
            Type::Map(e) => {
                let entries: Vec<_> = (0..count)
                    .map(|_| (self.name(), self.value(e, unknown)))
                    .collect();
                Value::map((**e).clone(), entries)
            }
            Type::Object(o) => Value::object_of(
                o.clone(),
                o.types().iter().map(|ty| self.value(ty, unknown)).collect(),
            ),
            Type::Tuple(ts) => Value::tuple(ts.iter().map(|ty| self.value(ty, unknown)).collect()),
        }
    }
}

/// Runs a law on values of seed after seed until its share of the budget is used.
fn law(check: impl Fn(&mut Source)) {
    let seconds: u64 = std::env::var("FORMWORK_TEST_BUDGET")
        .ok()
        .and_then(|s| s.parse().ok())
        .unwrap_or(10);
    let end = Instant::now() + Duration::from_millis(seconds * 50);
    for seed in 1u64.. {
        println!("seed {seed}");
        check(&mut Source(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15)));
        if seed > 50 && Instant::now() > end {
            break;
        }
    }
}

#[test]
fn codecs_round_trip() {
    law(|source| {
        let ty = source.ty(3);
        let value = source.value(&ty, false);
        let json = value_to_json_as(&value, &ty).unwrap();
        assert_eq!(
            value_from_json(json.as_bytes(), &ty).unwrap(),
            value,
            "{json}"
        );
        let json = value_to_json_as(&value, &Type::Dynamic).unwrap();
        assert_eq!(
            value_from_json(json.as_bytes(), &Type::Dynamic).unwrap(),
            value,
            "{json}"
        );
        let plain = value_to_json(&value).unwrap();
        let implied = implied_from_json(plain.as_bytes()).unwrap();
        assert_eq!(value_to_json(&implied).unwrap(), plain);
        serde_json::from_str::<serde_json::Value>(&plain).unwrap();

        let value = source.value(&ty, true);
        for ty in [&ty, &Type::Dynamic] {
            let bytes = to_msgpack(&value, ty).unwrap();
            assert_eq!(from_msgpack(&bytes, ty).unwrap(), value, "{value:?}");
            for cut in 0..bytes.len().min(40) {
                // cut short it is an error (or, cut to nothing, null), never a panic
                let _ = from_msgpack(&bytes[..cut], ty);
            }
        }
        assert_eq!(Type::from_json(&ty.to_json()).unwrap(), ty);
    });
}

#[test]
fn conversion_is_idempotent_and_as_announced() {
    law(|source| {
        let (from, to) = (source.ty(2), source.ty(2));
        let value = source.value(&from, true);
        match convert(value.clone(), &to) {
            Ok(converted) => {
                assert!(can_convert(&value.type_of(), &to));
                assert_eq!(converted.type_of(), to, "{value:?}");
                assert_eq!(convert(converted.clone(), &to).unwrap(), converted);
            }
            Err(error) => assert!(!error.to_string().is_empty()),
        }
        if let Some(common) = unify(&[from.clone(), to.clone()]) {
            assert!(
                can_convert(&from, &common) && can_convert(&to, &common),
                "{from} {to} {common}"
            );
            assert_eq!(unify(&[to, from]), Some(common));
        }
    });
}

#[test]
fn orders_and_equality_agree() {
    law(|source| {
        let (a, b, c) = (source.number(), source.number(), source.number());
        assert_eq!(a.cmp(&b), b.cmp(&a).reverse());
        assert_eq!(a == b, a.cmp(&b).is_eq());
        if a <= b && b <= c {
            assert!(a <= c);
        }
        assert_eq!(Number::parse(&a.to_text()).unwrap(), a, "{a}");
        assert_eq!(a.sub(&b).unwrap() == Number::ZERO, a == b);
        let (x, y) = (a.to_f64(), b.to_f64());
        if x < y {
            assert!(a < b);
        }
        let text = a.to_text();
        assert_eq!(
            x.to_bits(),
            text.parse::<f64>().unwrap().to_bits(),
            "{text}"
        );

        let ty = source.ty(2);
        let mut elements: Vec<Value> = (0..6).map(|_| source.value(&ty, false)).collect();
        let set = Value::set(ty.clone(), elements.clone());
        elements.reverse();
        assert_eq!(Value::set(ty.clone(), elements), set);
        assert_eq!(set.equals(&set), Value::TRUE);
        let list = convert(set.clone(), &Type::list(ty.clone())).unwrap();
        assert_eq!(convert(list, &Type::set(ty)).unwrap(), set);
    });
}

#[test]
fn marks_come_off_and_go_back() {
    law(|source| {
        let ty = source.ty(3);
        let plain = source.value(&ty, true);
        let mut places: Vec<Path> = Vec::new();
        plain.walk(&mut |path, value| {
            if source.below(4) == 0 {
                places.push(path.clone());
            }
            !value
                .type_of()
                .element()
                .is_some_and(|_| matches!(value.type_of(), Type::Set(_)))
        });
        let marks: Vec<_> = places
            .into_iter()
            .map(|path| (path, Marks::SENSITIVE))
            .collect();
        let marked = plain.clone().mark_with_paths(&marks);
        assert_eq!(marked.contains_marks(), !marks.is_empty());
        let (bare, found) = marked.clone().unmark_deep();
        assert_eq!(bare, plain);
        assert_eq!(found, marks);
        assert_eq!(bare.mark_with_paths(&found), marked);
        assert_eq!(marked.reveal(), plain);
    });
}
