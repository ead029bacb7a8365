import * as v from 'valibot'
import { MCP_SCOPES } from '../../core/actor.ts'
import { Id, Instant, Limit } from '../../core/schema.ts'

/** What an application may do on `/mcp`. */
export const GrantScope = v.pipe(
  v.picklist(MCP_SCOPES),
  v.description('`chat:read`: read; `chat:write`: post, and mark as read; `chat:ask`: ask the assistant, and stop it'),
)

/** What a user allows an application. */
export const Grant = v.object({
  id: Id,
  client_id: v.pipe(v.string(), v.description('The URL of its metadata document, or its id here')),
  client_name: v.pipe(v.string(), v.description('As the application calls itself')),
  client_host: v.pipe(v.string(), v.description('The host that the application belongs to')),
  scopes: v.array(GrantScope),
  created_at: Instant,
  last_used_at: v.optional(v.pipe(Instant, v.description('To the minute'))),
  expires_at: v.pipe(Instant, v.description('Then the application must ask again, unless it is used before')),
})
export type Grant = v.InferOutput<typeof Grant>

export const Grants = v.object({ grants: v.array(Grant) })
export type Grants = v.InferOutput<typeof Grants>

/** The user whose grants to list, a page at a time. */
export const GrantsQuery = v.object({
  user_id: v.optional(v.pipe(Id, v.description('Only the grants of this user'))),
  after: v.optional(v.pipe(Id, v.description('`next_after` of the previous page'))),
  limit: Limit(50, 200),
})
export type GrantsQuery = v.InferOutput<typeof GrantsQuery>

/** A grant of any user, as the operator reads it. */
export const GrantOfUser = v.object({ ...Grant.entries, user_id: Id })
export type GrantOfUser = v.InferOutput<typeof GrantOfUser>

/** A page of grants, newest first. */
export const GrantsOfUsers = v.object({ grants: v.array(GrantOfUser), next_after: v.optional(Id) })
export type GrantsOfUsers = v.InferOutput<typeof GrantsOfUsers>
