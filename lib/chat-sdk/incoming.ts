import { type Adapter, type ChatInstance, defaultEmojiResolver, type Message, type WebhookOptions } from 'chat'
import type { Message as ApiMessage } from '../api/client-entities.ts'
import { undefinedIfGone } from '../client/backoff.ts'
import type { ChatClient } from '../client/types.ts'
import type { AppliedEvent } from '../receive/index.ts'
import type { Directory } from './directory.ts'
import type { Invocations } from './invocations.ts'
import { toAuthor } from './to-message.ts'

/** The events that the SDK has handlers for. */
export const EVENT_TYPES = [
  'message.new',
  'message.done',
  'message.edited',
  'message.deleted',
  'reactions.changed',
  'membership.changed',
  'command.invoked',
]

/** What events are handed to, and read with. */
export interface Incoming {
  adapter: Adapter
  chat: ChatInstance
  client: ChatClient
  directory: Directory
  invocations: Invocations
  /** The user that the client is. */
  me: string
  /** The channel of a conversation. */
  channelOf(conversation_id: string): Promise<string>
  /** The thread of a message. */
  threadOf(place: { id?: string; conversation_id: string; root_id: string }): Promise<string>
  readMessage(raw: ApiMessage): Promise<Message>
}

/** Nothing to hand over. */
const NOTHING = () => {}

/**
 * Webhooks with `payload: thin`, and those beyond `webhooks.max_bytes`, have no texts: a message is read, others cannot be.
 *
 * @throws Error for an event that cannot be handed over
 */
export function assertWhole({ type, data }: AppliedEvent): void {
  const isThin =
    (type === 'command.invoked' && data.name === undefined) ||
    (type === 'reactions.changed' && data.action !== 'cleared' && data.emoji === undefined)
  if (isThin) throw new Error(`A "${type}" has come without its texts: the webhook needs "payload": "full"`)
}

/** Reads what an event does not say. @returns what hands it to the SDK, where its handler begins */
export async function prepare(event: AppliedEvent, to: Incoming, options?: WebhookOptions): Promise<() => void> {
  const { adapter, chat, directory, me } = to
  switch (event.type) {
    case 'message.new':
    case 'message.done': {
      if ('finish_reason' in event.data && event.data.finish_reason === 'cancelled') {
        const { message_id, message, ...place } = event.data
        if (message?.author_user_id !== me) return NOTHING
        // Its handler need not wait until it sends more.
        const threadId = await to.threadOf({ id: message_id, ...place })
        return () => abortTurn(chat, adapter.name, threadId)
      }
      const message = await readWhole(to, event.data)
      // One that is being written comes whole with its end.
      return message ? () => void chat.processMessage(adapter, message.threadId, message, options) : NOTHING
    }
    case 'message.edited': {
      const message = await readWhole(to, event.data)
      if (!message) return NOTHING
      return () => void chat.processMessageUpdated({ adapter, threadId: message.threadId, message }, options)
    }
    case 'message.deleted': {
      const { id, conversation_id, deleted_at } = event.data.message
      const [threadId, channelId] = await Promise.all([to.threadOf(event.data.message), to.channelOf(conversation_id)])
      const deletedAt = deleted_at === undefined ? {} : { deletedAt: new Date(deleted_at) }
      const deletion = { adapter, threadId, channelId, messageId: id, ...deletedAt, raw: event.data }
      return () => void chat.processMessageDeleted(deletion, options)
    }
    case 'reactions.changed': {
      const { message_id, user_id, emoji, action, ...place } = event.data
      // A moderator who clears all of them has not reacted.
      if (action === 'cleared' || user_id === undefined || emoji === undefined) return NOTHING
      const threadId = await to.threadOf({ id: message_id, ...place })
      const user = toAuthor(user_id, (await directory.people([user_id])).get(user_id), me)
      const reaction = { emoji: defaultEmojiResolver.fromGChat(emoji), rawEmoji: emoji, added: action === 'added' }
      const change = { adapter, threadId, messageId: message_id, user, ...reaction, raw: event.data }
      return () => void chat.processReaction(change, options)
    }
    case 'membership.changed': {
      const { conversation_id, user_id, action } = event.data
      if (action !== 'added') return NOTHING
      const channelId = await to.channelOf(conversation_id)
      return () => chat.processMemberJoinedChannel({ adapter, channelId, userId: user_id }, options)
    }
    case 'command.invoked': {
      const { conversation_id, user_id, name, options: values } = event.data
      const channelId = await to.channelOf(conversation_id)
      const user = toAuthor(user_id, (await directory.people([user_id])).get(user_id), me)
      const text = Object.values(values).join(' ')
      const command = { adapter, channelId, command: `/${name}`, text, user, raw: event.data }
      return () => void to.invocations.run(event.data, () => chat.processSlashCommand(command, options))
    }
    default:
      return NOTHING
  }
}

/** Tells the handlers of a thread to stop. */
export function abortTurn(chat: ChatInstance, name: string, threadId: string): void {
  const report = (error: unknown) => chat.getLogger(name).error('A handler was not stopped', { error, threadId })
  chat.abortTurn(threadId).catch(report)
}

/** A message of another user that is complete, read again if its event has not all of it; `undefined` for others. */
async function readWhole(
  { client, me, readMessage }: Incoming,
  data: { message?: ApiMessage } | { message_id: string; message?: ApiMessage },
): Promise<Message | undefined> {
  const { message } = data
  if (message && (message.status !== 'complete' || message.author_user_id === me)) return undefined
  // Webhooks have no text with `payload: thin`, and beyond `webhooks.max_bytes`.
  const isWhole = typeof message?.content === 'string'
  const id = message?.id ?? (data as { message_id: string }).message_id
  const raw = isWhole ? message : await client.messages.get(id).catch(undefinedIfGone)
  const isToRead = raw?.status === 'complete' && raw.deleted_at === undefined && raw.author_user_id !== me
  return isToRead ? readMessage(raw) : undefined
}
