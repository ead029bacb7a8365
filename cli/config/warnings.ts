import { isIPv4 } from 'node:net'
import { type Config, ConfigError } from '../../lib/config/parse.ts'

/** Something that is allowed, and seldom meant. */
export interface Doubt {
  /** Stable, for programs that read it. */
  code: string
  message: string
  remedy: string
}

/** What is allowed, and seldom meant. */
export function warningsOf(config: Config): string[] {
  return doubtsOf(config).map(({ message }) => message)
}

/** The same, with what to do about each. */
export function doubtsOf({ server, security, features, well_known }: Config): Doubt[] {
  const { public_url = '' } = server
  const doubts: [applies: boolean, doubt: Doubt][] = [
    [
      !isLoopback(server.host) && !security.cookie.secure,
      {
        code: 'cookie.not_secure',
        message: `server.host = ${server.host} is reachable from other machines while security.cookie.secure is false.`,
        remedy: 'Put a proxy with HTTPS in front, listen on 127.0.0.1, and set security.cookie.secure = true.',
      },
    ],
    [
      isPlainHttp(public_url),
      {
        code: 'public_url.http',
        message: `server.public_url = ${public_url} sends passwords and sessions in the clear: use https.`,
        remedy: 'Put a proxy with HTTPS in front and give its address.',
      },
    ],
    [
      /^https:/i.test(public_url) && !security.cookie.secure,
      {
        code: 'cookie.not_secure_over_https',
        message:
          'security.cookie.secure is false although server.public_url is https: the cookies go over plain HTTP as well.',
        remedy: 'Set security.cookie.secure = true.',
      },
    ],
    [
      server.trusted_proxies.some((range) => range.endsWith('/0')),
      {
        code: 'trusted_proxies.everybody',
        message:
          'server.trusted_proxies trusts every address: any client may write what it likes into X-Forwarded-For.',
        remedy: 'Name the addresses of your proxies and nothing else.',
      },
    ],
    [
      !security.csrf.enabled,
      {
        code: 'csrf.disabled',
        message: 'security.csrf.enabled is false: any web page may act for whoever is signed in.',
        remedy: 'Set security.csrf.enabled = true, unless no browser signs in.',
      },
    ],
    ...server.cors.allowed_origins.map((origin): [boolean, Doubt] => [
      isPlainHttp(origin),
      {
        code: 'cors.http_origin',
        message: `server.cors.allowed_origins has ${origin}: whoever is on the way can change its pages, and act for their visitors.`,
        remedy: 'Serve those pages over HTTPS and name that origin.',
      },
    ]),
    [
      security.password.bcrypt_cost < 10,
      {
        code: 'password.cheap_hashes',
        message: 'security.password.bcrypt_cost is below 10: stolen hashes are soon guessed.',
        remedy: 'Set security.password.bcrypt_cost to 12; hashes of before are renewed as people sign in.',
      },
    ],
    [
      well_known.entries.length > 0 && !features.well_known,
      {
        code: 'well_known.off',
        message: 'well_known.entries has documents, and none is served: features.well_known is false.',
        remedy: 'Set features.well_known = true, or take the documents out.',
      },
    ],
  ]
  return doubts.flatMap(([applies, doubt]) => (applies ? doubt : []))
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
