import type { Config } from '../../lib/config/parse.ts'
import { VERSION } from '../../lib/core/version.ts'
import { isLocalHost } from './addresses.ts'
import { judgeClock } from './database.ts'
import { type Finding, failure, note, ok, skipped, warning } from './finding.ts'
import { type Answer, ask, parseJson } from './http.ts'

/** Where a service answers, and what was found on the way. */
export interface FoundServer {
  findings: Finding[]
  /** Without a slash at its end; missing where no service was found. */
  url?: string
}

/** Looks for the service where people find it, else where it listens, and at what everybody may see of it. */
export async function checkServer({ server, metrics }: Config): Promise<FoundServer> {
  const local = server.port === 0 ? undefined : `http://${localHost(server.host)}:${server.port}`
  const url = server.public_url?.replace(/\/+$/, '') ?? local
  if (!url) {
    const why = 'server.port is 0 and there is no server.public_url: nobody knows where the service listens.'
    return { findings: [skipped('server', why, 'Set CHAT_SERVER__PORT to the port it has picked.')] }
  }
  const health = await ask(`${url}/healthz`)
  if (!isOurs(health)) return { findings: [await explain(url, local, health)] }
  const [ready, description, setup, page] = await Promise.all(
    ['/readyz', '/openapi.json', '/api/setup', '/metrics'].map((path) => ask(`${url}${path}`)),
  )
  const isPublic = !isLocalHost(new URL(url).hostname)
  const findings = [
    ok('server.reachable', `The service answers at ${url}.`),
    judgeReadiness(ready!),
    ...judgeVersion(description!),
    ...judgeDate(health),
    ...judgeHeaders(url, health),
  ]
  if (isPublic && parseJson(setup!.body ?? '')?.is_setup === false) {
    findings.push(
      failure(
        'server.setup_open',
        `Nobody has set the service up yet: whoever reaches ${url} first becomes its administrator.`,
        'Run "chat-server setup" now.',
      ),
    )
  }
  if (isPublic && !metrics.token && page!.status === 200) {
    findings.push(
      warning(
        'server.metrics_open',
        `${url}/metrics can be read by everybody.`,
        'Set metrics.token, or have the proxy refuse that path.',
      ),
    )
  }
  return { findings, url }
}

function isOurs(health: Answer): health is Answer & { status: number } {
  return health.status === 200 && parseJson(health.body)?.status === 'ok'
}

/** Why nobody of ours answers at `url`: it does not run, the way there is wrong, or somebody else is there. */
async function explain(url: string, local: string | undefined, health: Answer): Promise<Finding> {
  const behind = local && local !== url ? await ask(`${local}/healthz`) : undefined
  const listens = `The service itself answers at ${local}`
  if (health.failure !== undefined) {
    if (behind && isOurs(behind))
      return failure(
        'server.unreachable',
        `${url} cannot be reached: ${health.failure}. ${listens}.`,
        'Look at the name, the certificate, the firewall and the proxy of server.public_url.',
      )
    return skipped(
      'server.not_running',
      `No service answers at ${url}: ${health.failure}.`,
      'Start it with "chat-server serve" and run this again: what others see of it was not looked at.',
    )
  }
  const says = `${url}/healthz answers with status ${health.status}`
  if ([502, 503, 504].includes(health.status)) {
    const why =
      behind && isOurs(behind) ? `${listens}, so the proxy sends calls to another address` : 'Nobody is behind it'
    return failure(
      'server.bad_gateway',
      `${says}. ${why}.`,
      'Start the service, and have the proxy pass calls on to it.',
    )
  }
  return failure(
    'server.not_ours',
    `${says}, and it is not this service that does.`,
    'Have the proxy pass every path below server.public_url on as it is, or put server.public_url right.',
  )
}

function judgeReadiness(ready: Answer): Finding {
  if (ready.failure !== undefined)
    return failure('server.not_ready', `/readyz: ${ready.failure}.`, 'Look at the log of the service.')
  if (ready.status === 200) return ok('server.ready', 'The service says it can do its work.')
  const errors = (parseJson(ready.body)?.errors ?? []) as { path: string; message: string }[]
  const what = errors.map(({ path, message }) => `${path} ${message}`).join(', ') || `status ${ready.status}`
  return failure('server.not_ready', `The service is not ready: ${what}.`, 'Look at the log of the service.')
}

function judgeVersion(description: Answer): Finding[] {
  const said = parseJson(description.body ?? '')?.info
  const theirs = (said as { version?: string } | undefined)?.version
  if (!theirs || theirs === VERSION) return []
  return [
    note(
      'server.other_version',
      `The service is of version ${theirs}, this program of ${VERSION}.`,
      'Restart the service after an upgrade.',
    ),
  ]
}

/** The header has whole seconds, which are within what two clocks may differ by. */
function judgeDate({ headers }: { headers: Headers }): Finding[] {
  const date = Date.parse(headers.get('date') ?? '')
  return judgeClock('server.clock', Number.isNaN(date) ? undefined : date - Date.now())
}

function judgeHeaders(url: string, { headers }: { headers: Headers }): Finding[] {
  const lost = ['x-content-type-options', 'content-security-policy'].filter((name) => !headers.has(name))
  if (lost.length === 0) return []
  return [
    warning(
      'server.headers_lost',
      `Answers arrive from ${url} without ${lost.join(' and ')}.`,
      'Have the proxy pass on the headers of the service.',
    ),
  ]
}

function localHost(host: string): string {
  if (host === '0.0.0.0') return '127.0.0.1'
  if (host === '::') return '[::1]'
  return host.includes(':') ? `[${host}]` : host
}
