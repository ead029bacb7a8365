import { lockUsers } from '../accounts/users/store.ts'
import { insertParticipant } from '../chat/memberships/store.ts'
import { insertConversation, NOT_DIRECT } from '../chat/memberships/store-conversations.ts'
import { makeNotifications } from '../chat/notifications/store-making.ts'
import type { Context } from '../context.ts'
import type { Tx } from '../live/transaction/transaction.ts'
import { listContacts } from './store.ts'

/** A new guest. */
interface Guest {
  id: string
  /** What the guest is called. */
  name: string
}

/**
 * Opens the conversation of a new guest with the contacts of guests; each of these is notified, as if added.
 *
 * @returns its id; `undefined` without contacts
 */
export async function openContacts(ctx: Context, tx: Tx, guest: Guest): Promise<string | undefined> {
  const named = await listContacts(tx, ctx.config.guests.contacts)
  if (named.length === 0) return undefined
  // Locked: an erasure either finds the conversation, or has disabled the user before.
  const users = await lockUsers(tx, named, { admins: false })
  const active = new Set(users.filter(({ disabled_at }) => disabled_at === null).map(({ id }) => id))
  const contacts = named.filter((id) => active.has(id))
  if (contacts.length === 0) return undefined
  const id = ctx.id()
  const at = ctx.now()
  await insertConversation(tx, {
    ...NOT_DIRECT,
    id,
    title: guest.name,
    is_group: 1,
    ref: null,
    metadata: null,
    created_at: at,
    layout: 'stream',
  })
  const people = contacts.map((user_id, n) => ({ user_id, role: n === 0 ? 'owner' : 'admin' }))
  for (const { user_id, role } of [...people, { user_id: guest.id, role: 'member' }]) {
    await insertParticipant(tx, id, { user_id, role, joined_at: at })
    tx.emit(id, { type: 'membership.changed', user_id, detail: { role, action: 'added' } })
  }
  const about = { conversation_id: id, root_id: null, message_id: null, actor_user_id: guest.id, at }
  const told = contacts.map((user_id) => ({ user_id, level: null, muted_until: null, archived: 0 }))
  tx.notify(makeNotifications(tx, [{ id: ctx.id(), kind: 'added', ...about, users: told }]))
  return id
}
