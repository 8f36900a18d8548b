// What the main thread hands to decoding and what it gets back. Both are plain values: they cross threads, and an
// error thrown in a pool thread loses its code on the way.

import type { ErrorCode } from '../errors.ts'
import type { GeoipFiles } from '../geoip/database.ts'
import type { Bytes } from '../lib/bytes.ts'
import type { EncodedEvents } from './encoded-events.ts'

/** The six capture paths, without trailing slash. */
export const capturePaths = ['/batch', '/capture', '/e', '/i/v0/e', '/track', '/engage'] as const
export type CapturePath = (typeof capturePaths)[number]

/** One complete capture request. */
export interface CaptureTask {
  readonly path: CapturePath
  /** Raw query string without the `?`. */
  readonly query: string
  /** Header values as sent, '' when absent. */
  readonly contentType: string
  readonly contentEncoding: string
  /** As sent. Moved to the decoding thread: do not touch it after. */
  readonly body: Bytes
  /** Address for `$ip`: first entry of X-Forwarded-For, else the socket's; '' when unknown. */
  readonly clientIp: string
  readonly receivedAtMs: number
  /** Snapshot of all projects (capture/projects.ts). */
  readonly projects: SharedArrayBuffer
  readonly limits: CaptureLimits
  /** Where addresses are; null when nobody knows. */
  readonly geoip: GeoipFiles | null
}

export interface CaptureLimits {
  /** MAX_DECOMPRESSED_BYTES; gzip and lz64 alike. */
  readonly decompressedBytesMax: number
  /** A journal record aims at no more than this; one event larger than it gets a record of its own. */
  readonly recordBytesMax: number
  /** An event whose properties are longer is dropped. */
  readonly eventBytesMax: number
}

/** Why a valid request's event was not ingested. */
export type DropReason =
  | 'event_not_an_object'
  | 'event_name_missing'
  | 'event_name_invalid'
  | 'event_name_empty'
  | 'distinct_id_missing'
  | 'uuid_invalid'
  | 'properties_invalid'
  | 'set_invalid'
  | 'timestamp_invalid'
  | 'offset_invalid'
  | 'cookieless_mode_invalid'
  | 'cookieless_mode_off'
  | 'event_too_deep'
  | 'event_too_big'
  | 'performance_event'
  | 'person_processing_disabled'
  | 'group_key_too_long'
  | 'over_quota'

/** Why an event was ingested but not quite as sent, or lacks what its name asks for. */
export type WarningReason =
  | 'timestamp_unparseable'
  | 'timestamp_missing'
  | 'timestamp_in_future'
  | 'process_person_profile_invalid'
  | 'set_malformed'
  | 'client_ingestion_warning'
  | 'required_property_missing'

/** Drops or warnings of one reason in one request. */
export interface Remark<Reason extends string> {
  readonly reason: Reason
  readonly count: number
  /** The last such event, cut to 200 characters a field; no properties, no keys. */
  readonly sample: { readonly event: string; readonly distinctId: string; readonly detail: string }
}

/** One journal record's worth of events. */
export interface EncodedPart {
  /** An encoded EventBatch in memory of its own. */
  readonly payload: Bytes
  readonly eventCount: number
  /** Two words of hash an event over (project, uuid, event, distinct_id); both 0 for a uuid of our own making. */
  readonly dedupKeys: Uint32Array<ArrayBuffer>
  /** Born ids of its identity events, 16 bytes each; of the first 1,500, when there are more. */
  readonly identityBornIds: Bytes
}

/** A request whose events were captured; they are in a batch, or were all dropped. */
export interface CapturedRequest {
  readonly kind: 'captured'
  readonly projectId: number
  readonly historical: boolean
  readonly eventCount: number
  readonly drops: Remark<DropReason>[]
  readonly warnings: Remark<WarningReason>[]
  /** Size after decompression. */
  readonly decompressedBytes: number
  /** `?beacon=1`: success is 204. */
  readonly beacon: boolean
}

/** A request that is not captured. */
export type UncapturedRequest =
  | {
      readonly kind: 'refused'
      readonly code: ErrorCode
      readonly detail: string
      readonly projectId: number | null
    }
  /** The key is well formed but not in the snapshot. The body comes back for another try. */
  | { readonly kind: 'unknown_key'; readonly apiKey: string; readonly body: Bytes }

/** What became of a request that was decoded by a thread. */
export type DecodedRequest =
  | (CapturedRequest & {
      /** Null when every event was dropped. */
      readonly events: EncodedEvents | null
    })
  | UncapturedRequest

/** What became of a request that was decoded alone. */
export type CaptureOutcome =
  | (CapturedRequest & {
      /** Empty when every event was dropped. */
      readonly parts: EncodedPart[]
    })
  | UncapturedRequest
