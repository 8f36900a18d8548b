// A database of places that knows one network, as decoding takes it.

import { join } from 'node:path'
import type { Test } from 'tap'
import { type GeoipFiles, openGeoip } from '../../src/geoip/database.ts'
import { london, mmdbFile } from '../support/mmdb.ts'

/** Knows where 81.2.69.160 is; its file goes with the test. */
export function geoipFiles(t: Test): GeoipFiles {
  const database = mmdbFile('GeoLite2-City', { '81.2.69.0/24': { ...london, postal: {} } }, 6)
  const folder = t.testdir({ 'city.mmdb': database })
  return openGeoip(join(folder, 'city.mmdb'))!.files // the path names one
}
