import type { Config } from '../../config/parse.ts'
import { limitedEndpoints } from '../rate-limit.ts'
import type { Json } from './schemas.ts'

/** The named schemas with bounds that depend on the configuration and the routes. */
export function withBounds(schemas: Json, { invites, limits }: Config): Json {
  const pattern = prefixPattern(limitedEndpoints.map((each) => each.path))
  return {
    ...schemas,
    // In bytes, which JSON Schema cannot count: a text with more characters has more bytes.
    Content: { ...(schemas.Content as Json), maxLength: limits.message_bytes },
    InviteInput: withProperty(schemas.InviteInput, 'max_uses', { maximum: invites.max_uses }),
    LimitAssignmentInput: withProperty(schemas.LimitAssignmentInput, 'path', { pattern }),
  }
}

function withProperty(schema: unknown, name: string, words: Json): Json {
  const { properties } = schema as { properties: Record<string, Json> }
  return { ...(schema as Json), properties: { ...properties, [name]: { ...properties[name], ...words } } }
}

/** A pattern that matches each of some texts, and every prefix of them followed by a `*`. */
function prefixPattern(texts: string[]): string {
  return `^${after(texts)}$`

  function after(rests: string[]): string {
    const byNext = new Map<string, string[]>()
    for (const rest of rests) if (rest) byNext.set(rest[0]!, [...(byNext.get(rest[0]!) ?? []), rest.slice(1)])
    const ways = [...byNext].map(([next, within]) => escaped(next) + after(within))
    return `(${[...(rests.includes('') ? [''] : []), '\\*', ...ways].join('|')})`
  }
}

function escaped(character: string): string {
  return /[a-z0-9/_-]/i.test(character) ? character : `\\${character}`
}
