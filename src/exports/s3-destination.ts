// S3, and what speaks like it. A chunk is a file is an object: the same chunk again overwrites its object with the same
// bytes, and an interval that is exported again overwrites all of its objects; those that it needs no more are removed.
// DuckDB writes the files compressed, except that it knows no brotli for text: those lines are compressed here, into a
// second file beside the first.

import { createReadStream, createWriteStream } from 'node:fs'
import { rm } from 'node:fs/promises'
import { pipeline } from 'node:stream/promises'
import { constants, createBrotliCompress } from 'node:zlib'
import {
  type Delivery,
  DeliveryError,
  type Destination,
  type RunSubject,
  type StagedChunk,
  type StagedFormat,
} from './delivery.ts'
import { failingWith } from './delivery-failure.ts'
import type { DestinationConfig } from './destination.ts'
import { openS3Client, type S3Limits, s3Limits } from './s3-client.ts'
import { s3Failure } from './s3-failure.ts'
import { manifestKey, objectKey } from './s3-key.ts'
import { deleteObject, type ObjectPlace, putObject, uploadFile } from './s3-upload.ts'

const mebibyte = 1024 * 1024
/** Levels above 5 take several times as long and save a few percent. */
const brotliQuality = 5

export const s3Destination: Destination = s3DestinationWith(s3Limits)

export function s3DestinationWith(limits: S3Limits): Destination {
  return {
    isReplacing: false,
    hasPersonProperties: true,
    format(config): StagedFormat {
      // The config allows these and null.
      const compression = config.compression as StagedFormat['compression']
      if (config.file_format === 'Parquet') return { kind: 'parquet', compression }
      return { kind: 'jsonl', compression: compression === 'brotli' ? null : compression }
    },
    chunkBytesMax: ({ max_file_size_mb }) =>
      max_file_size_mb === null ? null : Number(max_file_size_mb) * mebibyte,
    async open(config, run, outbound): Promise<Delivery> {
      // Both say at once what would be wrong with every file.
      manifestKey(config, run)
      placeOf(config)
      const client = await openS3Client(config, outbound, limits)
      const deliver = async (chunk: StagedChunk, signal: AbortSignal): Promise<void> => {
        const place = { ...placeOf(config), Key: objectKey(config, run, chunk.index) }
        await withCompressed(config, chunk, signal, (path) => uploadFile(client, place, path, signal))
      }
      const finish: Delivery['finish'] = async (chunks, signal) => {
        const remove = (Key: string) => deleteObject(client, { ...placeOf(config), Key }, signal)
        const kept = chunks.filter(({ recordCount }) => recordCount > 0)
        const isKept = new Set(kept.map(({ index }) => index))
        for (let index = 0; index < Math.max(chunks.length, run.earlierChunkCount); index++)
          if (!isKept.has(index)) await remove(objectKey(config, run, index))
        if (config.max_file_size_mb === null) return
        const Key = manifestKey(config, run)
        if (kept.length === 0) return await remove(Key)
        await putObject(client, { ...placeOf(config), Key }, manifestOf(config, run, kept), signal)
      }
      return {
        deliver: (chunk, signal) => failingWith(s3Failure, signal, () => deliver(chunk, signal)),
        finish: (chunks, signal) => failingWith(s3Failure, signal, () => finish(chunks, signal)),
        // Its sockets belong to the guard.
        async close() {},
      }
    },
  }
}

/** The list of a run's files, in their order, as PostHog writes it. */
function manifestOf(
  config: DestinationConfig,
  run: RunSubject,
  chunks: readonly { readonly index: number }[],
): Buffer {
  const files = chunks.map(({ index }) => index).sort((a, b) => a - b)
  return Buffer.from(JSON.stringify({ files: files.map((index) => objectKey(config, run, index)) }))
}

/** Errors: DeliveryError, permanent, for a key of KMS that nothing would be encrypted with. */
function placeOf({ bucket_name, encryption, kms_key_id }: DestinationConfig): Omit<ObjectPlace, 'Key'> {
  if (kms_key_id !== null && encryption !== 'aws:kms') {
    throw new DeliveryError(
      'permanent',
      'kms_key_id is used with the encryption aws:kms only. Set encryption, too.',
    )
  }
  return {
    Bucket: String(bucket_name),
    // The config allows these two and null.
    ...(encryption === null ? {} : { ServerSideEncryption: encryption as 'AES256' | 'aws:kms' }),
    ...(kms_key_id !== null ? { SSEKMSKeyId: String(kms_key_id) } : {}),
  }
}

/** Hands the chunk's file over as it has to arrive. */
async function withCompressed(
  { file_format, compression }: DestinationConfig,
  { path, bytes }: StagedChunk,
  signal: AbortSignal,
  upload: (path: string) => Promise<void>,
): Promise<void> {
  if (file_format !== 'JSONLines' || compression !== 'brotli') return await upload(path)
  const compressed = `${path}.br`
  const params = {
    [constants.BROTLI_PARAM_QUALITY]: brotliQuality,
    [constants.BROTLI_PARAM_SIZE_HINT]: bytes,
  }
  try {
    const streams = [
      createReadStream(path),
      createBrotliCompress({ params }),
      createWriteStream(compressed),
    ] as const
    await pipeline(...streams, { signal })
    await upload(compressed)
  } finally {
    await rm(compressed, { force: true })
  }
}
