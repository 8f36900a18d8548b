import { DuckDBInstance } from '@duckdb/node-api'
import t from 'tap'
import { channelType } from '../../src/query/channel-type.ts'

const connection = await (await DuckDBInstance.create(':memory:')).connect()
const sql = `select ${channelType({
  source: 'f.source',
  medium: 'f.medium',
  campaign: 'f.campaign',
  referringDomain: 'f.ref',
  gclid: 'f.gclid',
  fbclid: 'f.fbclid',
  gadSource: 'f.gad_source',
})} from (select j->>'source' as source, j->>'medium' as medium, j->>'campaign' as campaign, j->>'ref' as ref,
  j->>'gclid' as gclid, j->>'fbclid' as fbclid, j->>'gad' as gad_source from (select $1::json as j)) f`

/** What is known of a session's beginning, and the channel. */
const cases: readonly (readonly [object, string])[] = [
  [{}, 'Unknown'],
  [{ ref: '$direct' }, 'Direct'],
  [{ ref: '$direct', source: '(direct)' }, 'Direct'],
  [{ ref: '$direct', source: '', medium: 'null' }, 'Direct'],
  [{ ref: '$direct', fbclid: 'x' }, 'Organic Social'],
  [{ ref: '$direct', source: 'partner', medium: 'print' }, 'Direct'],
  [{ ref: 'blog.example' }, 'Referral'],
  [{ ref: 'www.google.co.uk' }, 'Organic Search'],
  [{ ref: 'duckduckgo.com' }, 'Organic Search'],
  [{ ref: 'notgoogle.com' }, 'Referral'],
  [{ ref: 'google-shop.example' }, 'Referral'],
  [{ ref: 'l.facebook.com' }, 'Organic Social'],
  [{ ref: 't.co' }, 'Organic Social'],
  [{ ref: 'm.youtube.com' }, 'Organic Video'],
  [{ ref: 'www.amazon.de' }, 'Organic Shopping'],
  [{ ref: 'mail.google.com' }, 'Email'],
  [{ source: 'Newsletter' }, 'Email'],
  [{ ref: 'blog.example', medium: 'email' }, 'Email'],
  [{ medium: 'affiliate' }, 'Affiliate'],
  [{ medium: 'sms' }, 'SMS'],
  [{ medium: 'audio' }, 'Audio'],
  [{ medium: 'banner' }, 'Display'],
  [{ medium: 'web-push' }, 'Push'],
  [{ medium: 'social-media' }, 'Organic Social'],
  [{ campaign: 'spring_video' }, 'Organic Video'],
  [{ campaign: 'summer shopping' }, 'Organic Shopping'],
  [{ campaign: 'workshop', ref: 'blog.example' }, 'Referral'],
  [{ source: 'google', medium: 'CPC' }, 'Paid Search'],
  [{ source: 'facebook', medium: 'paid-social' }, 'Paid Social'],
  [{ source: 'youtube', medium: 'cpv' }, 'Paid Video'],
  [{ medium: 'cpc', campaign: 'shop' }, 'Paid Shopping'],
  [{ medium: 'cpc', ref: 'bing.com' }, 'Paid Search'],
  [{ medium: 'cpc', ref: 'blog.example' }, 'Paid Unknown'],
  [{ gclid: 'x', ref: '$direct' }, 'Paid Unknown'],
  [{ gclid: '', ref: '$direct' }, 'Direct'],
  [{ gad: '1' }, 'Paid Search'],
  [{ gad: '2', campaign: 'a video' }, 'Paid Video'],
  [{ gad: '2', fbclid: 'x' }, 'Paid Social'],
  [{ medium: 'cpc', campaign: 'Cross-Network' }, 'Cross Network'],
]

for (const [given, channel] of cases)
  t.test(`${JSON.stringify(given)} is ${channel}`, async (t) => {
    const reader = await connection.runAndReadAll(sql, [JSON.stringify(given)])
    t.strictSame(reader.getRows(), [[channel]])
  })
