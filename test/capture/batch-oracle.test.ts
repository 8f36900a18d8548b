// What consumers read of encoded batches, whatever the body and wherever its records were cut, against the plain
// version of decoding; and the same rows written as version 2 of a batch.

import t from 'tap'
import { compareWithPlain } from './compare-batches.ts'
import { geoipFiles } from './geoip-files.ts'
import { randomTask } from './random-bodies.ts'

t.test('batches say what the plain version says, in version 3 and in version 2', async (t) => {
  const geoip = geoipFiles(t)
  const counts = { rows: 0, parts: 0, persons: 0, pieces: 0, idPlaces: 0, digests: 0 }
  for (let seed = 0; seed < 120; seed++) {
    const fault = compareWithPlain(randomTask(seed, geoip), counts)
    if (fault !== null) t.fail(`seed ${seed}: ${fault}`)
  }
  // The bodies are worth something only when most of them are events that say something.
  const { rows, parts, persons, pieces, idPlaces, digests } = counts
  const isVaried = pieces > 2 * persons && idPlaces > 200 && digests > persons / 2
  t.ok(rows > 2000 && parts > 500 && persons > rows / 2 && isVaried, JSON.stringify(counts))
})
