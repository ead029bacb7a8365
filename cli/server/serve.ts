import { existsSync } from 'node:fs'
import type { Config } from '../../lib/config/parse.ts'
import type { Log } from '../../lib/context.ts'
import { isLoopback } from '../../lib/core/addresses.ts'
import { listen } from '../../lib/http/node/listen.ts'
import { openStorage } from '../../lib/index.ts'
import { readCommandClock } from '../../lib/storage/clock-notes.ts'
import { UsageError } from '../args/command.ts'
import { startNode } from '../cluster/node.ts'
import { prepareWorkers } from '../cluster/primary.ts'
import { isWorker, serveAsWorker } from '../cluster/worker.ts'
import { type ConfigFlags, loadConfig } from '../config/load.ts'
import { listWarnings, refuseIfStrict } from '../config/warnings.ts'
import { deleteOldCopies } from '../copies.ts'
import { sqliteFile } from '../doctor/files.ts'
import { removeLeftovers } from '../leftovers.ts'
import { createLogger, type Logger } from '../logging/logger.ts'
import { outliveOutput } from '../output.ts'
import { firstSignal } from '../signals.ts'
import { waitForDatabase } from '../wait.ts'
import { findPage } from '../web-page.ts'
import { openBrowser } from './browser.ts'
import { logStart, printGreeting } from './greeting.ts'
import { createQrListener } from './qr.ts'
import { createSupervisor, inheritedSocket, type Supervisor } from './systemd.ts'

/** The flags of `chat-server serve`. */
export interface ServeFlags extends ConfigFlags {
  json?: boolean | undefined
  open?: boolean | undefined
  qr?: boolean | undefined
  strict?: boolean | undefined
  wait?: string | undefined
}

/** Serves until a signal arrives, then finishes the requests in progress and ends the process. */
export async function serve(flags: ServeFlags): Promise<never> {
  if (isWorker()) return serveAsWorker(flags)
  const { config: loaded, file, warnings } = loadConfig(flags)
  const log = createLogger(loaded.log)
  outliveOutput(log)
  warn(log, [...warnings, ...listWarnings(loaded)], flags)
  const withPage = await findPage(loaded, log)
  const config = withPage(loaded)
  const supervisor = createSupervisor(log)
  let service: Serving | undefined
  const signal = firstSignal(() => {
    if (service) void reloadNotified(service, supervisor)
    else log.warn('SIGHUP is ignored: the service has not started yet.')
  })
  const starting: Command['starting'] = { stop: async () => {} }
  void signal.then((name) => service || leaveEarly(log, name, starting))

  const inherited = inheritedSocket()
  if (inherited === undefined) await assertFree(config.server)
  else if (config.cluster.workers > 1) throw new UsageError('cluster.workers cannot share the socket of systemd')
  await waitForDatabase(config, flags, log.info)
  const stopDeleting = deleteHourly(config, log)
  service = await (config.cluster.workers > 1 ? serveInWorkers : serveHere)({
    config,
    log,
    flags,
    withPage,
    starting,
    fd: inherited,
  })
  const started = { ...service, config, file, flags }
  logStart(log, started)
  printGreeting(started, { json: flags.json === true || !(process.stdout.isTTY || flags.qr) })
  if (!flags.json) await service.showQr?.()
  if (flags.open)
    openBrowser(config.server.public_url ?? service.url, (error) => log.warn('No browser could be opened.', { error }))

  supervisor.ready()
  log.info('Draining.', { signal: await signal })
  supervisor.stopping()
  await service.stop()
  stopDeleting()
  await supervisor.close()
  log.info('Stopped.', { uptime_seconds: Math.round(process.uptime()) })
  process.exit(0)
}

async function reloadNotified(service: Serving, supervisor: Supervisor): Promise<void> {
  supervisor.reloading()
  await service.reload()
  supervisor.ready()
}

