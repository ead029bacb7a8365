import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { connect } from 'node:net'
import { join } from 'node:path'
import Database from 'better-sqlite3'
import { freePort } from '../../support/free-port.ts'
import { joinSteps, messageTemplate, streamHeader } from '../load/xmpp.ts'
import { type Server, startProgram, temporaryFolder } from './child.ts'
import { numbers } from './people.ts'
import { type RoomPeer, withAudience } from './room-peer.ts'

/** Debian's package: the script has the path of the code, and the archive needs a second package. */
const SCRIPT = '/usr/sbin/ejabberdctl'
const ERLANG = '/usr/lib/erlang/lib'

/** Users of this domain sign in with any password; their rooms are on the second one. */
const DOMAIN = 'localhost'
const ROOMS = 'conference.localhost'

const ANSWER_TIMEOUT_MS = 300

/** The room that all join. */
const ROOM = `bench@${ROOMS}`

function ejabberdMissing(): string | undefined {
  try {
    librariesOf(readFileSync(SCRIPT, 'utf8'))
  } catch {
    return 'ejabberd is not installed (apt-get install --no-install-recommends ejabberd erlang-p1-sqlite3)'
  }
  const hasArchive = readdirSync(ERLANG).some((name) => name.startsWith('p1_sqlite3-'))
  return hasArchive ? undefined : 'the archive of ejabberd needs the package erlang-p1-sqlite3'
}

function librariesOf(script: string): string {
  const path = /^ERL_LIBS='?([^'\n]+)'?$/m.exec(script)?.[1]
  if (!path) throw new Error(`${SCRIPT} has no path of the code`)
  return path
}

interface Ejabberd extends Server {
  /** @returns the number of messages in the archive */
  countArchived(): number
}

/**
 * A private instance, with its data in a temporary folder. It runs without a node name, so that it needs no daemon of
 * Erlang's beside it.
 */
async function startEjabberd(): Promise<Ejabberd> {
  const folder = temporaryFolder()
  const archive = join(folder, 'archive.db')
  const port = await freePort()
  const config = join(folder, 'ejabberd.yml')
  writeFileSync(config, configuration(archive, port))
  const environment = {
    HOME: folder,
    ERL_LIBS: librariesOf(readFileSync(SCRIPT, 'utf8')),
    ERL_CRASH_DUMP: join(folder, 'crash'),
    EJABBERD_CONFIG_PATH: config,
    EJABBERD_LOG_PATH: join(folder, 'ejabberd.log'),
  }
  const args = ['-noinput', '+K', 'true', '-mnesia', 'dir', JSON.stringify(join(folder, 'spool')), '-s', 'ejabberd']
  const server = await startProgram('erl', args, environment, async () => {
    return (await isServing(port)) ? port : undefined
  })
  return { ...server, countArchived: () => countArchived(archive) }
}

/** The messages in the archive. */
function countArchived(archive: string): number {
  const db = new Database(archive, { readonly: true })
  try {
    return db.prepare<[], { count: number }>('SELECT count(*) AS count FROM archive').get()!.count
  } finally {
    db.close()
  }
}

/**
 * As installed, but without the limits of what a user may send, with a backlog for all readers who connect at once, and
 * with each message of a room in the archive.
 */
function configuration(archive: string, port: number): string {
  return `
hosts: [${DOMAIN}]
loglevel: 2
auth_method: anonymous
anonymous_protocol: login_anon
sql_type: sqlite
sql_database: ${JSON.stringify(archive)}
listen:
  - port: ${port}
    ip: 127.0.0.1
    backlog: 256
    module: ejabberd_c2s
    access: all
    shaper: none
modules:
  mod_mam:
    db_type: sql
    default: always
  mod_muc:
    host: ${ROOMS}
    access: all
    default_room_options:
      mam: true
      persistent: true
`
}

/** A writer of the room posts on the stream on which it reads. */
export const ejabberd: RoomPeer = {
  name: 'ejabberd',
  missing: ejabberdMissing,
  open: async (readers) => {
    const server = await startEjabberd()
    const target = { pid: server.pid, port: server.port, post: messageTemplate(ROOM), posts_on_streams: true }
    const steps = numbers(readers).map((n) => joinSteps(DOMAIN, ROOM, `reader-${n}`))
    return { ...(await withAudience(server, target, steps)), countStored: server.countArchived }
  },
}

/** Whether a stream opens. While ejabberd starts, it accepts connections that it never answers. */
function isServing(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1', () => socket.write(streamHeader(DOMAIN)))
    const end = (isServing: boolean) => {
      socket.destroy()
      resolve(isServing)
    }
    socket.setTimeout(ANSWER_TIMEOUT_MS, () => end(false))
    socket
      .once('data', () => end(true))
      .once('error', () => end(false))
      .once('close', () => end(false))
  })
}
