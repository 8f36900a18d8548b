// The plain Node.js servers of peer-server.ts as peers.

import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { processSeconds } from './cpu.ts'
import type { OpenPeer, Peer, PeerCount } from './peer.ts'
import { pinned } from './pinned.ts'
import { killPostgres, postgresCpuMs } from './postgres-process.ts'

export const openNodeDuckdb: OpenPeer = async (folder, core, { capture }) => {
  const { child, port } = await start(['duckdb', join(folder, 'peer.duckdb')], core)
  return {
    ...nodePeer(child, port),
    name: 'plain Node.js, DuckDB appender',
    ack: "committed to DuckDB's log, a transaction a request",
    bytesOf: (number) => capture.bytesOf(number),
    cpuSeconds: () => processSeconds(child.pid!), // it was spawned
    close: async () => await end(child),
  }
}

export const openNodePostgres: OpenPeer = async (folder, core, { capture }) => {
  const place = join(folder, 'postgres')
  const { child, port } = await start(['postgres', place], core)
  return {
    ...nodePeer(child, port),
    name: 'plain Node.js, PostgreSQL rows',
    ack: 'committed and on disk (fsync), a transaction a request',
    bytesOf: (number) => capture.bytesOf(number),
    cpuSeconds: () => processSeconds(child.pid!) + postgresCpuMs(place) / 1000, // it was spawned
    close: async () => {
      await end(child)
      await killPostgres(place)
    },
  }
}

async function start(
  args: readonly string[],
  core: number | null,
): Promise<{ readonly child: ChildProcess; readonly port: number }> {
  const script = fileURLToPath(new URL('./peer-server.js', import.meta.url))
  const [command, ...rest] = pinned(core, [process.execPath, '--enable-source-maps', script, ...args])
  const child = spawn(command!, rest, { stdio: ['ignore', 'inherit', 'inherit', 'ipc'] })
  return { child, port: (await answer<{ port: number }>(child)).port }
}

function nodePeer(child: ChildProcess, port: number): Pick<Peer, 'port' | 'settle' | 'count'> {
  return {
    port,
    // What is committed is found by queries.
    settle: async () => {},
    count: async () => {
      child.send('count')
      return await answer<PeerCount>(child)
    },
  }
}

/** The next message. Rejects when the process ends instead. */
async function answer<T>(child: ChildProcess): Promise<T> {
  return await new Promise<T>((resolve, reject) => {
    const onExit = (code: number | null): void => reject(new Error(`a peer ended with code ${code}`))
    child.once('exit', onExit)
    child.once('message', (message: T) => {
      child.off('exit', onExit)
      resolve(message)
    })
  })
}

async function end(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null) return
  const ended = once(child, 'exit')
  child.disconnect()
  await ended
}
