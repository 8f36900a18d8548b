import { readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { loadConfig } from '../../src/config.ts'
import { openSecretKeys } from '../../src/sealing/secret-keys.ts'

const hex = 'ab'.repeat(32)
const otherHex = '01'.repeat(32)
const base64 = Buffer.from(hex, 'hex').toString('base64')

function open(t: Test, env: Record<string, string> = {}) {
  const dataDir = t.testdir({ mine: `# of production\n${hex}\n\n${otherHex}\n` })
  const config = loadConfig({ DATA_DIR: dataDir, ...env })
  return { dataDir, config, openKeys: () => openSecretKeys(config) }
}

t.test('the first start makes a key that only its owner reads, and the next one finds it', async (t) => {
  const { dataDir, openKeys } = open(t)
  const made = openKeys().read()
  t.equal(made.length, 1)
  t.equal(made[0].bytes.length, 32)
  t.match(readFileSync(join(dataDir, 'secret.key'), 'utf8'), /^[0-9a-f]{64}\n$/)
  t.equal(statSync(join(dataDir, 'secret.key')).mode & 0o777, 0o600)
  t.same(openKeys().read(), made)
})

t.test('a new key goes in front of the others, for those too who have the keys open', async (t) => {
  const { openKeys } = open(t)
  const keys = openKeys()
  const [first] = keys.read()
  const added = openKeys().addKey()
  t.not(added.id, first.id)
  t.same(keys.read(), [added, first])
})

t.test('keys come from a file or a setting of the operator, in hexadecimal or base64', async (t) => {
  const { dataDir } = open(t)
  const file = open(t, { SECRET_KEY_FILE: join(dataDir, 'mine') }).openKeys()
  t.equal(file.read().length, 2)
  t.same(Buffer.from(file.read()[0].bytes).toString('hex'), hex)
  for (const text of [hex, hex.toUpperCase(), base64, base64.replace('=', ''), `${hex}, ${otherHex}`]) {
    const { openKeys, dataDir } = open(t, { SECRET_KEY: text })
    t.same(Buffer.from(openKeys().read()[0].bytes).toString('hex'), hex)
    t.throws(() => statSync(join(dataDir, 'secret.key')), { code: 'ENOENT' })
    t.throws(() => openKeys().addKey(), { code: 'config_invalid', detail: /SECRET_KEY: put a new key there/ })
  }
  t.throws(() => file.addKey(), { code: 'config_invalid', detail: /SECRET_KEY_FILE: put a new key there/ })
})

t.test('two keys have two names, and a name does not depend on how the key is written', async (t) => {
  const idOf = (text: string) => open(t, { SECRET_KEY: text }).openKeys().read()[0].id
  t.equal(idOf(hex), idOf(base64))
  t.not(idOf(hex), idOf(otherHex))
  t.match(idOf(hex), /^[0-9a-f]{8}$/)
})

t.test('what is no key is refused without being repeated', async (t) => {
  for (const text of ['hunter2', hex.slice(1), `${hex}a`, `${hex},hunter2`, 'z'.repeat(64), ',']) {
    const error = failureOf(open(t, { SECRET_KEY: text }).openKeys)
    t.match(error, {
      code: 'config_invalid',
      detail: /^SECRET_KEY holds .*64 hexadecimal digits or 32 bytes/,
    })
    t.notMatch(error.detail, 'hunter2')
  }
})

t.test('a file that is gone or damaged says where it should be', async (t) => {
  const gone = failureOf(open(t, { SECRET_KEY_FILE: '/no/such/file' }).openKeys)
  t.match(gone, { code: 'config_invalid', detail: /\/no\/such\/file cannot be read \(ENOENT\); restore/ })
  const { dataDir, openKeys } = open(t)
  const keys = openKeys()
  writeFileSync(join(dataDir, 'secret.key'), 'half a ke')
  t.match(failureOf(openKeys), {
    code: 'config_invalid',
    detail: /secret\.key holds as key 1 text of 9 characters/,
  })
  rmSync(join(dataDir, 'secret.key'))
  t.match(failureOf(keys.read), { code: 'config_invalid' })
})

function failureOf(body: () => unknown): { code: string; detail: string } {
  try {
    body()
  } catch (error) {
    return error as { code: string; detail: string } // the test looks at both
  }
  throw new Error('did not fail')
}
