// ClickHouse as Debian packs it, over HTTP: rows as JSONEachRow, one INSERT a request. It takes rows, not captures:
// the same events, with properties as one string, compressed the same way.

import { type ChildProcess, execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { processSeconds } from './cpu.ts'
import { NdjsonRequests } from './ndjson-file.ts'
import type { OpenPeer, PeerRequests } from './peer.ts'
import { pinned } from './pinned.ts'
import { waitFor } from './wait.ts'

const startMsMax = 30_000

export const openClickhouse: OpenPeer = async (folder, core, requests) => {
  if (!isInstalled())
    return { missing: 'ClickHouse is not installed (Debian: apt-get install clickhouse-server)' }
  const port = await freePort()
  writeFileSync(join(folder, 'config.xml'), configText(folder, port))
  writeFileSync(join(folder, 'users.xml'), usersText)
  const [command, ...args] = pinned(core, [
    'clickhouse-server',
    `--config-file=${join(folder, 'config.xml')}`,
  ])
  const child = spawn(command!, args, { stdio: 'ignore' })
  try {
    await waitFor('ClickHouse answers', startMsMax, async () => {
      if (child.exitCode !== null) throw new Error(`ClickHouse ended with code ${child.exitCode}`)
      return await query(port, 'select 1').catch(() => null)
    })
    await query(
      port,
      `create table event (uuid String, event String, distinct_id String, timestamp String, properties String)
       engine = MergeTree order by (event, distinct_id, timestamp)`,
    )
  } catch (error) {
    await end(child) // nobody else knows of it
    throw error
  }
  const bodies = insertRequests(requests)
  return {
    name: 'ClickHouse, JSONEachRow',
    ack: 'a part is written to the page cache, no fsync',
    port,
    bytesOf: (number) => bodies[number]!,
    cpuSeconds: () => processSeconds(child.pid!), // it was spawned
    // Parts are merged later; queries find them at once.
    settle: async () => {},
    count: async () => {
      const counts = await query(port, 'select count(), uniqExact(uuid) from event')
      const [events, distinctEvents] = counts.trim().split('\t').map(Number)
      return { events: events!, distinctEvents: distinctEvents! } // the query has two columns
    },
    close: async () => await end(child),
  }
}

function isInstalled(): boolean {
  try {
    execFileSync('sh', ['-c', 'command -v clickhouse-server'], { stdio: 'ignore' })
    return true
  } catch {
    return false
  }
}

/** All requests, compressed as those of capture are. */
function insertRequests({ corpus, workload, count }: PeerRequests): Buffer[] {
  const lines = new NdjsonRequests(corpus, workload, true)
  const path = `/?query=${encodeURIComponent('insert into event format JSONEachRow')}`
  return Array.from({ length: count }, (_, number) => {
    const text = lines.linesOf(number)
    const body = workload.encoding === 'gzip' ? gzipSync(text) : text
    const encoding = workload.encoding === 'gzip' ? 'Content-Encoding: gzip\r\n' : ''
    const head = `POST ${path} HTTP/1.1\r\nHost: 127.0.0.1\r\n${encoding}Content-Length: ${body.length}\r\n\r\n`
    return Buffer.concat([Buffer.from(head), body])
  })
}

async function query(port: number, sql: string): Promise<string> {
  const response = await fetch(`http://127.0.0.1:${port}/`, { method: 'POST', body: sql })
  const text = await response.text()
  if (response.status !== 200) throw new Error(`ClickHouse answered ${response.status}: ${text}`)
  return text
}

async function freePort(): Promise<number> {
  const server = createServer()
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as { port: number } // a TCP server has an address with a port
  server.close()
  await once(server, 'close')
  return port
}

/** Asked to stop, it waits half a minute for idle connections; what it has is no longer needed. */
async function end(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return
  const ended = once(child, 'exit')
  child.kill('SIGKILL')
  await ended
}

function configText(folder: string, port: number): string {
  return `<?xml version="1.0"?>
<yandex>
  <logger><level>warning</level><log>${folder}/clickhouse.log</log><errorlog>${folder}/error.log</errorlog></logger>
  <http_port>${port}</http_port><listen_host>127.0.0.1</listen_host><keep_alive_timeout>600</keep_alive_timeout>
  <path>${folder}/clickhouse/</path><tmp_path>${folder}/clickhouse/tmp/</tmp_path>
  <users_config>${folder}/users.xml</users_config>
  <default_profile>default</default_profile><default_database>default</default_database>
  <mark_cache_size>268435456</mark_cache_size><max_concurrent_queries>100</max_concurrent_queries>
</yandex>
`
}

const usersText = `<?xml version="1.0"?>
<yandex>
  <profiles><default></default></profiles><quotas><default></default></quotas>
  <users><default><password></password><networks><ip>127.0.0.1</ip></networks>
    <profile>default</profile><quota>default</quota></default></users>
</yandex>
`
