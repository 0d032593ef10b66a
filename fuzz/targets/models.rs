//! Model files. The checksums are made right first: otherwise nearly every input would stop there.

use flate2::Crc;
use rpfcluster::model_file::Container;
use rpfcluster::{Fitted, Forest, Points, Silent};

/// Bytes of the header of a model file, and of an entry of its table.
const HEADER: usize = 64;
const ENTRY: usize = 32;

pub fn model(bytes: &[u8]) {
    let mut bytes = bytes.to_vec();
    load(&bytes);
    set_checksums(&mut bytes);
    load(&bytes);
}

/// Loads the forest and the clustering, and uses what loads.
fn load(bytes: &[u8]) {
    let Ok(container) = Container::parse(bytes, &Silent) else { return };
    let _ = container.sections();
    if let Ok(forest) = Forest::from_container(&container, &Silent) {
        forest.check(&Silent).expect("a forest that loads is valid");
        if forest.n() <= 1 << 10 && forest.d() <= 64 && forest.trees() <= 64 {
            let rows = vec![0.5; 3 * forest.d()];
            let points = Points::new(&rows, 3, forest.d()).expect("finite rows");
            let routed = forest.route(&points).expect("rows of the right width");
            assert_eq!((routed.n(), routed.trees()), (3, forest.trees()));
            let _ = (forest.depths(), forest.leaves().mean_leaf());
        }
    }
    if let Ok(fitted) = Fitted::from_container(&container, &Silent) {
        assert!(fitted.labels().iter().all(|label| (*label as usize) < fitted.k()));
        if fitted.n() <= 1 << 10 && fitted.forest().d() <= 64 && fitted.forest().trees() <= 64 {
            let d = fitted.forest().d();
            let rows = vec![0.5; 2 * d];
            let points = Points::new(&rows, 2, d).expect("finite rows");
            if let Ok(labels) = fitted.predict(&points) {
                assert!(labels.iter().all(|label| (*label as usize) < fitted.k()));
            }
        }
    }
}

/// Sets the length and the checksums of the header and of every section that lies in the file.
pub fn set_checksums(bytes: &mut [u8]) {
    if bytes.len() < HEADER {
        return;
    }
    let number = |bytes: &[u8], at: usize| {
        bytes.get(at..at + 8).and_then(|b| b.try_into().ok()).map(u64::from_le_bytes)
    };
    let count = u32::from_le_bytes([bytes[12], bytes[13], bytes[14], bytes[15]]) as usize;
    let length = bytes.len() as u64;
    bytes[16..24].copy_from_slice(&length.to_le_bytes());
    let entries = count.min((bytes.len() - HEADER) / ENTRY);
    for entry in 0..entries {
        let at = HEADER + ENTRY * entry;
        let (Some(from), Some(length)) = (number(bytes, at + 8), number(bytes, at + 16)) else { continue };
        let range = from as usize..(from as usize).saturating_add(length as usize);
        let Some(content) = bytes.get(range) else { continue };
        let mut checksum = Crc::new();
        checksum.update(content);
        bytes[at + 24..at + 28].copy_from_slice(&checksum.sum().to_le_bytes());
    }
    let mut checksum = Crc::new();
    checksum.update(&bytes[..24]);
    checksum.update(&bytes[HEADER..HEADER + ENTRY * entries]);
    bytes[24..28].copy_from_slice(&checksum.sum().to_le_bytes());
}
