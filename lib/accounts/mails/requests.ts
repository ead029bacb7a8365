import { type LinkName, toLink } from '../../config/links.ts'
import type { Context } from '../../context.ts'
import { digest, newToken } from '../../core/ids.ts'
import type { Addressed, MailOrder } from '../../mail/queue.ts'
import { findUser, findUserByEmail } from '../users/store.ts'
import { findRequest, insertRequestToken } from './store.ts'

/** The address that a request is for, while it is open; none for a change to an address that another account has. */
export async function addressRequest(
  ctx: Pick<Context, 'config' | 'db' | 'now' | 'write'>,
  { request }: MailOrder,
  link: LinkName,
): Promise<Addressed | undefined> {
  const row = request === undefined ? undefined : await findRequest(ctx.db, request, ctx.now())
  if (!row) return undefined
  const user = row.user_id === null ? undefined : await findUser(ctx.db, row.user_id)
  const holder = row.kind === 'change' ? await findUserByEmail(ctx.db, row.email) : undefined
  if (holder && holder.id !== user?.id) return undefined
  return {
    to: row.email,
    username: user?.username ?? '',
    makeToken: () => makeRequestToken(ctx, row.id),
    linkOf: (token) => toLink(ctx.config, link, token),
  }
}

/** Stores another token of a request; `undefined` if the request was used or revoked. */
async function makeRequestToken(ctx: Pick<Context, 'write'>, requestId: string): Promise<string | undefined> {
  const token = newToken()
  const isOpen = await ctx.write((tx) => insertRequestToken(tx, requestId, digest(token)))
  return isOpen ? token : undefined
}
