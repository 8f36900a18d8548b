// What a scenario is: a question, options, and a result that says whether the promises were kept.

export interface ScenarioOption {
  readonly fallback: string
  readonly meaning: string
}

/** The options of a run by name, each an explicit value or its fallback. */
export type Options = Readonly<Record<string, string>>

export interface Context {
  readonly options: Options
  /** An empty folder for this run. It is removed when all promises were kept. */
  readonly folder: string
  /** Prints a line about what goes on. */
  say(line: string): void
}

export interface ResultRow {
  readonly name: string
  readonly value: string
}

export interface Outcome {
  readonly rows: readonly ResultRow[]
  /** The promises that were broken, in words; empty when all were kept. */
  readonly broken: readonly string[]
  /** The goals of speed that this machine missed, in words: a busy machine misses them without a fault of ours. */
  readonly slow: readonly string[]
}

/** A machine cannot run every scenario; the reason is printed. */
export interface Skipped {
  readonly skipped: string
}

export interface Scenario {
  readonly question: string
  readonly options: Readonly<Record<string, ScenarioOption>>
  run(context: Context): Promise<Outcome | Skipped>
}

/** The value of an integer option. */
export function integerOption(options: Options, name: string): number {
  const text = options[name] ?? ''
  if (!/^\d+$/.test(text)) throw new Error(`--${name} is ${JSON.stringify(text)}, expected an integer`)
  return Number(text)
}

/** The value of an option that may have a fraction. */
export function numberOption(options: Options, name: string): number {
  const text = options[name] ?? ''
  if (!/^\d+(\.\d+)?$/.test(text)) throw new Error(`--${name} is ${JSON.stringify(text)}, expected a number`)
  return Number(text)
}

/** "p50 812, p99 1030, max 1044 ms (20 samples)", or "none". */
export function describeTimes(timesMs: readonly number[]): string {
  if (timesMs.length === 0) return 'none'
  const [p50, p99, max] = [0.5, 0.99, 1].map((share) => printMs(quantile(timesMs, share)))
  return `p50 ${p50}, p99 ${p99}, max ${max} ms (${timesMs.length} samples)`
}

/** The smallest sample that `share` of all samples do not exceed. */
export function quantile(samples: readonly number[], share: number): number {
  if (samples.length === 0) return Number.NaN
  const sorted = [...samples].sort((a, b) => a - b)
  return sorted[Math.max(0, Math.ceil(share * sorted.length) - 1)]!
}

function printMs(ms: number): string {
  return ms < 10 ? ms.toFixed(1) : ms.toFixed(0)
}
