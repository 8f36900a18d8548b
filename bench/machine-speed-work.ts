// The fixed work that tells how fast the machine is, and a second of looking at the clock. A process of its own, so
// that it starts from the same heap each time and can be kept to a core:
//
//   node machine-speed-work.js
//
// Prints a MachineMoment as JSON. The work must stay what it is: kept results are compared by it.

import { crc32 } from 'node:zlib'
import type { Away, FixedWork, MachineMoment } from './machine-speed.ts'
import { quantile } from './scenario.ts'

const repetitions = 9
const warmUps = 3
const idleMs = 1000
const gapMsMin = 1
const textCount = 2000
const numberCount = 60_000
/** 32 MiB: beyond the caches of a core. */
const chainLength = 1 << 23
const chainSteps = 150_000

const text = JSON.stringify({
  event: '$pageview',
  properties: Object.fromEntries(
    Array.from({ length: 34 }, (_, index) => [
      `property_${index}`,
      index % 3 === 0 ? index * 7919 : `value ${index}`,
    ]),
  ),
})
const bytes = Buffer.from(text)
const chain = circle()
let place = 0

/** Through all places, in an order that nothing can fetch ahead: a linear congruence of full period. */
function circle(): Uint32Array {
  const all = new Uint32Array(chainLength)
  for (let at = 0; at < chainLength; at++)
    all[at] = (Math.imul(at, 1_664_525) + 1_013_904_223) & (chainLength - 1)
  return all
}

/** All that both halves return is looked at, so that nothing is left out as unused. */
function compute(): number {
  let sum = 0
  for (let round = 0; round < textCount; round++) {
    sum += Object.keys(JSON.parse(text).properties).length
    sum ^= crc32(bytes, round)
  }
  const numbers = new Float64Array(numberCount)
  for (let index = 0; index < numberCount; index++) numbers[index] = Math.imul(index, 2_654_435_761) >>> 0
  numbers.sort()
  return sum + numbers[0]!
}

function followChain(): number {
  for (let step = 0; step < chainSteps; step++) place = chain[place]!
  return place
}

function cpuMs(work: () => number): number {
  const before = process.cpuUsage()
  if (!Number.isFinite(work())) throw new Error('the fixed work came to nothing')
  const { user, system } = process.cpuUsage(before)
  return (user + system) / 1000
}

/** In the middle of several: a gap hits few of them. */
function measureWork(): FixedWork {
  const computes: number[] = []
  const memories: number[] = []
  for (let round = -warmUps; round < repetitions; round++) {
    const [computeMs, memoryMs] = [cpuMs(compute), cpuMs(followChain)]
    if (round < 0) continue
    computes.push(computeMs)
    memories.push(memoryMs)
  }
  return { computeMs: quantile(computes, 0.5), memoryMs: quantile(memories, 0.5) }
}

function lookAtClock(): Away {
  let count = 0
  let longestMs = 0
  let last = performance.now()
  for (const end = last + idleMs; last < end; ) {
    const now = performance.now()
    if (now - last > gapMsMin) {
      count++
      longestMs = Math.max(longestMs, now - last)
    }
    last = now
  }
  return { count, longestMs }
}

const moment: MachineMoment = { work: measureWork(), away: lookAtClock() }
console.log(JSON.stringify(moment))
