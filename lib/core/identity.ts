import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Role } from './actor.ts'

/** A request, for the host's authentication. */
export interface IdentityRequest {
  /** As the runtime has it. Its body belongs to the chat. In `auth.authenticate(headers)` it has nothing but headers. */
  request: Request
  headers: Headers
  /** The address of the client, if known. */
  ip?: string
  /** For a call of MCP: the URL of `/mcp`, for which its token must be meant. Without `server.public_url`, its path. */
  audience?: string
  /** On Node: the request and the response, with all that middleware of the host has added to them. */
  node?: { req: IncomingMessage; res: ServerResponse }
}

/** A user as the host knows them. Missing fields keep their value, or get a placeholder for a new user. */
export interface Identity {
  /** The host's own id of the user: it never changes and is never reused for another user. */
  subject: string
  username?: string
  email?: string
  display_name?: string
  /** The https URL of a photo, at most 2048 characters; an empty text removes it. */
  avatar_url?: string
  roles?: readonly Role[]
  /**
   * When the proof of the login was issued, in seconds since 1970, as `iat` of a JWT. One from before the end of a login, by
   * `chat.sessions.endForSubject` or by what ends sessions, is refused, and one older than the stored names changes none.
   */
  issued_at?: number
  /** When that proof expires, in seconds since 1970, as `exp` of a JWT: its streams end then. */
  expires_at?: number
  /**
   * For a call of MCP, what the token allows: `chat:read`, `chat:write` (post, mark as read), `chat:ask` (ask the assistant and
   * stop it). Left out, all. Others are ignored.
   */
  scopes?: readonly string[]
  /** `Set-Cookie` lines of the response over HTTP, for a host that renews its own session. */
  set_cookie?: string | readonly string[]
}
