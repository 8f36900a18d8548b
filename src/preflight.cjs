// Runs before anything is installed, on whatever Node there is, hence plain old JavaScript. Says early and clearly
// when this machine cannot run Spate: the binaries of uWebSockets.js and DuckDB decide which machines can.
'use strict'

var supported = '20.20 or newer within 20, or 22.22 or newer within 22'

/** Null when `version` (such as "20.20.2") is supported, else what is wrong and the remedy. */
function nodeProblem(version) {
  var parts = version.split('.').map(Number)
  var floor = { 20: 20, 22: 22 }[parts[0]]
  if (floor !== undefined && parts[1] >= floor) return null
  return 'Spate runs on Node ' + supported + '; this is Node ' + version + '. Remedy: install Node 22 (for example `nvm install 22`).'
}

/** Null when the C library fits, else what is wrong and the remedy. `glibc` is undefined on musl systems. */
function libcProblem(platform, glibc) {
  if (platform !== 'linux') return null
  if (glibc === undefined)
    return 'Spate needs glibc 2.28 or newer; this system has another C library (musl?). Remedy: use a Debian-, Ubuntu- or Fedora-based system or image.'
  var parts = glibc.split('.').map(Number)
  if (parts[0] > 2 || (parts[0] === 2 && parts[1] >= 28)) return null
  return 'Spate needs glibc 2.28 or newer; this system has ' + glibc + '. Remedy: use a newer distribution or image.'
}

module.exports = { nodeProblem: nodeProblem, libcProblem: libcProblem }

if (require.main === module) {
  var glibc = process.platform === 'linux' ? process.report.getReport().header.glibcVersionRuntime : undefined
  var problem = nodeProblem(process.versions.node) || libcProblem(process.platform, glibc)
  if (problem) {
    console.error(problem)
    process.exit(78)
  }
}
