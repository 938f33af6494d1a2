#![no_main]
libfuzzer_sys::fuzz_target!(|text: &[u8]| formwork_fuzz::tests(text));
