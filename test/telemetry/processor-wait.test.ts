import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { openProcessorWait } from '../../src/telemetry/processor-wait.ts'

t.test('tells what the system has counted so far, each time it is asked', async (t) => {
  const path = join(t.testdir(), 'schedstat')
  writeFileSync(path, '5000000 1500000 12\n')
  const wait = openProcessorWait(path)
  t.equal(wait.ms(), 1.5)
  writeFileSync(path, '7000000 20000000 13\n')
  t.equal(wait.ms(), 20)
  wait.close()
})

t.test('knows of no wait where the system does not tell', async (t) => {
  const wait = openProcessorWait(join(t.testdir(), 'nothing'))
  t.equal(wait.ms(), 0)
  wait.close()
})

t.test('of this thread', async (t) => {
  const wait = openProcessorWait()
  const before = wait.ms()
  t.ok(before >= 0)
  t.ok(wait.ms() >= before)
  wait.close()
})
