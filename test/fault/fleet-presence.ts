import { setTimeout as sleep } from 'node:timers/promises'
import type { Fleet } from './fleet.ts'
import type { FleetPeople, FleetUser } from './fleet-people.ts'
import { openRaw, type RawStream } from './raw-reader.ts'

const LOOK_MS = 250

/** After this time every node has heard of a change. */
const LAG_MS = 1_000

/** The longest pause of a guest before a lost stream is opened again. */
const RECONNECT_MS = 1_000

/** Guests who come, lose their streams and go, and two who look at their presence: one reads, one is sent events. */
export interface FleetPresence {
  /** The guests whose stream is at this node. */
  at(base_url: string | undefined): Guest[]
  guests: Guest[]
  /** Waits until presence is right. */
  settled(): Promise<void>
  /** Ends. @returns the longest time in which the presence of a user was wrong, and what was wrong for too long */
  stop(): Promise<{ slowest_ms: number; faults: string[] }>
}

/** A user with a stream, or without one. */
export interface Guest {
  base_url: string | undefined
  /** Opens a stream, and opens it again whenever it is lost. */
  come(): void
  /** Comes if others have had the time to notice that it is away. */
  comeBack(): void
  /** Closes the stream, or does not open it again if it is lost. */
  leave(options?: { later: boolean }): void
  /** What others should see from now on. */
  expect(status: Status): void
}

type Status = 'online' | 'offline'
type Seen = Map<string, string>

/** @param options.within_ms the time in which presence is right again after whatever has happened */
export function startPresence(
  fleet: Fleet,
  { ada, guests: users, conversationIds }: FleetPeople,
  options: { random: () => number; within_ms: number },
): FleetPresence {
  const conversation_id = conversationIds[0]!
  const guests = users.map((user) => createGuest(fleet, user, { ...options, conversation_id }))
  const heard: Seen = new Map()
  const faults: string[] = []
  const wrong = new Map<string, number>()
  let slowest_ms = 0
  let isOver = false
  let watching: RawStream | undefined

  async function read(): Promise<Seen> {
    const { presence } = await ada.client.presence.list({ user_ids: users.map(({ id }) => id).join() })
    return new Map(presence.map(({ user_id, status }) => [user_id, status]))
  }

  /** Keeps what the events say. What was sent while no stream was open is read; an event is later than that. */
  async function watch(): Promise<void> {
    while (!isOver) {
      const { base_url } = await fleet.pick()
      const told = new Set<string>()
      const fill = async () => {
        for (const [id, status] of await read()) if (!told.has(id)) heard.set(id, status)
      }
      watching = openRaw({
        base_url,
        cookie: ada.headers.cookie,
        onEvent({ event }) {
          if (event.type === 'presence.update') {
            told.add(event.payload.user_id)
            heard.set(event.payload.user_id, event.payload.status)
          } else if (event.type === 'stream.ready') {
            fill().catch(() => watching?.cut())
            // The node that was read may hear of a change later than this one.
            void sleep(LAG_MS)
              .then(fill)
              .catch(() => {})
          }
        },
      })
      if ((await watching.over) === 'refused') await sleep(20)
    }
  }

  function compare(what: string, seen: Seen, now: number): void {
    for (const [index, { id }] of users.entries()) {
      const guest = guests[index]!
      const key = `guest ${index} as ${what}`
      const status = seen.get(id) ?? 'offline'
      if (status === guest.wanted()) {
        wrong.delete(key)
        continue
      }
      const since = Math.max(wrong.get(key) ?? now, guest.changed_at())
      wrong.set(key, since)
      slowest_ms = Math.max(slowest_ms, now - since)
      if (now - since > options.within_ms) {
        faults.push(`${key} is ${status} for ${(now - since).toFixed(0)} ms`)
        wrong.delete(key)
      }
    }
  }

  async function observe(): Promise<void> {
    while (!isOver) {
      await sleep(LOOK_MS)
      const started = performance.now()
      // Without a database there is none to look at.
      const seen = await read().catch(() => undefined)
      if (seen) compare('read', seen, started)
      compare('heard', heard, performance.now())
    }
  }

  const work = Promise.all([watch(), observe()])
  return {
    guests,
    at: (base_url) => guests.filter((guest) => guest.base_url === base_url),
    async settled() {
      await sleep(2 * LOOK_MS)
      while (wrong.size > 0) await sleep(LOOK_MS)
    },
    async stop() {
      isOver = true
      watching?.cut()
      for (const guest of guests) guest.leave()
      await work
      return { slowest_ms, faults }
    },
  }
}

function createGuest(
  fleet: Fleet,
  { headers: { cookie } }: FleetUser,
  { conversation_id, random, within_ms }: { conversation_id: string; random: () => number; within_ms: number },
) {
  let stream: RawStream | undefined
  let changed_at = performance.now()
  let isHere = false
  let running = Promise.resolve()
  let wanted: Status = 'offline'
  const guest = {
    wanted: () => wanted,
    base_url: undefined as string | undefined,
    changed_at: () => changed_at,
    expect(status: Status): void {
      wanted = status
      changed_at = performance.now()
    },
    come(): void {
      if (isHere) return
      isHere = true
      running = running.then(stay)
    },
    comeBack(): void {
      if (performance.now() - changed_at > within_ms) guest.come()
    },
    leave({ later = false } = {}): void {
      isHere = false
      if (later) return
      stream?.cut()
    },
  }

  async function stay(): Promise<void> {
    guest.expect('online')
    while (isHere) {
      const { base_url } = await fleet.pick()
      if (!isHere) break
      guest.base_url = base_url
      const which = random() < 0.5 ? { conversation_id } : {}
      stream = openRaw({ base_url, cookie, onEvent() {}, ...which })
      await stream.over
      guest.base_url = undefined
      if (isHere) await sleep(random() * RECONNECT_MS)
    }
    guest.expect('offline')
  }
  return guest
}
