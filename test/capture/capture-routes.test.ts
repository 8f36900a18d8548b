import t from 'tap'
import { captureRoutes } from '../../src/capture/capture-routes.ts'
import type { IntakeOptions } from '../../src/capture/intake.ts'

t.test('the documented endpoints take POST only, their aliases GET as well', async (t) => {
  // No request is made: the options are only passed on.
  const routes = captureRoutes({ limits: {} } as IntakeOptions, 1024)
  const methods = Object.fromEntries(routes.map((route) => [route.path, route.methods.join(' ')]))
  t.same(methods, {
    '/batch': 'POST',
    '/capture': 'POST',
    '/e': 'GET POST',
    '/i/v0/e': 'GET POST',
    '/track': 'GET POST',
    '/engage': 'GET POST',
  })
  t.ok(
    routes.every(
      (route) => route.cors === 'public' && route.errorStyle === 'text' && route.bodyBytesMax === 1024,
    ),
  )
})
