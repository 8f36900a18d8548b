import t from 'tap'
import { isServiceError } from '../../src/errors.ts'
import { mergeConfig, readConfig, requireBuilt, splitConfig } from '../../src/exports/destination.ts'
import type { BuiltType, DestinationType } from '../../src/exports/destination-keys.ts'

const s3 = { bucket_name: 'b', region: 'eu', prefix: '' }
const database = { user: 'u', password: 'p', host: 'h', database: 'd' }

function refusal(body: () => unknown): string {
  try {
    body()
  } catch (error) {
    if (isServiceError(error, 'invalid_input') && error.attr === 'destination') return error.detail
    throw error
  }
  return 'none'
}

t.test('types that are not built are refused by name, with those that are', async (t) => {
  for (const type of ['Snowflake', 'BigQuery', 'Databricks'] satisfies DestinationType[]) {
    t.equal(
      refusal(() => requireBuilt(type)),
      `Destination type ${type} is not supported. Supported types are: S3, Postgres, Redshift, HTTP, NoOp.`,
    )
  }
  t.equal(requireBuilt('S3'), 'S3')
})

t.test('fills in what is left out', async (t) => {
  t.strictSame(readConfig('Postgres', { ...database, odd: 1 }), {
    user: 'u',
    password: 'p',
    host: 'h',
    database: 'd',
    schema: 'public',
    table_name: 'events',
    port: 5432,
    has_self_signed_cert: false,
    exclude_events: null,
    include_events: null,
  })
  t.equal(readConfig('Redshift', database).port, 5439)
  t.equal(readConfig('Redshift', database).mode, 'INSERT')
  t.equal(readConfig('S3', s3).file_format, 'JSONLines')
  t.equal(readConfig('S3', s3).prefix, '')
  t.strictSame(readConfig('NoOp', {}), { arg: '', exclude_events: null, include_events: null })
})

t.test('reads flags and ports as forms send them', async (t) => {
  t.equal(readConfig('Postgres', { ...database, port: '6543' }).port, 6543)
  t.equal(readConfig('Postgres', { ...database, has_self_signed_cert: 'True' }).has_self_signed_cert, true)
  t.equal(
    readConfig('S3', { ...s3, use_virtual_style_addressing: 'true' }).use_virtual_style_addressing,
    true,
  )
})

t.test('names the keys that are missing', async (t) => {
  const rows: [BuiltType, object, string][] = [
    ['S3', {}, 'bucket_name, region, prefix'],
    ['S3', { ...s3, region: ' ' }, 'region'],
    ['Postgres', { ...database, password: null }, 'password'],
    ['Redshift', {}, 'user, password, host, database'],
    ['HTTP', { url: 'https://example.com' }, 'token'],
    // A prototype has no keys of anybody's config.
    ['HTTP', Object.create({ url: 'x', token: 'y' }), 'url, token'],
  ]
  for (const [type, config, keys] of rows) {
    t.equal(
      refusal(() => readConfig(type, { ...config })),
      `Configuration missing required inputs: ${keys}.`,
    )
  }
})

t.test('refuses values of another kind, without repeating them', async (t) => {
  const rows: [BuiltType, object, string][] = [
    [
      'S3',
      { ...s3, bucket_name: 5 },
      "Configuration has invalid type: 'bucket_name' must be text of at most 4096 characters.",
    ],
    [
      'S3',
      { ...s3, bucket_name: 'a\0' },
      "Configuration has invalid type: 'bucket_name' must be text of at most 4096 characters.",
    ],
    [
      'S3',
      { ...s3, encryption: 'rot13' },
      "Configuration has invalid value: 'encryption' must be one of AES256, aws:kms.",
    ],
    [
      'S3',
      { ...s3, use_virtual_style_addressing: 1 },
      "Configuration has invalid type: 'use_virtual_style_addressing' must be true or false.",
    ],
    [
      'Postgres',
      { ...database, port: 65_536 },
      "Configuration has invalid type: 'port' must be an integer from 1 to 65535.",
    ],
    [
      'Postgres',
      { ...database, port: 0 },
      "Configuration has invalid type: 'port' must be an integer from 1 to 65535.",
    ],
    [
      'S3',
      { ...s3, include_events: 'all' },
      "Configuration has invalid type: 'include_events' must be a list of at most 1000 texts.",
    ],
    [
      'Redshift',
      { ...database, copy_inputs: [] },
      "Configuration has invalid type: 'copy_inputs' must be an object.",
    ],
  ]
  for (const [type, config, detail] of rows)
    t.equal(
      refusal(() => readConfig(type, { ...config })),
      detail,
    )
  t.equal(readConfig('Postgres', { ...database, port: 65_535 }).port, 65_535)
})

t.test('files have a known format and a compression that suits it', async (t) => {
  t.equal(
    refusal(() => readConfig('S3', { ...s3, file_format: 'CSV' })),
    "File format CSV is not supported. Supported file formats are ['Parquet', 'JSONLines']",
  )
  t.equal(
    refusal(() => readConfig('S3', { ...s3, file_format: 'JSONLines', compression: 'zstd' })),
    "Compression zstd is not supported for file format JSONLines. Supported compressions are ['gzip', 'brotli']",
  )
  for (const compression of ['zstd', 'lz4', 'snappy', 'gzip', 'brotli', null]) {
    t.equal(readConfig('S3', { ...s3, file_format: 'Parquet', compression }).compression, compression)
  }
  t.match(
    refusal(() => readConfig('S3', { ...s3, file_format: 'constructor' })),
    /is not supported/,
  )
})

t.test('parts secrets from what is shown, whatever the type', async (t) => {
  const secret = { aws_access_key_id: 'AKIA', aws_secret_access_key: 's' }
  t.strictSame(splitConfig({ ...s3, ...secret, other: [1] }), { shown: { ...s3, other: [1] }, secret })
  t.strictSame(splitConfig({ ...database, copy_inputs: {} }), {
    shown: { host: 'h', database: 'd' },
    secret: { user: 'u', password: 'p', copy_inputs: {} },
  })
  t.strictSame(splitConfig({ url: 'https://example.com', token: 't', private_key: 'k' }), {
    shown: { url: 'https://example.com' },
    secret: { token: 't', private_key: 'k' },
  })
})

t.test('a change keeps the keys it does not name', async (t) => {
  const stored = { ...s3, aws_secret_access_key: 's' }
  t.strictSame(mergeConfig(stored, { prefix: 'new/' }), {
    bucket_name: 'b',
    region: 'eu',
    prefix: 'new/',
    aws_secret_access_key: 's',
  })
})
