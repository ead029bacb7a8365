import { findUser } from '../../accounts/users/store.ts'
import type { Context } from '../../context.ts'
import { assertAdmin } from '../../core/actor.ts'
import { ChatError } from '../../core/errors.ts'
import { useCase } from '../../core/use-case.ts'
import type { Addressed, MailOrder } from '../../mail/queue.ts'
import { NotificationMail } from '../../mail/schema.ts'
import type { Queries } from '../../storage/database.ts'
import type { NotificationKind } from './schema.ts'
import { listByIds } from './store.ts'
import { isAnswerTo, isGenerated } from './store-answered.ts'
import type { NotificationRow } from './store-making.ts'

/** What the actor of a notification did, in its mail. */
const EVENTS: Record<NotificationKind, string> = {
  mention: 'mentioned you',
  reply: 'replied to you',
  mention_all: 'wrote to everyone',
  direct: 'wrote to you',
  added: 'added you to a conversation',
  approval: 'asks for your approval',
  system: 'disabled your webhook, as no call succeeded for five days',
}

/**
 * Adds the mail of a notification to the queue of mails. Its text is made when it is sent: by then, nothing is sent if the
 * notification is read, its message is deleted, or the user has no verified address.
 *
 * @returns false if the service sends no mail
 * @throws ChatError `forbidden` unless the actor is an administrator; `unavailable` when the queue is full
 */
export const sendMail = useCase({
  takes: ['actor'],
  input: NotificationMail,
  errors: ['forbidden', 'unavailable'],
  run: async (ctx, actor, { user_id, notification_id, link }): Promise<boolean> => {
    assertAdmin(actor)
    const { outbox } = ctx.mail
    if (!outbox) return false
    const order = { mail: 'notification' as const, user_id, notification: notification_id, ...(link && { link }) }
    if (!(await ctx.write((tx) => outbox.add(tx, order)))) throw new ChatError('unavailable')
    ctx.tasks.wake()
    return true
  },
})

/** The recipient of the mail of a notification, if it is still news to them. */
export async function addressNotification(
  { db, config }: Pick<Context, 'db' | 'config'>,
  { user_id, notification = '', link = '' }: MailOrder,
): Promise<Addressed | undefined> {
  const user = await findUser(db, user_id)
  if (!user || user.email_verified_at === null || user.disabled_at !== null) return undefined
  const [row] = await listByIds(db, [{ user_id, id: notification }])
  if (!row || row.read_at) return undefined
  const isMarked = row.message_id !== null && (await isGenerated(db, row.message_id))
  const said = row.excerpt ?? row.webhook_host ?? ''
  const excerpt = isMarked && said ? `[${config.assistant.label}] ${said}` : said
  const values = { link, actor: await nameOfActor(db, row), event: EVENTS[row.kind], excerpt }
  return { to: user.email, username: user.username, values, ...(isMarked && { generated: true }) }
}

/** The name of a notification's actor: a user, possibly erased, the assistant for an answer to the user, or the service. */
async function nameOfActor(
  db: Queries,
  { kind, user_id, actor_user_id, message_id }: NotificationRow & { user_id: string },
): Promise<string> {
  if (kind === 'system') return 'The service'
  const actor = actor_user_id ? await findUser(db, actor_user_id) : undefined
  if (actor) return actor.display_name ?? actor.username
  return message_id && (await isAnswerTo(db, message_id, user_id)) ? 'The assistant' : 'Someone'
}
