// Where does the time go? Each stage of ingestion alone, in one process, on the same events: processor time an event,
// so that a profile can be read as a sum. What is missing to the figure of `ingest` is HTTP, threads and Postgres
// (`persons` measures the last).

import { integerOption, type Outcome, type ResultRow, type Scenario } from './scenario.ts'
import { measureStages, type StageFigure } from './stage-figures.ts'
import { stageInput } from './stage-input.ts'

export const stages: Scenario = {
  question: 'where does the time go, stage by stage?',
  options: {
    samples: { fallback: '7', meaning: 'of each stage' },
    requests: { fallback: '40', meaning: 'of 1000 events, in a sample' },
    seed: { fallback: '1', meaning: 'of the events' },
  },
  run: async ({ options, folder }) => {
    const input = stageInput(integerOption(options, 'seed'), integerOption(options, 'requests'))
    const figures = await measureStages(input, integerOption(options, 'samples'), folder)
    return { rows: figures.map(describe), broken: [], slow: [] } satisfies Outcome
  },
}

function describe({ name, micros, unit }: StageFigure): ResultRow {
  const [median, min, max] = [micros.median, micros.min, micros.max].map((one) => one.toFixed(2))
  return { name, value: `${median} µs of CPU for each ${unit} (${min} to ${max})` }
}
