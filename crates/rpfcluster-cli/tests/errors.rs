//! Bad input: one sentence, the documented exit code, and no file.

mod common;

use common::TestDir;

#[test]
fn bad_input_files_are_refused() {
    let dir = TestDir::new();
    dir.put("empty.csv", "");
    dir.put("header.csv", "a,b\n");
    dir.put("nan.csv", "a,b\n1,2\n3,NaN\n");
    dir.put("inf.csv", "a,b\n1,2\n3,inf\n");
    dir.put("ragged.csv", "a,b\n1,2\n3\n");
    dir.put("noise.parquet", "not parquet");
    dir.put("noise.npy", "not numpy");
    dir.put("noise.csv.gz", [0x1f, 0x8b, 8, 0, 1, 2, 3]);
    dir.put("binary.csv", [0u8, 159, 146, 150, 0, 255, 10, 1, 2]);
    std::fs::create_dir(dir.path("folder")).unwrap();
    let verbs = [
        "kernel DATA -o out.npz",
        "neighbors DATA -n 1 -o out.csv",
        "cluster DATA -k 2 -o out.csv --model out.rpf --report out.html",
        "embed DATA -d 2 -o out.csv",
    ];
    for verb in verbs {
        let refuses = |data: &str, parts: &[&str]| dir.refuses(1, &verb.replace("DATA", data), parts);
        refuses("nothing.csv", &["nothing.csv", "no such file"]);
        refuses("empty.csv", &["empty.csv"]);
        refuses("header.csv", &["header.csv"]);
        refuses("iris.csv", &["iris.csv", "species", "text", "--drop", "--label"]);
        refuses("nan.csv", &["nan.csv", "row 2", "b", "--missing"]);
        refuses("inf.csv", &["inf.csv", "row 2", "b", "inf"]);
        refuses("ragged.csv", &["ragged.csv", "row 2"]);
        refuses("noise.parquet", &["noise.parquet"]);
        refuses("noise.npy", &["noise.npy"]);
        refuses("noise.csv.gz", &["noise.csv.gz"]);
        refuses("binary.csv", &["binary.csv"]);
        refuses("folder", &["folder"]);
        refuses("iris.csv --label specis", &["iris.csv", "specis", "species"]);
        refuses("iris.csv --label 5 --drop 9", &["iris.csv", "9"]);
        refuses("iris.csv --label 5 --columns nope", &["iris.csv", "nope"]);
        refuses("iris.csv --label 5 --standardize nope", &["iris.csv", "nope"]);
        refuses("iris.csv --label 5 --drop 1-4", &["iris.csv", "no column is left"]);
    }
}

#[test]
fn bad_output_files_are_refused() {
    let dir = TestDir::new();
    std::fs::create_dir(dir.path("d.npz")).unwrap();
    dir.refuses(1, "kernel iris.csv --label 5 -o nowhere/k.npz", &["nowhere/k.npz", "folder"]);
    dir.refuses(1, "kernel iris.csv --label 5 -o d.npz", &["d.npz", "folder"]);
    dir.refuses(1, "kernel iris.csv --label 5 -o k.npz --model nowhere/m.rpf", &["nowhere/m.rpf"]);
    dir.refuses(1, "neighbors iris.csv --label 5 -n 1 -o nowhere/n.csv", &["nowhere/n.csv"]);
    dir.refuses(1, "demo --out iris.csv", &["iris.csv", "folder"]);
    dir.refuses(2, "neighbors iris.csv --label 5 -n 1 -o ./iris.csv", &["--output", "DATA", "same file"]);
    dir.refuses(2, "kernel iris.csv --label 5 -o k.csv", &["k.csv", ".npz", ".mtx", ".npy", ".parquet"]);
    dir.refuses(2, "kernel iris.csv --label 5 -o k", &["--output", ".npz"]);
}

