// Answers of tests that may have to wait: a test whose properties have not been read yet is neither passed nor failed.

export const Truth = { no: 0, yes: 1, unread: 2 } as const
export type Truth = (typeof Truth)[keyof typeof Truth]

export function truthOf(value: boolean): Truth {
  return value ? Truth.yes : Truth.no
}

/** The opposite of yes and no; what is unread stays so. */
export function opposite(truth: Truth): Truth {
  if (truth === Truth.yes) return Truth.no
  return truth === Truth.no ? Truth.yes : truth
}

/** A test that is ready to be asked, as often as needed. */
export type Check<Context> = (context: Context) => Truth

/** All must pass. One that fails decides, whatever the others wait for. */
export function allOf<Context>(checks: readonly Check<Context>[]): Check<Context> {
  return (context) => {
    let result: Truth = Truth.yes
    for (let index = 0; index < checks.length; index++) {
      const truth = checks[index]!(context)
      if (truth === Truth.no) return Truth.no
      if (truth > result) result = truth
    }
    return result
  }
}

/** One must pass. One that passes decides, whatever the others wait for. */
export function anyOf<Context>(checks: readonly Check<Context>[]): Check<Context> {
  return (context) => {
    let result: Truth = Truth.no
    for (let index = 0; index < checks.length; index++) {
      const truth = checks[index]!(context)
      if (truth === Truth.yes) return Truth.yes
      if (truth > result) result = truth
    }
    return result
  }
}
