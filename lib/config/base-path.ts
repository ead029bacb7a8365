import * as v from 'valibot'
import type { Config } from '../api/config.ts'
import { text } from './key.ts'

const MAX_PATH_LENGTH = 200

/** A path as `/chat`: plainly spelled, so that it is the same in proxies, hosts and cookies. */
export const basePath = v.pipe(
  text,
  v.check(
    (path) => path.length <= MAX_PATH_LENGTH && /^(?:\/(?!\.{1,2}(?:\/|$))[\w.~-]+)+$/.test(path),
    'must be a path as /chat or /api/chat, of letters, digits and -._~, without a slash at its end',
  ),
)

/** The path below which clients reach the service: `/chat`, or '' for a host of its own. */
export function basePathOf({ server }: Config): string {
  return server.base_path ?? pathOf(server.public_url)
}

/** The address below which clients reach the service, without a slash at its end; `undefined` if it is not configured. */
export function publicUrlOf(config: Config): string | undefined {
  const { public_url } = config.server
  return public_url && new URL(public_url).origin + basePathOf(config)
}

/** What stands before the path of a link: as {@link publicUrlOf}, or only the base path where no public URL is configured. */
export function linkBaseOf(config: Config): string {
  return publicUrlOf(config) ?? basePathOf(config)
}

/** The URL of the endpoint of MCP; only its path where no public URL is configured. */
export function mcpUrlOf(config: Config): string {
  return `${linkBaseOf(config)}/mcp`
}

/** A base path beside a public URL with another one. */
export function basePathProblems({ server }: Config): { key: string; message: string }[] {
  const other = pathOf(server.public_url)
  if (server.base_path === undefined || other === '' || other === server.base_path) return []
  return [{ key: 'server.base_path', message: `must be ${other}, the path of server.public_url, or be left out` }]
}

function pathOf(url: string | undefined): string {
  return url === undefined ? '' : new URL(url).pathname.replace(/\/+$/, '')
}