#[test]
fn bad_options_are_refused() {
    let dir = TestDir::new();
    let bad = [
        ("--trees 0", "--trees"),
        ("--trees 70000", "65535"),
        ("--trees many", "--trees"),
        ("--trees auto", "--trees"),
        ("--trees -3", "-3"),
        ("--min-node 1", "--min-node"),
        ("--min-node auto", "--min-node"),
        ("--min-node some", "auto"),
        ("--split even", "uniform"),
        ("--direction up", "gaussian"),
        ("--candidates 0", "--candidates"),
        ("--candidates 1001", "1000"),
        ("--seed -1", "-1"),
        ("--seed x", "--seed"),
        ("--threads 0", "--threads"),
        ("--threads 99999", "4096"),
        ("--memory-limit lots", "--memory-limit"),
        ("--missing guess", "mean"),
        ("--format docx", "docx"),
        ("--quiet --verbose", "--verbose"),
        ("--tree 5", "--trees"),
        ("--label=", "--label"),
        ("extra.csv", "extra.csv"),
    ];
    for (option, part) in bad {
        dir.refuses(2, &format!("kernel iris.csv --label species -o k.npz {option}"), &[part]);
        dir.refuses(2, &format!("neighbors iris.csv --label species -n 2 -o n.csv {option}"), &[part]);
        // Clustering is where auto has something to choose by.
        if !option.ends_with(" auto") {
            dir.refuses(2, &format!("cluster iris.csv --label species -k 3 -o l.csv {option}"), &[part]);
        }
    }
    dir.refuses(2, "kernel iris.csv -o k.npz --min 1.5", &["--min", "1.5", "0 to 1"]);
    dir.refuses(2, "kernel iris.csv -o k.npz --min NaN", &["--min"]);
    dir.refuses(2, "kernel iris.csv -o k.npz --top 0", &["--top"]);
    dir.refuses(2, "kernel iris.csv", &["--output"]);
    dir.refuses(2, "kernel -o k.npz", &["DATA"]);
    dir.refuses(2, "neighbors iris.csv --label 5", &["--neighbors"]);
    dir.refuses(2, "neighbors iris.csv --label 5 -n 0", &["--neighbors"]);
    dir.refuses(2, "neighbors iris.csv --label 5 -n 150", &["150", "149"]);
    dir.refuses(2, "neighbors iris.csv --label 5 -n 5 --exact --pool 4", &["--pool"]);
    dir.refuses(2, "neighbors iris.csv --label 5 -n 5 --pool 40", &["--exact"]);
    dir.refuses(2, "neighbors iris.csv -n 5 --against m.rpf --trees 5", &["--against"]);
    dir.refuses(2, "neighbors iris.csv --label 5 -n 5 --json", &["--output"]);
    dir.refuses(2, "kluster iris.csv", &["kluster"]);
    dir.refuses(2, "completions tcsh", &["bash"]);
    let nothing = dir.rpf("");
    assert_eq!(nothing.code, Some(2));
    assert!(nothing.err.contains("Usage: rpf"));
}

