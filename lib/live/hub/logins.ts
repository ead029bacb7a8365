import { setMaxListeners } from 'node:events'
import type { CloseReason } from '../../context.ts'
import { forEachConcurrently } from '../../core/scheduling/concurrently.ts'
import { withDeadline } from '../../core/scheduling/deadline.ts'
import type { HostLogin, Reader } from '../readers/reader.ts'

/** How many logins the host is asked about at the same time. */
const CONCURRENCY = 16

/** How long the host may take to answer. After that the stream stays open until the next time. */
const TIMEOUT_MS = 5_000

/** A stream that the login of the host has opened. */
interface LoggedIn {
  reader: Reader
  host: HostLogin
}

/** Asks the host again about the logins of open streams, and closes those that are over. */
export function createLogins(deps: {
  all: () => Iterable<Reader>
  close: (reader: Reader, reason: CloseReason) => void
}) {
  // Which streams were asked about last: with several of a subject, each has its turn.
  const askedAt = new WeakMap<HostLogin, number>()
  let round = 0
  // Ends the questions in progress: a stop waits for no response.
  const stopping = new AbortController()
  const { signal } = stopping
  setMaxListeners(0, signal)

  async function isOver({ reader, host }: LoggedIn): Promise<boolean> {
    if (reader.closed || signal.aborted) return false
    askedAt.set(host, round)
    try {
      return (await withDeadline(host.ask(), TIMEOUT_MS, undefined, signal)) === false
    } catch {
      return false
    }
  }

  /** Asks about one of the streams of a subject. If its login is over, the others may be of another one: each is asked about. */
  async function recheckSubject(logins: LoggedIn[]): Promise<void> {
    const open = logins.filter(({ reader }) => !reader.closed)
    const [first, ...others] = open.sort((a, b) => (askedAt.get(a.host) ?? 0) - (askedAt.get(b.host) ?? 0))
    if (!first || !(await isOver(first))) return
    deps.close(first.reader, 'session_ended')
    for (const login of others) if (await isOver(login)) deps.close(login.reader, 'session_ended')
  }

  return {
    /** Asks once for each subject that has a stream. It never rejects. */
    async recheck(): Promise<void> {
      round++
      await forEachConcurrently([...bySubject(deps.all()).values()], CONCURRENCY, recheckSubject)
    },

    /** Ends the rounds in progress, without their answers, and asks nothing more. */
    stop: () => stopping.abort(),
  }
}

function bySubject(readers: Iterable<Reader>): Map<string, LoggedIn[]> {
  const groups = new Map<string, LoggedIn[]>()
  for (const reader of readers) {
    const host = reader.login?.host
    if (!host) continue
    const group = groups.get(host.subject)
    if (group) group.push({ reader, host })
    else groups.set(host.subject, [{ reader, host }])
  }
  return groups
}
