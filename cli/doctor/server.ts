import { resolve } from 'node:path'
import { publicUrlOf } from '../../lib/config/base-path.ts'
import type { Config } from '../../lib/config/parse.ts'
import { isThisMachine } from '../../lib/core/addresses.ts'
import { currentMillis } from '../../lib/core/time.ts'
import { VERSION } from '../../lib/core/version.ts'
import { judgeClock } from './database.ts'
import { type Finding, failure, note, ok, skipped, warning } from './finding.ts'
import { type Answer, ask, parseJson } from './http.ts'

/** The URL at which a service responds, and the findings on the way. */
export interface FoundServer {
  findings: Finding[]
  /** Without a trailing slash; missing if no service was found. */
  url?: string
}

/** Where the service of this machine listens; `undefined` if its port is unknown. */
export function toLocalUrl({ server }: Pick<Config, 'server'>): string | undefined {
  if (server.socket !== undefined) return `unix:${resolve(server.socket)}:`
  return server.port === 0 ? undefined : `http://${localHost(server.host)}:${server.port}`
}

/** An address as text for people: without the colon that ends the path of a socket. */
export function shownUrl(url: string | undefined): string {
  return url?.replace(/:$/, '') ?? ''
}

/** Looks for the service at its public address, else where it listens, and checks its public endpoints. */
export async function checkServer(config: Config): Promise<FoundServer> {
  const { server, metrics } = config
  const local = toLocalUrl({ server })
  const url = publicUrlOf(config) ?? local
  if (!url) {
    const reason = 'server.port is 0 and server.public_url is not set: the port of the service is unknown.'
    return { findings: [skipped('server', reason, 'Set CHAT_SERVER__PORT to the port that the service uses.')] }
  }
  const health = await ask(`${url}/healthz`)
  if (!isOurs(health)) return { findings: [await explainNoService(url, local, health)] }
  const [ready, description, setup, page] = await Promise.all(
    ['/readyz', '/openapi.json', '/api/setup', '/metrics'].map((path) => ask(`${url}${path}`)),
  )
  const isPublic = !isThisMachine(new URL(url).hostname)
  const findings = [
    ok('server.reachable', `The service responds at ${url}.`),
    judgeReadiness(ready!),
    ...judgeVersion(description!),
    ...judgeDate(health),
    ...judgeHeaders(url, health),
  ]
  if (isPublic && parseJson(setup!.body ?? '')?.is_setup === false) {
    findings.push(
      failure(
        'server.setup_open',
        `The service is not set up yet: the first caller of ${url} becomes its administrator.`,
        'Run "chat-server setup" now.',
      ),
    )
  }
  if (isPublic && !metrics.token && page!.status === 200) {
    findings.push(
      warning(
        'server.metrics_open',
        `${url}/metrics is public.`,
        'Set metrics.token, or let the proxy refuse that path.',
      ),
    )
  }
  return { findings, url }
}

function isOurs(health: Answer): health is Answer & { status: number } {
  return health.status === 200 && parseJson(health.body)?.status === 'ok'
}

/** Why the service does not respond at `url`: it does not run, the proxy is wrong, or another program responds. */
async function explainNoService(url: string, local: string | undefined, health: Answer): Promise<Finding> {
  const behind = local && local !== url ? await ask(`${local}/healthz`) : undefined
  const listens = `The service itself responds at ${shownUrl(local)}`
  if (health.failure !== undefined) {
    if (behind && isOurs(behind))
      return failure(
        'server.unreachable',
        `${url} cannot be reached: ${health.failure}. ${listens}.`,
        'Check the name, the certificate, the firewall and the proxy of server.public_url.',
      )
    return skipped(
      'server.not_running',
      `No service responds at ${url}: ${health.failure}.`,
      'Start it with "chat-server serve" and run this again: its public endpoints were not checked.',
    )
  }
  const result = `${url}/healthz returns status ${health.status}`
  if ([502, 503, 504].includes(health.status)) {
    const reason =
      behind && isOurs(behind)
        ? `${listens}, so the proxy forwards requests to another address`
        : 'No service runs behind it'
    return failure(
      'server.bad_gateway',
      `${result}. ${reason}.`,
      'Start the service, and let the proxy forward requests to it.',
    )
  }
  return failure(
    'server.not_ours',
    `${result}, and it is not this service that responds.`,
    'Let the proxy forward every path below server.public_url unchanged, or correct server.public_url.',
  )
}

function judgeReadiness(ready: Answer): Finding {
  if (ready.failure !== undefined)
    return failure('server.not_ready', `/readyz: ${ready.failure}.`, 'Read the log of the service.')
  if (ready.status === 200) return ok('server.ready', 'The service is ready.')
  const errors = (parseJson(ready.body)?.errors ?? []) as { path: string; message: string }[]
  const what = errors.map(({ path, message }) => `${path} ${message}`).join(', ') || `status ${ready.status}`
  return failure('server.not_ready', `The service is not ready: ${what}.`, 'Read the log of the service.')
}

function judgeVersion(description: Answer): Finding[] {
  const info = parseJson(description.body ?? '')?.info
  const theirs = (info as { version?: string } | undefined)?.version
  if (!theirs || theirs === VERSION) return []
  return [
    note(
      'server.other_version',
      `The service has version ${theirs}, this program ${VERSION}.`,
      'Restart the service after an upgrade.',
    ),
  ]
}

/** The header has whole seconds, which is precise enough for this check. */
function judgeDate({ headers }: { headers: Headers }): Finding[] {
  const date = Date.parse(headers.get('date') ?? '')
  return judgeClock('server.clock', Number.isNaN(date) ? undefined : date - currentMillis())
}

function judgeHeaders(url: string, { headers }: { headers: Headers }): Finding[] {
  const lost = ['x-content-type-options', 'content-security-policy'].filter((name) => !headers.has(name))
  if (lost.length === 0) return []
  return [
    warning(
      'server.headers_lost',
      `Responses from ${url} arrive without ${lost.join(' and ')}.`,
      'Let the proxy forward the headers of the service.',
    ),
  ]
}

function localHost(host: string): string {
  if (host === '0.0.0.0') return '127.0.0.1'
  if (host === '::') return '[::1]'
  return host.includes(':') ? `[${host}]` : host
}
