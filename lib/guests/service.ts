import { randomInt } from 'node:crypto'
import { openSession, type SignedIn } from '../accounts/sessions/service.ts'
import { PLACEHOLDER_DOMAINS } from '../accounts/users/rules.ts'
import { addUser } from '../accounts/users/service.ts'
import type { UserRow } from '../accounts/users/store.ts'
import type { Context } from '../context.ts'
import { assertPerson, refuseKeys } from '../core/actor.ts'
import { ChatError } from '../core/errors.ts'
import { useCase } from '../core/use-case.ts'
import { spendGuest } from '../limits/spending.ts'
import type { Tx } from '../live/transaction/transaction.ts'
import type { Merged } from '../merging/schema.ts'
import { claimByToken } from './claiming.ts'
import { openContacts } from './contacts.ts'
import { GuestClaim, GuestInput, type GuestSession, type GuestToken } from './schema.ts'

/** How long a client waits that comes while there are as many guests as may be: some end each hour. */
const FULL_SECONDS = 3600

/**
 * Lets a visitor in as a guest: a user without a sign-in, who has a session and nothing else. With the contacts of guests it
 * gets a conversation, in the same transaction.
 *
 * @throws ChatError `not_found` unless guests are enabled, and without `token` where the host recognises callers by its own
 *   login; `rate_limited` for too many from one address, and for too many in all
 */
export const create = useCase({
  takes: ['client'],
  input: GuestInput,
  errors: ['not_found'],
  run: async (ctx, client, { display_name, token }): Promise<(SignedIn & GuestSession) | GuestToken> => {
    // The login of a host reads no cookie of the service.
    if (!ctx.config.guests.enabled || (ctx.host.identity && !token)) throw new ChatError('not_found')
    await spendGuest(ctx, client.ip)
    const { signedIn, conversation_id } = await ctx.write(async (tx) => {
      if (!(await ctx.accounts.guestPlaces.take(tx, ctx.config.guests.max)))
        throw new ChatError('rate_limited', { retry_after_seconds: FULL_SECONDS })
      const user = await addGuest(ctx, tx, display_name)
      tx.audit({ act: 'user.created', actor_id: user.id, subject_id: user.id, ip: client.ip, detail: { by: 'guest' } })
      const name = user.display_name || user.username
      await ctx.accounts.joinRooms(tx, user, client.ip)
      const conversation_id = await openContacts(ctx, tx, { id: user.id, name })
      // With a token the cookies of the call are another caller's, maybe.
      const signedIn = await openSession(ctx, tx, user, token ? { ...client, token: undefined } : client)
      return { signedIn, conversation_id }
    })
    if (conversation_id !== undefined) await ctx.streams.presence.introduce(conversation_id, signedIn.user.id)
    const place = conversation_id !== undefined && { conversation_id }
    if (!token) return { ...signedIn, ...place }
    return { user: signedIn.user, token: signedIn.token, expires_at: signedIn.session.expires_at, ...place }
  },
})

/**
 * Merges the guest of a token into the actor, who has everything of both then. Again within a day, it returns the same.
 *
 * @throws ChatError `not_found` unless guests are enabled, for a token of no guest, an expired one, and one of a guest who was
 *   merged into another user; `conflict` for the own token and that of a person, for an actor who is a guest, and for a
 *   guest that has too much; `forbidden` with an API key
 */
export const claim = useCase({
  takes: ['actor'],
  input: GuestClaim,
  errors: ['forbidden', 'not_found', 'conflict'],
  run: async (ctx, actor, { token }): Promise<Merged> => {
    if (!ctx.config.guests.enabled && !ctx.host.identity && !ctx.accounts.bearers) throw new ChatError('not_found')
    assertPerson(actor)
    refuseKeys(actor)
    return claimByToken(ctx, actor, token)
  },
})

const DIGITS = 'abcdefghijklmnopqrstuvwxyz0123456789'

/** Adds a guest under a random name. */
function addGuest(ctx: Context, tx: Tx, display_name: string | undefined): Promise<UserRow> {
  const name = Array.from({ length: 10 }, () => DIGITS[randomInt(DIGITS.length)]).join('')
  return addUser(ctx, tx, {
    username: `guest-${name}`,
    email: `${name}@${PLACEHOLDER_DOMAINS.guest}`,
    email_verified: false,
    password_hash: null,
    roles: ['guest'],
    kind: 'guest',
    ...(display_name && { display_name }),
  })
}
