import { lockUser } from '../../accounts/users/store.ts'
import type { Context } from '../../context.ts'
import { refuseSystem } from '../../core/actor.ts'
import { ChatError } from '../../core/errors.ts'
import { useCase } from '../../core/use-case.ts'
import { refusalOf } from '../memberships/access.ts'
import {
  countFavourites,
  findSettings,
  type SettingsContext,
  toSettings,
  toStoredSettings,
  updateSettings,
} from '../memberships/store-settings.ts'
import { type ConversationSettings, ConversationSettingsChange, MAX_FAVOURITES } from './schema-settings.ts'

/** Settings are the user's own: no role refuses them. */
const ANY_ROLE = { evenReadOnly: true }

/** What the settings of a participant depend on besides what is stored. */
export function settingsContext(ctx: Pick<Context, 'config' | 'now'>): SettingsContext {
  return { default_level: ctx.config.notifications.default_level, now: ctx.now() }
}

/**
 * The actor's own settings for a conversation.
 *
 * @throws ChatError `not_found`; `forbidden` for a system actor, which has none
 */
export const settings = useCase({
  takes: ['actor', 'conversation_id'],
  errors: ['not_found'],
  run: async (ctx, actor, conversationId): Promise<ConversationSettings> => {
    refuseSystem(actor)
    const row = await findSettings(ctx.db, conversationId, actor.user_id)
    if (!row) throw await refusalOf(ctx, ctx.db, actor, { conversation_id: conversationId }, ANY_ROLE)
    return toSettings(row, settingsContext(ctx))
  },
})

const NO_INBOX = { reason: 'key' as const, message: 'A bot has no inbox: it is notified of nothing.' }

/**
 * Changes the actor's own settings for a conversation, whatever the actor's role; missing ones keep their value. The
 * actor's own streams of all conversations get an event.
 *
 * @throws ChatError `not_found`, `forbidden` as {@link settings}, and for the level of a bot; `conflict` beyond {@link MAX_FAVOURITES}
 */
export const setSettings = useCase({
  takes: ['actor', 'conversation_id'],
  input: ConversationSettingsChange,
  errors: ['not_found', 'conflict'],
  run: (ctx, actor, conversationId, input): Promise<ConversationSettings> => {
    refuseSystem(actor)
    const { user_id } = actor
    if (actor.is_bot && input.level !== undefined) throw new ChatError('forbidden', NO_INBOX)
    const changes = toStoredSettings(input)
    return ctx.write(async (tx) => {
      // Before the conversation: until then, the number of favourites stays.
      if (changes.favourite === 1) await lockUser(tx, user_id)
      const row = await findSettings(tx, conversationId, user_id, { lock: true })
      if (!row) throw await refusalOf(ctx, tx, actor, { conversation_id: conversationId }, ANY_ROLE)
      if (changes.favourite === 1 && row.favourite === 0 && (await countFavourites(tx, user_id)) >= MAX_FAVOURITES)
        throw new ChatError('conflict', { message: `You have ${MAX_FAVOURITES} favourites already.` })
      const changed = toSettings({ ...row, ...changes }, settingsContext(ctx))
      if (Object.keys(changes).length === 0) return changed
      await updateSettings(tx, conversationId, user_id, changes)
      tx.publishSettings(user_id, conversationId)
      return changed
    })
  },
})
