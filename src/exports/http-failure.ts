// What an HTTP receiver's refusal means for a run. Its body is not read: whoever owns an export could read the answers
// of servers that way.

import { DeliveryError } from './delivery.ts'
import { connectionFailure, temporary } from './delivery-failure.ts'
import { isPassing } from './http-post.ts'

const sentences: Readonly<Record<number, string>> = {
  401: 'The server does not know the token. Set token to the API key of a project there.',
  403: 'The server does not accept the token. Set token to the API key of a project there.',
  404: 'There is no batch endpoint at the url. Set url to one, such as https://example.com/batch/.',
  405: 'The url takes no POST. Set url to a batch endpoint, such as https://example.com/batch/.',
  413: 'An event is larger than the server takes.',
}

/** What may pass, and what would help. */
const passingSentences: Readonly<Record<number, string>> = {
  402: 'The receiving project has used up its quota.',
  429: 'The server asks to be sent less at a time.',
  507: 'The server has no room left.',
}

/** What to tell the run of an answer outside 200 to 299. */
export function httpRefusal(status: number): DeliveryError {
  const passing = passingSentences[status]
  if (passing !== undefined) return new DeliveryError('temporary', `${passing} (status ${status})`)
  if (isPassing(status)) return new DeliveryError('temporary', `The server answers with status ${status}.`)
  const known = sentences[status]
  if (known !== undefined) return new DeliveryError('permanent', `${known} (status ${status})`)
  if (status >= 300 && status < 400) {
    const sentence = 'The server answers with a redirect, which is not followed. Set url to where it leads.'
    return new DeliveryError('permanent', `${sentence} (status ${status})`)
  }
  return new DeliveryError('permanent', `The server refuses the events with status ${status}.`)
}

/** What to tell the run of an error on the way. */
export function httpFailure(error: unknown): DeliveryError {
  return connectionFailure('The server', error) ?? temporary('The events could not be sent.', error)
}
