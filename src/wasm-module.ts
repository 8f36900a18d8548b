// WebAssembly that `npm run build` makes of wasm/: a module a file, in memory that it shares with JavaScript.

import { readFileSync } from 'node:fs'

/** What is used here of a part of JavaScript that TypeScript counts among browsers' things. */
declare const WebAssembly: {
  Memory: new (pages: { initial: number; maximum: number }) => WasmMemory
  Module: new (bytes: Uint8Array) => WasmModule
  Instance: new (module: WasmModule, imports: object) => { readonly exports: object }
  CompileError: new () => Error
}

export type WasmModule = object

export interface WasmMemory {
  /** Another one after the memory has grown. */
  readonly buffer: ArrayBuffer
  grow(pages: number): void
}

/** What every module exports. */
export interface WasmExports {
  /** Absent from modules of older builds. */
  readonly layout?: { readonly value: number }
}

export const pageBytes = 64 * 1024

/** Compiles dist/wasm/`name`.wasm. Null where there is none, and where the processor has no SIMD. */
export function compileModule(name: string): WasmModule | null {
  try {
    return new WebAssembly.Module(readFileSync(new URL(`../wasm/${name}.wasm`, import.meta.url)))
  } catch (error) {
    const isMissing = error instanceof Error && 'code' in error && error.code === 'ENOENT'
    if (isMissing || error instanceof WebAssembly.CompileError) return null
    throw error
  }
}

/** Memory is resident once it is written to. */
export function createMemory(bytes: number, bytesMax = bytes): WasmMemory {
  return new WebAssembly.Memory({
    initial: Math.ceil(bytes / pageBytes),
    maximum: Math.ceil(bytesMax / pageBytes),
  })
}

/** Puts the module to work in `memory`. Null for one that takes the memory to be laid out in another way. */
export function openModule<Exports extends WasmExports>(
  module: WasmModule | null,
  memory: WasmMemory,
  layoutNumber: number,
): Exports | null {
  if (module === null) return null
  const { exports } = new WebAssembly.Instance(module, { env: { memory } })
  // What the caller says is exported is, if the number is the one that both were built with.
  return (exports as Exports).layout?.value === layoutNumber ? (exports as Exports) : null
}
