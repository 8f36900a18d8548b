// The thread of the decode pool, which can be asked how many ports it holds, too.

import { queryObjects } from 'node:v8'
import { MessagePort } from 'node:worker_threads'
import decode from '../../workers/decode.ts'

export default async function decodeOrCount(asked: Parameters<typeof decode>[0] | 'ports') {
  return asked === 'ports' ? queryObjects(MessagePort) : decode(asked)
}
