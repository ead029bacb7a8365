import * as v from 'valibot'
import type { Config } from '../api/config.ts'
import { MAX_LENGTH } from '../core/lengths.ts'
import { publicUrlOf } from './base-path.ts'
import { flag, integer, key, section, text } from './key.ts'
import { isSecureUrl } from './oauth.ts'

const MAX_SERVERS = 8

/** For the whole list and for each item. */
const SERVERS_FORM = `must be a list of at most ${MAX_SERVERS} https:// addresses without a query; http:// is for this machine only`

const issuers = v.pipe(
  v.array(
    v.pipe(
      v.string(SERVERS_FORM),
      v.maxLength(MAX_LENGTH.url, SERVERS_FORM),
      v.check((address) => isSecureUrl(address) && !address.includes('?'), SERVERS_FORM),
    ),
    SERVERS_FORM,
  ),
  v.maxLength(MAX_SERVERS, SERVERS_FORM),
)

const SIGN_IN_FORM =
  'must be an https:// address with {url} in it once, such as https://app.example.org/login?next={url}; http:// is for this machine only'

const signInUrl = v.pipe(
  text,
  v.maxLength(MAX_LENGTH.url, SIGN_IN_FORM),
  v.check(
    (address) => address.split('{url}').length === 2 && isSecureUrl(address.replace('{url}', 'url')),
    SIGN_IN_FORM,
  ),
)

/** How users connect agents and AI clients. */
export const McpSection = section({
  authorization_servers: key(
    issuers,
    [] as string[],
    'Issuers of an authorization server of your own, which clients of /mcp are sent to; ports.identity judges its tokens.',
  ),
  oauth: section({
    enabled: key(
      flag,
      false,
      'Whether the service is an authorization server for /mcp, so that users connect clients by a page. It needs features.mcp, and server.public_url with https.',
    ),
    registration: key(
      flag,
      false,
      'Whether clients may register themselves at /oauth/register: for those that have no document of their own.',
    ),
    sign_in_url: key(
      signInUrl,
      undefined,
      'With ports.identity: the page on which users sign in, with {url} in its address for where they go on.',
    ),
    access_seconds: key(integer(60, 86_400), 3600, 'Life of an access token.', { unit: 'seconds' }),
    refresh_days: key(integer(1, 365), 30, 'Time without use after which an application must ask its user again.', {
      unit: 'days',
    }),
    grant_days: key(integer(1, 3650), 365, 'Time after which an application must ask its user again in any case.', {
      unit: 'days',
    }),
  }),
})

/** An authorization server that cannot work. */
export function mcpProblems(config: Config): { key: string; message: string }[] {
  const { features, mcp } = config
  const address = publicUrlOf(config)
  if (mcp.authorization_servers.length > 0 && address === undefined)
    return [{ key: 'server.public_url', message: 'must be set for mcp.authorization_servers' }]
  if (!mcp.oauth.enabled) return []
  return [
    ...(features.mcp ? [] : [{ key: 'features.mcp', message: 'must be true for mcp.oauth.enabled' }]),
    ...(address !== undefined && isSecureUrl(address)
      ? []
      : [
          {
            key: 'server.public_url',
            message: 'must be an https:// address, or one of this machine, for mcp.oauth.enabled',
          },
        ]),
    ...(mcp.authorization_servers.length === 0
      ? []
      : [{ key: 'mcp.authorization_servers', message: 'and mcp.oauth.enabled exclude each other' }]),
  ]
}
