// Every error that leaves Spate, in one closed table: its HTTP status, its family, its wording, whether the sender
// should try again, and the exit code when it ends the process. Codes, statuses and wording live nowhere else.
//
// The public ingestion endpoints answer errors as text/plain: `detail`, then the specifics. The management API answers
// {type, code, detail, attr}; where its public code differs from the name here, the row says so in `publicCode`.

export type ErrorType =
  | 'validation_error'
  | 'invalid_request'
  | 'authentication_error'
  | 'throttled_error'
  | 'server_error'

interface ErrorRow {
  readonly status: number
  readonly type: ErrorType
  /** Wording when the thrower adds nothing. */
  readonly detail: string
  /** True when the same request may succeed later without being changed. */
  readonly retryable: boolean
  /** The `code` that the management API shows, where it is not the name of the row. */
  readonly publicCode?: string
  /** Process exit code when the error ends the process. */
  readonly exitCode?: number
}

function row(status: number, type: ErrorType, detail: string, more: Partial<ErrorRow> = {}): ErrorRow {
  return { status, type, detail, retryable: false, ...more }
}

const retry = { retryable: true }

const rows = {
  // Capture: the body
  payload_missing: row(400, 'validation_error', 'request missing data payload'),
  payload_undecodable: row(400, 'validation_error', 'failed to decode request'),
  payload_unparseable: row(400, 'validation_error', 'failed to parse request'),
  payload_unhydratable: row(400, 'validation_error', 'failed to hydrate events from request'),
  payload_empty: row(400, 'validation_error', 'request holds no event'),
  cookieless_mode_invalid: row(400, 'validation_error', 'event submitted with invalid cookieless mode'),
  body_too_large: row(413, 'validation_error', 'maximum event size exceeded'),
  body_stalled: row(408, 'invalid_request', 'client stopped sending data', retry),
  // HTTP
  request_malformed: row(400, 'invalid_request', 'Malformed request.'),
  request_too_large: row(413, 'invalid_request', 'The request body is too large.'),
  deadline_exceeded: row(503, 'server_error', 'transient error, please retry', retry),
  overloaded: row(503, 'server_error', 'transient error, please retry', retry),
  // Capture: the key
  api_key_missing: row(401, 'authentication_error', 'event submitted without an api_key'),
  api_key_inconsistent: row(401, 'authentication_error', 'batch submitted with inconsistent api_key values'),
  api_key_invalid: row(401, 'authentication_error', 'API key is not valid'),
  api_key_unknown: row(401, 'authentication_error', 'API key is not valid: unknown'),
  // Capture: not now
  capture_overloaded: row(503, 'server_error', 'transient error, please retry', retry),
  projects_unavailable: row(503, 'server_error', 'transient error, please retry', retry),
  journal_full: row(503, 'server_error', 'transient error, please retry', retry),
  journal_failed: row(503, 'server_error', 'transient error, please retry', {
    retryable: true,
    exitCode: 70,
  }),
  stopping: row(503, 'server_error', 'transient error, please retry', retry),
  // Flags
  malformed_data: row(400, 'validation_error', 'Malformed request data'),
  no_api_key: row(401, 'authentication_error', 'No project API key provided.'),
  invalid_api_key: row(401, 'authentication_error', 'Project API key invalid.'),
  invalid_personal_key: row(401, 'authentication_error', 'Invalid personal API key.'),
  missing_distinct_id: row(400, 'validation_error', 'Decide requires a distinct_id.'),
  // Management: who asks
  not_authenticated: row(401, 'authentication_error', 'Authentication credentials were not provided.'),
  authentication_failed: row(
    401,
    'authentication_error',
    'Personal API key found in request Authorization header is invalid.',
  ),
  permission_denied: row(403, 'authentication_error', 'You do not have permission to perform this action.'),
  payment_required: row(402, 'authentication_error', 'The monthly quota of this project is used up.'),
  throttled: row(429, 'throttled_error', 'Request was throttled.', retry),
  // Management: what is asked
  not_found: row(404, 'invalid_request', 'Not found.'),
  method_not_allowed: row(405, 'invalid_request', 'Method not allowed.'),
  parse_error: row(400, 'invalid_request', 'JSON parse error'),
  unsupported_media_type: row(415, 'invalid_request', 'Unsupported media type in request.'),
  required: row(400, 'validation_error', 'This field is required.'),
  null: row(400, 'validation_error', 'This field may not be null.'),
  blank: row(400, 'validation_error', 'This field may not be blank.'),
  max_length: row(400, 'validation_error', 'This field is too long.'),
  invalid_choice: row(400, 'validation_error', 'Not a valid choice.'),
  invalid_input: row(400, 'validation_error', 'Invalid input.'),
  max_value: row(400, 'validation_error', 'This value is too large.'),
  min_value: row(400, 'validation_error', 'This value is too small.'),
  already_verified: row(400, 'validation_error', 'This domain has already been verified.'),
  verification_required: row(
    400,
    'validation_error',
    'This field cannot be updated until the domain is verified.',
  ),
  not_a_list: row(400, 'validation_error', 'Expected a list of items.'),
  does_not_exist: row(400, 'validation_error', 'This object does not exist.'),
  unique: row(400, 'validation_error', 'This field must be unique.'),
  conflict: row(409, 'invalid_request', 'The object was changed meanwhile.'),
  address_refused: row(400, 'validation_error', 'This address may not be called.', {
    publicCode: 'invalid_input',
  }),
  // Management: not now
  postgres_unavailable: row(503, 'server_error', 'The database is not reachable.', {
    retryable: true,
    exitCode: 69,
  }),
  database_busy: row(503, 'server_error', 'The database is too busy for this request.', retry),
  reads_overloaded: row(503, 'server_error', 'Too many queries are waiting.', retry),
  events_unavailable: row(503, 'server_error', 'The events store is not ready.', retry),
  store_fenced: row(503, 'server_error', 'Another process has taken the store.', retry),
  address_unknown: row(503, 'server_error', 'A name could not be looked up.', retry),
  secret_unreadable: row(500, 'server_error', 'A stored credential cannot be opened.'),
  mail_refused: row(500, 'server_error', 'The mail server refuses this mail.'),
  mail_unavailable: row(503, 'server_error', 'The mail server is not reachable.', retry),
  internal: row(500, 'server_error', 'A server error occurred.', { publicCode: 'error', exitCode: 1 }),
  // Start and stop
  config_invalid: row(500, 'server_error', 'A setting is not valid.', { exitCode: 78 }),
  runtime_unsupported: row(500, 'server_error', 'This machine cannot run Spate.', { exitCode: 78 }),
  lineage_foreign: row(
    500,
    'server_error',
    'The stores belong to different journals, or to copies of one that went ways of their own.',
    { exitCode: 78 },
  ),
  schema_newer: row(500, 'server_error', 'The database was migrated by a newer Spate.', { exitCode: 78 }),
  data_dir_unusable: row(500, 'server_error', 'The data folder cannot be used.', { exitCode: 73 }),
  // The command line, asking a running server
  server_unavailable: row(503, 'server_error', 'The server does not answer.', {
    retryable: true,
    exitCode: 69,
  }),
  server_refused: row(500, 'server_error', 'The server refused.', { exitCode: 1 }),
  storage_failed: row(500, 'server_error', 'The disk failed.', { exitCode: 70 }),
} satisfies Record<string, ErrorRow>

