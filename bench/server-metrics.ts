// What a server says of itself.

interface Port {
  readonly port: number
}

/** The sum of a metric over its labels. Throws when there is none of that name. */
export async function metric(server: Port, name: string): Promise<number> {
  const lines = await linesOf(server)
  const values = lines
    .filter((line) => line.startsWith(`${name}{`) || line.startsWith(`${name} `))
    .map(numberOf)
  if (values.length === 0) throw new Error(`the server has no metric ${name}`)
  return values.reduce((sum, value) => sum + value, 0)
}

export interface LoopDelays {
  readonly looks: number
  /** How many of them the main thread came to more than 10 ms late. */
  readonly late: number
  /** And to how many without what it waited for a processor. */
  readonly held: number
}

/** Since the server started. */
export async function loopDelays(server: Port): Promise<LoopDelays> {
  const lines = await linesOf(server)
  // The server has them.
  const read = (sample: string): number => numberOf(lines.find((line) => line.startsWith(sample))!)
  const looks = read('spate_event_loop_delay_seconds_count ')
  return {
    looks,
    late: looks - read('spate_event_loop_delay_seconds_bucket{le="0.01"}'),
    held: looks - read('spate_event_loop_work_seconds_bucket{le="0.01"}'),
  }
}

async function linesOf({ port }: Port): Promise<string[]> {
  const response = await fetch(`http://127.0.0.1:${port}/metrics`)
  return (await response.text()).split('\n')
}

function numberOf(line: string): number {
  return Number(line.slice(line.lastIndexOf(' ') + 1))
}
