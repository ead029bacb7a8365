import { derived, type LiveConfig } from '../config/live.ts'
import { type SmtpSettings, smtpSettings } from '../config/mail.ts'
import type { Config } from '../config/parse.ts'
import { warnOnce } from '../core/scheduling/once.ts'
import { SECOND } from '../core/units.ts'
import type { Tx } from '../live/transaction/transaction.ts'
import type { Metrics } from '../metrics/registry.ts'
import type { Log } from '../ports.ts'
import type { Database } from '../storage/database.ts'
import type { Micros } from '../storage/sql.ts'
import type { TaskHandler, TaskOutcome, TaskRun } from '../tasks/runner.ts'
import type { TaskDetail } from '../tasks/schema.ts'
import { type Deliver, deliverByHost, type Message } from './delivery.ts'
import type { Mail } from './mail.ts'
import { takeTime } from './pace.ts'
import { isOutdated, mailKey, mailUser, reasonText, toMailId, waitSeconds } from './rules.ts'
import type { MailKind } from './schema.ts'
import { loadSmtp } from './smtp.ts'
import { countMails, deleteOldestFailed } from './store.ts'
import { loadTexts } from './templates.ts'
import { fillIn, type MailText, type MailValues } from './texts.ts'

/** The maximum number of waiting mails: about an hour's work of a server that takes three a second. */
const MAX_WAITING = 10_000

/** The number of mails that are kept after they were given up, and for how long. */
const MAX_FAILED = 1_000
const FAILED_SECONDS = 7 * 24 * 60 * 60

/** How often a service that cannot send checks waiting mails. */
const NO_WAY_SECONDS = 300

/** A mail to send, by ids: its text and its token are made when it is sent. */
export interface MailOrder {
  mail: MailKind
  /** Empty for an unknown address, for which the work is the same. */
  user_id: string
  /** What else the mail needs, such as a former address. */
  [detail: string]: string
}

/** The recipient of a mail. */
export interface Addressed {
  to: string
  username: string
  /** Stores a new token, for a mail that has one; `undefined` if the account was changed since. */
  makeToken?: () => Promise<string | undefined>
  /** Set if these quote generated text. */
  generated?: true
  /** What other placeholders of its text stand for. */
  values?: Omit<MailValues, 'username'>
  /** The link with a token; `undefined` if the service knows no address for it. */
  linkOf?: (token: string) => string | undefined
}

/** Finds the recipient of a mail when it is sent; `undefined` if it is not needed any more. */
export type Addresser = (order: MailOrder, options: AddressOptions) => Promise<Addressed | undefined>

/** The mail, and whether this is the first try to send it. */
export interface AddressOptions {
  mail_id: string
  first: boolean
}

/** Mails on their way. */
export interface Outbox {
  /** Loads what sending needs. @throws Error if its package is missing */
  load(): Promise<void>
  /** Adds a mail to the queue with the transaction. @returns false if the queue is full */
  add(tx: Tx, order: MailOrder): Promise<boolean>
  /** Tries to send a mail: a task. */
  send(run: TaskRun): Promise<TaskOutcome>
}

interface OutboxDeps {
  config: Config
  db: Database
  metrics: Metrics
  log: Log
  now: () => number
  /** Whether the clock is trusted: otherwise no mail is too old. */
  isTrusted: () => boolean
  id: () => string
  /** The host's function; it wins over the configuration. */
  mail: ((mail: Mail) => unknown) | undefined
  addresser: Addresser
}

/** The queue of mails as it is configured now. */
export interface LiveOutbox {
  /** Missing when the service sends no mail. */
  readonly outbox: Outbox | undefined
  /** @throws Error when a configuration needs a package that is missing */
  assertUsable(config: Config): Promise<void>
}

/** Creates the queue of mails, which follows a reload of the configuration. */
export function createLiveOutbox(settings: LiveConfig, deps: Omit<OutboxDeps, 'config'>): LiveOutbox {
  const current = derived(
    () => settings.current().mail,
    () => createOutbox({ ...deps, config: settings.current() }),
  )
  return {
    get outbox() {
      return current()
    },
    assertUsable: async (config) => createOutbox({ ...deps, config })?.load(),
  }
}

/** The queue of mails; `undefined` without a way to send any. */
export function createOutbox(deps: OutboxDeps): Outbox | undefined {
  const settings = smtpSettings(deps.config)
  if (!deps.mail && !settings) return undefined
  const { log, now, id } = deps
  let means: Promise<Means> | undefined
  const load = () => (means ??= loadMeans(deps, settings))
  const full = warnOnce(() => log.error('The queue of mails is full: new mails are dropped'))
  return {
    async load() {
      await load()
    },
    async add(tx, order) {
      if ((await countMails(tx, 'mail.send')) >= MAX_WAITING) {
        full()
        return false
      }
      full.reset()
      const { user_id, ...rest } = order
      tx.enqueue({ kind: 'mail.send', key: mailKey(user_id, id()), detail: { ...rest, queued_at: now() } })
      return true
    },
    send: async (run) => trySending(deps, await load(), run),
  }
}

