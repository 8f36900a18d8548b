import t from 'tap'
import { makeSealer, type SealedPlace } from '../../src/sealing/sealer.ts'
import { silentLog } from '../support/postgres.ts'
import { keysOf } from './keys.ts'

const place: SealedPlace = {
  table: 'organization_domain',
  column: 'saml_x509_cert',
  id: '00000000-0000-4000-8000-000000000001',
}

t.test('what is sealed opens, reads like nothing, and is never the same twice', async (t) => {
  const sealer = makeSealer(keysOf('a'), silentLog)
  for (const text of ['', 'hunter2', '{"password":"ünï\u0000code"}', 'x'.repeat(100_000)]) {
    const sealed = sealer.seal(place, text)
    t.match(sealed, /^sealed1\.aaaaaaaa\.[\w-]{38,}$/)
    t.equal(sealer.open(place, sealed), text)
    t.not(sealer.seal(place, text), sealed)
    if (text !== '') t.notOk(Buffer.from(sealed.slice(17), 'base64url').includes(text.slice(0, 8)))
  }
})

t.test('opens a text that was sealed by another build of the same layout', async (t) => {
  const sealed = 'sealed1.aaaaaaaa.Z53Iem0AAoQLTuPPbXHzrdCCHqlr6kNPex4orC719lTnwA8n'
  t.equal(makeSealer(keysOf('a'), silentLog).open(place, sealed), 'recorded')
})

t.test('an older key opens, the first one seals', async (t) => {
  const sealed = makeSealer(keysOf('a'), silentLog).seal(place, 'hunter2')
  const sealer = makeSealer(keysOf('b', 'a'), silentLog)
  t.equal(sealer.open(place, sealed), 'hunter2')
  t.match(sealer.seal(place, 'hunter2'), /^sealed1\.bbbbbbbb\./)
  t.equal(sealer.currentPrefix(), 'sealed1.bbbbbbbb.')
})

t.test('does not open in another row, column or table, nor when a single bit was changed', async (t) => {
  const sealer = makeSealer(keysOf('a'), silentLog)
  const sealed = sealer.seal(place, 'hunter2')
  const altered = {
    code: 'secret_unreadable',
    detail: 'A stored credential was altered, or belongs to another row.',
  }
  t.throws(() => sealer.open({ ...place, id: place.id.replace(/1$/, '2') }, sealed), altered)
  t.throws(() => sealer.open({ ...place, column: 'saml_acs_url' }, sealed), altered)
  t.throws(() => sealer.open({ ...place, table: 'batch_export' }, sealed), altered)
  const [kind, keyId, text] = sealed.split('.')
  const bytes = Buffer.from(text ?? '', 'base64url')
  for (let index = 0; index < bytes.length; index++) {
    const flipped = Buffer.from(bytes)
    flipped[index]! ^= 1
    t.throws(() => sealer.open(place, `${kind}.${keyId}.${flipped.toString('base64url')}`), altered)
  }
  for (const short of ['', 'AAAA', 'A'.repeat(37)]) {
    t.throws(() => sealer.open(place, `${kind}.${keyId}.${short}`), altered)
  }
})

t.test('a key that is missing is named, with what to do; no text of the credential is', async (t) => {
  const sealed = makeSealer(keysOf('a'), silentLog).seal(place, 'hunter2')
  const lines: string[] = []
  const log = { ...silentLog, error: (...words: unknown[]) => lines.push(JSON.stringify(words)) }
  const sealer = makeSealer(keysOf('b'), log as typeof silentLog) // only error is called
  t.throws(() => sealer.open(place, sealed), {
    code: 'secret_unreadable',
    detail: 'A stored credential needs the secret key aaaaaaaa, which is missing.',
  })
  t.match(lines, [/put its key back among the secret keys, or save the credential again/])
  t.notMatch(lines[0], sealed)
  t.throws(() => sealer.open(place, 'plain text'), {
    code: 'secret_unreadable',
    detail: 'A stored credential is not sealed as this version seals.',
  })
})

t.test('keys that cannot be read fail the request, and say why in the log only', async (t) => {
  const keys = keysOf('a')
  const broken = {
    ...keys,
    read: () => {
      throw new Error('/run/secrets/key is gone')
    },
  }
  const sealer = makeSealer(broken, silentLog)
  t.throws(() => sealer.seal(place, 'hunter2'), {
    code: 'secret_unreadable',
    detail: 'A stored credential cannot be opened.',
  })
})
