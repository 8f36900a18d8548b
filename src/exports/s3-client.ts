// The AWS SDK, told everything it would otherwise look up: this machine's credentials, endpoints and profiles are its
// operator's and must not serve whoever can create an export. Its sockets come from the guard of outbound calls, and
// what becomes part of a host name is checked here first.

import type { S3Client } from '@aws-sdk/client-s3'
import type { Outbound } from '../outbound/outbound.ts'
import { DeliveryError } from './delivery.ts'
import type { DestinationConfig } from './destination.ts'

/** A region of AWS, and what other servers take for one, such as "auto". */
const regionPattern = /^[a-z0-9][a-z0-9-]{0,62}$/i
/** Also names that old buckets and other servers have. No slashes, colons or at signs: no ARN, no path, no host. */
const bucketPattern = /^[a-z0-9][a-z0-9._-]{1,61}[a-z0-9]$/i

export interface S3Limits {
  /** Neither side has said anything. */
  readonly silentMsMax: number
  /** A request as a whole. */
  readonly requestMsMax: number
}

/** Two minutes are a part of a file at 70 kB/s. */
export const s3Limits: S3Limits = { silentMsMax: 30_000, requestMsMax: 120_000 }

const connectMsMax = 10_000
/** The run itself tries again later; this is for the odd failed request among thousands. */
const attemptsMax = 3

/**
 * Opens a client for a destination. Never destroy it: that would close the sockets of all others who call out.
 * Errors: DeliveryError, permanent, for a config that cannot be used.
 */
export async function openS3Client(
  config: DestinationConfig,
  outbound: Pick<Outbound, 'httpAgent' | 'httpsAgent'>,
  limits: S3Limits,
): Promise<S3Client> {
  const region = checked(regionPattern, String(config.region), 'The region is not spelled like one.')
  checked(bucketPattern, String(config.bucket_name), 'The bucket name is not spelled like one.')
  const endpoint = typeof config.endpoint_url === 'string' ? config.endpoint_url : awsEndpoint(region)
  const { S3Client } = await import('@aws-sdk/client-s3')
  const isAws = config.endpoint_url === null
  return new S3Client({
    region,
    endpoint,
    credentials: credentialsOf(config),
    // As boto: an endpoint that somebody names gets the bucket in the path, AWS in the host where it can be.
    forcePathStyle: !isAws && config.use_virtual_style_addressing !== true,
    requestHandler: {
      httpAgent: outbound.httpAgent,
      httpsAgent: outbound.httpsAgent,
      connectionTimeout: connectMsMax,
      socketTimeout: limits.silentMsMax,
      requestTimeout: limits.requestMsMax,
      throwOnRequestTimeout: true,
    },
    maxAttempts: attemptsMax,
    retryMode: 'standard',
    // Servers other than AWS may not know the checksums that AWS has taken since 2024.
    requestChecksumCalculation: isAws ? 'WHEN_SUPPORTED' : 'WHEN_REQUIRED',
    responseChecksumValidation: 'WHEN_REQUIRED',
    useDualstackEndpoint: false,
    useFipsEndpoint: false,
    useArnRegion: false,
    followRegionRedirects: false,
    disableMultiregionAccessPoints: true,
    disableS3ExpressSessionAuth: true,
    userAgentAppId: 'spate',
    defaultsMode: 'standard',
  })
}

/** Without keys the SDK would find this machine's. */
function credentialsOf(config: DestinationConfig): { accessKeyId: string; secretAccessKey: string } {
  const { aws_access_key_id: accessKeyId, aws_secret_access_key: secretAccessKey } = config
  if (typeof accessKeyId !== 'string' || typeof secretAccessKey !== 'string') {
    const sentence =
      'The destination has no credentials. Set aws_access_key_id and aws_secret_access_key: ' +
      'those of the machine that Spate runs on are not used.'
    throw new DeliveryError('permanent', sentence)
  }
  return { accessKeyId, secretAccessKey }
}

function awsEndpoint(region: string): string {
  return `https://s3.${region}.amazonaws.com${region.startsWith('cn-') ? '.cn' : ''}`
}

function checked(pattern: RegExp, text: string, sentence: string): string {
  if (pattern.test(text)) return text
  throw new DeliveryError('permanent', `${sentence} Change the destination.`)
}
