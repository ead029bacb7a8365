import { setImmediate as nextTurn } from 'node:timers/promises'
import type { ConversationStreamEvent, Log } from '../../context.ts'
import { ChatError, causeText } from '../../core/errors.ts'
import { repeatIfCalled, warnOnce } from '../../core/scheduling/once.ts'
import { createPauses } from '../../core/scheduling/pauses.ts'
import { type Delivery, encode } from '../readers/delivery.ts'
import type { Reader, StreamSources, UnreadUpdate } from '../readers/reader.ts'

/** The numbers that are read at once. So few readers of a thread are looked up without its followers. */
const BATCH = 200

/** A reader is told nothing more of a thread for this time. */
const PAUSE_MS = 1_000

/** The replies of one delivery of which a reader is told, the latest ones: only one that has missed many is sent more. */
const MAX_REPLIES = 1_000

/**
 * The readers of all threads together that wait to be told. Beyond them, readers are not told of a reply: they get the
 * numbers with the next one, or when they read them.
 */
const MAX_WAITING = 100_000

/** A reply that a reader was sent. */
interface ArrivedReply {
  conversation_id: string
  root_id: string
  author: string | undefined
  created_at: string
}

/** The latest reply of a thread, and the readers that were sent it, or an earlier one. */
interface Waiting {
  reply: ArrivedReply
  readers: Set<Reader>
}

interface Due {
  reply: ArrivedReply
  reader: Reader
}

/**
 * Tells the readers that follow a thread what is unread in it after a reply has reached them: at once, then at most once a
 * second for each thread. What is stored when it is sent counts, so of several replies in a second only the last is told of.
 *
 * A reply costs look-ups of its followers that read here, and of one list: the followers of its thread, or its readers if these
 * are fewer. A reader that follows nothing costs an entry in a set.
 *
 * @param deps.listFollowing the users who may follow the thread, among these
 * @param deps.list the numbers of the users who follow the thread, among these
 * @param deps.max_buffer_bytes a reader with half of this pending gets none until it has read
 */
export function createUnreadUpdates(deps: {
  listFollowing: StreamSources['listFollowing']
  list: StreamSources['listUnreadUpdates']
  max_buffer_bytes: number
  log: Log
}) {
  const { list, max_buffer_bytes, log } = deps
  const waiting = createWaiting()
  /** The readers whose numbers may have changed since they were read, without a reply. */
  const outdated = new Set<Reader>()
  const pauses = createPauses<Reader, ArrivedReply>(PAUSE_MS, (reply, reader) => add(reply, reader))
  const newsIn = rememberLast(findNews)
  const fail = warnOnce((error: unknown) => log.warn('Unread counts wait for the storage', { cause: causeText(error) }))

  const run = repeatIfCalled(async () => {
    // The deliveries of this turn are read together.
    await nextTurn()
    for (let threads = waiting.take(); threads.length > 0; threads = waiting.take()) {
      const due = await listDue(threads)
      for (let start = 0; start < due.length; start += BATCH) {
        await tell(due.slice(start, start + BATCH))
        await nextTurn()
      }
    }
  })

  function add(reply: ArrivedReply, reader: Reader): void {
    waiting.add(reply, reader)
    void run()
  }

  /** What a read has found; nothing while the storage fails: then the readers wait as long as a pause. */
  async function readOrPause<Result>(due: Due[], work: () => Promise<Result[]>): Promise<Result[]> {
    try {
      const result = await work()
      fail.reset()
      return result
    } catch (error) {
      if (due.some(({ reader }) => !reader.closed)) fail(error)
      // After another error than of the storage they would fail again.
      if (error instanceof ChatError) for (const each of due) pause(each, { isHeld: true })
      return []
    }
  }

  function pause({ reader, reply }: Due, options?: { isHeld: boolean }): void {
    if (!reader.closed) pauses.begin(reader, reply.root_id, reply, options)
  }

  /** The readers that can be told now, and may follow their threads. */
  async function listDue(threads: Waiting[]): Promise<Due[]> {
    const due: Due[] = []
    for (const { reply, readers } of threads) {
      const ready = [...readers].flatMap((reader) => (isReady(reader, reply) ? { reader, reply } : []))
      due.push(...(ready.length > BATCH ? await readOrPause(ready, () => listFollowing(reply, ready)) : ready))
    }
    return due
  }

  async function listFollowing({ root_id }: ArrivedReply, due: Due[]): Promise<Due[]> {
    const following = new Set(await deps.listFollowing(root_id, new Set(due.map(({ reader }) => reader.user_id))))
    return due.filter(({ reader }) => following.has(reader.user_id))
  }

  function isReady(reader: Reader, reply: ArrivedReply): boolean {
    if (!isOf(reader, reply) || pauses.hold(reader, reply.root_id, reply)) return false
    const isLater = isBehind(reader)
    if (isLater) pause({ reader, reply }, { isHeld: true })
    return !isLater
  }

  const isBehind = ({ following, sink }: Reader) =>
    following?.waiting !== undefined || sink.pending() > max_buffer_bytes / 2

  async function tell(due: Due[]): Promise<void> {
    outdated.clear()
    const places = due.map(({ reader, reply }) => ({ ...reply, user_id: reader.user_id }))
    const updates = await readOrPause(due, () => list(places))
    const byPlace = new Map(updates.map(({ user_id, event }) => [`${event.payload.root_id} ${user_id}`, event]))
    for (const { reader, reply } of due) {
      const event = byPlace.get(`${reply.root_id} ${reader.user_id}`)
      if (event && isOf(reader, reply)) send({ reader, reply }, event)
    }
  }

  function send(due: Due, event: UnreadUpdate['event']): void {
    const { reader, reply } = due
    // The numbers must be read again.
    if (outdated.has(reader)) {
      add(reply, reader)
      return
    }
    const isHeld = isBehind(reader)
    if (!isHeld) reader.sink.write(encode([{ conversation_id: reply.conversation_id, event }]))
    pause(due, { isHeld })
  }

  function noteChanges(reader: Reader, changes: ConversationStreamEvent[]): void {
    outdated.add(reader)
    // The event may come late, with numbers from before a reply of which the reader was told.
    for (const { type, payload } of changes)
      if (type === 'unread.cleared') pauses.repeat(reader, (reply) => reply.created_at > payload.up_to)
      else if (type === 'unread.update' || type === 'conversation.unread')
        pauses.repeat(
          reader,
          (reply) => reply.conversation_id === payload.conversation_id && reply.created_at > payload.as_of,
        )
  }

  return {
    /** Is called with everything that a reader is sent. */
    sent(reader: Reader, delivery: Delivery): void {
      const { replies, changes } = newsIn(delivery)
      if (changes.length > 0) noteChanges(reader, changes)
      for (const reply of replies) if (reply.author !== reader.user_id && !reader.is_system) add(reply, reader)
    },

    leave(reader: Reader): void {
      outdated.delete(reader)
      pauses.leave(reader)
    },

    /** Resolves when nothing is read; what pauses stays. */
    idle: async (): Promise<void> => run.current(),
    close: pauses.close,
  }
}