#[test]
fn bad_clustering_options_are_refused() {
    let dir = TestDir::new();
    let bad = [
        ("-k 0", "-k is 0"),
        ("-k -1", "-1"),
        ("-k some", "auto"),
        ("-k 2.5", "whole number"),
        ("-k auto --max-k 1", "--max-k"),
        ("-k auto --max-k 2000", "--max-k"),
        ("-k 3 --max-k 5", "--max-k"),
        ("-k 3 --affinity gauss", "top-k"),
        ("-k 3 --beta1 1.5", "0 to 1"),
        ("-k 3 --beta1 x", "auto"),
        ("-k 3 --beta2 0", "--beta2"),
        ("-k 3 --beta2 NaN", "--beta2"),
        ("-k 3 --top 0", "--top"),
        ("-k 3 --power 0", "--power"),
        (
            "-k 3 --affinity linear --beta1 0.1",
            "--beta1 applies only to --affinity paper, but the affinity is linear",
        ),
        ("-k 3 --affinity paper --top 5", "--affinity top-k"),
        ("-k 3 --beta1 0.1 --power 2", "--power"),
        ("-k 3 --affinity top-k --diagonal drop", "--affinity paper"),
        ("-k 3 --diagonal some", "keep"),
        ("-k 3 --method cut", "ncut"),
        ("-k 3 --solver fast", "nystrom"),
        ("-k 3 --landmarks 50", "--landmarks applies only to --solver nystrom, but the solver is auto"),
        ("-k 3 --solver nystrom --landmarks 2", "--landmarks"),
        ("-k 3 --precomputed", "--precomputed"),
    ];
    for (options, part) in bad {
        dir.refuses(
            2,
            &format!("cluster iris.csv --label species -o l.csv --report r.html {options}"),
            &[part],
        );
    }
    dir.refuses(2, "cluster iris.csv --precomputed -o l.csv", &["-k auto, the default", "-k 3"]);
    dir.refuses(2, "cluster iris.csv --delimiter ab", &["--delimiter", "ab", "; or |"]);
    dir.refuses(2, "cluster iris.csv --decimal x", &["--decimal", "comma"]);
    dir.refuses(2, "cluster iris.csv --header maybe", &["--header", "auto, yes, no"]);
    dir.refuses(
        2,
        "cluster iris.csv --label species -k 3 -o a.html --report a.html --model iris.csv",
        &["same file"],
    );
    dir.refuses(2, "cluster iris.csv -k 3 -o l.csv.gz", &["--output l.csv.gz", ".parquet"]);
    dir.refuses(2, "cluster iris.csv -k 3 -o l.XLSX", &["--output l.XLSX", ".csv"]);
    dir.refuses(2, "cluster iris.csv -k 3 --append -o l.ods", &["--output l.ods", ".csv"]);
    dir.refuses(2, "predict m.rpf iris.csv -o l.npz", &["--output l.npz", ".arrow"]);
    dir.refuses(2, "embed iris.csv --label 5 -d 0 -o e.csv", &["--dimensions"]);
    dir.refuses(2, "embed iris.csv --label 5 -d 2 -o e.npz", &["e.npz", ".npy"]);
    dir.refuses(2, "embed iris.csv --label 5 -d 2 --json", &["--output"]);
    dir.refuses(1, "embed iris.csv --label 5 -d 150 -o e.csv", &["--dimensions is 150"]);
    dir.refuses(1, "cluster iris.csv --label 5 -k 151 -o l.csv", &["iris.csv", "k is 151"]);
    dir.put("four.csv", "0,0\n0,1\n1,0\n1,1\n".repeat(25));
    dir.refuses(
        1,
        "cluster four.csv -k 5 -o l.csv --model m.rpf --report r.html",
        &["four.csv", "k is 5", "only 4 distinct"],
    );
    dir.refuses(1, "cluster iris.csv --label 5 -k 3 -o l.csv --memory-limit 50k", &["50.0 kB", "--trees"]);
    dir.refuses(
        1,
        "cluster iris.csv --label 5 -k 3 -o l.csv --solver dense --memory-limit 500k",
        &["--solver block"],
    );
    dir.refuses(1, "cluster iris.csv --label 5 -k 3 --report nowhere/r.html -o l.csv", &["nowhere/r.html"]);
}

#[test]
fn bad_similarity_matrices_are_refused() {
    let dir = TestDir::new();
    let bad = [
        ("asymmetric", "1,0.5,0\n0.4,1,0.2\n0,0.2,1\n", "row 1, column 2"),
        ("negative", "1,-0.5,0\n-0.5,1,0.2\n0,0.2,1\n", "not negative"),
        ("nan", "1,NaN,0\nNaN,1,0.2\n0,0.2,1\n", "row 1, column 2"),
        ("zeros", "1,0.5,0\n0.5,1,0\n0,0,0\n", "row 3"),
        ("oblong", "1,0.5,0\n0.5,1,0\n", "2 x 3"),
        ("words", "1,a\na,1\n", "\"a\""),
        ("few", "1,0.5\n0.5,1\n", "only 2 distinct"),
    ];
    for (name, text, part) in bad {
        dir.put(&format!("{name}.csv"), text);
        let line = format!("cluster {name}.csv --precomputed -k 3 -o l.csv --report r.html");
        dir.refuses(1, &line, &[&format!("{name}.csv"), part]);
    }
    dir.refuses(1, "cluster nothing.npz --precomputed -k 2 -o l.csv", &["nothing.npz", "no such file"]);
    dir.refuses(1, "cluster few.npz -k 2 -o l.csv", &["few.npz"]);
    dir.refuses(2, "cluster few.csv --precomputed -k 2 --model m.rpf", &["--model", "--precomputed"]);
    dir.refuses(2, "cluster few.csv --precomputed -k auto", &["-k auto", "--precomputed"]);
    dir.refuses(2, "cluster few.csv --precomputed -k 2 --confidence", &["--confidence", "--precomputed"]);
    dir.refuses(2, "cluster few.csv --precomputed -k 2 --append", &["--append", "--precomputed"]);
    dir.refuses(2, "cluster few.csv --precomputed -k 2 --trees 9", &["--trees", "--precomputed"]);
}

