import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import t from 'tap'
import { takeDataDir } from '../src/data-dir.ts'
import { errorRow, isServiceError } from '../src/errors.ts'

for (const abstract of [true, false]) {
  const kind = abstract ? 'abstract socket' : 'socket file'
  t.test(`the data folder belongs to one holder at a time (${kind})`, async (t) => {
    const path = join(t.testdir(), 'made', 'when', 'missing')
    const first = await takeDataDir(path, abstract)
    const refused = await takeDataDir(path, abstract).then(
      () => null,
      (error: unknown) => error,
    )
    t.ok(isServiceError(refused, 'data_dir_unusable'))
    t.equal(errorRow('data_dir_unusable').exitCode, 73)
    await first.release()
    const second = await takeDataDir(path, abstract)
    await second.release()
  })

  t.test(`a holder that was killed leaves no lock behind (${kind})`, async (t) => {
    const path = t.testdir()
    const code =
      `import { takeDataDir } from ${JSON.stringify(new URL('../src/data-dir.js', import.meta.url).href)};` +
      `await takeDataDir(${JSON.stringify(path)}, ${abstract}); console.log('taken'); setInterval(() => {}, 1e6)`
    const holder = spawn(process.execPath, ['--input-type=module', '-e', code], {
      stdio: ['ignore', 'pipe', 'inherit'],
    })
    await once(holder.stdout, 'data')
    await t.rejects(takeDataDir(path, abstract), {
      code: 'data_dir_unusable',
    })
    holder.kill('SIGKILL')
    await once(holder, 'exit')
    const taken = await takeDataDir(path, abstract)
    await taken.release()
  })
}
