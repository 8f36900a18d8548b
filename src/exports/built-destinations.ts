// The destinations that can be exported to, by the type that an export names.

import type { Destination } from './delivery.ts'
import type { BuiltType } from './destination-keys.ts'
import { httpDestination } from './http-destination.ts'
import { noOpDestination } from './no-op-destination.ts'
import { postgresDestination } from './postgres-destination.ts'
import { redshiftDestination } from './redshift-destination.ts'
import { s3Destination } from './s3-destination.ts'

export const builtDestinations: Readonly<Record<BuiltType, Destination>> = {
  S3: s3Destination,
  Postgres: postgresDestination,
  Redshift: redshiftDestination,
  HTTP: httpDestination,
  NoOp: noOpDestination,
}
