// Agents of node:http and node:https whose sockets go to judged addresses only.

import type { LookupAddress } from 'node:dns'
import http from 'node:http'
import https from 'node:https'
import type { LookupFunction } from 'node:net'
import type { Duplex } from 'node:stream'

/** Resolves with the addresses that may be called; rejects when there are none. */
export type FindAddresses = (host: string, port: number) => Promise<readonly LookupAddress[]>

type OnSocket = (error: Error | null, socket: Duplex) => void

const settings: http.AgentOptions = { keepAlive: true, maxSockets: 64, maxFreeSockets: 16 }

// Node looks up no name that is an IP address already, and tells a lookup nothing of the port: hence the whole
// connection is held back here until both have been judged.

class GuardedHttpAgent extends http.Agent {
  readonly #find: FindAddresses

  constructor(find: FindAddresses) {
    super(settings)
    this.#find = find
  }

  override createConnection(options: http.ClientRequestArgs, onSocket?: OnSocket): undefined {
    connectTo(this.#find, options, onSocket, (pinned) => super.createConnection(pinned))
  }
}

class GuardedHttpsAgent extends https.Agent {
  readonly #find: FindAddresses

  constructor(find: FindAddresses) {
    super(settings)
    this.#find = find
  }

  override createConnection(options: https.RequestOptions, onSocket?: OnSocket): undefined {
    connectTo(this.#find, options, onSocket, (pinned) => super.createConnection(pinned))
  }
}

export function guardedHttpAgent(find: FindAddresses): http.Agent {
  return new GuardedHttpAgent(find)
}

export function guardedHttpsAgent(find: FindAddresses): https.Agent {
  return new GuardedHttpsAgent(find)
}

function connectTo<Options extends http.ClientRequestArgs>(
  find: FindAddresses,
  options: Options,
  onSocket: OnSocket = () => {},
  connect: (options: Options) => Duplex | null | undefined,
): void {
  // Node's types ask for a socket beside an error; its agent looks at the error first.
  const fail = (error: unknown): void => onSocket(error as Error, null as never)
  find(options.host ?? 'localhost', Number(options.port))
    .then((addresses) => {
      const socket = connect({ ...options, lookup: always(addresses) })
      if (socket) onSocket(null, socket)
    })
    .catch(fail)
}

/** Answers every name with `addresses`. */
function always(addresses: readonly LookupAddress[]): LookupFunction {
  return (_name, { all }, callback) => {
    const first = addresses[0]!
    if (all === true) callback(null, [...addresses])
    else callback(null, first.address, first.family)
  }
}
