// Thread entry of one journal lane.

import { parentPort, workerData } from 'node:worker_threads'
import { runLaneThread } from '../src/journal/thread.ts'
import { assert } from '../src/lib/assert.ts'

assert(parentPort !== null, 'workers/journal runs in a worker thread')
// The client starts this file with a LaneStart.
runLaneThread(parentPort, workerData)
