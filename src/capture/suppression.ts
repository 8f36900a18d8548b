// Person properties that follow the page and the device: they change with almost every event, and a person is not
// rewritten for them alone.

const suppressed = [
  '$current_url $pathname $referring_domain $referrer $screen_height $screen_width $viewport_height $viewport_width',
  '$browser $browser_version $device_type $raw_user_agent $os $os_name $os_version',
  '$geoip_postal_code $geoip_time_zone $geoip_latitude $geoip_longitude $geoip_accuracy_radius',
  '$geoip_subdivision_1_code $geoip_subdivision_1_name $geoip_subdivision_2_code $geoip_subdivision_2_name',
  '$geoip_subdivision_3_code $geoip_subdivision_3_name',
]

/** The names, but for those of GeoIP's confidences. */
export const suppressedKeys: ReadonlySet<string> = new Set(suppressed.join(' ').split(' '))

/** True when a new value of a property that the person has is no reason to write the person. */
export function isSuppressed(key: string): boolean {
  return suppressedKeys.has(key) || (key.startsWith('$geoip_') && key.endsWith('_confidence'))
}
