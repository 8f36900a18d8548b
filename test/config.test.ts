import { resolve } from 'node:path'
import t from 'tap'
import { childEnvironment, environmentProblem, loadConfig, settings } from '../src/config.ts'

t.test('an empty environment gives the documented defaults', async (t) => {
  const config = loadConfig({})
  t.equal(config.port, 8000)
  t.equal(config.host, '127.0.0.1')
  t.equal(config.dataDir, resolve('data'))
  t.equal(config.bodyBytesMax, 20_971_520)
  t.equal(config.decompressedBytesMax, 167_772_160)
  t.equal(config.dedupWindowEvents, 4_000_000)
  t.equal(config.databaseUrl, null)
})

t.test(
  'a setting that is not valid is refused by its name, with what came and what was expected',
  async (t) => {
    const cases: [env: Record<string, string>, detail: string][] = [
      [{ PORT: '80000' }, 'PORT is "80000", expected an integer from 0 to 65535'],
      [{ PORT: '8e3' }, 'PORT is "8e3", expected an integer from 0 to 65535'],
      [{ LOG_LEVEL: 'loud' }, 'LOG_LEVEL is "loud", expected one of debug, info, warn, error, silent'],
      [
        { SMTP_URL: 'smtp://ada:s3cret@' },
        'SMTP_URL is 18 characters, expected smtp:// or smtps://, then user:password@ or nothing, then host:port',
      ],
      [{ SITE_URL: 'example.com' }, 'SITE_URL is "example.com", expected an http:// or https:// URL'],
      [{ SMTP_URL: 'smtp://mail.example' }, 'SMTP_URL is set, expected MAIL_FROM as well'],
      [
        { SMTP_URL: 'smtp://mail.example', MAIL_FROM: 'spate@mail.example' },
        'SMTP_URL is set, expected SITE_URL as well',
      ],
      [
        { MAX_DECOMPRESSED_BYTES: '1024' },
        'MAX_DECOMPRESSED_BYTES is 1 KiB, expected at least MAX_BODY_BYTES (20 MiB)',
      ],
    ]
    for (const [env, detail] of cases) t.throws(() => loadConfig(env), { code: 'config_invalid', detail })
  },
)

t.test('a key that is not valid is not repeated in the error', async (t) => {
  t.throws(() => loadConfig({ BOOTSTRAP_PERSONAL_API_KEY: 'my-secret' }), {
    code: 'config_invalid',
    detail:
      'BOOTSTRAP_PERSONAL_API_KEY is 9 characters, ' +
      'expected phx_ followed by letters and digits, 8 to 64 characters in all',
  })
})

t.test('an empty variable counts as not set', async (t) => {
  t.equal(loadConfig({ PORT: '' }).port, 8000)
})

t.test('no two settings share a name', async (t) => {
  const names = Object.values(settings).map((setting) => setting.env)
  t.equal(new Set(names).size, names.length)
})

t.test('says which part of the environment was not set before the process began', async (t) => {
  t.match(environmentProblem({}), /UV_THREADPOOL_SIZE/)
  t.match(environmentProblem({ UV_THREADPOOL_SIZE: '16' }), /UWS_HTTP_MAX_HEADERS_SIZE/)
  const env = childEnvironment()
  t.equal(environmentProblem(env), null)
  t.match(env, { MALLOC_ARENA_MAX: '2', MALLOC_MMAP_THRESHOLD_: '8388608' })
})
