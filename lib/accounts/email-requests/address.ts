import { type LinkName, linkOf } from '../../config/links.ts'
import type { Context } from '../../context.ts'
import { digest, newToken } from '../../core/ids.ts'
import type { Addressed, MailOrder } from '../../mail/queue.ts'
import { findRequest, insertRequestToken } from './store.ts'

/** The address that a request is for, while it is open. */
export async function addressRequest(
  ctx: Context,
  { request }: MailOrder,
  link: LinkName,
): Promise<Addressed | undefined> {
  const found = request === undefined ? undefined : await findRequest(ctx.db, request, ctx.now())
  if (!found) return undefined
  return {
    to: found.email,
    username: '',
    makeToken: () => makeRequestToken(ctx, found.id),
    linkOf: (token) => linkOf(ctx.config, link, token),
  }
}

/** Stores another token of a request; `undefined` if the request was used or revoked. */
export async function makeRequestToken(ctx: Context, requestId: string): Promise<string | undefined> {
  const token = newToken()
  const isOpen = await ctx.write((tx) => insertRequestToken(tx, requestId, digest(token)))
  return isOpen ? token : undefined
}
