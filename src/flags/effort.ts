// What one request may cost. Filters are written by customers and run on what anybody sends, on the thread that
// answers everybody: a text of a megabyte in each of a thousand filters, or a large pattern on a long text, would hold
// all others up. So work is counted in steps, the same for the same request, and what exceeds the allowance is not
// compared: it matches nobody. A step is an instruction of a pattern on a character (14 ns at worst, Node 20.20).

/** Of one flag, and of those it depends on: 7 ms at worst. */
const flagStepsMax = 500_000
/** Of all flags of a request: 110 ms at worst, in slices. */
const requestStepsMax = 8_000_000
/** Others get a turn after this many. */
const sliceStepsMax = 250_000
/** Whatever a flag is about. */
const stepsOfFlag = 50
/** Of compiling one: 1 to 3 µs. */
const stepsOfInstruction = 150
/** Lower case of a text, and a look through it: 27 ns a character at worst. */
export const stepsPerCharacter = 2

export class Effort {
  #flagSteps = 0
  #requestSteps = 0
  #sliceSteps = 0

  /** The next flag has an allowance of its own. */
  beginFlag(): void {
    this.#flagSteps = 0
    this.#add(stepsOfFlag)
  }

  /** True when `steps` more are allowed, which then count as done. */
  allows(steps: number): boolean {
    if (this.#flagSteps + steps > flagStepsMax || this.#requestSteps + steps > requestStepsMax) return false
    this.#add(steps)
    return true
  }

  /** A pattern was compiled: once, and so it must not change what comes out, but others' turn is nearer. */
  compiled(programSize: number): void {
    this.#sliceSteps += programSize * stepsOfInstruction
  }

  /** Whether it is others' turn; asked once for each turn. */
  isOthersTurn(): boolean {
    if (this.#sliceSteps < sliceStepsMax) return false
    this.#sliceSteps = 0
    return true
  }

  #add(steps: number): void {
    this.#flagSteps += steps
    this.#requestSteps += steps
    this.#sliceSteps += steps
  }
}