#[test]
fn damaged_models_are_refused() {
    let dir = TestDir::new();
    dir.rpf("cluster iris.csv --label species --trees 5 -k 3 -o l.csv --model m.rpf -q").done();
    dir.rpf("kernel iris.csv --label species --trees 5 -o k.npz --model forest.rpf -q").done();
    dir.refuses(
        1,
        "predict forest.rpf iris.csv -o p.csv",
        &["forest.rpf", "no clustering", "rpf cluster --model"],
    );
    dir.refuses(2, "predict m.rpf iris.csv --trees 9 -o p.csv", &["--trees"]);
    dir.put("shop.db", b"SQLite format 3\0..CREATE TABLE customers(age)");
    dir.refuses(1, "predict m.rpf shop.db -o p.csv", &["FROM customers\" | rpf predict m.rpf -"]);
    let whole = dir.bytes("m.rpf");
    let changed = |name: &str, change: &dyn Fn(&mut Vec<u8>)| {
        let mut bytes = whole.clone();
        change(&mut bytes);
        dir.put(name, bytes);
    };
    changed("cut.rpf", &|b| b.truncate(b.len() / 2));
    changed("stub.rpf", &|b| b.truncate(20));
    changed("altered.rpf", &|b| {
        let middle = b.len() / 2;
        b[middle] ^= 0x40;
    });
    changed("longer.rpf", &|b| b.push(0));
    changed("newer.rpf", &|b| b[8] = 3);
    dir.put("empty.rpf", "");
    let uses = [
        "inspect MODEL",
        "inspect MODEL --json",
        "neighbors iris.csv -n 1 -o n.csv --against MODEL",
        "predict MODEL iris.csv -o p.csv",
    ];
    for use_of in uses {
        let refuses =
            |model: &str, part: &str| dir.refuses(1, &use_of.replace("MODEL", model), &[model, part]);
        refuses("nothing.rpf", "no such file");
        refuses("cut.rpf", "cut short");
        refuses("stub.rpf", "cut short");
        refuses("altered.rpf", "altered");
        refuses("longer.rpf", "altered");
        refuses("newer.rpf", "version 3");
        refuses("empty.rpf", "not an rpf model");
        refuses("iris.csv", "not an rpf model");
    }
}

/// Every seventh of the first 400 bytes and forty of the rest, changed one at a time: refused unless it is padding, and
/// never a panic.
#[test]
fn changed_bytes_of_a_model_are_detected() {
    let dir = TestDir::new();
    dir.rpf("cluster iris.csv --label species --trees 2 -k 3 -o l.csv --model m.rpf -q").done();
    let whole = dir.bytes("m.rpf");
    // Header, table of sections and sections (docs/reference/model-format.md); the rest is padding.
    let number = |at: usize| u64::from_le_bytes(*whole[at..].first_chunk().unwrap()) as usize;
    let table = 64..64 + 32 * u32::from_le_bytes(*whole[12..].first_chunk().unwrap()) as usize;
    let mut contents = vec![0..28, table.clone()];
    for entry in table.step_by(32) {
        let start = number(entry + 8);
        contents.push(start..start + number(entry + 16));
    }
    for at in (0..400).step_by(7).chain((400..whole.len()).step_by(whole.len() / 40)) {
        let mut bytes = whole.clone();
        bytes[at] ^= 0x11;
        dir.put("x.rpf", &bytes);
        let run = dir.rpf("inspect x.rpf --json");
        if run.code == Some(0) {
            assert!(!contents.iter().any(|part| part.contains(&at)), "byte {at}");
        } else {
            run.refused(1, &["x.rpf", "the model"]);
        }
    }
}

#[test]
fn tables_with_other_columns_than_the_model_are_refused() {
    let dir = TestDir::new();
    dir.rpf("kernel iris.csv --label species --trees 5 -o k.npz --model m.rpf -q").done();
    dir.put("other.csv", "sepal_length,sepal_width,petal_length,girth\n1,2,3,4\n");
    dir.put("narrow.csv", "1,2,3\n4,5,6\n");
    dir.put("gap.csv", "sepal_length,sepal_width,petal_length,petal_width\n1,,3,4\n");
    dir.rpf("cluster iris.csv --label species --trees 5 -k 3 -o l.csv --model c.rpf -q").done();
    let refuses = |data: &str, parts: &[&str]| {
        dir.refuses(1, &format!("neighbors {data} -n 1 --against m.rpf -o n.csv"), parts);
        dir.refuses(1, &format!("predict c.rpf {data} -o p.csv"), parts);
    };
    refuses("other.csv", &["other.csv", "petal_width"]);
    refuses("narrow.csv", &["narrow.csv", "3 columns"]);
    refuses("gap.csv", &["gap.csv", "row 1", "sepal_width"]);
    dir.refuses(2, "neighbors iris.csv -n 151 --against m.rpf -o n.csv", &["151", "150"]);
}

