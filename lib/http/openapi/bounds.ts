import type { Config } from '../../config/parse.ts'
import { PARTICIPANT_ROLES } from '../../core/access.ts'
import type { Json } from './schemas.ts'

/**
 * The form of the paths of routes, and of their beginnings before a `*`. The document lists the existing ones
 * elsewhere.
 */
const PATH_OR_PREFIX = '^(\\*|/[a-z0-9_{}/.\\-]*\\*?)$'

/** The named schemas with bounds that depend on the configuration and the routes. */
export function withBounds(schemas: Json, { access, invites, limits }: Config): Json {
  const own = Object.keys(access.roles).filter((name) => name !== 'guest')
  return {
    ...schemas,
    Role: { ...(schemas.Role as Json), enum: ['admin', 'member', 'read_only', 'guest', ...own] },
    ParticipantRole: {
      ...(schemas.ParticipantRole as Json),
      enum: [...PARTICIPANT_ROLES, ...Object.keys(access.participant_roles)],
    },
    // In bytes, which JSON Schema cannot count: a text with more characters has more bytes.
    Content: { ...(schemas.Content as Json), maxLength: limits.message_bytes },
    InviteInput: withProperty(schemas.InviteInput, 'max_uses', { maximum: invites.max_uses }),
    LimitAssignmentInput: withProperty(schemas.LimitAssignmentInput, 'path', { pattern: PATH_OR_PREFIX }),
  }
}

function withProperty(schema: unknown, name: string, words: Json): Json {
  const { properties } = schema as { properties: Record<string, Json> }
  return { ...(schema as Json), properties: { ...properties, [name]: { ...properties[name], ...words } } }
}
