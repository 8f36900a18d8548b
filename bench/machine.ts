// What a result depends on beside the code: printed with every result, so that two can be compared.

import { execFileSync } from 'node:child_process'
import { cpus, totalmem } from 'node:os'
import { formatBytes } from '../src/lib/bytes.ts'

/** What a run of the suite writes itself is not code. */
const code = [':/', ':(top,exclude)bench/README.md', ':(top,exclude)bench/baseline']

/** "4 × AMD EPYC 7B13, 16 GiB, Linux 6.1, Node v22.22.0, commit 1a2b3c4 (changed)". */
export function describeMachine(): string {
  const processors = cpus()
  const kernel = command('uname', ['-sr']) ?? process.platform
  const commit = command('git', ['rev-parse', '--short', 'HEAD']) ?? 'unknown'
  const isChanged = command('git', ['status', '--porcelain', '--untracked-files=no', '--', ...code]) !== ''
  return [
    `${processors.length} × ${processors[0]?.model ?? 'unknown processor'}`,
    formatBytes(totalmem()),
    kernel,
    `Node ${process.version}`,
    `commit ${commit}${isChanged ? ' (changed)' : ''}`,
  ].join(', ')
}

/** What a program prints; null when it is missing or fails. */
function command(program: string, args: string[]): string | null {
  try {
    return execFileSync(program, args, { encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] }).trim()
  } catch {
    return null
  }
}
