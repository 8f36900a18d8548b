// How much a person or a group may remember. Sizes are bytes of the properties printed as JSON.

/** A person that grows past this is trimmed back to it. */
export const propertiesTrimBytes: number = 512 * 1024
/** An update that would make it larger than this is refused. */
export const propertiesBytesMax: number = 640 * 1024

/** Campaign parameters are short and irreplaceable: they are kept, like everything whose name starts with `$`. */
const keptKeys: ReadonlySet<string> = new Set(
  [
    'email name',
    'utm_source utm_medium utm_campaign utm_content utm_name utm_term gclid gad_source gclsrc dclid gbraid wbraid',
    'fbclid msclkid twclid li_fat_id mc_cid igshid ttclid rdt_cid irclid _kx epik qclid sccid',
  ]
    .join(' ')
    .split(' '),
)

/** The size of properties in bytes; an upper bound when they are far from any limit, which is cheaper to tell. */
export function propertiesBytes(properties: ReadonlyMap<string, string>): number {
  let units = 2
  for (const [key, value] of properties) units += key.length + value.length + 4
  // A UTF-16 unit takes up to three bytes, and a key's up to six when it is escaped.
  if (units * 6 <= propertiesTrimBytes) return units * 6
  let bytes = 1
  for (const [key, value] of properties) bytes += entryBytes(key, value)
  return bytes
}

/**
 * Removes properties until they fit into propertiesTrimBytes: the largest first, so that the fewest are lost. Those
 * that describe a person to everybody (`$…`, email, name, campaign) stay even when it does not suffice.
 */
export function trimProperties(properties: Map<string, string>): void {
  let bytes = propertiesBytes(properties)
  const sizes = [...properties]
    .filter(([key]) => !key.startsWith('$') && !keptKeys.has(key))
    .map(([key, value]) => ({ key, bytes: entryBytes(key, value) }))
    .sort((a, b) => b.bytes - a.bytes || (a.key < b.key ? -1 : 1))
  for (const entry of sizes) {
    if (bytes <= propertiesTrimBytes) return
    properties.delete(entry.key)
    bytes -= entry.bytes
  }
}

function entryBytes(key: string, value: string): number {
  return Buffer.byteLength(JSON.stringify(key)) + Buffer.byteLength(value) + 2
}
