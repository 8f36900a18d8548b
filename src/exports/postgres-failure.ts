// What a Postgres server's refusal means for a run, by its SQLSTATE. Its words are not repeated: they quote rows, which
// are not the business of whoever may read the export's log.

import { isMadeTwice, sqlState } from '../postgres/pool.ts'
import type { DeliveryError } from './delivery.ts'
import { connectionFailure, permanent, temporary } from './delivery-failure.ts'

const badValue =
  'The table has columns of other types than the rows: a value does not fit. ' +
  'Choose another table_name, or change the columns.'

/** What a person can do about a state, or about a class of states by its first two characters. */
const permanentSentences: Readonly<Record<string, string>> = {
  '28': 'The database refuses the user: check user and password, and whether its rules allow this connection.',
  '3D': 'The database does not exist. Change database.',
  '3F': 'The schema does not exist. Create it, or change schema.',
  '22': badValue,
  '23': 'A constraint of the table refuses rows. Remove it, or choose another table_name.',
  '42': 'The table cannot be written to. Choose another table_name.',
  '42501':
    'The user may not do this: it needs CREATE and USAGE on the schema for tables that are made, ' +
    'and INSERT on those that exist; on spate_export_chunk SELECT and DELETE, too.',
  '42703': 'The table lacks a column that is exported. Add it, or choose another table_name.',
  '42804': badValue,
  '54': 'A row is larger than the database takes.',
}

const temporarySentences: Readonly<Record<string, string>> = {
  '25': 'The database takes no changes now: it is read-only.',
  '40': 'The database gave up the transaction for another one.',
  '53': 'The database is short of something: connections, memory or disk.',
  '53100': "The database's disk is full. Make room.",
  '53300': 'The database has too many connections.',
  '57': 'The database ended the connection.',
  '57014': 'The database took too long.',
}

/** What to tell the run of an error of node-postgres. `what` names the server: "The Postgres server". */
export function postgresFailure(what: string, error: unknown): DeliveryError {
  const connection = connectionFailure(what, error, ' If it is its own, set has_self_signed_cert.')
  if (connection !== null) return connection
  const state = sqlState(error)
  // A connection that broke or timed out has an Error without a code.
  if (state === null)
    return temporary(`The connection to ${inSentence(what)} broke or could not be made.`, error)
  if (isMadeTwice(error))
    return temporary(`Another export made the same table at this moment. (${state})`, error)
  const lasting = permanentSentences[state] ?? permanentSentences[state.slice(0, 2)]
  if (lasting !== undefined) return permanent(`${lasting} (${state})`, error)
  const passing = temporarySentences[state] ?? temporarySentences[state.slice(0, 2)]
  return temporary(`${passing ?? `${what} reports an error.`} (${state})`, error)
}

function inSentence(what: string): string {
  return what.replace(/^The/, 'the')
}
