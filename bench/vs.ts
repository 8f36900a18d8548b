// How does the server compare with other ways to take the same events in? Mind what each acknowledgement means: only
// some of them survive a power cut.

import type { Spread } from './ingest-figures.ts'
import { comparePeers, type PeerFigure, peers } from './peer-comparison.ts'
import { parseCores } from './pinned.ts'
import { integerOption, numberOption, type Outcome, type ResultRow, type Scenario } from './scenario.ts'

export const vs: Scenario = {
  question: 'how does the server compare with other ways to take the same events in?',
  options: {
    workload: { fallback: 'w3,w2,w1', meaning: 'one or more, with commas' },
    peers: { fallback: Object.keys(peers).join(','), meaning: 'that take turns' },
    samples: { fallback: '5', meaning: 'of each' },
    share: { fallback: '0.25', meaning: "of a workload's sample" },
    cores: { fallback: '0,1', meaning: "the server's and the generator's, or none" },
  },
  run: async ({ options, folder, say }) => {
    const figures: PeerFigure[] = []
    for (const workload of (options.workload ?? '').split(',')) {
      const plan = {
        workload,
        names: (options.peers ?? '').split(','),
        samples: integerOption(options, 'samples'),
        share: numberOption(options, 'share'),
        core: parseCores(options.cores ?? '').server,
      }
      figures.push(...(await comparePeers(plan, folder, say)))
    }
    const failed = figures.filter(({ fault, isMissing }) => fault !== null && !isMissing)
    const broken = failed.map(({ workload, peer, fault }) => `${workload} ${peer}: ${fault}`)
    return { rows: figures.map(describePeer), broken, slow: [] } satisfies Outcome
  },
}

/** What a peer took, or why it is left out. */
export function describePeer({ workload, peer, ack, taken, fault }: PeerFigure): ResultRow {
  const name = `${workload} ${peer}`
  if (taken === null) return { name, value: `left out: ${fault}` }
  const { cpuMicros, ackedPerSecond, ofFirst } = taken
  const figures = `${printSpread(cpuMicros)} µs CPU an event, ${printSpread(ackedPerSecond)} events/s acked`
  const times = ofFirst === null ? '' : `; ${ofFirst.median.toFixed(2)}× the first`
  return { name, value: `${figures}${times}; ack: ${ack}` }
}

function printSpread({ median, min, max }: Spread): string {
  const [middle, low, high] = [median, min, max].map((value) =>
    value < 100 ? value.toFixed(1) : Math.round(value).toLocaleString('en-US'),
  )
  return `${middle} (${low} to ${high})`
}
