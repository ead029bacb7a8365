import { existsSync } from 'node:fs'
import { type Config, maskSecrets } from '../../lib/config/parse.ts'
import type { Log } from '../../lib/context.ts'
import { isLoopback } from '../../lib/core/addresses.ts'
import { listen, urlOf } from '../../lib/http/node/listen.ts'
import { UsageError } from '../args/command.ts'
import { startNode } from '../cluster/node.ts'
import { prepareWorkers } from '../cluster/primary.ts'
import { isWorker, serveAsWorker } from '../cluster/worker.ts'
import { type ConfigFlags, loadConfig } from '../config/load.ts'
import { refuseIfStrict, warningsOf } from '../config/warnings.ts'
import { deleteOldCopies } from '../copies.ts'
import { sqliteFile } from '../doctor/files.ts'
import { createLogger } from '../logging/logger.ts'
import { outliveOutput, print } from '../output.ts'
import { firstSignal } from '../signals.ts'
import { openBrowser } from './browser.ts'
import { createQrListener } from './qr.ts'

/** The flags of `chat-server serve`. */
export interface ServeFlags extends ConfigFlags {
  json?: boolean | undefined
  open?: boolean | undefined
  qr?: boolean | undefined
  strict?: boolean | undefined
}

/** Serves until a signal arrives, then finishes the requests in progress and ends the process. */
export async function serve(flags: ServeFlags): Promise<never> {
  if (isWorker()) return serveAsWorker()
  const { config, warnings } = loadConfig(flags)
  const log = createLogger(config.log)
  outliveOutput(log)
  warn(log, [...warnings, ...warningsOf(config)], flags)
  const signal = firstSignal(() =>
    log.warn('SIGHUP is ignored: the configuration is read at start. Restart the service to change it.'),
  )
  let isUp = false
  void signal.then((name) => isUp || leaveEarly(log, name))

  await assertFree(config.server)
  const stopDeleting = deleteCopiesHourly(config.database.url, log)
  const service = await (config.cluster.workers > 1 ? serveInWorkers : serveHere)({ config, log, flags })
  isUp = true
  const { url, port, is_setup } = service
  const shown = config.server.public_url ?? url
  const greeting = `chat-server listens on ${shown}${is_setup ? '' : setupHint(config, shown, flags)}`
  print(flags, { url: shown, host: config.server.host, port, is_setup }, greeting)
  if (!flags.json) await service.showQr?.()
  if (flags.open) openBrowser(shown, (error) => log.warn('No browser could be opened.', { error }))

  log.info('Draining.', { signal: await signal })
  await service.stop()
  stopDeleting()
  process.exit(0)
}

/** Before the database is opened: a second start by mistake must not create or migrate one. */
async function assertFree({ host, port }: Config['server']): Promise<void> {
  if (port === 0) return
  const server = await listen(() => {}, { host, port })
  await new Promise((resolve) => server.close(resolve))
}

function deleteCopiesHourly(url: string, log: Log): () => void {
  const path = sqliteFile(url)
  const timer = setInterval(() => path && existsSync(path) && deleteOldCopies(path, log.warn), 60 * 60 * 1000).unref()
  return () => clearInterval(timer)
}

/** The service, in this process or in several. */
interface Serving {
  url: string
  port: number
  is_setup: boolean
  stop(): Promise<void>
  showQr?: () => Promise<void>
}

/** The parts of a command that serves. */
interface Command {
  config: Config
  log: Log
  flags: ServeFlags
}

async function serveHere({ config, log, flags }: Command): Promise<Serving> {
  const qr = flags.qr ? await createQrListener() : undefined
  let is_setup = false
  const { url, port, stop } = await startNode(config, log, {
    listen: qr?.listen ?? listen,
    async onDatabase(chat) {
      ;({ is_setup } = await chat.setup.get())
      warnOfOpenSetup({ config, log, flags }, is_setup)
    },
  })
  return { url, port, is_setup, stop, ...(qr && { showQr: () => qr.show(config.server.public_url) }) }
}

async function serveInWorkers(command: Command): Promise<Serving> {
  const { config, log, flags } = command
  if (flags.qr) throw new UsageError('--qr needs a service of one process (cluster.workers)')
  const { pool, port, is_setup } = await prepareWorkers(config, log)
  warnOfOpenSetup(command, is_setup)
  await pool.start()
  return { url: urlOf({ host: config.server.host, port }), port, is_setup, stop: pool.stop }
}

function warnOfOpenSetup({ config, log, flags }: Command, is_setup: boolean): void {
  if (!is_setup && config.setup.code === undefined && !isLoopback(config.server.host)) warn(log, [SETUP_IS_OPEN], flags)
}

/** No request is served yet, and a start changes data only in transactions: there is nothing to wait for. */
function leaveEarly(log: Log, signal: NodeJS.Signals): never {
  log.info('Asked to stop before it was up.', { signal })
  process.exit(0)
}

const SETUP_IS_OPEN =
  'The service is not set up: the first caller that reaches this address becomes the administrator. Set setup.code.'

function warn(log: Log, warnings: string[], args: { strict?: boolean | undefined }): void {
  refuseIfStrict(warnings, args)
  for (const warning of warnings) log.warn(warning)
}

/** The command that creates the first administrator, to copy and paste. */
function setupHint(config: Config, url: string, flags: ServeFlags): string {
  const setup = ['npx chat-server setup --email you@example.org']
  if (flags.config) setup.push('--config', quote(flags.config))
  if (flags.database) setup.push('--database', quote(maskSecrets(config).database.url))
  const code = config.setup.code !== undefined && { setup_code: 'the setup.code of the configuration' }
  const body = quote(JSON.stringify({ email: 'you@example.org', password: 'at least 8 characters', ...code }))
  const curl = `curl -X POST ${url}/api/setup -H 'content-type: application/json' -d ${body}`
  const overHttp = config.features.auth_v1 ? `\nor over HTTP:\n  ${curl}` : ''
  return `\n\nNobody can sign in yet. Create the first administrator here:\n  ${setup.join(' ')}${overHttp}`
}

function quote(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`
}
