//! temp
use super::LeafMatrix;
use crate::error::Result;
use crate::forest::LeafIds;
use crate::observe::{Observer, check};
use crate::random::mix;
use rayon::prelude::*;
const FIRST: u64 = 0x243f_6a88_85a3_08d3;
impl LeafIds {
    /// temp
    pub fn signatures(&self, observer: &dyn Observer) -> Result<Vec<u64>> {
        let mut prints = vec![FIRST; self.n()];
        prints.par_chunks_mut(4096).enumerate().for_each(|(chunk, prints)| {
            for t in 0..self.trees() {
                for (print, &leaf) in prints.iter_mut().zip(&self.tree(t)[chunk * 4096..]) {
                    *print = mix(*print ^ u64::from(leaf));
                }
            }
        });
        check(observer).map(|()| prints)
    }
}
impl LeafMatrix {
    /// temp
    pub fn signatures(&self, observer: &dyn Observer) -> Result<Vec<u64>> {
        self.leaf_ids().signatures(observer)
    }
}
