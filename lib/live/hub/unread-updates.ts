import { setImmediate as nextTurn } from 'node:timers/promises'
import type { Log } from '../../context.ts'
import { ChatError, causeText } from '../../core/errors.ts'
import { repeatIfCalled, warnOnce } from '../../core/scheduling/once.ts'
import { type Delivery, encode } from '../readers/delivery.ts'
import type { Reader, Sink, UnreadPlace, UnreadUpdate } from '../readers/reader.ts'
import { createUnreadPauses } from './unread-pauses.ts'

/** The numbers that are read at once. */
const BATCH = 200

/** The threads of one reader that wait. Beyond them a reply is not told of: a client that missed so many reads its numbers. */
const MAX_THREADS = 1_000

/** A reply that a reader was sent. */
export interface ArrivedReply {
  conversation_id: string
  root_id: string
  author: string | undefined
  created_at: string
}

interface Due {
  reader: Reader
  reply: ArrivedReply
}

/**
 * Tells the readers that follow a thread what is unread in it after a reply has reached them: at once, then at most once a
 * second for each thread. What is stored when it is sent counts, so of several replies in a second only the last is told of.
 *
 * @param deps.list the numbers of those of these users who follow the thread
 * @param deps.max_buffer_bytes a reader with half of this pending gets none until it has read
 */
export function createUnreadUpdates(deps: {
  list: (places: UnreadPlace[]) => Promise<UnreadUpdate[]>
  max_buffer_bytes: number
  log: Log
}) {
  const { list, max_buffer_bytes, log } = deps
  const waiting = new Map<Reader, Map<string, ArrivedReply>>()
  /** The readers whose numbers may have changed since they were read, without a reply. */
  const outdated = new Set<Reader>()
  const inner = new WeakMap<Reader, Sink>()
  const pauses = createUnreadPauses(add)
  const newsIn = rememberLast(findNews)
  const fail = warnOnce((error: unknown) => log.warn('Unread counts wait for the storage', { cause: causeText(error) }))

  const run = repeatIfCalled(async () => {
    // The deliveries of this turn are read together.
    await nextTurn()
    for (let due = take(); due.length > 0; due = take()) {
      await tell(due)
      await nextTurn()
    }
  })

  function add(reader: Reader, reply: ArrivedReply): void {
    if (reader.closed) return
    const replies = waiting.get(reader) ?? new Map<string, ArrivedReply>()
    if (replies.size >= MAX_THREADS && !replies.has(reply.root_id)) return
    waiting.set(reader, replies.set(reply.root_id, reply))
    void run()
  }

  function note(reader: Reader, delivery: Delivery): void {
    const { replies, changes } = newsIn(delivery)
    if (changes.length > 0) outdated.add(reader)
    for (const change of changes) pauses.outdate(reader, change)
    for (const reply of replies) if (reply.author !== reader.user_id) add(reader, reply)
  }

  function take(): Due[] {
    const due: Due[] = []
    for (const [reader, replies] of waiting) {
      for (const [root_id, reply] of replies) {
        if (due.length === BATCH) return due
        replies.delete(root_id)
        if (!pauses.holds(reader, reply)) due.push({ reader, reply })
      }
      waiting.delete(reader)
    }
    return due
  }

  async function tell(due: Due[]): Promise<void> {
    outdated.clear()
    try {
      const updates = await list(due.map(({ reader, reply }) => ({ ...reply, user_id: reader.user_id })))
      fail.reset()
      const byPlace = new Map(updates.map(({ user_id, event }) => [`${event.payload.root_id} ${user_id}`, event]))
      pauses.begin(
        due.flatMap(({ reader, reply }) => {
          const event = byPlace.get(`${reply.root_id} ${reader.user_id}`)
          return event && isOf(reader, reply) ? send(reader, reply, event) : []
        }),
      )
    } catch (error) {
      if (due.some(({ reader }) => !reader.closed)) fail(error)
      // After another error than of the storage they would fail again.
      if (error instanceof ChatError) pauses.begin(due.map((each) => ({ ...each, as_of: '', later: each.reply })))
    }
  }

  /** @returns the pause that begins; none if the numbers must be read again at once */
  function send(reader: Reader, reply: ArrivedReply, event: UnreadUpdate['event']) {
    if (outdated.has(reader)) {
      add(reader, reply)
      return []
    }
    const isBehind = reader.following?.waiting !== undefined || reader.sink.pending() > max_buffer_bytes / 2
    if (!isBehind) inner.get(reader)!.write(encode([{ conversation_id: reply.conversation_id, event }]))
    return { reader, reply, as_of: event.payload.as_of, later: isBehind ? reply : undefined }
  }

  return {
    /** Watches what a reader is sent from now on. */
    add(reader: Reader): void {
      if (reader.is_system) return
      const { sink } = reader
      inner.set(reader, sink)
      reader.sink = {
        ...sink,
        write(delivery) {
          sink.write(delivery)
          note(reader, delivery)
        },
      }
    },

    leave(reader: Reader): void {
      waiting.delete(reader)
      outdated.delete(reader)
      pauses.leave(reader)
    },

    /** Resolves when nothing is read; what pauses stays. */
    idle: async (): Promise<void> => run.current(),
    close: pauses.close,
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
  const changes: Delivery['events'][number]['event'][] = []
  for (const { event } of events) {
    switch (event.type) {
      case 'message.new': {
        const { parent_id, conversation_id, root_id, author_user_id, requested_by, created_at } = event.payload.message
        if (parent_id) replies.push({ conversation_id, root_id, author: author_user_id ?? requested_by, created_at })
        break
      }
      case 'unread.update':
      case 'conversation.unread':
      case 'thread.followed':
      case 'message.deleted':
      case 'message.restored':
      case 'conversation.updated':
        changes.push(event)
    }
  }
  return { replies, changes }
}

/** The result for the last argument is not computed again: one delivery goes to many readers. */
function rememberLast<Argument extends object, Result>(compute: (argument: Argument) => Result) {
  let last: { argument: Argument; result: Result } | undefined
  return (argument: Argument): Result => {
    if (last?.argument !== argument) last = { argument, result: compute(argument) }
    return last.result
  }
}
