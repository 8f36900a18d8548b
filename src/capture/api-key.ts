// The shape of a project API key. Whether a project has it is not decided here.

export type ApiKeyOutcome =
  | { readonly kind: 'ok'; readonly apiKey: string }
  | { readonly kind: 'refused'; readonly detail: string }

const apiKeyBytesMax = 64

/** Checks the shape of `text` as sent and trims it. A refusal is `api_key_invalid` and names the fault. */
export function checkApiKey(text: string): ApiKeyOutcome {
  const apiKey = text.trim()
  const fault = faultOf(apiKey)
  if (fault === null) return { kind: 'ok', apiKey }
  return { kind: 'refused', detail: `API key is not valid: ${fault}` }
}

function faultOf(apiKey: string): string | null {
  if (apiKey === '') return 'empty'
  if (apiKey.length > apiKeyBytesMax || Buffer.byteLength(apiKey) > apiKeyBytesMax) return 'too_long'
  if (/[^\0-\x7f]/.test(apiKey)) return 'not_ascii'
  if (apiKey.startsWith('phx_')) return 'personal_api_key'
  if (apiKey.includes('\0')) return 'null_byte'
  return null
}
