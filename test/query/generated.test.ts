// Attacks that nobody thought of: random SQL, of which nothing may show another project or touch a file.

import { readdirSync, statSync } from 'node:fs'
import fc from 'fast-check'
import t from 'tap'
import { isServiceError } from '../../src/errors.ts'
import { queries } from './make-query.ts'
import { openWorld, theirSecret } from './world.ts'

/** A search for faults runs many more. */
const runs = Number(process.env.QUERY_RUNS ?? 150)
/** Of the other project: what it says, and the ids of its persons. */
const theirs = new RegExp(`${theirSecret}"|00000000-0000-4000-8000-00000000002`)

/** Every file of a folder with its size and time. */
function files(folder: string): string[] {
  return readdirSync(folder).map((name) => {
    const found = statSync(`${folder}/${name}`, { throwIfNoEntry: false })
    return `${name} ${found?.isDirectory() ? '' : `${found?.size} ${found?.mtimeMs}`}`
  })
}

t.test('no random query shows another project, nor touches a file', async (t) => {
  const { ask } = await openWorld(t)
  const before = files(process.cwd())
  let answered = 0
  const property = fc.asyncProperty(queries, async (sql) => {
    let rows: readonly (readonly unknown[])[]
    try {
      rows = await ask(sql)
    } catch (error) {
      const isRefused = isServiceError(error)
        ? error.code === 'invalid_input'
        : /^\w[\w ]* Error: /.test(String((error as Error).message))
      if (!isRefused || /INTERNAL Error|FATAL/.test(String(error))) throw error
      return
    }
    answered++
    // The query may say the secret itself.
    const text = JSON.stringify(rows)
    if (theirs.test(text) && !sql.includes(theirSecret)) throw new Error(`${sql} shows ${text.slice(0, 300)}`)
  })
  await fc.assert(property, { numRuns: runs, endOnFailure: true })
  t.ok(answered > 0, `${answered} of ${runs} were answered`)
  t.strictSame(files(process.cwd()), before)
  t.strictSame(await ask('select count(*) from events'), [['3']], 'the store goes on')
})
