import { type LinkName, linkOf } from '../../config/links.ts'
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
  const found = request === undefined ? undefined : await findRequest(ctx.db, request, ctx.now())
  if (!found) return undefined
  const user = found.user_id === null ? undefined : await findUser(ctx.db, found.user_id)
  const holder = found.kind === 'change' ? await findUserByEmail(ctx.db, found.email) : undefined
  if (holder && holder.id !== user?.id) return undefined
  return {
    to: found.email,
    username: user?.username ?? '',
    makeToken: () => makeRequestToken(ctx, found.id),
    linkOf: (token) => linkOf(ctx.config, link, token),
  }
}

/** Stores another token of a request; `undefined` if the request was used or revoked. */
async function makeRequestToken(ctx: Pick<Context, 'write'>, requestId: string): Promise<string | undefined> {
  const token = newToken()
  const isOpen = await ctx.write((tx) => insertRequestToken(tx, requestId, digest(token)))
  return isOpen ? token : undefined
}
