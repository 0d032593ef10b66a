//! An archive like that of a workbook of Excel, of given parts. Nothing in it is compressed.

/// The parts that the reader looks at, and what they are where the bytes end before.
const PARTS: [(&str, &str); 6] = [
    ("xl/worksheets/sheet1.xml", ""),
    ("xl/sharedStrings.xml", "<sst uniqueCount=\"2\"><si><t>x</t></si><si><t>red</t></si></sst>"),
    (
        "xl/styles.xml",
        "<styleSheet><cellXfs><xf numFmtId=\"0\"/><xf numFmtId=\"14\"/></cellXfs></styleSheet>",
    ),
    (
        "xl/workbook.xml",
        "<workbook><sheets><sheet name=\"Data\" sheetId=\"1\" r:id=\"r1\"/></sheets></workbook>",
    ),
    (
        "xl/_rels/workbook.xml.rels",
        "<Relationships><Relationship Id=\"r1\" Target=\"worksheets/sheet1.xml\" \
         Type=\"http://schemas.openxmlformats.org/officeDocument/2006/relationships/worksheet\"/></Relationships>",
    ),
    (
        "_rels/.rels",
        "<Relationships><Relationship Id=\"r1\" Target=\"xl/workbook.xml\" \
         Type=\"http://schemas.openxmlformats.org/officeDocument/2006/relationships/officeDocument\"/></Relationships>",
    ),
];

/// The archive of a workbook, of the parts that are separated by zero bytes.
pub fn archive(bytes: &[u8]) -> Vec<u8> {
    let mut given = bytes.split(|byte| *byte == 0);
    let parts = PARTS.map(|(name, usual)| (name, given.next().unwrap_or(usual.as_bytes())));
    let (mut file, mut directory) = (Vec::new(), Vec::new());
    for (name, part) in parts {
        let mut sum = flate2::Crc::new();
        sum.update(part);
        let length = part.len() as u32;
        // What both headers of a part say: version, flags, method, time, checksum, lengths, and nothing extra.
        let mut about = vec![20, 0, 0, 0, 0, 0, 0, 0, 0x21, 0];
        [sum.sum(), length, length].iter().for_each(|number| about.extend(number.to_le_bytes()));
        about.extend((name.len() as u16).to_le_bytes());
        about.extend([0, 0]);
        directory.extend(b"PK\x01\x02\x14\x00");
        directory.extend(&about);
        directory.extend([0; 10]);
        directory.extend((file.len() as u32).to_le_bytes());
        directory.extend(name.bytes());
        file.extend(b"PK\x03\x04");
        file.extend(about);
        file.extend(name.bytes());
        file.extend(part);
    }
    let (start, length) = (file.len() as u32, directory.len() as u32);
    file.extend(directory);
    file.extend(b"PK\x05\x06\0\0\0\0");
    [PARTS.len() as u16; 2].iter().for_each(|number| file.extend(number.to_le_bytes()));
    [length, start].iter().for_each(|number| file.extend(number.to_le_bytes()));
    file.extend([0, 0]);
    file
}
