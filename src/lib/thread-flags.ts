// The flags that threads are started with. Of those of the process they want readable stack traces only; loaders would
// slow their start.
//
// Piscina asks for a thread's file by `require` before it imports it. Of an ES module Node (20.20) then links all that
// it imports in one go, and a thread that is ended in that moment takes the process with it: "IsGraphAsync must be used
// on an instantiated module", seen once in a server that was stopped while it started. Without `require` of ES modules
// it is imported at once.

export const threadFlags: string[] = ['--enable-source-maps', '--no-experimental-require-module']
