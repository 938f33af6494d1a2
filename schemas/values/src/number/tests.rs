use super::*;

fn n(text: &str) -> Number {
    Number::parse(text).unwrap()
}

#[test]
fn text_round_trip() {
    for (text, want) in [
        ("0", "0"),
        ("-0", "-0"),
        ("1.50", "1.5"),
        ("1e3", "1000"),
        ("1e21", "1000000000000000000000"),
        ("1e-7", "0.0000001"),
        (".5", "0.5"),
        ("+5", "5"),
        ("0.1", "0.1"),
        ("-10.25e1", "-102.5"),
        ("9223372036854775807", "9223372036854775807"),
        ("9223372036854775808", "9223372036854775808"),
        ("-9223372036854775808", "-9223372036854775808"),
        ("18446744073709551616", "18446744073709551616"),
    ] {
        assert_eq!(n(text).to_text(), want, "{text}");
    }
    for bad in [
        "", "+", ".", "0x10", " 5", "5 ", "1_0", "infinity", "1e", "1e+", "--1", "1.2.3",
    ] {
        assert_eq!(Number::parse(bad), Err(NumberError::Syntax), "{bad:?}");
    }
    assert_eq!(Number::parse("1e10000000"), Err(NumberError::TooLarge));
}

#[test]
fn recorded_vectors() {
    let third = n("1").div(&n("3")).unwrap();
    let text = third.to_text();
    assert_eq!(text.len(), 157, "{text}"); // "0." and 155 digits
    assert!(
        text.starts_with("0.3333333333") && text.ends_with("33335"),
        "{text}"
    );
    assert_eq!(n("0.1").add(&n("0.2")).unwrap(), n("0.3"));
    assert_eq!(n("0.1").mul(&n("3")).unwrap(), n("0.3"));
    assert_eq!(third.mul(&n("3")).unwrap(), n("1"));
    let by_length = Number::from(1i64).div(&Number::from(3i64)).unwrap();
    assert_eq!(by_length.to_text(), "0.33333333333333333334");
    let power = Number::from_f64(2f64.powi(100)).unwrap();
    assert_eq!(power.to_text(), "1267650600228229400000000000000");
    assert_eq!(n("-10.5").rem(&n("3")).unwrap().to_text(), "-1.5");
    assert_eq!(n("1").rem(&n("0.1")).unwrap().to_text(), "0");
    assert_eq!(n("5").rem(&n("0")).unwrap().to_text(), "5");
    assert_eq!(n("1").div(&n("0")).unwrap().to_text(), "+Inf");
    assert_eq!(n("0").div(&n("0")), Err(NumberError::NotANumber));
}

#[test]
fn doubles() {
    for value in [
        0.0,
        -0.0,
        1.0,
        0.1,
        1e300,
        5e-324,
        2.2250738585072014e-308,
        f64::MAX,
        -1.5e-310,
    ] {
        let number = Number::from_f64(value).unwrap();
        assert_eq!(number.to_f64().to_bits(), value.to_bits(), "{value}");
        if value != 0.0 {
            assert_eq!(
                n(&number.to_text()).to_f64().to_bits(),
                value.to_bits(),
                "{value}"
            );
        }
    }
    for text in [
        "0.1",
        "1.7976931348623157e308",
        "1e309",
        "2.4703282292062328e-324",
        "1e-400",
        "9007199254740993",
        "0.1e-310",
        "4.9e-324",
    ] {
        assert_eq!(
            n(text).to_f64().to_bits(),
            text.parse::<f64>().unwrap().to_bits(),
            "{text}"
        );
    }
}

#[test]
fn floors() {
    for (text, floor, ceil) in [
        ("1.5", "1", "2"),
        ("-1.5", "-2", "-1"),
        ("3", "3", "3"),
        (
            "1e30",
            "1000000000000000000000000000000",
            "1000000000000000000000000000000",
        ),
        ("-0.5", "-1", "0"),
    ] {
        assert_eq!(n(text).floor().to_text(), floor, "{text}");
        assert_eq!(n(text).ceil().to_text(), ceil, "{text}");
    }
}

/// Of long numbers only the telling digits are computed; they are the same ones.
#[test]
fn long_numbers_print_and_read_back() {
    let mut seed = 1u64;
    for exponent in [300, 700, 720, 800, 2_400, 9_999, 99_900] {
        for sign in ["", "-"] {
            seed = seed.wrapping_mul(6_364_136_223_846_793_005) | 1;
            let text = format!("{seed}e{sign}{exponent}");
            let number = Number::parse(&text).expect("within reach");
            let printed = number.to_text();
            let zeros = "0".repeat(exponent);
            let expected = if sign.is_empty() {
                format!("{seed}{zeros}")
            } else {
                let digits = seed.to_string();
                let zeros = "0".repeat(exponent - digits.len());
                format!("0.{zeros}{digits}")
                    .trim_end_matches('0')
                    .to_owned()
            };
            assert_eq!(printed, expected, "{text}");
            let back = Number::parse(&printed).map(|n| n == number);
            assert_eq!(back, Ok(true), "{text}");
            let third = number.div(&Number::literal(3)).expect("a third");
            let back = Number::parse(&third.to_text()).map(|n| n == third);
            assert_eq!(back, Ok(true), "a third of {text}");
        }
    }
    let huge = Number::parse("1e99999").expect("within reach");
    assert_eq!(huge.mul(&huge), Err(NumberError::TooLarge));
    assert_eq!(Number::ONE.div(&huge).map(|n| n.is_zero()), Ok(false));
    let tiny = Number::parse("1e-99999").expect("within reach");
    assert_eq!(tiny.div(&huge), Err(NumberError::TooLarge));
}