export type ErrorCode = keyof typeof rows

/** The row of `code`. */
export function errorRow(code: ErrorCode): ErrorRow {
  return rows[code]
}

export const errorCodes = Object.keys(rows) as readonly ErrorCode[] // the keys of an object literal are its type's keys

interface ErrorOptions {
  /** What was expected, what came, and which limit. Never a secret, never a body. */
  readonly detail?: string
  /** The field at fault, nested names joined by `__`; management only. */
  readonly attr?: string
  /** Seconds for the Retry-After header. */
  readonly retryAfterSeconds?: number
  readonly cause?: unknown
}

/** An operating error: expected, named by a code of the table, handled by whoever can. */
export class ServiceError extends Error {
  readonly code: ErrorCode
  readonly detail: string
  readonly attr: string | null
  readonly retryAfterSeconds: number | null

  constructor(code: ErrorCode, options: ErrorOptions = {}) {
    const detail = options.detail ?? rows[code].detail
    super(`${code}: ${detail}`, options.cause === undefined ? {} : { cause: options.cause })
    this.name = 'ServiceError'
    this.code = code
    this.detail = detail
    this.attr = options.attr ?? null
    this.retryAfterSeconds = options.retryAfterSeconds ?? null
  }
}

/** True when `error` is a ServiceError with one of `codes` (any code when none is given). */
export function isServiceError(error: unknown, ...codes: ErrorCode[]): error is ServiceError {
  return error instanceof ServiceError && (codes.length === 0 || codes.includes(error.code))
}
