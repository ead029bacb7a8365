import { type Config, maskSecrets } from '../../lib/config/parse.ts'
import type { Log } from '../../lib/context.ts'
import { isLoopback } from '../../lib/core/addresses.ts'
import { listen } from '../../lib/http/node/listen.ts'
import { serveThrough } from '../../lib/http/node/serve.ts'
import { createChatService, openStorage } from '../../lib/index.ts'
import { type ConfigFlags, loadConfig } from '../config/load.ts'
import { refuseIfStrict, warningsOf } from '../config/warnings.ts'
import { createLogger } from '../logging/logger.ts'
import { print, surviveBrokenOutput } from '../output.ts'
import { openBrowser } from './browser.ts'
import { createQrListener } from './qr.ts'
import { firstSignal } from './signals.ts'

/** The flags of `chat-server serve`. */
export interface ServeFlags extends ConfigFlags {
  json?: boolean | undefined
  open?: boolean | undefined
  qr?: boolean | undefined
  strict?: boolean | undefined
}

/** Serves until a signal arrives, then finishes the requests in progress and ends the process. */
export async function serve(flags: ServeFlags): Promise<never> {
  const { config, warnings } = loadConfig(flags)
  const log = createLogger(config.log)
  outliveOutput(log)
  warn(log, [...warnings, ...warningsOf(config)], flags)
  const signal = firstSignal()
  let isUp = false
  void signal.then((name) => isUp || leaveEarly(log, name))

  const { url: database, ...postgres } = config.database
  const storage = await openStorage({ database, ...postgres, durability: config.storage.durability })
  const chat = createChatService(config, storage, { log })
  try {
    await chat.start()
    const { is_setup } = await chat.setup.get()
    if (!is_setup && config.setup.code === undefined && !isLoopback(config.server.host))
      warn(log, [SETUP_IS_OPEN], flags)
    const qr = flags.qr ? await createQrListener() : undefined
    const { url, port, close } = await serveThrough(qr?.listen ?? listen, chat, {})
    isUp = true
    const shown = config.server.public_url ?? url
    const greeting = `chat-server listens on ${shown}${is_setup ? '' : setupHint(config, shown, flags)}`
    print(flags, { url: shown, host: config.server.host, port, is_setup }, greeting)
    if (!flags.json) await qr?.show(config.server.public_url)
    if (flags.open) openBrowser(shown, (error) => log.warn('No browser could be opened.', { error }))

    log.info('Draining.', { signal: await signal })
    await close()
  } finally {
    await chat.close()
  }
  process.exit(0)
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

/**
 * The process must not end because its output is closed, and an error that ends it is logged completely. Node's
 * warnings are logged as lines of the same log.
 */
function outliveOutput(log: Log): void {
  surviveBrokenOutput()
  process.removeAllListeners('warning').on('warning', (error) => log.warn('Node warns.', { error }))
  process.prependListener('uncaughtException', (error) => {
    log.error('The process ends after an unexpected failure.', { error })
    process.exit(1)
  })
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
