import type { Micros } from '../../storage/sql.ts'
import { levelOf } from '../conversations/rules-settings.ts'
import type { Level } from '../conversations/schema-settings.ts'
import type { Mentioned } from '../mentions/rules.ts'
import type { NewDirect, NewNotification, NewPersonal } from './store-making.ts'

/** A new message, and what decides which users it notifies. */
export interface NotifyingMessage {
  id: string
  conversation_id: string
  root_id: string
  author: string
  at: Micros
  is_direct: number
  /** The author of the message that it replies to. */
  replies_to: string | null
  mentioned: Mentioned | undefined
}

/** The notifications of a batch of posts, by the statements that make them. */
export interface NewNotifications {
  personal: NewPersonal[]
  direct: NewDirect[]
  all: NewNotification[]
}

/** Collects the notifications of a batch of posts. A post that notifies no user adds nothing. */
export function createNotificationBatch({ id, default_level }: { id: () => string; default_level: Level }) {
  const personal: NewPersonal[] = []
  const all: NewNotification[] = []
  // Of one author in one thread together: a statement of PostgreSQL changes each row once.
  const direct = new Map<string, NewDirect>()

  return {
    list: (): NewNotifications => ({ personal, direct: [...direct.values()], all }),

    add(message: NotifyingMessage): void {
      const { author, at, conversation_id, root_id, is_direct, mentioned } = message
      const replies_to = message.replies_to === author ? null : message.replies_to
      if (!mentioned && !replies_to && is_direct === 0) return
      const level = levelOf({ level: null, is_direct }, default_level)
      // Of one message to several users: it needs to be unique for each of them only.
      const each = { id: id(), at, conversation_id, root_id, message_id: message.id, actor_user_id: author, level }
      const persons = mentioned?.user_ids ?? []
      for (const user_id of persons) personal.push({ ...each, kind: 'mention', user_id })
      if (replies_to && !persons.includes(replies_to)) personal.push({ ...each, kind: 'reply', user_id: replies_to })
      if (mentioned?.all) all.push({ ...each, kind: 'mention_all' })
      if (is_direct === 0 || replies_to || persons.length > 0 || mentioned?.all) return
      const key = `${root_id}/${author}`
      const earlier = direct.get(key)
      if (earlier) Object.assign(earlier, { at, message_id: message.id, count: earlier.count + 1 })
      else direct.set(key, { ...each, kind: 'direct', count: 1, since: at })
    },
  }
}
