// Every setting of Spate: its environment name, unit, default and meaning. The only file that reads process.env.
// README's table is written from `settings`; a test holds the two equal.

import { existsSync } from 'node:fs'
import { resolve } from 'node:path'
import { ServiceError } from './errors.ts'
import { formatBytes } from './lib/bytes.ts'

const MiB = 1024 * 1024
const GiB = 1024 * MiB

interface Setting<T> {
  readonly env: string
  /** What the README's table shows as default. */
  readonly shown: string
  readonly meaning: string
  readonly parse: (text: string) => T
  readonly fallback: () => T
}

function bad(expected: string): never {
  throw new Error(expected)
}

function integer(env: string, fallback: number, min: number, max: number, meaning: string): Setting<number> {
  const parse = (text: string): number => {
    const value = Number(text)
    const legal = /^\d+$/.test(text) && value >= min && value <= max
    return legal ? value : bad(`an integer from ${min} to ${max}`)
  }
  return { env, shown: String(fallback), meaning, parse, fallback: () => fallback }
}

function word(env: string, fallback: string, meaning: string): Setting<string> {
  return { env, shown: fallback, meaning, parse: (value) => value, fallback: () => fallback }
}

function text(env: string, meaning: string): Setting<string | null> {
  return { env, shown: '', meaning, parse: (value) => value, fallback: () => null }
}

function choice<T extends string>(
  env: string,
  choices: readonly T[],
  fallback: T,
  meaning: string,
): Setting<T> {
  const parse = (value: string): T =>
    choices.find((one) => one === value) ?? bad(`one of ${choices.join(', ')}`)
  return { env, shown: fallback, meaning, parse, fallback: () => fallback }
}

function secret(env: string, prefix: string, meaning: string): Setting<string | null> {
  const parse = (value: string): string =>
    value.startsWith(prefix) && /^[\x21-\x7e]{8,64}$/.test(value)
      ? value
      : bad(`${prefix} followed by letters and digits, 8 to 64 characters in all`)
  return { env, shown: '', meaning, parse, fallback: () => null }
}

function url(env: string, meaning: string): Setting<string | null> {
  const parse = (value: string): string =>
    /^https?:\/\/[^/\s]+/.test(value) ? value.replace(/\/+$/, '') : bad('an http:// or https:// URL')
  return { env, shown: '', meaning, parse, fallback: () => null }
}

function smtpUrl(env: string, meaning: string): Setting<string | null> {
  const parse = (value: string): string =>
    /^smtps?:\/\/[^/\s]+\/?$/.test(value) && URL.canParse(value)
      ? value
      : bad('smtp:// or smtps://, then user:password@ or nothing, then host:port')
  return { env, shown: '', meaning, parse, fallback: () => null }
}

function path(env: string, fallback: string, meaning: string): Setting<string> {
  return {
    env,
    shown: fallback,
    meaning,
    parse: (value) => resolve(value),
    fallback: () => resolve(fallback),
  }
}

