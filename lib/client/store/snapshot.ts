import type { Snapshot } from '../../api/snapshots-use-cases.ts'
import { NOTHING } from './fold-window.ts'
import type { ListData } from './list.ts'
import { EMPTY_THREAD } from './thread.ts'

/** What the parts of a store begin with, by their kind and id: each is taken once. */
export type Seeds = Map<string, object>

/** The data of the parts that a snapshot has. */
export function seedsOf({ conversations, threads, tree, messages, replies }: Partial<Snapshot> = {}): Seeds {
  const seeds: Seeds = new Map()
  const list = (items: readonly unknown[], next_after: string | undefined): ListData<unknown> => ({ items, next_after })
  const conversation = conversations?.conversations.find(({ id }) => id === messages?.conversation_id)
  const unread = conversation?.unread ?? 0
  if (conversations) seeds.set('conversations ', list(conversations.conversations, conversations.next_after))
  if (threads) seeds.set(`threads ${threads.conversation_id}`, list(threads.threads, threads.next_after))
  if (tree) seeds.set(`thread ${tree.root_id}`, { ...EMPTY_THREAD, ...tree })
  if (messages) seeds.set(`window roots ${messages.conversation_id}`, { ...NOTHING, ...messages, unread, conversation })
  if (replies) seeds.set(`window replies ${replies.root.id}`, { ...NOTHING, ...replies })
  return seeds
}
