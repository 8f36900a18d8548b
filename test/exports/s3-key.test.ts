import t from 'tap'
import { manifestKey, objectKey } from '../../src/exports/s3-key.ts'
import { config, subject } from './staged.ts'

const name = '2024-05-01T11:00:00+00:00-2024-05-01T12:00:00+00:00'

function s3(prefix: string, more = {}) {
  return config('S3', { bucket_name: 'b', region: 'r', prefix, ...more })
}

t.test('the variables of a prefix are those of PostHog, dates being the end of the interval', async (t) => {
  const prefix =
    'a/{table}/{year}-{month}-{day}/{hour}:{minute}:{second}/{data_interval_start}|{data_interval_end}'
  const filled = 'a/sessions/2024-05-01/12:00:07/2024-05-01T11:00:00+00:00|2024-05-01T12:00:07+00:00'
  const run = { ...subject, model: 'sessions' as const, endMs: subject.endMs + 7_000 }
  t.equal(objectKey(s3(prefix), run, 0).slice(0, filled.length), filled)
  t.equal(objectKey(s3('{{{year}}}'), subject, 0), `{2024}/${name}.jsonl`)
})

t.test(
  'files are called after their interval, later ones with a number, and after their format',
  async (t) => {
    t.equal(objectKey(s3('a'), subject, 0), `a/${name}.jsonl`)
    t.equal(objectKey(s3('a/'), subject, 0), `a/${name}.jsonl`)
    t.equal(objectKey(s3(''), subject, 0), `${name}.jsonl`)
    t.equal(objectKey(s3('/'), subject, 0), `${name}.jsonl`)
    t.equal(objectKey(s3('/a'), subject, 12), `a/${name}-12.jsonl`)
    t.equal(
      objectKey(s3('a', { compression: 'zstd', file_format: 'Parquet' }), subject, 1),
      `a/${name}-1.parquet.zst`,
    )
    t.equal(manifestKey(s3('a'), subject), `a/${name}_manifest.json`)
    t.equal(objectKey(s3('a'), { ...subject, startMs: null }, 0), 'a/None-2024-05-01T12:00:00+00:00.jsonl')
  },
)

t.test('a prefix that makes no key is refused', async (t) => {
  const refused = (prefix: string, message: string | RegExp) =>
    t.throws(() => objectKey(s3(prefix), subject, 0), { message, kind: 'permanent' })
  const known =
    '{year}, {month}, {day}, {hour}, {minute}, {second}, {data_interval_start}, {data_interval_end}, {table}'
  refused('{team}', `The prefix holds "{team}", which is none of ${known}. Change the prefix.`)
  refused('a{', /^The prefix holds "\{"/)
  refused('{year!r}', /^The prefix holds "\{year!r\}"/)
  refused('{__proto__}', /^The prefix holds/)
  refused('../other', /^The prefix holds "\." or "\.\."/)
  refused('a/./b', /^The prefix holds "\." or "\.\."/)
  const room = 1024 - `/${name}.jsonl`.length
  t.equal(Buffer.byteLength(objectKey(s3('ü'.repeat(room / 2)), subject, 0)), room % 2 === 0 ? 1024 : 1023)
  refused(
    'x'.repeat(room + 1),
    "The prefix is too long: with the file's name it has more than 1024 bytes. Shorten it.",
  )
})
