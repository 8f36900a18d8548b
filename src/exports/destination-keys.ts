// What each type of destination is told: the keys of its config, which of them it cannot do without, what holds where
// one is left out, and which are secrets. Keys that no row names are stored and ignored.

export const destinationTypes = [
  'S3',
  'Snowflake',
  'Postgres',
  'Redshift',
  'BigQuery',
  'Databricks',
  'HTTP',
  'NoOp',
] as const
export type DestinationType = (typeof destinationTypes)[number]

/** The types that can be exported to. */
export const builtTypes = ['S3', 'Postgres', 'Redshift', 'HTTP', 'NoOp'] as const
export type BuiltType = (typeof builtTypes)[number]

export interface KeyRule {
  /** `flag` also accepts "true" and "false" as text, `port` also digits. */
  readonly kind: 'text' | 'flag' | 'port' | 'count' | 'object' | 'texts'
  readonly isRequired: boolean
  /** Sealed where it is stored, and in no answer. */
  readonly isSecret: boolean
  /** What holds without the key. */
  readonly default: unknown
  /** The only texts allowed; null for any. */
  readonly choices: readonly string[] | null
}

type Rules = Readonly<Record<string, KeyRule>>

const required = rule('text', { isRequired: true })
const requiredSecret = rule('text', { isRequired: true, isSecret: true })
const secret = rule('text', { isSecret: true })

/** Every type takes these. */
const eventFilters: Rules = { exclude_events: rule('texts'), include_events: rule('texts') }

/** How rows are stored in a table of a database. */
const table: Rules = {
  user: requiredSecret,
  password: requiredSecret,
  host: required,
  database: required,
  schema: rule('text', { default: 'public' }),
  table_name: rule('text', { default: 'events' }),
}

const rules: Readonly<Record<BuiltType, Rules>> = {
  S3: {
    bucket_name: required,
    region: required,
    prefix: rule('text', { isRequired: true }),
    aws_access_key_id: secret,
    aws_secret_access_key: secret,
    compression: rule('text'),
    encryption: rule('text', { choices: ['AES256', 'aws:kms'] }),
    kms_key_id: rule('text'),
    endpoint_url: rule('text'),
    file_format: rule('text', { default: 'JSONLines' }),
    max_file_size_mb: rule('count'),
    use_virtual_style_addressing: rule('flag', { default: false }),
    ...eventFilters,
  },
  Postgres: {
    ...table,
    port: rule('port', { default: 5432 }),
    has_self_signed_cert: rule('flag', { default: false }),
    ...eventFilters,
  },
  Redshift: {
    ...table,
    port: rule('port', { default: 5439 }),
    properties_data_type: rule('text', { default: 'varchar', choices: ['varchar', 'super'] }),
    // PostHog has COPY, too: by way of S3.
    mode: rule('text', { default: 'INSERT', choices: ['INSERT'] }),
    // Its parts hold keys to a bucket, so all of it is a secret.
    copy_inputs: rule('object', { isSecret: true }),
    ...eventFilters,
  },
  HTTP: { url: required, token: requiredSecret, ...eventFilters },
  NoOp: { arg: rule('text', { default: '' }), ...eventFilters },
}

export function isBuilt(type: string): type is BuiltType {
  return builtTypes.some((built) => built === type)
}

/** Keys that hold a secret in some type of destination: kept secret in all, whoever they were meant for. */
const secretKeys: ReadonlySet<string> = new Set([
  ...Object.values(rules).flatMap((keys) => Object.keys(keys).filter((key) => keys[key]?.isSecret)),
  'private_key',
  'private_key_id',
  'private_key_passphrase',
  'client_email',
  'token_uri',
])

export function isSecretKey(key: string): boolean {
  return secretKeys.has(key)
}

/** The keys of a type that can be exported to, in the order in which they are checked. */
export function keyRules(type: BuiltType): Rules {
  return rules[type]
}

function rule(kind: KeyRule['kind'], more: Partial<KeyRule> = {}): KeyRule {
  return { kind, isRequired: false, isSecret: false, default: null, choices: null, ...more }
}
