import { pause } from '../backoff.ts'
import { refuseUnknown } from '../options.ts'
import type { ConversationStreamEvent } from '../types.ts'
import type { StoreBase } from './base.ts'
import type { Readable } from './cell.ts'
import { foldWindow, NOTHING, type WindowData } from './fold-window.ts'
import type { Resource } from './resource.ts'
import type { MessagesView, PendingPost } from './types.ts'
import { type ReadWindowPage, type WindowMove, type WindowOptions, windowPlan } from './window.ts'

/** Messages by arrival around a place. It is read at its end first, and moves in both directions. */
export interface MessageWindow extends Readable<MessagesView> {
  /** Reads the messages before the window. */
  loadOlder: () => Promise<void>
  /** Reads the messages behind the window. */
  loadNewer: () => Promise<void>
  /** Shows another part of the list: around a message, around the first unread one, or its end. */
  jumpTo: (place: string | 'newest' | 'unread') => Promise<void>
  /** Reads again what it has. */
  reload: () => Promise<void>
  /**
   * Marks its messages as read: all, or those that arrived up to one.
   *
   * @throws ChatError as `client.conversations.markRead`, of replies as `client.threads.markRead`
   */
  markRead: (message_id?: string) => Promise<void>
  /**
   * Marks its messages as unread from one on; of replies, where all messages are shown, only those of its thread.
   *
   * @throws ChatError as `client.conversations.markUnread`, `client.threads.markUnread`
   */
  markUnread: (message_id: string) => Promise<void>
}

/** Which messages of a conversation are shown: the first ones of threads, or all. */
export interface ConversationOptions {
  view?: 'roots' | 'all'
}

/** How long a post waits at most for the end of a list to be read. */
const SHOW_TIMEOUT_MS = 2_000

/** The windows of a store. */
export function createWindows(
  { client, resources }: StoreBase,
  { userId, summaryOf }: Pick<WindowOptions, 'userId' | 'summaryOf'>,
  listPending: (belongs: (post: PendingPost) => boolean) => readonly PendingPost[],
) {
  const moves = new Map<string, WindowMove[]>()
  const parts = new WeakMap<Resource<WindowData, MessagesView>, MessageWindow>()
  const windows = resources<WindowData, MessagesView>((key) => {
    const [view, id] = partsOf(key)
    const has = hasOf(view, id)
    return windowPlan({
      client,
      read: readOf(view, id),
      has,
      conversation_id: view === 'replies' ? undefined : id,
      userId,
      summaryOf,
      pending: () => listPending(has),
      takeMoves() {
        const taken = moves.get(key) ?? []
        moves.delete(key)
        return taken
      },
      returnMoves: (taken) => void moves.set(key, pendingMoves([...taken, ...(moves.get(key) ?? [])])),
    })
  }, 'window')

  const readOf = (view: string, id: string): ReadWindowPage =>
    view === 'replies'
      ? (place) => client.threads.messages(id, place)
      : (place) => client.messages.list(id, { ...place, view: view as 'roots' })

  function move(resource: Resource<WindowData, MessagesView>, key: string, next: WindowMove): Promise<void> {
    moves.set(key, pendingMoves([...(moves.get(key) ?? []), next]))
    return resource.loadMore()
  }

  function get(key: string): MessageWindow {
    const resource = windows.get(key)
    const known = parts.get(resource)
    if (known) return known
    const part: MessageWindow = {
      ...resource,
      loadOlder: () => move(resource, key, 'older'),
      loadNewer: () => move(resource, key, 'newer'),
      jumpTo: (place) => move(resource, key, place === 'newest' ? place : { around: place }),
      markRead: async (message_id) => (await import('./window-marks.ts')).markRead(client, partsOf(key), message_id),
      markUnread: async (message_id) =>
        (await import('./window-marks.ts')).markUnread(client, partsOf(key), message_id, resource.getSnapshot()),
    }
    parts.set(resource, part)
    return part
  }

  const keysOf = ({ conversation_id, root_id, parent_id }: Place) =>
    parent_id === undefined
      ? [`roots ${conversation_id}`, `all ${conversation_id}`]
      : [`all ${conversation_id}`, `replies ${root_id}`]

  return {
    conversation(id: string, options: ConversationOptions = {}) {
      refuseUnknown('store.conversation', options, { view: 0 })
      return get(`${options.view ?? 'roots'} ${id}`)
    },
    replies: (root_id: string) => get(`replies ${root_id}`),
    /** Shows the end of the windows that a post of the user belongs to; a slow reading is not waited for. */
    async showEnd(post: Place): Promise<void> {
      const away = keysOf(post).flatMap((key) => {
        const resource = windows.peek(key)
        return resource?.isWatched() && resource.getSnapshot().has_newer ? move(resource, key, 'newest') : []
      })
      if (away.length > 0) await Promise.race([Promise.all(away), pause(SHOW_TIMEOUT_MS)])
    },
    update(post: PendingPost) {
      for (const key of keysOf(post)) windows.peek(key)?.update()
    },
    /** @param title the title of the thread that the message begins, which is not in the message */
    apply(event: ConversationStreamEvent & { type: 'message.new' }, title: string | undefined) {
      const { root_id } = event.payload.message
      for (const key of keysOf(event.payload.message))
        windows.peek(key)?.update((data) => {
          // Its event counts it.
          if (data.next_after !== undefined) return data
          const before = title && data !== NOTHING ? { ...data, titled: { root_id, title } } : data
          const next = foldWindow(before, hasOf(...partsOf(key)), event, userId())
          return next === 'stale' ? data : next
        })
    },
  }
}

/** What is left of moves for the same reading: a jump makes those before it void, and a page is read once. At most three. */
function pendingMoves(moves: WindowMove[]): WindowMove[] {
  const jump = moves.findLastIndex((move) => typeof move === 'object' || move === 'newest')
  return [...new Set(moves.slice(Math.max(jump, 0)))]
}

const partsOf = (key: string) => key.split(' ') as [view: string, id: string]

/** Where a message or a post is. */
interface Place {
  conversation_id: string
  root_id?: string | undefined
  parent_id?: string | undefined
}

function hasOf(view: string, id: string): (place: Place) => boolean {
  if (view === 'replies') return ({ root_id, parent_id }) => root_id === id && parent_id !== undefined
  return ({ conversation_id, parent_id }) => conversation_id === id && (view === 'all' || parent_id === undefined)
}
