import { joinProcess } from './accounts/sessions/cookie-conflicts.ts'
import { ensureFormer } from './chat/memberships/filling.ts'
import type { Context } from './context.ts'
import { type NamesOf, refuseUnknown } from './core/known-names.ts'
import { assertStarted } from './core/lifecycle.ts'
import type { StartOptions } from './core/start-options.ts'
import type { createJobs } from './jobs.ts'
import { forgetOtherServer } from './live/log/restored-dump.ts'
import { createPeerHandler } from './ops/peer-handler.ts'
import { resumeRemovals } from './ops/removals.ts'
import { settleIfCopy } from './storage/archive/copied.ts'
import { assertImported } from './storage/archive/import.ts'
import { learnClock } from './storage/clock-notes.ts'
import { withReason } from './storage/errors.ts'
import { ensureHistory } from './storage/histories.ts'
import { assertUtf8 } from './storage/inspect.ts'
import { assertMigrated, listMigrations, migrate, SCHEMA_VERSION } from './storage/schema/migrate.ts'
import { assertOurs } from './storage/schema/verify.ts'

const START_OPTIONS: NamesOf<StartOptions> = { background: 0, changed: 0 }

/** The start of a service, and what its end must know of it. */
export function createStart(ctx: Context, jobs: ReturnType<typeof createJobs>) {
  const { db, clock, cluster, tasks, lifecycle } = ctx
  const { poller } = ctx.streams
  let leave: (() => void) | undefined
  let starting: Promise<void> | undefined

  async function begin(options: StartOptions): Promise<void> {
    refuseUnknown('chat.start', options, START_OPTIONS)
    if (lifecycle.state === 'closed') assertStarted(ctx)
    await assertUtf8(db)
    // Before the clock is learnt: the time since the copy was made is none of its steps.
    if (options.background !== false) await settleLogged(ctx)
    await learnClock(db, clock)
    if (!options.changed) await assertOurs(db)
    if (ctx.config.storage.migrate) await migrateLogged(ctx)
    else await assertMigrated(db)
    await assertImported(db)
    await ensureHistory(db).catch((error) => {
      // A command may look at a copy that it must leave as it is; the next start begins the history.
      if (options.background !== false) throw error
    })
    await ctx.search.open()
    if (lifecycle.state === 'starting') lifecycle.state = 'started'
    if (options.background === false) return
    leave ??= await joinProcess(ctx)
    // Before the first job that deletes by age.
    await ctx.ops.clockKeeper.begin()
    await ctx.mail.outbox?.load()
    await ctx.search.start()
    await ensureFormer(db)
    await forgetOtherServer(db)
    poller.start()
    if (!(await jobs.start())) return
    await cluster.start(createPeerHandler(ctx))
    await resumeRemovals(ctx)
    tasks.start()
  }

  return {
    start(options: StartOptions = {}): Promise<void> {
      const before = lifecycle.state
      if (before === 'created') lifecycle.state = 'starting'
      starting = begin(options).catch((error) => {
        lifecycle.state = before
        throw withReason(error)
      })
      return starting
    },
    /** Resolves when no start is in progress. */
    started: async (): Promise<void> => starting?.catch(() => {}),
    /** The service is no longer one of its process. */
    leave: (): void => leave?.(),
  }
}

/** A new database has no steps worth a line each. */
async function migrateLogged({ db, log }: Context): Promise<void> {
  const isNew = (await listMigrations(db)).every((step) => !step.applied_at)
  const applied = await migrate(db, {
    onLong: () => log.info('Still migrating the schema, or waiting for another process that holds the database'),
    onStep: (migration) => isNew || log.info('Migrated the schema', { migration }),
  })
  if (isNew && applied.length > 0) log.info(`Created the schema ${SCHEMA_VERSION} in an empty database`)
}

/** A copy that is started without `restore` begins as a restored one does. */
async function settleLogged({ db, log }: Context): Promise<void> {
  const settled = await settleIfCopy(db)
  if (!settled) return
  const dropped = `mails that waited and were dropped: ${settled.mails}; webhooks that were disabled: ${settled.webhooks}; answers that end: ${settled.answers}`
  log.warn(`This database is a copy: it begins an event history of its own; ${dropped}`)
}
