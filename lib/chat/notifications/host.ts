import { findSubjects } from '../../accounts/users/store-subjects.ts'
import type { Config } from '../../config/parse.ts'
import type { Log } from '../../context.ts'
import { toInstant } from '../../core/time.ts'
import type { NewEvent } from '../../live/log/appending.ts'
import type { Commit } from '../../live/transaction/commits.ts'
import type { Metrics } from '../../metrics/registry.ts'
import type { HostNotification, Ports, Recipient } from '../../ports.ts'
import type { Database } from '../../storage/database.ts'
import type { Micros } from '../../storage/sql.ts'
import { isMuted } from '../memberships/rules-settings.ts'
import { createHostQueue } from './host-queue.ts'
import { listByIds } from './store.ts'
import { listListeners, listRecipients, listTold, type ToldMessage } from './store-host.ts'
import { toNotification } from './store-making.ts'

/** How many recipients of a message are read at once. */
const PAGE = 500

/** How long a recipient hears of no further message of a thread, where each one is worth a call. */
const QUIET_MICROS = 30_000_000

/** How many threads of recipients are remembered for that; the oldest are forgotten. */
const MAX_REMEMBERED = 100_000

/** Tells the host of notifications, and of messages in conversations whose participants want to hear of all. */
export interface Notifier {
  /** Tells the host of what was just committed. */
  committed(commit: Pick<Commit, 'additions' | 'notifications'>): void
  idle(): Promise<void>
  close(): Promise<void>
}

type Work = { made: { user_id: string; id: string }[] } | { message_ids: string[]; is_answer: boolean }

const sizeOf = (work: Work) => ('made' in work ? work.made : work.message_ids).length

const SILENT: Notifier = { committed() {}, idle: async () => {}, close: async () => {} }

/** Creates the notifier of one process. Without a function of the host it does nothing, and reads nothing. */
export function createNotifier(deps: {
  notify: Ports['notify']
  config: Pick<Config, 'notifications'>
  db: Database
  log: Log
  now: () => Micros
  metrics: Pick<Metrics, 'job'>
}): Notifier {
  const { notify, config, db, log, now, metrics } = deps
  if (!notify) return SILENT
  const recent = createRecent(now)
  const queue = createHostQueue<Work>({ name: 'ports.notify', callsOf, sizeOf, onEnd: metrics.job('notify'), log })

  async function* callsOf(work: Work): AsyncGenerator<() => unknown> {
    if ('made' in work) yield* callsOfMade(work.made)
    else {
      const messages = await listTold(db, work.message_ids)
      for (const message of messages) if ((message.is_answer === 1) === work.is_answer) yield* callsOfMessage(message)
    }
  }

  /** The notifications as they are now: without those of a message that was deleted since. */
  async function* callsOfMade(keys: { user_id: string; id: string }[]): AsyncGenerator<() => unknown> {
    const rows = await listByIds(db, keys)
    const recipients = await listRecipients(db, new Set(rows.map((row) => row.user_id)))
    const subjects = await findSubjects(db, [...new Set(rows.flatMap((row) => row.actor_user_id ?? []))])
    for (const { user_id, ...row } of rows) {
      const recipient = recipients.get(user_id)
      const notification = withSubject(toNotification(row), subjects)
      const isOfMany = notification.kind === 'direct' || notification.count !== undefined
      if (!recipient || (isOfMany && recent.isQuiet(user_id, notification.root_id!))) continue
      yield () => notify!(notification, recipient)
    }
  }

  async function* callsOfMessage(message: ToldMessage): AsyncGenerator<() => unknown> {
    const notification = withSubject(toHostNotification(message), await findSubjects(db, [message.author ?? '']))
    let page: Recipient[]
    let after = ''
    do {
      page = await listListeners(db, message, config.notifications.default_level, now(), after, PAGE)
      for (const recipient of page)
        if (!recent.isQuiet(recipient.user_id, message.root_id)) yield () => notify!({ ...notification }, recipient)
      after = page.at(-1)?.user_id ?? ''
    } while (page.length === PAGE)
  }

  return {
    committed({ additions, notifications }) {
      for (const { events } of additions) for (const work of newsOf(events)) queue.add(work)
      const keys = notifications.flatMap(({ notification: { id }, users }) =>
        users.flatMap(({ user_id, muted_until }) => (isMuted(muted_until, now()) ? [] : { user_id, id })),
      )
      if (keys.length > 0) queue.add({ made: keys })
    },
    idle: queue.idle,
    close: queue.close,
  }
}

/** New messages of users, and answers of the assistant when they are complete. */
function newsOf(events: readonly NewEvent[]): { message_ids: string[]; is_answer: boolean }[] {
  const idsOf = (type: NewEvent['type']) =>
    events.flatMap((event) => (event.type === type ? (event.message_id ?? []) : []))
  const news = [
    { message_ids: idsOf('message.new'), is_answer: false },
    { message_ids: idsOf('message.done'), is_answer: true },
  ]
  return news.filter(({ message_ids }) => message_ids.length > 0)
}

function toHostNotification({ id, conversation_id, root_id, created_at, author, excerpt }: ToldMessage) {
  const notification: HostNotification = {
    kind: 'message',
    at: toInstant(created_at),
    conversation_id,
    root_id,
    message_id: id,
    ...(author && { actor_user_id: author }),
    excerpt,
  }
  return notification
}

function withSubject<T extends { actor_user_id?: string | undefined }>(notification: T, subjects: Map<string, string>) {
  const actor_subject = subjects.get(notification.actor_user_id ?? '')
  return { ...notification, ...(actor_subject !== undefined && { actor_subject }) }
}

/** Remembers which recipients were just notified of which threads. */
function createRecent(now: () => Micros) {
  // In the order of their times: the oldest are first.
  const heard = new Map<string, Micros>()
  return {
    /** Whether a recipient was just notified of a thread; if not, counts as notified now. */
    isQuiet(userId: string, rootId: string): boolean {
      const at = now()
      for (const [key, time] of heard) {
        if (time > at - QUIET_MICROS && heard.size < MAX_REMEMBERED) break
        heard.delete(key)
      }
      const key = `${userId} ${rootId}`
      if (heard.has(key)) return true
      heard.set(key, at)
      return false
    },
  }
}
