import { assertMayWrite } from '../../core/access.ts'
import { refuseGuests, refuseKeys } from '../../core/actor.ts'
import { ChatError } from '../../core/errors.ts'
import { useCase } from '../../core/use-case.ts'
import { spendAct } from '../../limits/spending.ts'
import { isTaken } from '../../storage/errors.ts'
import { byActor } from '../audit/rules.ts'
import { notify } from '../mails/notices.ts'
import { endMeans } from '../means/ending.ts'
import { rememberDevice } from '../passwords/store-devices.ts'
import { type MeAnswer, PasswordChange, ProfileChange } from '../sessions/schema.ts'
import { me } from '../sessions/service.ts'
import { checkOwnPassword } from '../sessions/service-confirmation.ts'
import { announceChange } from '../users/announcing.ts'
import { refuseAssistantName } from '../users/assistant-names.ts'
import { findUser, lockUser } from '../users/store.ts'
import { replacePasswordHash } from '../users/store-changes.ts'
import { updateProfile } from '../users/store-naming.ts'
import { setReceipts } from '../users/store-own.ts'

/**
 * Changes the actor's password. All other sessions end, with their streams, and so does what a thief may have prepared: reset
 * links, requested changes of the address, other known browsers.
 *
 * @returns the token of the browser, which is a known one
 * @throws ChatError `forbidden` with an API key; `invalid_credentials`, `rate_limited`, `unavailable` as {@link
 *   checkOwnPassword}
 */
export const changePassword = useCase({
  takes: ['actor'],
  input: PasswordChange,
  errors: ['invalid_credentials'],
  run: async (ctx, actor, input): Promise<{ device: string }> => {
    refuseKeys(actor)
    refuseGuests(actor)
    const { user_id, session_id, ip } = actor
    const old = await checkOwnPassword(ctx, actor, input.current_password)
    const hashes = { old, new: await ctx.accounts.passwords.hash(input.new_password, { user: user_id, ip }) }
    const device = await ctx.write(async (tx) => {
      await lockUser(tx, user_id)
      // Another call was faster: the given password is no longer the current one.
      if (!(await replacePasswordHash(tx, user_id, hashes, ctx.now()))) throw new ChatError('invalid_credentials')
      await endMeans(ctx, tx, { user_id }, 'new_password', { session: session_id, by: byActor(actor) })
      const device = await rememberDevice(tx, user_id, undefined, ctx.now())
      tx.audit({ act: 'password.changed', actor_id: user_id, subject_id: user_id, ip })
      await notify(ctx, tx, user_id, 'password_changed')
      return device
    })
    return { device }
  },
})

/**
 * Changes the actor's names, and whether the actor shares read markers; missing fields keep their value.
 *
 * @throws ChatError `forbidden` for the names of a read-only user, and with an API key for a username; `username_taken`;
 *   `rate_limited`
 */
export const changeProfile = useCase({
  takes: ['actor'],
  input: ProfileChange,
  errors: ['forbidden', 'username_taken'],
  run: async (ctx, actor, input): Promise<MeAnswer> => {
    const { receipts, ...names } = input
    const onlyReceipts = receipts !== undefined && Object.values(names).every((name) => name === undefined)
    if (!onlyReceipts) assertMayWrite(ctx.access, actor)
    if (input.username !== undefined) refuseKeys(actor)
    // A name that guests choose could be that of one that answers them.
    if (input.username !== undefined) refuseGuests(actor)
    const { user_id } = actor
    await spendAct(ctx, user_id, 'profile.changed')
    try {
      await ctx.write(async (tx) => {
        await lockUser(tx, user_id)
        if (receipts !== undefined) await setReceipts(tx, user_id, receipts)
        if (onlyReceipts) return
        const user = await findUser(tx, user_id)
        if (!user) throw new ChatError('unauthenticated')
        const username = input.username?.normalize('NFC') ?? user.username
        refuseAssistantName(ctx, username, user.username)
        const display_name = input.display_name ?? user.display_name
        await updateProfile(tx, { ...user, username, display_name: display_name || null }, ctx.now())
        announceChange(tx, user, { ...user, username, display_name: display_name || null })
        const changed = Object.keys(names).filter((field) => names[field as keyof typeof names] !== undefined)
        tx.audit({ act: 'profile.changed', ...byActor(actor), subject_id: user_id, detail: { changed } })
      })
    } catch (error) {
      throw isTaken(error) ? new ChatError('username_taken', { cause: error }) : error
    }
    return me.run(ctx, actor)
  },
})
