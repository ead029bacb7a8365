import * as v from 'valibot'
import { createAuditLog } from './accounts/audit/store.ts'
import { createBearers } from './accounts/jwt/tokens.ts'
import { createProviders } from './accounts/oauth/provider.ts'
import { createClientDocuments } from './accounts/oauth-clients/documents.ts'
import { createPasswords } from './accounts/passwords/hash.ts'
import { createAttempts } from './accounts/passwords/throttle.ts'
import { createRememberedSessions } from './accounts/sessions/remembered.ts'
import { createSessionList, createSessionLookup } from './accounts/sessions/store.ts'
import { revokeNewcomers } from './accounts/sign-ups/revocation.ts'
import { TOKENS } from './accounts/tokens/rules.ts'
import { explain } from './accounts/users/gone.ts'
import { assertStillAdmin } from './accounts/users/rules.ts'
import { lockUsers } from './accounts/users/store.ts'
import type { OpenFile } from './assistant/ask.ts'
import { createAssistants } from './assistant/assistants.ts'
import { createRunner } from './assistant/runner.ts'
import { createTitles } from './assistant/titles.ts'
import { createBackups } from './backups/backups.ts'
import { createCallCounter } from './chat/answers/counting.ts'
import { openFor } from './chat/attachments/reading.ts'
import { EphemeralEvent } from './chat/events/schema.ts'
import { createStreamSources } from './chat/events/sources.ts'
import { subjectsIn } from './chat/events/subjects.ts'
import { askAboutTool } from './chat/hooks/before.ts'
import { createRoomsOfInvites } from './chat/invites/newcomers.ts'
import { revokeInvitesOf } from './chat/invites/revocation.ts'
import { createAutoJoin } from './chat/memberships/auto-join.ts'
import { createPostQueue } from './chat/messages/queue.ts'
import { createMeter } from './chat/metering/meter.ts'
import { createMetering } from './chat/metering/recording.ts'
import { createNotifier } from './chat/notifications/host.ts'
import { createUserUpdates } from './chat/people/updates.ts'
import { createPresenceWatch } from './chat/presence/watch.ts'
import { createReactionQueue } from './chat/reactions/adding.ts'
import { createReadUpdates } from './chat/receipts/publishing.ts'
import { createSearch } from './chat/search/search.ts'
import { createCluster } from './cluster/cluster.ts'
import { createAccess } from './config/access.ts'
import { createLiveConfig } from './config/live.ts'
import type { Config } from './config/parse.ts'
import type { Accounts, Context, Log, Ports } from './context.ts'
import { newId } from './core/ids.ts'
import type { Lifecycle } from './core/lifecycle.ts'
import { createLoad } from './core/scheduling/load.ts'
import { createFiles } from './create-files.ts'
import type { FilesPlace } from './files/guard.ts'
import { guestsOfSignIns } from './guests/claiming.ts'
import { createGuestPlaces } from './guests/places.ts'
import { createWebhookEngine } from './integrations/webhooks/engine.ts'
import { createAuthFailures, maxAuthFailures } from './limits/auth-failures.ts'
import { createLimiter } from './limits/limiter.ts'
import { LIMITS_VERSION } from './limits/store.ts'
import { createHub } from './live/hub/hub.ts'
import { createPoller } from './live/poll/poller.ts'
import { createAfterEvents } from './live/transaction/after-events.ts'
import { createCommits } from './live/transaction/commits.ts'
import { createWrite } from './live/transaction/transaction.ts'
import { type Addresser, createLiveOutbox, mailTasks } from './mail/queue.ts'
import { recipientOf } from './mail-recipients.ts'
import { TOOLS } from './mcp/tools/table.ts'
import { createMetrics } from './metrics/registry.ts'
import { createServiceClock } from './ops/clock.ts'
import { createDatabaseLevels } from './ops/database-levels.ts'
import { createReadiness } from './ops/readiness.ts'
import { createOutgoing } from './outgoing/outgoing.ts'
import { listHistories } from './storage/histories.ts'
import { createKeyring } from './storage/keyring.ts'
import type { Storage } from './storage/open.ts'
import { handlersOf } from './task-handlers.ts'
import { createTaskWorker } from './tasks/runner.ts'
import { TASK_KINDS } from './tasks/schema.ts'

/** A log that writes nothing. */
const SILENT: Log = { debug() {}, info() {}, warn() {}, error() {} }

