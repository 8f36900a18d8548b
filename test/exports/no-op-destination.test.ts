import t from 'tap'
import { builtDestinations } from '../../src/exports/built-destinations.ts'
import { builtTypes } from '../../src/exports/destination-keys.ts'
import { noOpDestination } from '../../src/exports/no-op-destination.ts'
import { config, never, outboundFor, stage, subject } from './staged.ts'

t.test('takes everything, unless it is stopped', async (t) => {
  const given = config('NoOp', {})
  const delivery = await noOpDestination.open(given, subject, outboundFor(t), never)
  const chunk = await stage(t, noOpDestination.format(given))
  await delivery.deliver(chunk, never)
  await t.rejects(delivery.deliver(chunk, AbortSignal.abort(new Error('cancelled'))), {
    message: 'cancelled',
  })
  await delivery.finish([chunk], never)
  await delivery.close()
})

t.test('every type that can be created can be delivered to', async (t) => {
  t.same(Object.keys(builtDestinations).sort(), [...builtTypes].sort())
})
