#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| rpfcluster_fuzz::run("workbook", bytes));
