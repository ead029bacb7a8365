import type { Config } from '../api/config.ts'
import { accessProblems } from './access.ts'
import { assistantProblems } from './assistants.ts'
import { jwtProblems } from './auth.ts'
import { basePathProblems } from './base-path.ts'
import { mailProblems } from './mail.ts'
import { mcpProblems } from './mcp.ts'
import { oauthProblems } from './oauth.ts'
import { toolProblems } from './tools.ts'
import { usageProblems } from './usage.ts'

/** Why one key is refused; `key` is empty for the configuration as a whole. */
export interface ConfigProblem {
  key: string
  message: string
}

/** Values that are valid one by one but contradict each other. */
export function findContradictions(config: Config): ConfigProblem[] {
  const { backup, cluster, database, metrics, server, session } = config
  const problems = [
    ...basePathProblems(config),
    ...accessProblems(config),
    ...authProblems(config),
    ...oauthProblems(config),
    ...mailProblems(config),
    ...mcpProblems(config),
    ...usageProblems(config),
    ...assistantProblems(config),
    ...toolProblems(config),
  ]
  if (database.schema && database.url.startsWith('sqlite:')) {
    problems.push({ key: 'database.schema', message: 'is for PostgreSQL: with SQLite set database.prefix' })
  }
  if (backup.schedule !== undefined && backup.target === undefined) {
    problems.push({ key: 'backup.target', message: 'must be set for backup.schedule' })
  }
  if (backup.passphrase !== undefined && backup.recipient !== undefined) {
    problems.push({ key: 'backup.recipient', message: 'and backup.passphrase exclude each other' })
  }
  // The page would be public, although a token was meant to guard it.
  if (metrics.previous_tokens.length > 0 && metrics.token === undefined) {
    problems.push({ key: 'metrics.token', message: 'must be set beside metrics.previous_tokens' })
  }
  if (server.socket !== undefined && cluster.workers > 1) {
    problems.push({ key: 'server.socket', message: 'and cluster.workers exclude each other' })
  }
  // Otherwise each process is taken for dead between two reports, or when one is late.
  if (cluster.dead_seconds < 2 * cluster.beat_seconds) {
    problems.push({ key: 'cluster.dead_seconds', message: 'must be at least twice cluster.beat_seconds' })
  }
  if (server.headers_timeout_seconds > server.request_timeout_seconds) {
    problems.push({
      key: 'server.headers_timeout_seconds',
      message: 'must not be more than server.request_timeout_seconds',
    })
  }
  if (session.idle_seconds > session.absolute_seconds) {
    problems.push({ key: 'session.idle_seconds', message: 'must not be more than session.absolute_seconds' })
  }
  return [...problems, ...cookieProblems(config)]
}

const authProblems = ({ auth }: Config): ConfigProblem[] =>
  jwtProblems(auth.jwt).map(({ key, message }) => ({ key: `auth.jwt.${key}`, message }))

/** Names of cookies that are the same, or that browsers refuse with these attributes. */
function cookieProblems({ session, security: { cookie, csrf } }: Config): ConfigProblem[] {
  const problems: ConfigProblem[] = []
  if (session.session_cookie_name === csrf.cookie_name) {
    problems.push({ key: 'session.session_cookie_name', message: 'must differ from security.csrf.cookie_name' })
  }
  const binding = `${cookie.prefix}OAUTH_BINDING`
  const others = [`${session.session_cookie_name}-DEVICE`, binding, `__Host-${binding}`]
  if (others.includes(csrf.cookie_name)) {
    problems.push({ key: 'security.csrf.cookie_name', message: 'is the name of another cookie of the service' })
  }
  if (others.includes(session.session_cookie_name)) {
    problems.push({ key: 'session.session_cookie_name', message: 'is the name of another cookie of the service' })
  }
  if (cookie.same_site === 'none' && !cookie.secure) {
    problems.push({ key: 'security.cookie.same_site', message: 'none needs security.cookie.secure = true' })
  }
  const names = {
    'session.session_cookie_name': session.session_cookie_name,
    'security.csrf.cookie_name': csrf.cookie_name,
  }
  for (const [key, name] of Object.entries(names)) {
    if (!cookie.secure && /^__(host|secure|http)-/i.test(name)) {
      problems.push({ key, message: 'begins with a prefix that needs security.cookie.secure = true' })
    } else if (cookie.domain && /^__host-/i.test(name)) {
      problems.push({ key, message: 'begins with __Host-, which allows no security.cookie.domain' })
    } else if (name === csrf.cookie_name && /^__(host-)?http-/i.test(name)) {
      problems.push({
        key,
        message: 'begins with a prefix that hides the cookie from scripts, which must read this one',
      })
    }
  }
  return problems
}
