import { existsSync } from 'node:fs'
import { dirname, join, relative, resolve } from 'node:path'
import { filesPlace } from '../../lib/config/attachments.ts'
import { basePathOf, publicUrlOf } from '../../lib/config/base-path.ts'
import type { Config } from '../../lib/config/parse.ts'
import { addressText, isAnyAddress } from '../../lib/http/node/listen.ts'
import { sqliteFile } from '../doctor/files.ts'
import { drainSeconds } from '../drain.ts'

/** What the written files take from the configuration. */
export interface Facts {
  config: Config
  /** The configuration file, if there is one. */
  file?: string | undefined
  /** The folder into which the files are written. */
  output: string
  /** The folder of this package. */
  root: string
  /** Node, and the path by which this program was called. */
  program: string[]
  /** The addresses of the nodes, where the configuration does not have all of them. */
  nodes?: string[] | undefined
  /** Whether the service belongs to the user that runs the command, not to the machine. */
  user?: boolean
}

/** The folder of the service under systemd, which the unit lets it write to. */
const HOME = '/var/lib/chat-server'

/** The port of the examples, if the configuration leaves the choice to the system. */
const DEFAULT_PORT = 8080

/** What each proxy writes before the path of a Unix domain socket. */
const SOCKET_FORMS = { nginx: 'unix:', caddy: 'unix/', haproxy: 'unix@' } as const

/** Where a proxy on the same machine reaches the service. */
export function toUpstream({ server: { host, port, socket } }: Config, proxy?: keyof typeof SOCKET_FORMS): string {
  if (socket !== undefined && proxy) return SOCKET_FORMS[proxy] + resolve(socket)
  return addressText({ host: isAnyAddress(host) ? '127.0.0.1' : host, port: port || DEFAULT_PORT })
}

/** The nodes behind a balancer: as named, else that of the configuration and, on PostgreSQL, one more on this machine. */
export function listUpstreamNodes({ config, nodes }: Facts): string[] {
  if (nodes) return nodes
  const { server, cluster } = config
  const first = toUpstream(config, 'haproxy')
  // Workers share the port.
  if (isSingle(config) || cluster.workers > 1 || server.socket !== undefined) return [first]
  const port = server.port || DEFAULT_PORT
  return [first, toUpstream({ ...config, server: { ...server, port: port < 65_535 ? port + 1 : port - 1 } })]
}

/** The address of clients. Without `server.public_url`, that of the example. */
export function toPublicUrl(config: Config): URL {
  return new URL(publicUrlOf(config) ?? `https://chat.example.org${basePathOf(config)}`)
}

/** Seconds for which a proxy may keep an idle connection: less than the service does. */
export function keepAliveSeconds({ server }: Config): number {
  return Math.max(1, server.keep_alive_timeout_seconds - 1)
}

/** Seconds without a byte after which a proxy may give a stream up. */
export function idleSeconds({ sse }: Config): number {
  return 3 * sse.heartbeat_seconds
}

/** The folder of the database, where it is not the one in which the service starts. */
export function databaseFolder({ database }: Config): string | undefined {
  const [, path] = /^sqlite:(\/.+)$/.exec(database.url) ?? []
  return path === undefined ? undefined : join(path, '..')
}

function filesFolderOf(config: Config): string | undefined {
  return config.attachments.enabled === false ? undefined : /^fs:(.+)$/.exec(filesPlace(config))?.[1]
}

/** The folder directly in /run that has the socket: systemd recreates it at each start. */
export function runtimeFolder({ server }: Config): string | undefined {
  return /^\/run\/([\w.-]+)\/[^/]+$/.exec(server.socket ?? '')?.[1]
}

/** The folders outside /var/lib/chat-server into which the service writes: the database, files, backups, the socket. */
export function writableFolders(config: Config): string[] {
  const { socket } = config.server
  const socketFolder = socket === undefined || runtimeFolder(config) ? undefined : dirname(socket)
  const places = [databaseFolder(config), filesFolderOf(config), config.backup.target, socketFolder]
  const folders = places.flatMap((place) => (place?.startsWith('/') ? resolve(place) : []))
  const outer = [HOME, ...folders]
  const isOutside = (folder: string) => folder !== HOME && !outer.some((parent) => folder.startsWith(`${parent}/`))
  return [...new Set(folders)].filter(isOutside)
}

/** Seconds after which a service that stops may be killed: `serve` itself kills workers that hang before. */
export function stopTimeout(config: Config, delay?: number): number {
  return 20 + drainSeconds(config, delay)
}

/** Whether only one process may serve. */
export function isSingle({ database }: Config): boolean {
  return sqliteFile(database.url) !== undefined || database.url.startsWith('sqlite:')
}

/** The sources of this program, from which an image is built; a folder beside the files where it is installed without them. */
export function sourceFolder({ root, output }: Facts): string {
  if (!existsSync(join(root, 'lib', 'index.ts'))) return './chat-server'
  return relative(output, root) || '.'
}
