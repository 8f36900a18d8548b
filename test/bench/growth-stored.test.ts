import t from 'tap'
import { growBesideNew } from '../../bench/growth-stored.ts'
import { planOf } from '../../bench/ingest-run.ts'
import { parseCores } from '../../bench/pinned.ts'

t.setTimeout(280_000)

t.test('a server that grows is loaded in turn with a new one, and both are verified', async (t) => {
  // Samples of 60 events.
  const plan = {
    ...planOf('w2', true),
    samples: 3,
    requests: 3,
    warmUps: 1,
    evenSeconds: 0,
    cores: parseCores('none'),
    marks: [200],
  }
  const said: string[] = []
  const { points, broken } = await growBesideNew(plan, t.testdir(), (line) => said.push(line))
  t.same(broken, [])
  // The middle one of three begins after three of its server's, and after two of the new one's.
  t.match(points, [{ at: 240, beside: { at: 120 } }])
  t.equal(points.length, 1)
  const [point] = points
  t.ok(point!.cpuMicros > 0 && point!.perSecond > 0 && point!.beside!.times.min > 0)
  t.same(
    said.map((line) => line.replace(/:.*/, '')),
    [
      ...[1, 2, 3].map((sample) => `grown sample ${sample}`),
      'new warm-up',
      ...[1, 2, 3].flatMap((sample) => [`grown sample ${sample + 3}`, `new sample ${sample}`]),
    ],
  )
})
