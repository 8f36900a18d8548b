// README's table of endpoints against the operations there are.

import { readFileSync } from 'node:fs'
import t from 'tap'
import { managementOperations } from '../../src/management/routes.ts'
import { openWorld } from '../api/world.ts'

interface Row {
  readonly patterns: readonly RegExp[]
  readonly methods: string
}

/** In a path of the table `[…]` may be left out, and `…` stands for any beginning; names of parameters are free. */
function patternOf(path: string): RegExp {
  const text = path
    .replace(/(?<![/\]])$/, '/')
    .replaceAll(/[.*+?^$(){}|\\]/g, '\\$&')
    .replaceAll('[', '(?:')
    .replaceAll(']', ')?')
    .replaceAll(/:\w+/g, ':\\w+')
    .replace('…', '.*')
  return new RegExp(`^${text}$`)
}

function rowsOf(readme: string): Row[] {
  return readme
    .split('\n')
    .map((line) => line.split('|').map((cell) => cell.trim()))
    .filter(
      ([, path, methods]) => /^`[/…]/.test(path ?? '') && /GET|POST|PUT|PATCH|DELETE/.test(methods ?? ''),
    )
    .map(([, paths = '', methods = '']) => ({
      patterns: [...paths.matchAll(/`([^`]+)`/g)].map(([, path = '']) => patternOf(path)),
      methods,
    }))
}

t.test('README names the path of every operation, and its method', async (t) => {
  const { management } = await openWorld(t)
  const rows = rowsOf(readFileSync('README.md', 'utf8'))
  for (const { method, path } of managementOperations(management)) {
    const isNamed = rows.some(
      ({ patterns, methods }) =>
        methods.split(', ').includes(method) && patterns.some((pattern) => pattern.test(`${path}/`)),
    )
    if (!isNamed) t.fail(`README.md lacks ${method} ${path}/`)
  }
})
