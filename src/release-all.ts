// Gives back what was opened, in reverse.

/**
 * Calls every releaser once, the last one first, and waits for each. One that fails does not keep the others from
 * being called: a store that cannot close is no reason to leave a database server running.
 * Errors: that of the first releaser that failed, after all were called. `releasers` is empty then, too.
 */
export async function releaseAll(releasers: (() => Promise<void>)[]): Promise<void> {
  const errors: unknown[] = []
  for (const release of releasers.splice(0).reverse()) {
    try {
      await release()
    } catch (error) {
      errors.push(error)
    }
  }
  if (errors.length > 0) throw errors[0]
}
