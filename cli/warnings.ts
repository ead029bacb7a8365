import { isIPv4 } from 'node:net'
import { type Config, ConfigError } from '../lib/config.ts'

/** What is allowed, and seldom meant, in a service that others can reach. */
export function warningsOf({ server, security }: Config): string[] {
  const { public_url = '' } = server
  const checks: [applies: boolean, warning: string][] = [
    [
      !isLoopback(server.host) && !security.cookie.secure,
      `server.host = ${server.host} is reachable from other machines while security.cookie.secure is false.`,
    ],
    [
      isPlainHttp(public_url),
      `server.public_url = ${public_url} sends passwords and sessions in the clear: use https.`,
    ],
    [
      /^https:/i.test(public_url) && !security.cookie.secure,
      'security.cookie.secure is false although server.public_url is https: the cookies go over plain HTTP as well.',
    ],
    [
      server.trusted_proxies.some((range) => range.endsWith('/0')),
      'server.trusted_proxies trusts every address: any client may write what it likes into X-Forwarded-For.',
    ],
    [!security.csrf.enabled, 'security.csrf.enabled is false: any web page may act for whoever is signed in.'],
    ...server.cors.allowed_origins.map((origin): [boolean, string] => [
      isPlainHttp(origin),
      `server.cors.allowed_origins has ${origin}: whoever is on the way can change its pages, and act for their visitors.`,
    ]),
    [security.password.bcrypt_cost < 10, 'security.password.bcrypt_cost is below 10: stolen hashes are soon guessed.'],
  ]
  return checks.flatMap(([applies, warning]) => (applies ? warning : []))
}

/** @throws ConfigError with every warning, under `--strict` */
export function refuseIfStrict(warnings: string[], { strict }: { strict?: boolean | undefined }): void {
  if (strict && warnings.length > 0) {
    throw new ConfigError(warnings.map((message) => ({ key: '--strict', message })))
  }
}

/** Whether only this machine can connect to `host`. */
export function isLoopback(host: string): boolean {
  return host === 'localhost' || host === '::1' || (isIPv4(host) && host.startsWith('127.'))
}

/** Whether `address` is reached without encryption, and not from this machine only. */
function isPlainHttp(address: string): boolean {
  if (!/^http:/i.test(address)) return false
  const { hostname } = new URL(address)
  return !isLoopback(hostname.replace(/^\[|\]$/g, '')) && !hostname.endsWith('.localhost')
}
