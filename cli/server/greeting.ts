import { resolve } from 'node:path'
import { basePathOf } from '../../lib/config/base-path.ts'
import type { Config } from '../../lib/config/parse.ts'
import { maskSecrets } from '../../lib/config/reference.ts'
import type { Log } from '../../lib/context.ts'
import { VERSION } from '../../lib/core/version.ts'
import { isAnyAddress } from '../../lib/http/node/listen.ts'
import type { ConfigFlags } from '../config/load.ts'
import { sqliteFile } from '../doctor/files.ts'
import { oneLine, print } from '../output.ts'

/** A service that has started to listen. */
export interface Started {
  config: Config
  /** The setup command gets the same. */
  flags: Pick<ConfigFlags, 'config' | 'database'>
  /** The file it was read from, if any. */
  file?: string | undefined
  /** For a client on this machine. */
  url: string
  /** The socket address. */
  address: string
  /** Whether the first administrator exists. */
  is_setup: boolean
}

/** How to create the first administrator. */
interface SetupHint {
  /** On this machine. */
  command: string
  /** The address for a POST, if it can be done over HTTP. */
  url?: string
  code_required: boolean
}

/** What `serve` prints when it listens: one line of JSON for programs, some lines of text for people. */
export function printGreeting(started: Started, options: { json: boolean }): void {
  const { config, file, url, is_setup } = started
  const hint = is_setup ? undefined : setupHint(started)
  const greeting = {
    url,
    version: VERSION,
    database: databaseOf(config),
    config: file === undefined ? null : resolve(file),
    ...(hint && { setup: hint }),
  }
  if (options.json) process.stdout.write(`${JSON.stringify(greeting)}\n`)
  else print({}, greeting, textOf(started, greeting))
}

/** Logs the start of the service. */
export function logStart(log: Log, { config, file, url, address, is_setup }: Started): void {
  log.info('Listening.', {
    url,
    address,
    ...(config.server.public_url !== undefined && { public_url: config.server.public_url }),
    version: VERSION,
    database: databaseOf(config),
    ...(file !== undefined && { config: resolve(file) }),
    ...(config.cluster.workers > 1 && { workers: config.cluster.workers }),
    pid: process.pid,
    is_setup,
  })
}

/** The database without its password; a file with its whole path. */
function databaseOf(config: Config): string {
  const file = sqliteFile(config.database.url)
  return file ? `sqlite:${file}` : maskSecrets(config).database.url
}

function textOf({ config, url, address }: Started, greeting: { config: string | null; setup?: SetupHint }): string {
  const at = isAnyAddress(config.server.host) ? `${url} (${address}, every address of this machine)` : url
  const { public_url } = config.server
  const page = pageOf(config, url)
  const lines = [
    `chat-server listens on ${at}`,
    ...(public_url === undefined ? [] : [`  public URL     ${public_url}`]),
    ...(page === undefined ? [] : [`  web chat       ${page}`]),
    `  version        ${VERSION}`,
    `  database       ${databaseOf(config)}`,
    `  configuration  ${greeting.config ?? 'defaults, environment and flags; no file'}`,
  ]
  return lines.map(oneLine).join('\n') + (greeting.setup ? textOfHint(greeting.setup, page) : '')
}

/** The address of the web chat on this machine, if it is served. */
function pageOf(config: Config, url: string): string | undefined {
  return config.server.web === true && !url.startsWith('unix:') ? `${url}${basePathOf(config)}/` : undefined
}

function setupHint({ config, flags, url }: Started): SetupHint {
  const words = ['npx chat-server setup --email you@example.org']
  if (flags.config) words.push('--config', quote(resolve(flags.config)))
  if (flags.database) words.push('--database', quote(databaseOf(config)))
  return {
    command: words.join(' '),
    ...(config.features.auth_v1 && !url.startsWith('unix:') && { url: `${url}/api/setup` }),
    code_required: config.setup.code !== undefined,
  }
}

function textOfHint({ command, url, code_required }: SetupHint, page: string | undefined): string {
  const code = code_required && { setup_code: 'the setup.code of the configuration' }
  const body = quote(JSON.stringify({ email: 'you@example.org', password: 'at least 8 characters', ...code }))
  const overHttp = `\nor over HTTP:\n  curl -X POST ${url} -H 'content-type: application/json' -d ${body}`
  const where = page === undefined ? 'here' : `on the page, or here`
  return `\n\nNo user can sign in yet. Create the first administrator ${where}:\n  ${command}${url === undefined ? '' : overHttp}`
}

function quote(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`
}
