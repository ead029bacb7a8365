import type { ConversationStreamEvent } from '../../context.ts'
import type { Reader } from '../readers/reader.ts'
import type { ArrivedReply } from './unread-updates.ts'

/** How long a reader is told nothing more of a thread. */
const PAUSE_MS = 1_000

/** A thread of which a reader was told. */
export interface UnreadPause {
  reader: Reader
  reply: ArrivedReply
  /** The arrival of the newest message that was counted. */
  as_of: string
  /** What the reader is told of at the end. */
  later: ArrivedReply | undefined
}

/**
 * Keeps of which threads readers were just told.
 *
 * @param pass is called at the end of a pause if there is more to tell
 */
export function createUnreadPauses(pass: (reader: Reader, reply: ArrivedReply) => void) {
  const pauses = new Map<Reader, Map<string, UnreadPause>>()
  const timers = new Set<NodeJS.Timeout>()

  function end(begun: UnreadPause[]): void {
    for (const { reader, reply, later } of begun) {
      const ofReader = pauses.get(reader)
      ofReader?.delete(reply.root_id)
      if (ofReader?.size === 0) pauses.delete(reader)
      if (ofReader && later) pass(reader, later)
    }
  }

  return {
    /** Whether a reader is told of a reply later, or was told of it already. */
    holds(reader: Reader, reply: ArrivedReply): boolean {
      const pause = pauses.get(reader)?.get(reply.root_id)
      if (pause && reply.created_at > pause.as_of) pause.later = reply
      return pause !== undefined
    },

    /** A reader was sent numbers by another event, maybe older ones: then it is told again. */
    outdate(reader: Reader, { type, payload }: ConversationStreamEvent): void {
      if (type !== 'unread.update' && type !== 'conversation.unread') return
      for (const pause of pauses.get(reader)?.values() ?? [])
        if (pause.reply.conversation_id === payload.conversation_id && pause.as_of > payload.as_of)
          pause.later = pause.reply
    },

    begin(begun: UnreadPause[]): void {
      if (begun.length === 0) return
      for (const pause of begun) {
        const ofReader = pauses.get(pause.reader) ?? new Map<string, UnreadPause>()
        pauses.set(pause.reader, ofReader.set(pause.reply.root_id, pause))
      }
      const timer = setTimeout(() => {
        timers.delete(timer)
        end(begun)
      }, PAUSE_MS).unref()
      timers.add(timer)
    },

    leave: (reader: Reader): void => void pauses.delete(reader),

    close(): void {
      for (const timer of timers) clearTimeout(timer)
      timers.clear()
      pauses.clear()
    },
  }
}
