import { isIPv4 } from 'node:net'
import { type Config, ConfigError } from '../lib/config.ts'

/** What is allowed, and seldom meant, in a service that others can reach. */
export function warningsOf({ server, security }: Config): string[] {
  const checks: [applies: boolean, warning: string][] = [
    [
      !isLoopback(server.host) && !security.cookie.secure,
      `server.host = ${server.host} is reachable from other machines while security.cookie.secure is false.`,
    ],
    [
      server.trusted_proxies.some((range) => range.endsWith('/0')),
      'server.trusted_proxies trusts every address: any client may write what it likes into X-Forwarded-For.',
    ],
    [!security.csrf.enabled, 'security.csrf.enabled is false: any web page may act for whoever is signed in.'],
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
