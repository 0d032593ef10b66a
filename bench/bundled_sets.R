# Tables with classes of R's packages, and of their generators, as CSV files with the class in the last column:
#     Rscript bench/bundled_sets.R FOLDER
# Packages that are not installed are left out. Sets of the battery and of the paper are not repeated.
folder <- commandArgs(trailingOnly = TRUE)[1]
store <- function(name, x, class) {
  x <- data.matrix(x)
  kept <- complete.cases(x)
  frame <- data.frame(x[kept, , drop = FALSE], class = as.integer(factor(class))[kept])
  write.csv(frame, file.path(folder, paste0(name, ".csv")), row.names = FALSE)
}
set <- function(name, package) {
  where <- new.env()
  data(list = name, package = package, envir = where)
  get(name, envir = where)
}
installed <- function(package) suppressWarnings(requireNamespace(package, quietly = TRUE))
without <- function(frame, columns) frame[, setdiff(names(frame), columns)]

if (installed("mlbench")) {
  for (name in c("Glass", "Ionosphere", "Sonar", "Satellite", "PimaIndiansDiabetes")) {
    frame <- set(name, "mlbench")
    class <- c(Glass = "Type", Ionosphere = "Class", Sonar = "Class", Satellite = "classes", PimaIndiansDiabetes = "diabetes")
    store(paste0("real-", tolower(name)), without(frame, class[name]), frame[[class[name]]])
  }
  for (seed in 1:2) {
    for (name in c("smiley", "spirals", "ringnorm", "twonorm", "waveform", "cassini", "shapes", "simplex")) {
      set.seed(seed)
      made <- getExportedValue("mlbench", paste0("mlbench.", name))(800)
      store(paste0("made-", name, "-", seed), made$x, made$classes)
    }
  }
}
if (installed("MASS")) {
  crabs <- set("crabs", "MASS")
  store("real-crabs", crabs[, 4:8], paste(crabs$sp, crabs$sex))
  painters <- set("painters", "MASS")
  store("real-painters", painters[, 1:4], painters$School)
  cars <- set("Cars93", "MASS")
  store("real-cars93", without(cars[sapply(cars, is.numeric)], c("Luggage.room", "Rear.seat.room")), cars$Type)
  cats <- set("cats", "MASS")
  store("real-cats", cats[, 2:3], cats$Sex)
  weight <- set("birthwt", "MASS")
  store("real-birthwt", without(weight, c("low", "bwt")), weight$low)
  synth <- set("synth.te", "MASS")
  store("made-synth", synth[, 1:2], synth$yc)
}
if (installed("mclust")) {
  for (name in c("diabetes", "banknote")) {
    frame <- set(name, "mclust")
    class <- c(diabetes = "class", banknote = "Status")
    store(paste0("real-", name), without(frame, class[name]), frame[[class[name]]])
  }
  cross <- set("cross", "mclust")
  store("made-cross", cross[, -1], cross[, 1])
}
if (installed("kernlab")) {
  spam <- set("spam", "kernlab")
  store("real-spam", spam[, -58], spam$type)
}
if (installed("cluster")) {
  store("real-ruspini", set("ruspini", "cluster"), rep(1:4, c(20, 23, 17, 15)))
}
if (installed("fpc")) {
  for (seed in 1:2) {
    set.seed(seed)
    face <- fpc::rFace(600, dMoNo = 2, dNoEy = 0)
    store(paste0("made-face-", seed), face, attr(face, "grouping"))
  }
}
