// The public ingestion endpoints. The documented ones take POST only; their undocumented aliases also take GET with
// the event in `?data=`, as old pixel snippets send it.

import type { Method, Route } from '../http/route.ts'
import { type CapturePath, capturePaths } from './capture-task.ts'
import { captureHandler, type IntakeOptions } from './intake.ts'
import { TurnCapture } from './turn-capture.ts'

const postOnly: readonly CapturePath[] = ['/batch', '/capture']

export function captureRoutes(options: IntakeOptions, bodyBytesMax: number): Route[] {
  const turn = new TurnCapture(options)
  return capturePaths.map((path) => ({
    methods: methodsOf(path),
    path,
    cors: 'public',
    errorStyle: 'text',
    bodyBytesMax,
    bodyTooLarge: 'body_too_large',
    handle: captureHandler(path, options, turn),
  }))
}

function methodsOf(path: CapturePath): Method[] {
  return postOnly.includes(path) ? ['POST'] : ['GET', 'POST']
}
