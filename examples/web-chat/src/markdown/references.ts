import { destinationAt, type Found, labelAt, skipSpace, titleAt, toLabel } from './link-parts.ts'
import type { Reference } from './tokens.ts'

/** A link reference definition. */
export interface Definition {
  label: string
  reference: Reference
}

/** The definitions that a paragraph begins with, and the rest of it. */
export function takeDefinitions(text: string): { definitions: Definition[]; rest: string } {
  const definitions: Definition[] = []
  let at = 0
  while (text[at] === '[') {
    const definition = definitionAt(text, at)
    if (!definition) break
    definitions.push(definition.value)
    at = definition.end
  }
  return { definitions, rest: text.slice(at) }
}

function definitionAt(text: string, at: number): Found<Definition> | undefined {
  const name = labelAt(text, at)
  const label = name && toLabel(name.value)
  if (label === undefined || text[name!.end] !== ':') return undefined
  const from = skipSpace(text, name!.end + 1)
  const address = from < text.length ? destinationAt(text, from) : undefined
  if (!address || (address.end === from && text[from] !== '<')) return undefined
  const end = lineEnd(text, address.end)
  const titleFrom = skipSpace(text, address.end)
  const title = titleFrom > address.end ? titleAt(text, titleFrom) : undefined
  const titleEnd = title && lineEnd(text, title.end)
  if (titleEnd !== undefined)
    return { value: { label, reference: { href: address.value, title: title!.value } }, end: titleEnd }
  // What would be a title begins the rest, if it has a line of its own.
  return end === undefined ? undefined : { value: { label, reference: { href: address.value, title: undefined } }, end }
}

/** The beginning of the next line, if nothing but spaces is left of this one. */
function lineEnd(text: string, at: number): number | undefined {
  let end = at
  while (text[end] === ' ' || text[end] === '\t') end++
  if (end === text.length) return end
  return text[end] === '\n' ? end + 1 : undefined
}
