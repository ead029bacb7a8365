import { type Config, ConfigError } from '../../lib/config/parse.ts'
import { OF_PERSONS } from '../../lib/core/access.ts'
import { isLoopback, isThisMachine } from '../../lib/core/addresses.ts'
import type { FindingCode } from '../doctor/findings.ts'

/** A setting that is allowed but seldom intended. */
export interface ConfigWarning {
  code: FindingCode
  message: string
  remedy: string
}

/** The messages of {@link configWarnings}. */
export function listWarnings(config: Config): string[] {
  return configWarnings(config).map(({ message }) => message)
}

/** The settings that are allowed but seldom intended, each with a remedy. */
export function configWarnings({ server, security, features, well_known, access }: Config): ConfigWarning[] {
  const { public_url = '' } = server
  const warnings: [applies: boolean, warning: ConfigWarning][] = [
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
        message: `server.public_url = ${public_url} sends passwords and sessions unencrypted: use https.`,
        remedy: 'Put a proxy with HTTPS in front and set its address.',
      },
    ],
    [
      /^https:/i.test(public_url) && !security.cookie.secure,
      {
        code: 'cookie.not_secure_over_https',
        message:
          'security.cookie.secure is false although server.public_url is https: browsers send the cookies over plain HTTP as well.',
        remedy: 'Set security.cookie.secure = true.',
      },
    ],
    [
      server.trusted_proxies.some((range) => range.endsWith('/0')),
      {
        code: 'trusted_proxies.everybody',
        message: 'server.trusted_proxies trusts every address: any client can forge X-Forwarded-For.',
        remedy: 'List only the addresses of your proxies.',
      },
    ],
    [
      !security.csrf.enabled,
      {
        code: 'csrf.disabled',
        message: 'security.csrf.enabled is false: any web page can act for a signed-in user.',
        remedy: 'Set security.csrf.enabled = true, unless no browser signs in.',
      },
    ],
    ...server.cors.allowed_origins.map((origin): [boolean, ConfigWarning] => [
      isPlainHttp(origin),
      {
        code: 'cors.http_origin',
        message: `server.cors.allowed_origins has ${origin}: an attacker on the network can change its pages and act for their visitors.`,
        remedy: 'Serve those pages over HTTPS and list that origin.',
      },
    ]),
    [
      security.password.bcrypt_cost < 10,
      {
        code: 'password.cheap_hashes',
        message: 'security.password.bcrypt_cost is below 10: stolen hashes are easy to crack.',
        remedy: 'Set security.password.bcrypt_cost to 12; older hashes are renewed as users sign in.',
      },
    ],
    [
      well_known.entries.length > 0 && !features.well_known,
      {
        code: 'well_known.off',
        message: 'well_known.entries has documents, but none is served: features.well_known is false.',
        remedy: 'Set features.well_known = true, or remove the documents.',
      },
    ],
    ...OF_PERSONS.flatMap((right): [boolean, ConfigWarning][] => [
      [access[right] === 'everyone', refusedToGuests(`access.${right} = everyone`, 'members')],
      [access.roles.guest?.[right] === true, refusedToGuests(`access.roles.guest.${right} = true`, 'false')],
    ]),
  ]
  return warnings.flatMap(([applies, warning]) => (applies ? warning : []))
}

/** A setting that gives guests what no guest has. */
const refusedToGuests = (setting: string, instead: string): ConfigWarning => ({
  code: 'access.guest_rights',
  message: `${setting} gives guests nothing: no guest has this right.`,
  remedy: `Leave it out, or set it to ${instead}.`,
})

/** @throws ConfigError with every warning, under `--strict` */
export function refuseIfStrict(warnings: string[], { strict }: { strict?: boolean | undefined }): void {
  if (strict && warnings.length > 0) {
    throw new ConfigError(warnings.map((message) => ({ key: '--strict', message })))
  }
}

/** Whether `address` is reached without encryption, and not from this machine only. */
function isPlainHttp(address: string): boolean {
  if (!/^http:/i.test(address)) return false
  const { hostname } = new URL(address)
  return !isThisMachine(hostname)
}
