import type { FeedPage } from '../../chat/feed/schema.ts'
import { type FeedOptions, readSelected, type Selection } from '../../chat/feed/service.ts'
import type { Context } from '../../context.ts'
import type { Actor } from '../../core/actor.ts'
import { ChatError } from '../../core/errors.ts'
import { assertOffered, holderOf } from './access.ts'
import { chooseSent, principalOf, toSent } from './composing.ts'
import { isWanted, toRoute } from './routing.ts'
import { findWebhook } from './store.ts'

/**
 * The next events of all the actor's conversations after a position, as programs get them: each once, in the order of the
 * stream. A system actor reads all conversations. With `webhook_id` exactly those that the webhook is sent, as it is sent them.
 *
 * @throws ChatError `validation_failed`; `forbidden` for the operator; `not_found` for another's conversation or webhook;
 *   `too_many_streams`; `unavailable` while the service drains; `unauthenticated` when the session or key of the actor ends
 */
export function read(ctx: Context, actor: Actor, options: FeedOptions = {}): Promise<FeedPage> {
  return readSelected(ctx, actor, options, (webhookId) => selectionOf(ctx, actor, webhookId))
}

/** What a webhook of the actor, or of a bot of the actor, is sent. @throws ChatError `not_found`; `forbidden` */
async function selectionOf(ctx: Context, actor: Actor, webhookId: string): Promise<Selection> {
  assertOffered(ctx, actor)
  const row = await findWebhook(ctx.db, webhookId, holderOf(actor))
  const user_id = row && principalOf(row)
  if (!row || !user_id) throw new ChatError('not_found', { message: 'You have no such webhook.' })
  const route = toRoute(row)
  return {
    user_id,
    wants: (each) => isWanted(each, route),
    choose: async (events) => {
      const sent = await chooseSent(ctx, row, events)
      return new Map(sent.map((event) => [event, toSent(ctx, row, event).event]))
    },
  }
}
