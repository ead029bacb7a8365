import type { ChatClient, ReceivedEvent } from 'chat-server/client'
import type { Snapshot } from './snapshot.ts'

const loadMissed = () => import('./missed.ts')

/** Where the snapshot has the id of the last event that it was told of. */
const PLACE = '/events'

/** How often the place is written. */
const WRITE_MS = 1000

/** Where the place is kept, and what forgets by events. */
export interface Keeping {
  client: ChatClient
  snapshot: Snapshot
  /** Of the lock: one tab of a browser does this. */
  name: string
  forget(event: ReceivedEvent['event']): Promise<void>
}

/** The place in the stream, which the snapshot knows. */
export interface KeptPlace {
  move(received: ReceivedEvent): void
  leave(): void
}

/**
 * Takes from the snapshot what was removed while no page was open: the events since then are read, by a stream beside the
 * one of the page, and kept conversations that are in no list are asked for. From then on the place follows the page.
 */
export function keepPlace({ client, snapshot, name, forget }: Keeping): KeptPlace {
  const started = Date.now()
  const left = new AbortController()
  let last: string | undefined
  let writing: ReturnType<typeof setTimeout> | 'not yet' | undefined = 'not yet'

  function write(): void {
    if (writing !== undefined || last === undefined || left.signal.aborted) return
    writing = setTimeout(() => {
      writing = undefined
      void snapshot.keep(PLACE, last!)
    }, WRITE_MS)
  }

  async function begin(): Promise<void> {
    const { forgetMissing, replay } = await loadMissed()
    const from = await snapshot.find(PLACE)
    const isKnown =
      from !== undefined && (await replay({ client, forget, signal: left.signal, isLast: (id) => id === last }, from))
    if (left.signal.aborted) return
    // What was kept before is not known to be there still.
    if (!isKnown) await snapshot.forgetBefore(started)
    await forgetMissing(client, snapshot)
    writing = undefined
    write()
  }

  /** The other tabs wait, and take over. Without locks, each tab does it. */
  async function run(): Promise<void> {
    // What fails is done by the next page: the place stays where it was.
    const beginning = () => begin().catch(() => {})
    if (!navigator.locks) return beginning()
    await navigator.locks.request(name, { signal: left.signal }, async () => {
      await beginning()
      await new Promise((resolve) => left.signal.addEventListener('abort', resolve))
    })
  }

  let isRunning = false
  return {
    move({ id, event }) {
      last = id ?? last
      if (event.type === 'stream.ready' && !isRunning) {
        isRunning = true
        void run().catch(() => {})
      } else if (event.type === 'stream.ready' && writing !== 'not yet')
        void loadMissed()
          .then(({ forgetMissing }) => forgetMissing(client, snapshot))
          .catch(() => {})
      write()
    },
    leave() {
      left.abort()
      if (typeof writing === 'number') clearTimeout(writing)
    },
  }
}
