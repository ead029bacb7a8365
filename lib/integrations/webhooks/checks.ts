import { listParticipations } from '../../chat/memberships/store.ts'
import { findConversation } from '../../chat/memberships/store-conversations.ts'
import type { Context } from '../../context.ts'
import type { Actor } from '../../core/actor.ts'
import { ChatError } from '../../core/errors.ts'
import type { Queries } from '../../storage/database.ts'
import type { Owner } from './access.ts'
import type { Trust } from './rules.ts'
import { openWebhook } from './secrets.ts'
import { countWebhooks, type WebhookRow } from './store.ts'

/** One for all: what of a URL is wrong would say what is on the network of the service. */
const NOT_CALLABLE =
  'must be an https URL that can be called: of another, public host, without a user part or a fragment'

/** @throws ChatError `validation_failed` for a URL that is never called. Names are resolved at each call only */
export function assertCallable({ outgoing }: Pick<Context, 'outgoing'>, url: string): void {
  if (!outgoing.isCallable(url))
    throw new ChatError('validation_failed', { errors: [{ path: 'url', message: NOT_CALLABLE }] })
}

/** @throws ChatError `validation_failed` for `content` of any other webhook than the operator's */
export function assertContent({ user_id }: Owner, content: boolean | undefined): void {
  if (content !== undefined && user_id !== null)
    throw new ChatError('validation_failed', {
      errors: [{ path: 'content', message: 'must be left out: a webhook of a user has texts' }],
    })
}

/** @throws ChatError `not_found` unless the owner of the events participates in the conversation */
export async function assertReads(db: Queries, owner: Owner, conversationId: string | undefined): Promise<void> {
  if (conversationId === undefined) return
  const reader = owner.bot_id ?? owner.user_id
  const found =
    reader === null
      ? await findConversation(db, conversationId)
      : (await listParticipations(db, [reader], [conversationId]))[0]
  if (!found) throw new ChatError('not_found', { message: 'There is no such conversation.' })
}

/** @throws ChatError `conflict` if a user has as many webhooks as may be */
export async function assertRoom({ config }: Pick<Context, 'config'>, tx: Queries, { user_id }: Owner): Promise<void> {
  const most = config.webhooks.max_per_user
  if (user_id !== null && (await countWebhooks(tx, user_id)) >= most)
    throw new ChatError('conflict', { message: `A user has at most ${most} webhooks: delete one first.` })
}

/** @throws ChatError `conflict` for a webhook whose secret or headers no key of the service opens */
export async function assertOpens(
  ctx: Pick<Context, 'keyring' | 'now'>,
  row: Pick<WebhookRow, 'id' | 'secret' | 'previous_secret' | 'rotated_at' | 'headers'>,
): Promise<void> {
  if (!(await openWebhook(ctx, row, ctx.now())))
    throw new ChatError('conflict', {
      message: 'Its secret or its headers are lost: rotate the secret, and set the headers again.',
    })
}

/** What decides whether a URL must return a challenge. */
export function trustOf({ config }: Pick<Context, 'config'>, { roles }: Pick<Actor, 'roles'>): Trust {
  return { hosts: config.webhooks.trusted_hosts, isAdmin: roles.includes('admin') }
}
