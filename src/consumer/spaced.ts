// Spaces calls out that many ask for and one now and then is enough of.
//
// Under single events the journal commits 4,000 times a second, and each commit was a reason for both consumers to look
// at what waits and to set their timers anew, most of it within their pauses. That was four fifths of what the main
// thread allocated, and 2 KB a request of it ended up among old objects: every 4 seconds the whole heap was looked
// through, by V8's threads as well, and on one core requests then waited for 40 to 60 ms.

/** A consumer that begins so much later is not noticed: it pauses for 100 ms and more. */
const spaceMs = 50

/**
 * Returns what asks for `call`: at once when the last is some time ago, else when it is. Between two calls, asking
 * allocates nothing.
 */
export function spaced(call: () => void): () => void {
  let isResting = false
  let isAsked = false
  const begin = (): void => {
    isResting = true
    setTimeout(end, spaceMs).unref()
    call()
  }
  const end = (): void => {
    isResting = false
    if (!isAsked) return
    isAsked = false
    begin()
  }
  return () => {
    if (isResting) isAsked = true
    else begin()
  }
}
