# K-means of R and specc() of kernlab on the tables that the example `rivals` writes: half of bench/r_rivals.py.
#     Rscript bench/r_rivals.R FILE.csv K SEEDS SPECC
# The class is in the last column and is not used. Prints one line for each method, rule and seed: method, rule, seed,
# seconds, value (total within-cluster sum of squares, or sigma), and the labels or, in their place, the error.
words <- commandArgs(trailingOnly = TRUE)
table <- as.matrix(read.csv(words[1], header = FALSE))
x <- table[, -ncol(table), drop = FALSE]
k <- as.integer(words[2])
report <- function(method, rule, seed, run) {
  set.seed(seed)
  seconds <- system.time(found <- tryCatch(suppressWarnings(run()), error = function(e) conditionMessage(e)))[["elapsed"]]
  failed <- is.character(found)
  words <- if (failed) gsub("[[:space:]]+", " ", found) else paste(found$labels - 1, collapse = " ")
  cat(paste(method, rule, seed, seconds, if (failed) "NA" else format(found$value, digits = 15), if (failed) "error" else "labels", words, sep = "\t"), "\n", sep = "")
}
specc <- function(rule) {
  fit <- kernlab::specc(x, centers = k, kpar = rule)
  kernel <- kernlab::kernelf(fit)
  list(labels = fit@.Data, value = if (is.character(kernel)) NA else 1 / sqrt(2 * kernlab::kpar(kernel)$sigma))
}
for (seed in seq_len(as.integer(words[3])) - 1) {
  report("K-means", "random rows", seed, function() {
    fit <- kmeans(x, k, iter.max = 1000, nstart = 100)
    list(labels = fit$cluster, value = fit$tot.withinss)
  })
  if (words[4] == "specc") {
    for (rule in c("automatic", "local")) report("NJW", rule, seed, function() specc(rule))
  }
}
