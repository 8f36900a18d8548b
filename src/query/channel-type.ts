// What brought a visitor, in PostHog's words and by its rules (posthog.com/docs/data/channel-type): what the address
// that a session began with says of its campaign, then who referred to it. Which sites are of which kind is a list of
// our own: the best known of them, by the name that addresses and `utm_source` have in common.

/** SQL for texts that may be NULL. */
export interface ChannelFields {
  readonly source: string
  readonly medium: string
  readonly campaign: string
  readonly referringDomain: string
  readonly gclid: string
  readonly fbclid: string
  readonly gadSource: string
}

const sites = {
  Email: 'email|e-mail|e_mail|newsletter|mail\\.google|mail\\.yahoo|gmail|outlook|mail\\.proton|mailchimp',
  Search:
    'google|bing|yahoo|duckduckgo|baidu|yandex|ya|ecosia|qwant|startpage|naver|seznam|search\\.brave|brave|sogou' +
    '|so|aol|ask|lycos|daum|rambler|dogpile|swisscows|mojeek|kagi',
  Social:
    'facebook|fb|instagram|ig|twitter|x|t\\.co|linkedin|lnkd|reddit|pinterest|pin|tiktok|quora|tumblr|vk|weibo' +
    '|threads|bsky|bluesky|mastodon|snapchat|discord|whatsapp|telegram|t\\.me|messenger|news\\.ycombinator' +
    '|stackoverflow|meetup',
  Video: 'youtube|youtu|vimeo|twitch|dailymotion|netflix|hulu|bilibili|wistia|rumble|disneyplus',
  Shopping:
    'amazon|ebay|etsy|shopify|walmart|alibaba|aliexpress|rakuten|mercadolibre|mercadolivre|target|wish|shopping',
} as const
type Kind = keyof typeof sites

const paidKinds: readonly Kind[] = ['Search', 'Social', 'Video', 'Shopping']
const paidMediums = ['cpc', 'cpm', 'cpv', 'cpa', 'ppc', 'retargeting']
const directSources = ['(direct)', 'direct', '$direct']
const shopping = '^(.*(([^a-df-z]|^)shop|shopping).*)$'

/** Media that say what brought somebody; the first that fits counts. */
const organicMediums: readonly (readonly [pattern: string, type: string])[] = [
  ['^(social|social-network|social-media|social network|social media|sm)$', 'Organic Social'],
  ['video', 'Organic Video'],
  ['^organic$', 'Organic Search'],
  ['^(email|e-mail|e_mail|e mail|newsletter)$', 'Email'],
  ['^(affiliate|affiliates)$', 'Affiliate'],
  ['^(referral|app|link)$', 'Referral'],
  ['^(display|banner|expandable|interstitial)$', 'Display'],
  ['^audio$', 'Audio'],
  ['^sms$', 'SMS'],
  ['push$|mobile|notification', 'Push'],
]

/** SQL for the type of channel: a text, never NULL. */
export function channelType(fields: ChannelFields): string {
  const { referringDomain, gclid, fbclid, gadSource } = fields
  const [source, medium, campaign] = [fields.source, fields.medium, fields.campaign].map(
    (text) => `lower(${given(text)})`,
  ) as [string, string, string]
  const domain = `lower(${referringDomain})`
  const isPaid = [
    isOneOf(medium, paidMediums),
    `starts_with(${medium}, 'paid')`,
    `${given(gclid)} is not null`,
    `${given(gadSource)} is not null`,
  ].map((condition) => `coalesce(${condition}, false)`)
  const isDirect = [
    `${referringDomain} = '$direct' and ${medium} is null and ${given(fbclid)} is null`,
    `(${source} is null or ${isOneOf(source, directSources)})`,
  ]
  return `case
    when ${matches(campaign, 'cross-network')} then 'Cross Network'
    when ${isPaid.join(' or ')} then coalesce(
      ${kindOf(source, 'Paid')},
      case when ${matches(campaign, shopping)} then 'Paid Shopping' end,
      ${kindOf(domain, 'Paid')},
      case when ${gadSource} = '1' then 'Paid Search' when ${matches(campaign, 'video')} then 'Paid Video'
        when ${given(fbclid)} is not null then 'Paid Social' else 'Paid Unknown' end)
    when ${isDirect.join(' and ')} then 'Direct'
    else coalesce(
      ${kindOf(source, 'Organic')},
      case when ${matches(campaign, shopping)} then 'Organic Shopping' end,
      case ${organicMediums.map(([pattern, type]) => `when ${matches(medium, pattern)} then '${type}'`).join(' ')} end,
      ${kindOf(domain, 'Organic')},
      case when ${matches(campaign, 'video')} then 'Organic Video'
        when ${given(fbclid)} is not null then 'Organic Social'
        when ${referringDomain} = '$direct' then 'Direct'
        when ${referringDomain} is not null then 'Referral' else 'Unknown' end)
    end`
}

/** NULL for what stands for nothing, too. */
function given(text: string): string {
  return `nullif(nullif(${text}, ''), 'null')`
}

function isOneOf(text: string, values: readonly string[]): string {
  return `${text} in (${values.map((value) => `'${value}'`).join(', ')})`
}

function matches(text: string, pattern: string): string {
  return `coalesce(regexp_matches(${text}, '${pattern}'), false)`
}

/** "Paid Search" for a name or domain that searches; NULL for one that is not known. */
function kindOf(text: string, prefix: 'Paid' | 'Organic'): string {
  const kinds: readonly Kind[] = prefix === 'Paid' ? paidKinds : ['Email', ...paidKinds]
  const cases = kinds.map((kind) => {
    const type = kind === 'Email' ? kind : `${prefix} ${kind}`
    // "google", "google.com", "www.google.co.uk", and not "google-analytics.example" or "notgoogle.com".
    return `when ${matches(text, `^([a-z0-9-]+[.])*(${sites[kind]})([.][a-z]{2,3}){0,2}$`)} then '${type}'`
  })
  return `case ${cases.join(' ')} end`
}
