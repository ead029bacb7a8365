import { setMaxListeners } from 'node:events'
import { ChatError } from '../../core/errors.ts'
import { createPartBuffers } from './part-buffers.ts'
import { PART_BYTES } from './schema.ts'

/**
 * The maximum number of parts that a process takes at once, of a user and in all: each has a connection, for up to 5
 * minutes; and how many bytes of a user's parts are in memory. The others of them wait, unread, until one is stored.
 */
const AT_ONCE = { per_user: 60, in_all: 128, bytes_per_user: 24 * PART_BYTES }

/** How soon a part may be there: a good connection sends one in less. */
const RETRY_SECONDS = 1

/** How long parts may still arrive once the service stops. */
const DRAIN_MS = 5_000

/** Parts that are being received and stored, limited in number. */
export type PartSlots = ReturnType<typeof createPartSlots>

/** What a user has under way. */
interface Own {
  parts: number
  bytes: number
  /** Parts that wait for memory, in the order of their requests. */
  waiting: { length: number; start: () => void }[]
}

/** Counts the parts that this process takes at once. */
export function createPartSlots(limits = AT_ONCE) {
  const users = new Map<string, Own>()
  const buffers = createPartBuffers()
  const { signal, drain, close } = createEnd()
  let all = 0

  /** Lets those parts begin that there is memory for: at least one. */
  function startWaiting(own: Own): void {
    for (let next = own.waiting[0]; next; next = own.waiting[0]) {
      if (own.bytes > 0 && own.bytes + next.length > limits.bytes_per_user) return
      own.waiting.shift()
      own.bytes += next.length
      next.start()
    }
  }

  return {
    /**
     * Takes a part, with a buffer of `length` bytes that `work` may use until it ends. What has not arrived when `signal`
     * is aborted is to be refused with its reason.
     *
     * @throws ChatError `rate_limited` for a user with too many, `unavailable` with too many in all
     */
    async take<T>(
      userId: string,
      length: number,
      work: (buffer: Uint8Array, signal: AbortSignal) => Promise<T>,
    ): Promise<T> {
      const own = users.get(userId) ?? { parts: 0, bytes: 0, waiting: [] }
      if (own.parts >= limits.per_user)
        throw new ChatError('rate_limited', {
          message: `You send ${limits.per_user} parts of files already.`,
          retry_after_seconds: RETRY_SECONDS,
        })
      if (all >= limits.in_all) throw new ChatError('unavailable', { retry_after_seconds: RETRY_SECONDS })
      users.set(userId, own)
      own.parts++
      all++
      await new Promise<void>((start) => {
        own.waiting.push({ length, start })
        startWaiting(own)
      })
      try {
        return await buffers.use(length, (buffer) => work(buffer, signal))
      } finally {
        own.bytes -= length
        own.parts--
        all--
        if (own.parts === 0) users.delete(userId)
        startWaiting(own)
      }
    },

    drain,
    close,
  }
}

/** The end of the parts that are arriving when the service stops. */
function createEnd() {
  const ending = new AbortController()
  // As many parts as there may be listen to it.
  setMaxListeners(0, ending.signal)
  let timer: NodeJS.Timeout | undefined
  const end = () =>
    ending.abort(
      new ChatError('unavailable', {
        message: 'The service stops: send the part again.',
        retry_after_seconds: RETRY_SECONDS,
      }),
    )

  return {
    signal: ending.signal,
    /** Parts that have not arrived {@link DRAIN_MS} from now are refused: their client sends them to another process. */
    drain(): void {
      timer ??= setTimeout(end, DRAIN_MS).unref()
    },
    /** Refuses the parts that have not arrived. */
    close(): void {
      clearTimeout(timer)
      end()
    },
  }
}
