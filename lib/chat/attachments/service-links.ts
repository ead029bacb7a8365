import { listLiveKeys } from '../../accounts/api-keys/store.ts'
import { servesFor } from '../../accounts/server-keys/rules.ts'
import { listLiveSessions } from '../../accounts/sessions/store-list.ts'
import { listEnabledUsers } from '../../accounts/users/store.ts'
import { linkBaseOf } from '../../config/base-path.ts'
import type { Context } from '../../context.ts'
import { type Role, refuseSystem, splitRoles } from '../../core/actor.ts'
import { ChatError } from '../../core/errors.ts'
import type { NamesOf } from '../../core/known-names.ts'
import { toInstant } from '../../core/time.ts'
import { SECOND } from '../../core/units.ts'
import { assertKnown, useCase } from '../../core/use-case.ts'
import { type LinkClaims, readLink, signLink } from '../../files/tokens.ts'
import { assertEnabled, requireAttachment } from './access.ts'
import type { FileAnswer, RequestHeaders } from './content.ts'
import { open, toReadable } from './reading.ts'
import { type FileLink, LinkInput } from './schema.ts'

/**
 * Makes a link that reads a file without a session, for `attachments.link_seconds`. It ends with the session or the API key
 * of the caller, and with the caller's right to read the file.
 *
 * @throws ChatError `not_found`; `attachment_not_ready`, `attachment_refused`; `forbidden` for a system actor
 */
export const link = useCase({
  takes: ['actor', 'attachment_id'],
  input: LinkInput,
  errors: ['not_found', 'forbidden', 'attachment_not_ready', 'attachment_refused'],
  run: async (ctx, actor, id, { inline = false }): Promise<FileLink> => {
    const { row } = await requireAttachment(ctx, ctx.db, actor, id)
    refuseSystem(actor)
    toReadable(row)
    const { user_id } = actor
    const { session_id, key_id } = ctx.streams.logins.get(actor)?.maker ?? actor
    const expires_at = ctx.now() + ctx.config.attachments.link_seconds * SECOND
    const claims = { id, user_id, ...(session_id && { session_id }), ...(key_id && { key_id }), inline, expires_at }
    const token = signLink(await ctx.files.linkKeys(), claims)
    return { url: `${linkBaseOf(ctx.config)}/api/files/${token}`, expires_at: toInstant(expires_at) }
  },
})

/** How the file of a link is requested. */
export interface LinkOptions {
  /** The headers of a request, of which `Range`, `If-Range` and `If-None-Match` are read. */
  headers?: RequestHeaders
}

const LINK_OPTIONS: NamesOf<LinkOptions> = { headers: 0 }

/**
 * The bytes of the file of a link, if the user who asked for it may still read the file.
 *
 * @throws ChatError `not_found` for an expired or forged link, and without the right; as `open` else
 */
export async function openLink(ctx: Context, token: string, options?: LinkOptions): Promise<FileAnswer> {
  assertKnown(options, LINK_OPTIONS)
  assertEnabled(ctx)
  const claims = readLink(await ctx.files.linkKeys(), token, ctx.now())
  const roles = claims && (await findRoles(ctx, claims))
  if (!claims || !roles) throw new ChatError('not_found')
  const actor = { user_id: claims.user_id, roles }
  return open(ctx, actor, claims.id, { inline: claims.inline, is_shared: true, ...options })
}

/** The roles of the user; `undefined` for a disabled one, and once the session, the API key, or the sign-in of a host has ended. */
async function findRoles({ config, db, now, sessionNow }: Context, claims: LinkClaims): Promise<Role[] | undefined> {
  const { user_id, session_id, key_id, expires_at } = claims
  const user = (await listEnabledUsers(db, [user_id])).get(user_id)
  if (!user) return undefined
  const ended_at = Math.max(user.streams_ended_at, user.tokens_after)
  const created_at = expires_at - config.attachments.link_seconds * SECOND
  if (session_id === undefined && key_id === undefined && created_at <= ended_at) return undefined
  if (session_id !== undefined && (await listLiveSessions(db, [session_id], sessionNow())).length === 0)
    return undefined
  const roles = splitRoles(user.roles)
  const [key] = key_id === undefined ? [] : await listLiveKeys(db, [key_id], now())
  return key_id === undefined || (key && servesFor(key, roles)) ? roles : undefined
}
