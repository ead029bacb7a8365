import type { Micros } from '../../storage/sql.ts'
import type { Level } from '../conversations/schema-settings.ts'
import { levelOf, type ParticipantSettings } from '../memberships/rules-settings.ts'
import type { NotificationKind } from './schema.ts'
import type { NewNotification } from './store-making.ts'
import type { NewDirect } from './store-moving.ts'

/** A new message, and what decides which users it notifies. */
export interface NotifyingMessage {
  id: string
  conversation_id: string
  root_id: string
  author: string
  at: Micros
  is_direct: number
  /** The authors of the message that it replies to, unless that is a root, and of the one that it quotes, if they are other participants. */
  replied_to: readonly ParticipantSettings[]
  /** The persons that it mentions, without its author. */
  persons: readonly ParticipantSettings[]
  mentions_all: boolean
}

/** The notifications of a batch of posts, by the statements that make them. */
export interface NewNotifications {
  made: NewNotification[]
  direct: NewDirect[]
}

/** Collects the notifications of a batch of posts. A post that notifies no user adds nothing. */
export function createNotificationBatch({ id, default_level }: { id: () => string; default_level: Level }) {
  const notifications: NewNotification[] = []
  // Grouped by author and conversation: a statement of PostgreSQL changes each row only once.
  const direct = new Map<string, NewDirect>()
  const toAll: NotifyingMessage[] = []

  function add(kind: NotificationKind, message: NotifyingMessage, users: readonly ParticipantSettings[]): void {
    const { level: usual, ...common } = commonOf(message)
    const wanting = users.filter(({ level }) => (level ?? usual) !== 'none')
    if (wanting.length > 0) notifications.push({ ...common, id: message.id, kind, users: wanting })
  }

  function commonOf({ id, at, conversation_id, root_id, author, is_direct }: NotifyingMessage) {
    const level = levelOf({ level: null, is_direct }, default_level)
    return { at, conversation_id, root_id, message_id: id, actor_user_id: author, level }
  }

  function addDirect(message: NotifyingMessage): void {
    const { id: message_id, at, author, conversation_id, root_id } = message
    const key = `${conversation_id}/${author}`
    const earlier = direct.get(key)
    const { level } = commonOf(message)
    if (earlier) Object.assign(earlier, { at, message_id, root_id })
    else direct.set(key, { id: id(), at, conversation_id, root_id, message_id, author, level, since: at })
  }

  return {
    list: (): NewNotifications => ({ made: notifications, direct: [...direct.values()] }),

    add(message: NotifyingMessage): void {
      const { is_direct, replied_to, persons, mentions_all } = message
      if (persons.length > 0) add('mention', message, persons)
      const mentioned = new Set(persons.map(({ user_id }) => user_id))
      add(
        'reply',
        message,
        replied_to.filter(({ user_id }) => !mentioned.has(user_id)),
      )
      if (mentions_all) toAll.push(message)
      if (is_direct === 1 && replied_to.length === 0 && persons.length === 0 && !mentions_all) addDirect(message)
    },

    /** The conversations whose participants are all notified: {@link addAll} needs them. */
    conversationsOfAll: (): Set<string> => new Set(toAll.map(({ conversation_id }) => conversation_id)),

    /** Adds the notifications for all others, except those that their message notifies already. */
    addAll(participants: readonly (ParticipantSettings & { conversation_id: string })[]): void {
      for (const message of toAll.splice(0)) {
        const { author, replied_to, persons } = message
        const without = new Set([author, ...[...replied_to, ...persons].map(({ user_id }) => user_id)])
        const others = participants.filter(
          ({ conversation_id, user_id }) => conversation_id === message.conversation_id && !without.has(user_id),
        )
        add('mention_all', message, others)
      }
    },
  }
}
