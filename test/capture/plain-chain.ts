// The plain version of elements chains: PostHog's elementsToString told once more, on objects.

import type { Json, JsonObject } from './plain-decode.ts'

export function plainChain(elements: Json[]): string {
  return elements
    .filter(
      (element): element is JsonObject =>
        typeof element === 'object' && element !== null && !Array.isArray(element),
    )
    .map(plainElement)
    .join(';')
}

function plainElement(element: JsonObject): string {
  const attributes: Record<string, string> = Object.create(null)
  attributes['nth-child'] = text(element.nth_child) ?? '0'
  attributes['nth-of-type'] = text(element.nth_of_type) ?? '0'
  const shown = (text(element.$el_text) ?? '').slice(0, 400)
  if (shown !== '') attributes.text = shown
  const href = (text(element.attr__href) ?? '').slice(0, 2048)
  if (href !== '') attributes.href = href
  const id = text(element.attr__id) ?? ''
  if (id !== '') attributes.attr_id = id
  for (const [key, value] of Object.entries(element)) {
    const printed = text(value)
    if (key.startsWith('attr__') && printed !== null) attributes[key] = printed
  }
  const order = new Intl.Collator('en')
  const keys = Object.keys(attributes).sort((a, b) => order.compare(a, b) || (a < b ? -1 : 1))
  const printed = keys.map((key) => `${escaped(key)}="${escaped(attributes[key] ?? '')}"`)
  const classes = classesOf(element.attr__class).sort()
  const dotted = classes.map((name) => `.${name.replaceAll('"', '')}`)
  return Buffer.from(`${text(element.tag_name) ?? ''}${dotted.join('')}:${printed.join('')}`).toString()
}

function classesOf(value: Json | undefined): string[] {
  if (Array.isArray(value)) return value.map(text).filter((name) => name !== null)
  const names = text(value) ?? ''
  return names === '' ? [] : names.split(' ')
}

function text(value: Json | undefined): string | null {
  return value === undefined || value === null || typeof value === 'object' ? null : String(value)
}

function escaped(value: string): string {
  return value.replaceAll('"', '\\"')
}