#[test]
fn bad_score_input_is_refused() {
    let dir = TestDir::new();
    dir.put("labels.csv", "row,cluster\n1,0\n2,1\n3,1\n");
    dir.put("two.txt", "a\nb\n");
    dir.put("plain.txt", "0\n1\n0\n");
    dir.put("gap.csv", "cluster,class\n1,a\n2,\n");
    dir.refuses(1, "score nothing.csv --truth two.txt", &["nothing.csv", "no such file"]);
    dir.refuses(1, "score labels.csv --truth nothing/two.txt", &["nothing/two.txt", "no such file"]);
    dir.refuses(1, "score labels.csv --truth klass", &["klass", "labels.csv"]);
    dir.refuses(1, "score labels.csv --truth two.txt", &["row 3", "two.txt"]);
    dir.refuses(1, "score plain.txt --truth two.txt", &["plain.txt", "3", "two.txt", "2"]);
    dir.refuses(1, "score labels.csv --truth iris.csv", &["iris.csv", "cluster"]);
    dir.refuses(1, "score gap.csv --truth class", &["gap.csv", "row 2"]);
    dir.refuses(1, "score iris.csv --truth species", &["iris.csv", "cluster"]);
    dir.refuses(2, "score labels.csv", &["--truth"]);
    dir.refuses(2, "score - --truth -", &["standard input"]);
}

#[test]
fn exceeded_memory_limit_is_refused_with_a_remedy() {
    let dir = TestDir::new();
    let line = "kernel iris.csv --label species --memory-limit";
    dir.refuses(
        1,
        &format!("{line} 100k -o k.npy"),
        &["dense kernel of 150 rows", "180.0 kB", "100.0 kB", ".npz"],
    );
    dir.refuses(1, &format!("{line} 10k -o k.npz"), &["iris.csv: reading needs over", "10.0 kB"]);
    dir.refuses(1, &format!("{line} 50k -o k.npz"), &["forest of 200 trees", "--trees", "50.0 kB"]);
    dir.refuses(1, &format!("{line} 160k -o k.npz"), &["pairs", "--min", "--top"]);
    dir.rpf(&format!("{line} 160k -o k.npz --min 0.5")).done();
}

#[test]
fn bad_configuration_is_refused() {
    let dir = TestDir::new();
    let line = "kernel iris.csv --label species -o k.npz --config";
    let refuses = |code: i32, name: &str, text: &str, parts: &[&str]| {
        dir.put(name, text);
        dir.refuses(code, &format!("{line} {name}"), parts);
    };
    dir.refuses(1, &format!("{line} nothing.toml"), &["nothing.toml", "no such file"]);
    refuses(1, "syntax.toml", "trees = 5\nseed = = 3\n", &["syntax.toml", "line 2"]);
    refuses(2, "unknown.toml", "treees = 5\n", &["unknown.toml", "treees", "trees"]);
    refuses(2, "section.toml", "[forest]\ntrees = 5\n", &["section.toml", "forest"]);
    refuses(2, "value.toml", "trees = \"many\"\n", &["--trees", "many"]);
    refuses(2, "range.toml", "trees = 0\n", &["--trees", "0"]);
    refuses(2, "kind.toml", "trees = [1, 2]\n", &["kind.toml", "trees"]);
    refuses(2, "flag.toml", "json = 3\n", &["flag.toml", "json", "true or false"]);
    refuses(2, "self.toml", "config = \"self.toml\"\n", &["self.toml", "config"]);
}

#[test]
fn too_many_clusters_are_refused_with_the_reason() {
    let dir = TestDir::new();
    let line = |options: &str| format!("cluster iris.csv --label species -q --trees 20 {options}");
    dir.refuses(1, &line("-k 99999999999"), &["k is 99999999999, but there are only 150 distinct points"]);
    dir.refuses(1, &line("-k 3 --min-node 1000"), &["only 1 group of rows apart", "--min-node"]);
    dir.rpf(&format!("{} --memory-limit 1G", line("-k 3 --top 5000000"))).done();
}
