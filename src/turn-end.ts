// What is left to do when a turn of the event loop ends: all sockets that were ready have been read by then, so that
// what came in together can be handed on together.
//
// What is asked for while that is being done is done in the same go. An immediate that is set by another would come
// after one more turn, and whoever waits for what one hands to the next would wait for that many.

const calls: (() => void)[] = []

/** Calls `call` when this turn ends, behind what was asked for before. It must not throw. */
export function atTurnEnd(call: () => void): void {
  if (calls.push(call) === 1) setImmediate(callAll)
}

function callAll(): void {
  for (let index = 0; index < calls.length; index++) calls[index]!()
  calls.length = 0
}