/** What becomes of the tasks of mails. Without a way to send, they wait for a start or a reload that has one. */
export function mailTasks(mail: Pick<LiveOutbox, 'outbox'>): Record<'mail.send' | 'mail.failed', TaskHandler> {
  return {
    'mail.send': async (run) => {
      const { outbox } = mail
      return outbox ? outbox.send(run) : { done: false, detail: run.detail, delay_seconds: NO_WAY_SECONDS }
    },
    // It is due when it has been kept for long enough.
    'mail.failed': async () => ({ done: true }),
  }
}

/** What sending needs. */
interface Means {
  deliver: Deliver
  texts: Record<MailKind, MailText>
}

async function loadMeans({ config, mail }: OutboxDeps, settings: SmtpSettings | undefined): Promise<Means> {
  const texts = await loadTexts(config.mail.templates)
  return { texts, deliver: mail ? deliverByHost(mail) : (await loadSmtp(settings!)).deliver }
}

async function trySending(deps: OutboxDeps, { deliver, texts }: Means, run: TaskRun): Promise<TaskOutcome> {
  const { key, detail, signal } = run
  const order = { ...detail, user_id: key.slice(0, key.indexOf('.')) } as unknown as MailOrder
  // A failed mail that an operator retries starts again.
  const tries = detail.failed ? 0 : Number(detail.tries ?? 0)
  const queued_at = detail.failed ? deps.now() : Number(detail.queued_at)
  const age = deps.isTrusted() ? (deps.now() - queued_at) / SECOND : 0
  if (isOutdated(age)) return giveUp(deps, run, String(detail.cause ?? 'It has waited for too long'))
  const addressed = await deps.addresser(order, {
    mail_id: toMailId(key),
    first: tries === 0 && detail.not_before === undefined,
  })
  if (!addressed) return { done: true }
  const not_before = await timeOf(deps, order, detail, addressed.to)
  // The user has had enough mails of notifications: the rest is in the inbox.
  if (not_before === undefined && order.mail === 'notification') return { done: true }
  if (not_before === undefined) return giveUp(deps, run, 'Too many mails to this recipient wait')
  const { failed: _, ...left } = detail
  const counted = { ...left, queued_at, not_before }
  const pause = Math.ceil((not_before - deps.now()) / SECOND)
  if (pause > 0) return { done: false, detail: { ...detail, not_before }, delay_seconds: pause }
  const result = await deliver(
    () => compose(texts[order.mail], { id: toMailId(key), kind: order.mail }, addressed),
    signal,
  )
  if (result.status === 'sent' || result.status === 'dropped') return { done: true }
  if (signal.aborted) return { done: false, detail: counted }
  const failed = { ...counted, tries: tries + 1, cause: reasonText(result.reason, [addressed.to]) }
  const wait = result.status === 'refused' ? undefined : waitSeconds(tries + 1, age)
  if (wait === undefined) return giveUp(deps, { ...run, detail: failed }, failed.cause)
  deps.metrics.taskFailed('mail.send')
  deps.log.warn('A mail could not be sent and will be retried', about(run, failed.cause))
  return { done: false, detail: failed, delay_seconds: wait }
}

/** When a mail may be sent: a retry takes no second place. A host limits its mails itself. */
async function timeOf(
  deps: OutboxDeps,
  { mail }: MailOrder,
  detail: TaskDetail,
  to: string,
): Promise<Micros | undefined> {
  if (detail.not_before !== undefined) return Number(detail.not_before)
  return deps.mail ? deps.now() : takeTime(deps.db, mail, to, deps.now())
}

async function compose(
  text: MailText,
  { id, kind }: Pick<Message, 'id' | 'kind'>,
  to: Addressed,
): Promise<Message | undefined> {
  const token = to.makeToken ? await to.makeToken() : ''
  if (token === undefined) return undefined
  const link = token && (to.linkOf?.(token) ?? token)
  const filled = fillIn(text, { username: to.username, link, ...to.values })
  return { id, kind, to: to.to, ...filled, token, ...(to.generated && { generated: true }) }
}

/** Keeps the mail among the failed ones, which an operator may retry. */
async function giveUp({ db, metrics, log }: OutboxDeps, run: TaskRun, cause: string): Promise<TaskOutcome> {
  metrics.taskFailed('mail.send')
  log.error('A mail could not be sent and is given up', about(run, cause))
  await db.write((tx) => deleteOldestFailed(tx, MAX_FAILED - 1))
  return {
    done: false,
    kind: 'mail.failed',
    detail: { ...run.detail, cause, failed: 1 },
    delay_seconds: FAILED_SECONDS,
  }
}

function about({ key, detail }: TaskRun, cause: string) {
  const user_id = mailUser(key, detail)
  return { subject_id: toMailId(key), ...(user_id && { user_id }), reason: detail.mail, cause }
}
