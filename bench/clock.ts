// The clock that processes of one machine share. `performance.now()` starts at 0 in every process; an oracle compares
// the moment a client saw an answer with the moment another process cut the power, so it needs one origin for both.

/** Milliseconds of the machine's monotonic clock (CLOCK_MONOTONIC on Linux), with fractions. */
export function machineMs(): number {
  return Number(process.hrtime.bigint()) / 1e6
}

/** What the wall clock shows at a moment of `machineMs`; clocks that are set meanwhile make it wrong. */
export function wallMsAt(ms: number): number {
  return Date.now() - machineMs() + ms
}
