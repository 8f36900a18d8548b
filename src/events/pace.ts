// How many rows one transaction takes.
//
// By time when little waits: a transaction of about 300 ms keeps rows fresh. A whole row group when at least that
// much waits: DuckDB then writes the rows compressed into its file at once instead of writing them twice, into the
// write-ahead log and at the next checkpoint. CPU µs per event with checkpoint, 1.1 KB events, DuckDB 1.5.6:
// 6.1–6.8 in transactions of 122,880 rows, 8–11 in any smaller one.

/** Rows of a DuckDB row group. */
export const rowGroupRows = 122_880

const stepMsAim = 300
/**
 * Not even a whole row group may take longer. Far above what it takes on a busy machine (0.7 to 2.5 s): small
 * transactions are dearer, and a machine that fell back to them for being slow would stay slow.
 */
const stepMsMax = 10_000
const rowsMin = 1024

export class Pace {
  /** Start values are careful guesses; the first steps correct them. */
  #msPerRow = 0.02
  #bytesPerRow = 1200
  #rowsMax = rowGroupRows

  /** No transaction may be larger: less than a row group after one that failed. */
  get rowsMax(): number {
    return this.#rowsMax
  }

  /** Rows for the next transaction when `waitingBytes` of journal wait. */
  rows(waitingBytes: number): number {
    const hasRowGroup = waitingBytes >= rowGroupRows * this.#bytesPerRow
    const isFastEnough = rowGroupRows * this.#msPerRow <= stepMsMax
    const byTime = hasRowGroup && isFastEnough ? rowGroupRows : Math.round(stepMsAim / this.#msPerRow)
    return Math.min(Math.max(byTime, rowsMin), this.#rowsMax)
  }

  /** Journal bytes that `rows` rows are expected to take. */
  bytes(rows: number): number {
    return rows * this.#bytesPerRow
  }

  /** Learns from a finished transaction. */
  applied(rows: number, bytes: number, ms: number): void {
    this.#rowsMax = Math.min(rowGroupRows, this.#rowsMax * 2)
    // Small transactions are all overhead and would teach the wrong lesson.
    if (rows < rowsMin) return
    this.#msPerRow = (this.#msPerRow + ms / rows) / 2
    this.#bytesPerRow = (this.#bytesPerRow + bytes / rows) / 2
  }

  /** Halves the next transaction after one that ran out of memory, disk or luck. */
  failed(rows: number): void {
    this.#rowsMax = Math.max(1, Math.floor(Math.min(rows, this.#rowsMax) / 2))
  }
}