const isEphemeral = (event: unknown) => v.is(EphemeralEvent, event)

/** Builds the state of a service; starts nothing. */
export function createContext(initial: Config, storage: Storage, ports: Ports): Context {
  const settings = createLiveConfig(initial)
  const config = settings.view
  const { db } = storage
  const access = createAccess(config)
  const { log = SILENT, id = newId, hooks = {} } = ports
  const { now, isTrusted, time } = createServiceClock({ db, log, now: ports.now })
  const metrics = createMetrics(db.dialect, TASK_KINDS, Object.keys(TOOLS))
  const load = createLoad()
  const keyring = createKeyring({ config, db, now })
  const files = createFiles(config, storage, { log, load, keyring })
  const filesState = files.place.state
  const lifecycle: Lifecycle = { state: 'created' }
  const live = createLive({
    storage,
    ports,
    access,
    config,
    settings,
    log,
    clock: time.clock,
    metrics,
    load,
    filesState,
  })
  const { cluster, commits, afterEvents, hub, presence, poller, users } = live
  const audit = createAuditLog({ operator: ports.operator, log, now })
  const notifier = createNotifier({ notify: ports.notify, config, db, metrics, log, now })
  const search = createSearch({ config, db, log, metrics, now })
  const tasks = createTaskWorker({ db, metrics, log })
  commits.storeWith(search.note)
  commits.storeWith(audit.store)
  const assistants = createAssistants(config, ports)
  const metering = createMetering({ assistants, config, metrics, id, isMetered: ports.meter !== undefined })
  commits.storeWith(metering.store)
  if (ports.notify) commits.subscribe(notifier.committed)
  commits.subscribe(search.changed)
  // The log of the host, which the audit log calls, may throw: last, so that it keeps a commit from no other part.
  for (const part of [tasks, metering, createCallCounter(metrics), audit]) commits.subscribe(part.committed)
  const write = ofOperator(ports, createWrite({ db, commits, metrics, now, id }))
  const openFile: OpenFile = (userId, fileId) => openFor({ access, config, db, now, files }, userId, fileId)
  const addresser: Addresser = (order, options) => recipientOf({ access, config, db, now, write }, order, options)
  const mail = createLiveOutbox(settings, { db, metrics, log, now, isTrusted, id, mail: ports.mail, addresser })
  const outgoing = createOutgoing({ config })
  const accounts = createAccounts({ access, config, db, log, now, sessionNow: time.sessionNow, outgoing, keyring })
  const parts: Omit<Context, 'webhooks'> = {
    ...{
      config,
      settings,
      access,
      lifecycle,
      db,
      write,
      commits,
      log,
      metrics,
      now,
      id,
      load,
      cluster,
      tasks,
      search,
      files,
      mail,
      outgoing,
      keyring,
      assistants,
    },
    sessionNow: time.sessionNow,
    clock: time.clock,
    limiter: createLimiter({ config, db, now: time.sessionNow }),
    backups: createBackups({ config, db, metrics, log, now, isTrusted, files: files.open }),
    answers: createRunner({
      ...{ access, config, db, write, metrics, log, now, id, presence, assistants, openFile },
      beforeTool: (call) => askAboutTool({ log, host: { hooks } }, call),
      host: { hooks },
    }),
    streams: {
      ...{ hub, poller, presence, users },
      receipts: createReadUpdates({ config, db, hub, log }),
      logins: new WeakMap(),
    },
    accounts,
    queues: {
      posts: createPostQueue({ access, config, db, now, id, write, accounts, assistants }),
      reactions: createReactionQueue({ access, config, db, now, write }),
    },
    host: { ...givenFunctions(ports), hooks, afterEvents, notifier },
    ops: {
      readiness: createReadiness({ db, poller, cluster, hub, log, lifecycle }),
      databaseLevels: createDatabaseLevels(db, {
        files: config.attachments.enabled === true,
        webhooks: config.webhooks.enabled,
      }),
      clockKeeper: time.clockKeeper,
    },
  }
  const ctx: Context = Object.assign(parts, { webhooks: createWebhookEngine(parts) })
  commits.subscribe(ctx.webhooks.committed)
  const meter = createMeter({ meter: ports.meter, config, db, metrics, log, now })
  const titles = createTitles({ assistants, config, db, write, now, log })
  tasks.handle({ ...handlersOf(ctx), ...mailTasks(mail), 'usage.meter': meter, 'title.make': titles })
  return ctx
}