/** The threads with replies of which readers are to be told. */
function createWaiting() {
  const threads = new Map<string, Waiting>()
  let size = 0
  return {
    add(reply: ArrivedReply, reader: Reader): void {
      const thread = threads.get(reply.root_id)
      // What a pause has held may be earlier.
      if (thread && thread.reply.created_at < reply.created_at) thread.reply = reply
      if (size === MAX_WAITING || thread?.readers.has(reader)) return
      size++
      if (thread) thread.readers.add(reader)
      else threads.set(reply.root_id, { reply, readers: new Set([reader]) })
    },

    /** Removes all. */
    take(): Waiting[] {
      const taken = [...threads.values()]
      threads.clear()
      size = 0
      return taken
    },
  }
}

/** Whether the reader is still sent the events of the conversation. */
function isOf({ conversation_id, following, closed }: Reader, reply: ArrivedReply): boolean {
  return (
    !closed && (conversation_id === reply.conversation_id || following?.joined?.has(reply.conversation_id) === true)
  )
}

/** What a delivery has of new replies, and of events after which numbers that were read before are outdated. */
function findNews({ events }: Delivery) {
  const replies: ArrivedReply[] = []
  const changes: ConversationStreamEvent[] = []
  for (const { event } of events) {
    switch (event.type) {
      case 'message.new': {
        const { parent_id, conversation_id, root_id, author_user_id, requested_by, created_at } = event.payload.message
        if (parent_id) replies.push({ conversation_id, root_id, author: author_user_id ?? requested_by, created_at })
        break
      }
      case 'thread.followed': {
        const { conversation_id, root_id, following, unread_replies } = event.payload
        // Since an earlier reply, as of an edit that mentions the user: then it counts for the conversation from now on.
        if (following && unread_replies > 0)
          replies.push({ conversation_id, root_id, author: undefined, created_at: '' })
        changes.push(event)
        break
      }
      case 'unread.update':
      case 'conversation.unread':
      case 'unread.cleared':
      case 'message.deleted':
      case 'message.restored':
      case 'conversation.updated':
        changes.push(event)
    }
  }
  return { replies: replies.slice(-MAX_REPLIES), changes }
}

/** The result for the last argument is not computed again: one delivery goes to many readers. */
function rememberLast<Argument extends object, Result>(compute: (argument: Argument) => Result) {
  let last: { argument: Argument; result: Result } | undefined
  return (argument: Argument): Result => {
    if (last?.argument !== argument) last = { argument, result: compute(argument) }
    return last.result
  }
}
