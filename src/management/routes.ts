// The management API as routes: every operation, and the document that describes them.

import { openApiOperations } from '../api/openapi.ts'
import type { Operation } from '../api/operation.ts'
import { operationRoutes } from '../api/operation-routes.ts'
import { openAuthentication } from '../api/principal.ts'
import { RateLimit } from '../api/rate-limit.ts'
import type { ProjectSource } from '../capture/intake.ts'
import type { Events } from '../events/client.ts'
import type { FlagDefinitions } from '../flags/definition.ts'
import type { GeoipFiles } from '../geoip/database.ts'
import { clientAddressFinder } from '../http/client-address.ts'
import type { Route } from '../http/route.ts'
import type { Clock } from '../lib/clock.ts'
import type { Mailer } from '../mail/mailer.ts'
import type { Mirror } from '../mirror/mirror.ts'
import type { Outbound } from '../outbound/outbound.ts'
import type { Postgres } from '../postgres/pool.ts'
import type { Sealer } from '../sealing/sealer.ts'
import type { Log } from '../telemetry/log.ts'
import { activityList } from './activity-list.ts'
import { batchExportBackfillOperations } from './batch-export-backfills.ts'
import { batchExportLogs } from './batch-export-logs.ts'
import { batchExportPauseOperations } from './batch-export-pause.ts'
import { batchExportRunOperations } from './batch-export-runs.ts'
import { batchExportOperations } from './batch-exports.ts'
import { cohortMemberOperations } from './cohort-members.ts'
import { cohortOperations } from './cohorts.ts'
import type { Commands } from './commands.ts'
import { currentUserOperations } from './current-user.ts'
import { openDenials } from './denials.ts'
import { domainVerify } from './domain-verify.ts'
import { domainOperations } from './domains.ts'
import { earlyAccessOperations } from './early-access-features.ts'
import { type EventsReader, eventsList } from './events-list.ts'
import { explicitMemberOperations } from './explicit-members.ts'
import { featureFlagOperations } from './feature-flags.ts'
import { groupFind } from './group-find.ts'
import { groupTypesList } from './group-types.ts'
import { groupsList } from './groups-list.ts'
import type { IngestionWarnings } from './ingestion-warnings.ts'
import { inviteAccept } from './invite-accept.ts'
import { inviteOperations } from './invites.ts'
import { itemActivityOperations } from './item-activity.ts'
import { liveEventsSigner } from './live-events-token.ts'
import { localEvaluationOperations } from './local-evaluation.ts'
import { memberKeys } from './member-keys.ts'
import { memberOperations } from './members.ts'
import { organizationCreate } from './organization-create.ts'
import { organizationDelete } from './organization-delete.ts'
import { organizationOperations } from './organizations.ts'
import { personDelete } from './person-delete.ts'
import { personDetail } from './person-detail.ts'
import { personExplain } from './person-explain.ts'
import { personalKeyOperations } from './personal-keys.ts'
import { personsList } from './persons-list.ts'
import type { ProjectDeletions } from './project-deletions.ts'
import { projectSecretOperations } from './project-secret.ts'
import { projectOperations } from './projects.ts'
import { queryCreate } from './query.ts'
import { remoteConfig } from './remote-config.ts'
import { projectOfToken } from './token-project.ts'
import { organizationUsage } from './usage.ts'
import { warningsList } from './warnings-list.ts'

export interface ManagementOptions {
  readonly postgres: Postgres
  readonly events: EventsReader & Pick<Events, 'query' | 'select' | 'selectParquet'>
  readonly mirror: Pick<Mirror, 'waitUntilMirrored'>
  readonly warnings: IngestionWarnings
  readonly commands: Commands
  readonly mailer: Mailer
  readonly outbound: Outbound
  readonly sealer: Sealer
  readonly deletions: Pick<ProjectDeletions, 'carryOut'>
  /** What tokens are signed with; 32 bytes. */
  readonly secret: Uint8Array
  readonly projects: ProjectSource
  readonly definitions: FlagDefinitions
  readonly geoip: GeoipFiles | null
  readonly siteUrl: string | null
  readonly trustedProxies: string | null
  readonly clock: Clock
  readonly log: Log
}

/** Errors: config_invalid for TRUSTED_PROXIES that cannot be read. */
export function managementRoutes(options: ManagementOptions): Route[] {
  const { postgres, projects, siteUrl, trustedProxies, clock, log } = options
  const operations = managementOperations(options)
  const authentication = openAuthentication({ postgres, rateLimit: new RateLimit(clock), clock, log })
  return operationRoutes([...operations, ...openApiOperations(operations)], {
    postgres,
    authentication,
    addressOf: clientAddressFinder(trustedProxies),
    projectOfToken: (token) => projectOfToken(projects, token),
    onDenied: openDenials(postgres, clock, log),
    siteUrl,
  })
}

/** Everything the management API can do, but to describe itself. */
export function managementOperations(options: ManagementOptions): Operation[] {
  const { postgres, events, warnings, commands, deletions, outbound, sealer, projects, definitions } = options
  const { geoip, clock } = options
  const exportRooms = { events, outbound, sealer, clock }
  const signLiveEvents = liveEventsSigner(options.secret)
  return [
    ...organizationOperations(clock),
    organizationCreate(clock),
    organizationDelete(deletions, clock, options.log),
    activityList(),
    ...domainOperations(sealer, clock),
    domainVerify(outbound, clock),
    ...memberOperations(clock),
    memberKeys(clock),
    ...currentUserOperations(clock),
    ...personalKeyOperations(clock),
    ...projectSecretOperations(clock),
    ...projectOperations({ outbound, deletions, signLiveEvents, geoip, clock }),
    ...explicitMemberOperations(clock),
    ...inviteOperations({ mailer: options.mailer, siteUrl: options.siteUrl, clock }),
    inviteAccept({ postgres, mailer: options.mailer, clock }),
    eventsList(events, clock),
    queryCreate({ events, mirror: options.mirror }),
    warningsList(warnings),
    personsList(),
    personDetail(),
    personExplain(events.query.bind(events)),
    personDelete(commands, clock),
    groupTypesList(),
    groupsList(),
    groupFind(),
    organizationUsage(clock),
    ...featureFlagOperations(sealer, clock),
    ...itemActivityOperations({ resource: 'feature_flags', scope: 'FeatureFlag' }),
    remoteConfig(definitions, sealer),
    ...localEvaluationOperations(definitions, projects),
    ...cohortOperations(clock),
    ...cohortMemberOperations(clock),
    ...itemActivityOperations({ resource: 'cohorts', scope: 'Cohort' }),
    ...earlyAccessOperations(clock),
    ...batchExportOperations(exportRooms),
    ...batchExportPauseOperations(exportRooms),
    ...batchExportBackfillOperations(exportRooms),
    ...batchExportRunOperations(exportRooms),
    ...batchExportLogs(),
  ]
}
