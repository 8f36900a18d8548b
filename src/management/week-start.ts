// The day on which a new project's weeks begin: the one usual where its maker is, as far as the address tells.

import { findPlace, type GeoipFiles } from '../geoip/database.ts'

/** As the API counts days. */
const sunday = 0
const monday = 1

interface LocaleWeek {
  readonly weekInfo?: WeekInfo
  getWeekInfo(): WeekInfo
}

interface WeekInfo {
  /** From Monday, 1, to Sunday, 7. */
  readonly firstDay: number
}

/** Returns 0 (Sunday) or 1 (Monday); null where nobody knows the country of `address`. */
export function weekStartAt(files: GeoipFiles | null, address: string): 0 | 1 | null {
  const code = files === null ? null : findPlace(files, address)?.$geoip_country_code
  return typeof code === 'string' && /^[A-Z]{2}$/.test(code) ? weekStartIn(code) : null
}

/** A country whose weeks begin on another day counts with those that begin on Monday, as upstream has it. */
function weekStartIn(countryCode: string): 0 | 1 {
  // Node 20 has it as a property, later ones as a method; the library's types know neither.
  const locale = new Intl.Locale(`und-${countryCode}`) as Intl.Locale & LocaleWeek
  const week = locale.weekInfo ?? locale.getWeekInfo()
  return week.firstDay === 7 ? sunday : monday
}
