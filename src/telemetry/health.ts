// Readiness in words. The server is unavailable only when capture cannot accept events; anything else that is wrong
// is `degraded`: events are safe, something is late or missing, and the reasons say what.

export interface HealthReason {
  readonly component: string
  readonly reason: string
  /** True when capture cannot accept events because of it. */
  readonly stopsCapture: boolean
}

export interface Readiness {
  readonly status: 'ok' | 'degraded' | 'unavailable'
  readonly reasons: readonly { readonly component: string; readonly reason: string }[]
}

/** Sums up what is wrong, worst first. */
export function readinessOf(problems: readonly HealthReason[]): Readiness {
  const stopping = problems.filter((problem) => problem.stopsCapture)
  const rest = problems.filter((problem) => !problem.stopsCapture)
  const reasons = [...stopping, ...rest].map(({ component, reason }) => ({ component, reason }))
  if (stopping.length > 0) return { status: 'unavailable', reasons }
  return { status: rest.length > 0 ? 'degraded' : 'ok', reasons }
}
