import type { Notification } from 'chat-server/client'
import type { People } from '../app/people.ts'
import { texts } from '../texts/texts.ts'
import { actorsOf, type InboxRow } from './rows.ts'

/** How many people a row names: more are a number. */
const NAMED = 2

/** Whether it is about an answer of the assistant, which has no author. */
export function isAnswer({ kind, actor_user_id }: Notification): boolean {
  return (kind === 'reply' || kind === 'approval') && actor_user_id === undefined
}

/** What has happened: who has done what. */
export function sentenceOf(item: Notification, people: People): string {
  const { kind, count = 1 } = item
  return texts.value.inbox.kinds[kind](nameOf(item, people), count)
}

/** What has happened in a row: of several notifications, who has written. */
export function sentenceOfRow(row: InboxRow, people: People): string {
  const [item, ...others] = row.items
  if (others.length === 0) return sentenceOf(item, people)
  return listNames(
    actorsOf(row).map((id) => nameOf(row.items.find(({ actor_user_id }) => actor_user_id === id)!, people)),
  )
}

/** People by name; of many, the first ones and a number. */
export function listNames(names: readonly string[]): string {
  const named = names.slice(0, names.length > NAMED + 1 ? NAMED : NAMED + 1)
  return texts.value.inbox.several(named, names.length - named.length)
}

/** Who has caused it, or the host of the webhook that it is about. */
export function nameOf(item: Notification, people: People): string {
  if (item.webhook) return item.webhook.host
  return isAnswer(item) ? people.assistants.infoOf(undefined).title : people.nameOf(item.actor_user_id)
}
