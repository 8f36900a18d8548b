// One file to one object, and objects that are needed no more. Up to a part's size a file is a single request; above it
// goes up in parts, a few at a time, each read from the file when its turn comes, so memory is bounded whatever the
// file. An upload that does not come to its end is aborted, since S3 keeps and charges the parts of unfinished ones:
// first every part on its way is let go, then the upload, or a late part would be kept after all.

import { type FileHandle, open } from 'node:fs/promises'
import type { PutObjectCommandInput, S3Client } from '@aws-sdk/client-s3'

/** Which object, and how it is encrypted. */
export type ObjectPlace = Pick<PutObjectCommandInput, 'ServerSideEncryption' | 'SSEKMSKeyId'> & {
  readonly Bucket: string
  readonly Key: string
}

/** S3 takes parts from 5 MiB, and at most 10,000 of them. */
const partBytesMin = 8 * 1024 * 1024
const partsMax = 10_000
/** Three parts of 8 MiB are what an upload holds in memory; a file over 80 GB has larger ones. */
const partsAtOnce = 3
/** After an abort nobody waits, but the parts should go. */
const abortMsMax = 30_000

/**
 * Uploads the file; the object is whole when it resolves, and as before when it rejects.
 * Errors: the SDK's.
 */
export async function uploadFile(
  client: S3Client,
  place: ObjectPlace,
  path: string,
  signal: AbortSignal,
): Promise<void> {
  const file = await open(path, 'r')
  try {
    const { size } = await file.stat()
    if (size <= partBytesMin) await putObject(client, place, await readPart(file, 0, size), signal)
    else await putParts(client, place, file, size, signal)
  } finally {
    await file.close()
  }
}

/** Stores a small object. Errors: the SDK's. */
export async function putObject(
  client: S3Client,
  place: ObjectPlace,
  body: Buffer,
  signal: AbortSignal,
): Promise<void> {
  const { PutObjectCommand } = await import('@aws-sdk/client-s3')
  const command = new PutObjectCommand({ ...place, Body: body, ContentLength: body.length })
  await client.send(command, { abortSignal: signal })
}

/** Removes an object, if there is one. Errors: the SDK's. */
export async function deleteObject(
  client: S3Client,
  { Bucket, Key }: ObjectPlace,
  signal: AbortSignal,
): Promise<void> {
  const { DeleteObjectCommand } = await import('@aws-sdk/client-s3')
  await client.send(new DeleteObjectCommand({ Bucket, Key }), { abortSignal: signal })
}

async function putParts(
  client: S3Client,
  place: ObjectPlace,
  file: FileHandle,
  size: number,
  signal: AbortSignal,
): Promise<void> {
  const { AbortMultipartUploadCommand, CompleteMultipartUploadCommand, CreateMultipartUploadCommand } =
    await import('@aws-sdk/client-s3')
  const { Bucket, Key } = place
  const create = new CreateMultipartUploadCommand({ ...place, ...(await checksumOf(client)) })
  const { UploadId } = await client.send(create, { abortSignal: signal })
  if (UploadId === undefined) throw new Error('the server opened an upload without an id')
  const upload = { Bucket, Key, UploadId }
  try {
    const Parts = await sendParts(client, upload, file, size, signal)
    signal.throwIfAborted()
    await client.send(new CompleteMultipartUploadCommand({ ...upload, MultipartUpload: { Parts } }), {
      abortSignal: signal,
    })
  } catch (error) {
    // If this fails too, the bucket's own rules have to clear up: the first error is the one to tell.
    const late = AbortSignal.timeout(abortMsMax)
    await client.send(new AbortMultipartUploadCommand(upload), { abortSignal: late }).catch(() => {})
    throw error
  }
}

interface Upload {
  readonly Bucket: string
  readonly Key: string
  readonly UploadId: string
}

interface SentPart {
  readonly PartNumber: number
  readonly ETag: string | undefined
  readonly ChecksumCRC32: string | undefined
}

/** Sends all parts, `partsAtOnce` at a time; settles when none is on its way any more. */
async function sendParts(
  client: S3Client,
  upload: Upload,
  file: FileHandle,
  size: number,
  signal: AbortSignal,
): Promise<SentPart[]> {
  const { UploadPartCommand } = await import('@aws-sdk/client-s3')
  const partBytes = Math.max(partBytesMin, Math.ceil(size / partsMax))
  const partCount = Math.ceil(size / partBytes)
  const checksum = await checksumOf(client)
  const failing = new AbortController()
  const abortSignal = AbortSignal.any([signal, failing.signal])
  const sent: SentPart[] = []
  let next = 0
  const sendOnes = async (): Promise<void> => {
    for (let index = next++; index < partCount; index = next++) {
      abortSignal.throwIfAborted()
      const at = index * partBytes
      const Body = await readPart(file, at, Math.min(partBytes, size - at))
      const PartNumber = index + 1
      const command = new UploadPartCommand({
        ...upload,
        ...checksum,
        PartNumber,
        Body,
        ContentLength: Body.length,
      })
      const { ETag, ChecksumCRC32 } = await client.send(command, { abortSignal })
      sent.push({ PartNumber, ETag, ChecksumCRC32 })
    }
  }
  const errors: unknown[] = []
  const stopAll = (error: unknown): void => {
    errors.push(error)
    failing.abort()
  }
  await Promise.all(Array.from({ length: partsAtOnce }, () => sendOnes().catch(stopAll)))
  if (errors.length > 0) throw errors[0]
  return sent.sort((a, b) => a.PartNumber - b.PartNumber)
}

/** An upload says at its start which checksums its parts will have. */
async function checksumOf(client: S3Client): Promise<{ ChecksumAlgorithm?: 'CRC32' }> {
  return (await client.config.requestChecksumCalculation()) === 'WHEN_SUPPORTED'
    ? { ChecksumAlgorithm: 'CRC32' }
    : {}
}

async function readPart(file: FileHandle, at: number, size: number): Promise<Buffer> {
  const part = Buffer.allocUnsafe(size)
  let filled = 0
  while (filled < size) {
    const { bytesRead } = await file.read(part, filled, size - filled, at + filled)
    if (bytesRead === 0) throw new Error('the staged file is shorter than it was')
    filled += bytesRead
  }
  return part
}
