// What an S3 server's refusal means for a run. The server's own words are never repeated: it is somebody's choice what
// answers there, and S3 itself quotes keys and signed requests.

import type { DeliveryError } from './delivery.ts'
import { connectionFailure, permanent, temporary } from './delivery-failure.ts'

/** What a person can do about the codes that trying again does not mend. */
const permanentSentences: Readonly<Record<string, string>> = {
  NoSuchBucket: 'The bucket does not exist. Create it, or change bucket_name.',
  InvalidBucketName: 'The bucket name is not valid. Change bucket_name.',
  InvalidAccessKeyId:
    'S3 does not know the access key. Set aws_access_key_id and aws_secret_access_key anew.',
  SignatureDoesNotMatch:
    'S3 does not accept the signature: the secret key does not belong to the access key. ' +
    'Set aws_secret_access_key anew.',
  InvalidToken: 'S3 does not accept the credentials. Set aws_access_key_id and aws_secret_access_key anew.',
  ExpiredToken: 'The credentials have expired. Set aws_access_key_id and aws_secret_access_key anew.',
  AccessDenied:
    'S3 denies access: the credentials need s3:PutObject and s3:AbortMultipartUpload on the bucket, ' +
    's3:DeleteObject where an interval is exported again, and use of the KMS key.',
  AllAccessDisabled: 'All access to the bucket is disabled.',
  AccountProblem: 'S3 reports a problem with the account that owns the bucket.',
  PermanentRedirect: 'The bucket is in another region. Change region.',
  AuthorizationHeaderMalformed: 'The bucket is in another region. Change region.',
  IllegalLocationConstraintException: 'The bucket is in another region. Change region.',
  EntityTooLarge: 'A file is larger than the server takes. Lower max_file_size_mb.',
  KeyTooLongError: 'A key is too long. Shorten the prefix.',
  NotImplemented:
    'The server does not implement what is needed: PutObject and multipart uploads, with the encryption asked for.',
}

/** A request that is refused now may be taken later. */
const temporarySentences: Readonly<Record<string, string>> = {
  SlowDown: 'S3 asks to slow down.',
  RequestTimeout: 'S3 waited too long for data.',
  RequestTimeTooSkewed: "S3's clock and this machine's are too far apart. Set the clock.",
  OperationAborted: 'S3 is busy with another change of the bucket.',
  NoSuchUpload: 'The upload was ended by somebody else.',
  QuotaExceeded: 'The storage is full: its quota is used up. Make room, or raise the quota.',
  XMinioStorageFull: 'The storage is full. Make room.',
  XMinioAdminBucketQuotaExceeded: 'The storage is full: its quota is used up. Make room, or raise the quota.',
}

const aborted: ReadonlySet<string> = new Set(['AbortError'])
const timedOut: ReadonlySet<string> = new Set(['TimeoutError'])

/** What to tell the run of an error of the SDK. */
export function s3Failure(error: unknown): DeliveryError {
  const connection = connectionFailure('The S3 endpoint', error)
  if (connection !== null) return connection
  const { name, status } = factsOf(error)
  if (aborted.has(name)) return temporary('The upload was stopped.', error)
  if (timedOut.has(name)) return temporary('The S3 endpoint did not answer in time.', error)
  const known = permanentSentences[name]
  if (known !== undefined) return permanent(known, error)
  if (name.startsWith('KMS.')) {
    return permanent('S3 cannot use the KMS key. Check kms_key_id and the rights to it.', error)
  }
  const passing = temporarySentences[name]
  if (passing !== undefined) return temporary(passing, error)
  if (status === 507) return temporary('The storage is full. Make room.', error)
  if (status === 401 || status === 403) return permanent(permanentSentences.AccessDenied!, error)
  if (status >= 300 && status < 400)
    return permanent('The endpoint answers with a redirect, which is not followed.', error)
  if (status >= 400 && status < 500 && status !== 408 && status !== 429) {
    return permanent(`S3 refuses the request with status ${status}. Check the destination's settings.`, error)
  }
  if (status >= 500 || status === 408 || status === 429)
    return temporary(`S3 answers with status ${status}.`, error)
  return temporary('The upload to S3 failed on the way.', error)
}

/** Two fields of the SDK's errors: the code that the server named, and the status it came with. */
function factsOf(error: unknown): { readonly name: string; readonly status: number } {
  if (!(error instanceof Error)) return { name: '', status: 0 }
  const metadata: unknown = '$metadata' in error ? error.$metadata : null
  const status =
    typeof metadata === 'object' && metadata !== null && 'httpStatusCode' in metadata
      ? metadata.httpStatusCode
      : 0
  return { name: error.name, status: typeof status === 'number' ? status : 0 }
}