export const settings = {
  port: integer('PORT', 8000, 0, 65535, 'Port to listen on; 0 takes a free one.'),
  host: word('HOST', '127.0.0.1', 'Address to listen on; 0.0.0.0 for all.'),
  dataDir: path('DATA_DIR', './data', 'Folder for everything Spate stores.'),
  databaseUrl: text('DATABASE_URL', 'Postgres to use instead of the embedded one.'),
  siteUrl: url(
    'SITE_URL',
    "Public address of this server, used in links; default: the request's Host. Needed with SMTP_URL.",
  ),
  ingestUrl: url('INGEST_URL', 'Address that SDKs are told to send to; default: SITE_URL.'),
  bodyBytesMax: integer('MAX_BODY_BYTES', 20 * MiB, 1024, 256 * MiB, 'Largest request body as sent (bytes).'),
  decompressedBytesMax: integer(
    'MAX_DECOMPRESSED_BYTES',
    160 * MiB,
    1024,
    1024 * MiB,
    'Largest request body after decompression (bytes).',
  ),
  dedupWindowEvents: integer(
    'DEDUP_WINDOW_EVENTS',
    4_000_000,
    0,
    64_000_000,
    'How many events with a uuid from the client are remembered per lane to recognise a retry.',
  ),
  spikeEventsPerSecond: integer(
    'SPIKE_EVENTS_PER_SECOND',
    100,
    0,
    1_000_000,
    'Events of one distinct_id a second beyond which a project is warned of a spike; 0: never.',
  ),
  journalKeepBytes: integer(
    'JOURNAL_KEEP_BYTES',
    10 * GiB,
    0,
    Number.MAX_SAFE_INTEGER,
    'Journal kept after both stores have applied it, for at most 72 hours (bytes).',
  ),
  decodeThreads: {
    ...integer(
      'DECODE_THREADS',
      0,
      0,
      64,
      'Threads that decode bodies; 0: one less than the cores, at least 1.',
    ),
    shown: 'cores − 1',
  },
  duckdbMemoryBytes: {
    ...integer(
      'DUCKDB_MEMORY_LIMIT',
      0,
      0,
      1024 * GiB,
      'Memory for DuckDB (bytes); 0: a quarter of RAM up to 1 GiB.',
    ),
    shown: 'min(RAM / 4, 1 GiB)',
  },
  duckdbThreads: {
    ...integer('DUCKDB_THREADS', 0, 0, 64, 'Threads of DuckDB; 0: half of the cores, at least 1.'),
    shown: 'cores / 2',
  },
  queryMsMax: integer('QUERY_TIMEOUT_MS', 20_000, 100, 25_000, 'Time for a query of people, in SQL (ms).'),
  queryMemoryBytes: integer(
    'QUERY_MEMORY_LIMIT',
    GiB,
    64 * MiB,
    1024 * GiB,
    'How much the server may grow while such a query runs (bytes).',
  ),
  exportLogDays: integer('EXPORT_LOG_DAYS', 30, 1, 3650, 'Days that logs of batch exports are kept.'),
  trustedProxies: text(
    'TRUSTED_PROXIES',
    'Comma-separated CIDRs of proxies whose X-Forwarded-For is believed.',
  ),
  outboundAllow: text(
    'OUTBOUND_ALLOW',
    'Private addresses that may be called for users: CIDRs with commas between, each with :port or without.',
  ),
  dnsServers: text('DNS_SERVERS', 'Comma-separated name servers; default: the ones of this machine.'),
  secretKeyFile: text(
    'SECRET_KEY_FILE',
    'File of the keys that seal stored credentials, a key a line, the first in use; default: DATA_DIR/secret.key.',
  ),
  secretKey: text('SECRET_KEY', 'The same keys without a file, with commas between.'),
  smtpUrl: smtpUrl(
    'SMTP_URL',
    'Mail server: smtp:// or smtps:// with user and password; without it no mail is sent.',
  ),
  mailFrom: text('MAIL_FROM', 'Sender of mail, an address or `Name <address>`; needed with SMTP_URL.'),
  geoipCityDb: text(
    'GEOIP_CITY_DB',
    'MaxMind DB file of cities, or two with a comma between; default: one that npm has beside us, else none.',
  ),
  logLevel: choice(
    'LOG_LEVEL',
    ['debug', 'info', 'warn', 'error', 'silent'],
    'info',
    'Least severe line to log.',
  ),
  logFormat: choice(
    'LOG_FORMAT',
    ['auto', 'json', 'pretty'],
    'auto',
    'auto: pretty on a terminal, else JSON lines.',
  ),
  metricsToken: text('METRICS_TOKEN', 'When set, /metrics wants it as bearer token.'),
  shutdownGraceMs: integer('SHUTDOWN_GRACE_MS', 30_000, 0, 600_000, 'Time for a graceful stop (ms).'),
  bootstrapProjectApiKey: secret(
    'BOOTSTRAP_PROJECT_API_KEY',
    'phc_',
    'Project API key of the first project.',
  ),
  bootstrapPersonalApiKey: secret(
    'BOOTSTRAP_PERSONAL_API_KEY',
    'phx_',
    'Personal API key of the first owner.',
  ),
  bootstrapEmail: word('BOOTSTRAP_EMAIL', 'owner@localhost', 'E-mail of the first owner.'),
  crashAt: text(
    'CRASH_AT',
    'Testing aid: the named point at which the process ends as kill -9 would end it.',
  ),
} as const

