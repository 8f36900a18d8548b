import t from 'tap'
import { isSuppressed } from '../../src/capture/suppression.ts'

t.test('suppresses what follows page and device, not country, campaign or app', async (t) => {
  const suppressed = [
    '$current_url',
    '$browser',
    '$os',
    '$raw_user_agent',
    '$geoip_latitude',
    '$geoip_subdivision_3_name',
    '$geoip_city_confidence',
  ]
  for (const key of suppressed) t.ok(isSuppressed(key), key)
  const written = [
    '$geoip_country_name',
    '$geoip_city_name',
    '$geoip_continent_code',
    'utm_source',
    '$app_version',
  ]
  for (const key of [...written, 'email', 'level_confidence', '$initial_browser'])
    t.notOk(isSuppressed(key), key)
})