/** What signs users in, and what they lose with their rights. */
function createAccounts({
  access,
  config,
  db,
  log,
  now,
  sessionNow,
  outgoing,
  keyring,
}: Pick<Context, 'access' | 'config' | 'db' | 'log' | 'now' | 'sessionNow' | 'outgoing' | 'keyring'>): Accounts {
  const providers = createProviders(config, { log, now, outgoing })
  return {
    passwords: createPasswords(config.security.password.bcrypt_cost),
    attempts: createAttempts(db, now),
    findSession: createSessionLookup(db, LIMITS_VERSION),
    remembered:
      db.dialect === 'sqlite' ? undefined : createRememberedSessions(createSessionList(LIMITS_VERSION), sessionNow),
    authFailures: createAuthFailures(() => maxAuthFailures(config), now),
    bearers: createBearers(config.auth.jwt, { now, log }),
    tokenKeys: () => keyring.signing(TOKENS),
    get providers() {
      return providers()
    },
    clientDocuments: createClientDocuments({ outgoing, log }),
    explain,
    assertStillAdmin: async (tx, actor) =>
      assertStillAdmin(await lockUsers(tx, [actor.user_id], { admins: false }), actor),
    rooms: createRoomsOfInvites({ access, now }),
    joinRooms: createAutoJoin({ now }),
    guests: guestsOfSignIns,
    guestPlaces: createGuestPlaces(now),
    revokeInvites: async (tx, userId, by) =>
      (await revokeInvitesOf({ now }, tx, { user_id: userId }, by)) + (await revokeNewcomers(tx, userId, by)),
  }
}

/** The writes of the commands of an operator may use all of the reserve of a full disk, except what it refuses anyway. */
function ofOperator({ operator }: Ports, write: Context['write']): Context['write'] {
  if (operator === undefined) return write
  return (work, options) =>
    write(work, { ...options, full_disk: options?.full_disk === 'refused' ? 'refused' : 'whole' })
}

/** The parts of the streams: what is open in this process, and how it meets the other processes. */
function createLive(
  deps: Pick<Context, 'access' | 'config' | 'settings' | 'log' | 'clock' | 'metrics' | 'load'> & {
    storage: Storage
    ports: Ports
    filesState: FilesPlace['state']
  },
) {
  const { storage, ports, access, config, settings, log, clock, metrics, load, filesState } = deps
  const { now, sessionNow } = clock
  const { db, kv, signals } = storage
  const reviews = ports.hooks?.beforeMessage !== undefined
  const ofCluster = {
    db,
    signals,
    bus: ports.bus,
    isEphemeral,
    config,
    settings,
    log,
    metrics,
    clock,
    filesState,
    reviews,
  }
  const cluster = createCluster(ofCluster)
  const { broadcast_participants } = config.presence
  const { dead_seconds } = config.cluster
  const sources = createStreamSources({ access, db, config, now, sessionNow })
  const { announce } = cluster
  const hub = createHub({ db, config, log, metrics, now, sessionNow, announce, sources, arrivals: load.arrivals })
  const presence = createPresenceWatch({ db, kv, hub, cluster, log, now, broadcast_participants, dead_seconds })
  hub.onStreams(presence.streamsChanged)
  const poller = createPoller({ db, hub, log, metrics, poll_ms: config.cluster.poll_ms })
  const afterEvents = createAfterEvents({
    hook: ports.hooks?.afterEvent,
    sourceOf: sources.ofConversation,
    subjectsIn: (events) => subjectsIn(db, events),
    listHistories: () => listHistories(db),
    log,
  })
  const commits = createCommits()
  commits.subscribe(hub.committed)
  const users = createUserUpdates({ config, db, hub, log })
  commits.subscribe(({ ephemeral }) => users.note(ephemeral))
  commits.subscribe(afterEvents.committed)
  return { cluster, commits, afterEvents, hub, presence, poller, users }
}

/** The functions of the host that use-cases call, those that it has. */
function givenFunctions({ identity, scan, thumbnail }: Ports): Pick<Ports, 'identity' | 'scan' | 'thumbnail'> {
  return { ...(identity && { identity }), ...(scan && { scan }), ...(thumbnail && { thumbnail }) }
}