type Settings = typeof settings

/** Every setting with its value; no field is optional. */
export type Config = { readonly [K in keyof Settings]: ReturnType<Settings[K]['parse']> }

/**
 * Reads all settings from the environment.
 * Errors: config_invalid names the variable, what came and what was expected.
 */
export function loadConfig(env: Readonly<Record<string, string | undefined>> = process.env): Config {
  const values: Record<string, unknown> = {}
  for (const [name, setting] of Object.entries(settings))
    values[name] = loadSetting(setting, env[setting.env])
  // The loop above gives every key of `settings` the value that its own row parsed.
  const config = values as Config
  if (config.decompressedBytesMax < config.bodyBytesMax) {
    const detail =
      `MAX_DECOMPRESSED_BYTES is ${formatBytes(config.decompressedBytesMax)}, ` +
      `expected at least MAX_BODY_BYTES (${formatBytes(config.bodyBytesMax)})`
    throw new ServiceError('config_invalid', { detail })
  }
  checkMail(config)
  return config
}

/** A mail without sender is refused; one that links to the Host of a request leads where its sender wants. */
function checkMail({ smtpUrl, mailFrom, siteUrl }: Config): void {
  const missing = mailFrom === null ? 'MAIL_FROM' : siteUrl === null ? 'SITE_URL' : null
  if (smtpUrl === null || missing === null) return
  throw new ServiceError('config_invalid', { detail: `SMTP_URL is set, expected ${missing} as well` })
}

function loadSetting(setting: Setting<unknown>, value: string | undefined): unknown {
  if (value === undefined || value === '') return setting.fallback()
  try {
    return setting.parse(value)
  } catch (cause) {
    const expected = cause instanceof Error ? cause.message : String(cause)
    // A key's value is a secret, and a mail server's URL holds one: only name and length are shown.
    const came = /_KEY$|^SMTP_URL$/.test(setting.env) ? `${value.length} characters` : JSON.stringify(value)
    throw new ServiceError('config_invalid', {
      detail: `${setting.env} is ${came}, expected ${expected}`,
      cause,
    })
  }
}

/** Adds the settings of a `.env` file in the working folder, if there is one; the environment itself wins. */
export function loadDotEnv(): void {
  if (existsSync('.env')) process.loadEnvFile('.env')
}

/** Environment of the server process: ours, plus what must be set before a process begins. */
export function childEnvironment(): NodeJS.ProcessEnv {
  return {
    // DuckDB's calls and file system work share libuv's pool, four threads by default.
    UV_THREADPOOL_SIZE: '16',
    // A browser with big cookies, or a pixel with its event in the query, sends more than uWebSockets.js's 4 KiB.
    UWS_HTTP_MAX_HEADERS_SIZE: '65536',
    // The AWS SDK is pinned; that its versions after January 2027 will want another Node is no news for a log.
    AWS_SDK_JS_NODE_VERSION_SUPPORT_WARNING_DISABLED: 'true',
    // glibc keeps what large bodies have freed, in one heap for every few threads: under four rounds of the heaviest
    // requests resident memory went to 1.4 GiB and stayed above 1 GiB. With two heaps, and buffers from 8 MiB given
    // back at once, it peaks below 0.9 GiB and rests at 0.7; decoding takes as long as before.
    MALLOC_ARENA_MAX: '2',
    MALLOC_MMAP_THRESHOLD_: '8388608',
    MALLOC_TRIM_THRESHOLD_: '33554432',
    ...process.env,
  }
}

/** What is missing of that environment in this process, or null. */
export function environmentProblem(
  env: Readonly<Record<string, string | undefined>> = process.env,
): string | null {
  if (Number(env.UV_THREADPOOL_SIZE ?? 4) < 8)
    return 'UV_THREADPOOL_SIZE is below 8: reads will wait for each other'
  if (Number(env.UWS_HTTP_MAX_HEADERS_SIZE ?? 4096) < 16_384)
    return 'UWS_HTTP_MAX_HEADERS_SIZE is below 16384'
  return null
}
