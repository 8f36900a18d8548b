// The project's own source as data, for the house rules in test/tidy.test.ts.

import { readdirSync, readFileSync } from 'node:fs'
import { dirname, join, relative, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import ts from 'typescript'

export const projectRoot = fileURLToPath(new URL('../../../', import.meta.url))

export interface SourceFile {
  /** From the project's root, such as src/lib/bytes.ts. */
  readonly path: string
  readonly text: string
  readonly lines: readonly string[]
  readonly tree: ts.SourceFile
  readonly imports: readonly Import[]
}

interface Import {
  readonly line: number
  /** A path from the project's root for our own files, else the package's name. */
  readonly target: string
  readonly isOwn: boolean
  readonly isTypeOnly: boolean
}

/** Reads every TypeScript file below the given folders of the project. */
export function readSources(...folders: string[]): SourceFile[] {
  const paths = folders.flatMap((folder) =>
    readdirSync(join(projectRoot, folder), { recursive: true, encoding: 'utf8' })
      .filter((name) => name.endsWith('.ts'))
      .map((name) => join(folder, name)),
  )
  return paths.sort().map(readSource)
}

/** Reads a file of the project as text. */
export function readText(path: string): string {
  return readFileSync(join(projectRoot, path), 'utf8')
}

function readSource(path: string): SourceFile {
  const text = readText(path)
  const tree = ts.createSourceFile(path, text, ts.ScriptTarget.ES2023, true)
  return { path, text, lines: text.split('\n'), tree, imports: importsOf(path, tree) }
}

function importsOf(path: string, tree: ts.SourceFile): Import[] {
  const imports: Import[] = []
  const add = (node: ts.Node, name: ts.Node | undefined, isTypeOnly: boolean): void => {
    if (name === undefined || !ts.isStringLiteral(name)) return
    const isOwn = name.text.startsWith('.')
    const target = isOwn
      ? relative(projectRoot, resolve(projectRoot, dirname(path), name.text))
      : packageOf(name.text)
    imports.push({ line: lineOf(tree, node), target, isOwn, isTypeOnly })
  }
  const visit = (node: ts.Node): void => {
    if (ts.isImportDeclaration(node)) {
      add(node, node.moduleSpecifier, node.importClause?.phaseModifier === ts.SyntaxKind.TypeKeyword)
    } else if (ts.isCallExpression(node) && node.expression.kind === ts.SyntaxKind.ImportKeyword) {
      add(node, node.arguments[0], false)
    }
    ts.forEachChild(node, visit)
  }
  visit(tree)
  return imports
}

function packageOf(name: string): string {
  const parts = name.split('/')
  return name.startsWith('@') ? parts.slice(0, 2).join('/') : (parts[0] ?? name)
}

/** Line of a node, counted from 1. */
export function lineOf(tree: ts.SourceFile, node: ts.Node): number {
  return tree.getLineAndCharacterOfPosition(node.getStart(tree)).line + 1
}

export interface FunctionSize {
  readonly line: number
  readonly name: string
  readonly lineCount: number
}

/** Every function of a file with its length in lines. */
export function functionSizes(file: SourceFile): FunctionSize[] {
  const sizes: FunctionSize[] = []
  const visit = (node: ts.Node): void => {
    if (ts.isFunctionLike(node) && 'body' in node && node.body) {
      const start = lineOf(file.tree, node)
      const end = file.tree.getLineAndCharacterOfPosition(node.end).line + 1
      const name = node.name?.getText(file.tree) ?? 'a function'
      sizes.push({ line: start, name, lineCount: end - start + 1 })
    }
    ts.forEachChild(node, visit)
  }
  visit(file.tree)
  return sizes
}

/** First import cycle found among `files` (type imports do not count), as a list of paths, or null. */
export function findCycle(files: readonly SourceFile[]): string[] | null {
  const byPath = new Map(files.map((file) => [file.path, file]))
  const done = new Set<string>()
  const walk = (path: string, trail: string[]): string[] | null => {
    if (trail.includes(path)) return [...trail.slice(trail.indexOf(path)), path]
    if (done.has(path)) return null
    for (const { target, isTypeOnly } of byPath.get(path)?.imports ?? []) {
      const cycle = isTypeOnly ? null : walk(target, [...trail, path])
      if (cycle) return cycle
    }
    done.add(path)
    return null
  }
  for (const { path } of files) {
    const cycle = walk(path, [])
    if (cycle) return cycle
  }
  return null
}