/** Before the database is opened: a second start by mistake, or on an address of another machine, creates or migrates none. */
async function assertFree({ host, port, socket, socket_mode }: Config['server']): Promise<void> {
  const place = socket === undefined ? { host, port } : { socket, mode: Number.parseInt(socket_mode, 8) }
  const server = await listen(() => {}, place)
  await new Promise((resolve) => server.close(resolve))
}

/** Deletes old copies of the database, and what killed commands have left; the latter also now. */
function deleteHourly(config: Config, log: Log): () => void {
  const path = sqliteFile(config.database.url)
  void removeLeftovers(config)
  const timer = setInterval(() => {
    if (path && existsSync(path)) void deleteCopiesHourly(config, path, log)
    void removeLeftovers(config)
  }, HOUR_MS).unref()
  return () => clearInterval(timer)
}

/** In a process of its own, in which the workers do not report whether they trust the clock. */
async function deleteCopiesHourly(config: Config, path: string, log: Log): Promise<void> {
  const clock = await openStorage({ database: config.database.url, prefix: config.database.prefix, read_only: true })
    .then(async ({ db, close }) => readCommandClock(db).finally(close))
    .catch(() => undefined)
  deleteOldCopies(path, log.warn, clock && clock.doubt === undefined ? clock.now / 1000 : undefined)
}

const HOUR_MS = 60 * 60 * 1000

/** The service, in this process or in several. */
interface Serving {
  url: string
  address: string
  is_setup: boolean
  stop(): Promise<void>
  /** Reads the configuration again. */
  reload(): Promise<unknown>
  showQr?: () => Promise<void>
}

interface Command {
  config: Config
  log: Logger
  flags: ServeFlags
  /** Decides whether there is a web chat, also when the configuration is read again. */
  withPage: (config: Config) => Config
  /** What already runs of a service that is not up yet. */
  starting: Pick<Serving, 'stop'>
  /** The socket that systemd has passed. */
  fd?: number | undefined
}

async function serveHere(command: Command): Promise<Serving> {
  const { config, log, flags, withPage, fd } = command
  const qr = flags.qr ? await createQrListener() : undefined
  let is_setup = false
  const { url, address, reload, stop } = await startNode(config, log, {
    reloading: { flags, adapt: withPage },
    listen: qr?.listen ?? listen,
    fd,
    async onDatabase(chat) {
      ;({ is_setup } = await chat.setup.get())
      warnOfOpenSetup(command, is_setup)
    },
  })
  return { url, address, is_setup, stop, reload, ...(qr && { showQr: () => qr.show(config.server.public_url) }) }
}

async function serveInWorkers(command: Command): Promise<Serving> {
  const { config, log, flags, withPage, starting } = command
  if (flags.qr) throw new UsageError('--qr needs a service of one process (cluster.workers)')
  const { pool, is_setup, reload } = await prepareWorkers({ config, log, flags, adapt: withPage })
  warnOfOpenSetup(command, is_setup)
  // A worker serves as soon as it listens.
  starting.stop = pool.stop
  return { ...(await pool.start()), is_setup, stop: pool.stop, reload }
}

function warnOfOpenSetup({ config, log, flags, fd }: Command, is_setup: boolean): void {
  // A socket of systemd may be open to every machine.
  const isReachable = fd !== undefined || !isLoopback(config.server.host)
  if (!is_setup && config.setup.code === undefined && isReachable) warn(log, [SETUP_IS_OPEN], flags)
}

/** A start changes data only in transactions: there is nothing to wait for but what is served already. */
async function leaveEarly(log: Log, signal: NodeJS.Signals, starting: Command['starting']): Promise<never> {
  log.info('Asked to stop before it was up.', { signal })
  await starting.stop()
  process.exit(0)
}

const SETUP_IS_OPEN =
  'The service is not set up: the first caller that reaches this address becomes the administrator. Set setup.code.'

function warn(log: Log, warnings: string[], args: { strict?: boolean | undefined }): void {
  refuseIfStrict(warnings, args)
  for (const warning of warnings) log.warn(warning)
}
