import { spawnSync } from 'node:child_process'
import { readdirSync, renameSync, writeFileSync } from 'node:fs'
import { connect } from 'node:net'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import pg from 'pg'
import { settle } from '../fault/people.ts'
import { mountSmall } from '../fault/storage/mounts.ts'
import { serve } from '../fault/storage/serving.ts'
import { openHandle } from '../storage/handles.ts'
import { clockOf, interrupt, post, sqliteIn, stopServer } from './means.ts'
import { Missing, type Stage, waitUntil } from './stage.ts'

/** What goes wrong, and the alerts that must fire then. It throws {@link Missing} where it cannot be tried. */
export interface Outage {
  alerts: string[]
  /** Seconds that stand for a minute of the rules, if one is too short. */
  second?: number
  /** Part of the short run. */
  is_short?: true
  begin(stage: Stage): Promise<void>
}

/** The outages, each by what an operator would call it. */
export const OUTAGES: Record<string, Outage> = {
  'the process is killed': {
    alerts: ['ChatDown'],
    is_short: true,
    async begin(stage) {
      await (await stage.serve(sqliteIn(stage.folder))).kill()
    },
  },
  'PostgreSQL is down, and no user is active': {
    alerts: ['ChatNotReady', 'ChatStorageRefusesWrites', 'ChatJobFailing'],
    is_short: true,
    async begin(stage) {
      const { cluster, url } = await stage.postgres()
      await stage.serve(url)
      await stopServer(stage, cluster)
    },
  },
  'PostgreSQL is down while users post': {
    alerts: ['ChatFailing'],
    async begin(stage) {
      const { cluster, url } = await stage.postgres()
      await post(stage, await stage.serve(url))
      await stopServer(stage, cluster)
    },
  },
  'the folder of the files is not mounted, and no user is active': {
    alerts: ['ChatFilesMissing'],
    async begin(stage) {
      const files = join(stage.folder, 'files')
      const { base_url } = await stage.serve(sqliteIn(stage.folder), { CHAT_ATTACHMENTS__STORAGE: `fs:${files}` })
      const place = await settle(base_url)
      const ada = await place.signIn()
      const file = new File(['a text'], 'a.txt')
      const { id } = await ada.upload(place.conversation_id, file)
      await ada.messages.postRoot(place.conversation_id, { content: 'with a file', attachment_ids: [id] })
      renameSync(files, `${files}-elsewhere`)
    },
  },
  'the clock is two days ahead, and backups fail': {
    alerts: ['ChatClockWrong', 'ChatBackupLate'],
    async begin(stage) {
      const { env, set } = clockOf(stage)
      const target = join(stage.folder, 'backups')
      writeFileSync(target, 'not a folder')
      const service = await stage.serve(sqliteIn(stage.folder), {
        ...env,
        CHAT_BACKUP__SCHEDULE: '1h',
        CHAT_BACKUP__TARGET: target,
      })
      await waitUntil(async () => service.log().includes('A backup failed'))
      set('+2d')
    },
  },
  'the disk of SQLite is small, and full': {
    alerts: ['ChatDiskLow', 'ChatStorageFull'],
    is_short: true,
    async begin(stage) {
      const mount = mountSmall(112)
      if (!mount) throw new Missing('nothing may be mounted')
      stage.onClose(mount.remove)
      await post(stage, await stage.serve(sqliteIn(mount.path)), 4)
      stage.onClose(mount.fill())
    },
  },
  'the disk of PostgreSQL is full': {
    alerts: ['ChatStorageFull'],
    async begin(stage) {
      const mount = mountSmall(176)
      if (!mount) throw new Missing('nothing may be mounted')
      stage.onClose(mount.remove)
      const { url } = await stage.postgres(mount.path)
      await post(stage, await stage.serve(url), 4, 'a longer text '.repeat(500))
      stage.onClose(mount.fill())
    },
  },
  'another program holds the lock of SQLite': {
    alerts: ['ChatWritesSlow', 'ChatSlow'],
    async begin(stage) {
      await post(stage, await stage.serve(sqliteIn(stage.folder)), 4)
      const other = await openHandle(join(stage.folder, 'chat.db'))
      stage.onClose(() => other.close())
      stage.repeat(async () => {
        other.exec('BEGIN IMMEDIATE')
        await sleep(1_800)
        other.exec('ROLLBACK')
        await sleep(50)
      })
    },
  },
  'other programs take the cores': {
    alerts: ['ChatEventLoopLate'],
    async begin(stage) {
      interrupt(stage, await stage.serve(sqliteIn(stage.folder)), 500, 500)
    },
  },
  'a node hears late of what another one stored': {
    alerts: ['ChatDeliveryLate'],
    // A process that is stopped is not scraped: some of the scrapes are missing.
    second: 3,
    async begin(stage) {
      const { url } = await stage.postgres()
      const watched = await stage.serve(url)
      const other = await serve(url)
      stage.onClose(() => other.kill())
      const place = await settle(other.base_url)
      const [ada, reader] = [await place.signIn(), await place.signInAt(watched.base_url)]
      stage.repeat(async () => {
        for await (const _ of reader.events.follow(place.conversation_id, { signal: stage.signal }));
      })
      stage.repeat(async () => {
        await ada.messages.postRoot(place.conversation_id, { content: 'hello' })
        await sleep(100)
      })
      interrupt(stage, watched, 1_800, 700)
    },
  },
  'the model server is down': {
    alerts: ['ChatAssistantFailing'],
    async begin(stage) {
      const { base_url } = await stage.serve(sqliteIn(stage.folder), {
        CHAT_ASSISTANT__PROVIDER: 'openai',
        CHAT_ASSISTANT__BASE_URL: 'http://127.0.0.1:9/v1',
        CHAT_ASSISTANT__MODEL: 'none',
      })
      const place = await settle(base_url)
      const ada = await place.signIn()
      stage.repeat(async () => {
        await ada.messages.postRoot(place.conversation_id, { content: 'Why?', role: 'assistant' })
        await sleep(200)
      })
    },
  },
  'a caller sends far too much': {
    alerts: ['ChatLimitsRefuse'],
    async begin(stage) {
      const { base_url } = await stage.serve(sqliteIn(stage.folder), { CHAT_RATE_LIMITS__DEFAULT_RPS: '2' })
      const cookie = await (await settle(base_url)).cookie()
      stage.repeat(async () => {
        await (await fetch(`${base_url}/api/conversations`, { headers: { cookie } })).text()
        await sleep(20)
      })
    },
  },
  'a caller keeps a core busy': {
    alerts: ['ChatBusy'],
    async begin(stage) {
      const { base_url } = await stage.serve(sqliteIn(stage.folder))
      const cookie = await (await settle(base_url)).cookie()
      stage.repeat(async () => {
        await (await fetch(`${base_url}/api/conversations`, { headers: { cookie } })).text()
      }, 64)
    },
  },
  'readers do not read': {
    alerts: ['ChatReadersDropped'],
    async begin(stage) {
      const service = await stage.serve(sqliteIn(stage.folder), { CHAT_SSE__MAX_BUFFER_BYTES: '65536' })
      const place = await settle(service.base_url)
      const [cookie, ada] = [await place.cookie(), await place.signIn()]
      stage.repeat(async () => {
        const socket = connect(service.port, '127.0.0.1').on('error', () => {})
        socket.write(
          `GET /api/stream/conversations/${place.conversation_id} HTTP/1.1\r\nHost: x\r\nCookie: ${cookie}\r\n\r\n`,
        )
        await sleep(2_000)
        stage.onClose(() => socket.destroy())
      })
      stage.repeat(() => ada.messages.postRoot(place.conversation_id, { content: 'x'.repeat(30_000) }), 4)
    },
  },
  'all connections to PostgreSQL are in use': {
    alerts: ['ChatConnectionsExhausted'],
    async begin(stage) {
      const { url } = await stage.postgres()
      const service = await stage.serve(url, { CHAT_DATABASE__POOL_SIZE: '2' })
      await post(stage, service, 8)
      const other = new pg.Client(url)
      other.on('error', () => {})
      await other.connect()
      stage.onClose(() => other.end())
      await other.query('BEGIN; LOCK TABLE messages IN ACCESS EXCLUSIVE MODE')
    },
  },
  'a program reads SQLite for hours while others write': {
    alerts: ['ChatWalLarge'],
    async begin(stage) {
      await stage.serve(sqliteIn(stage.folder))
      const [reader, writer] = [
        await openHandle(join(stage.folder, 'chat.db')),
        await openHandle(join(stage.folder, 'chat.db')),
      ]
      stage.onClose(() => [reader, writer].forEach((each) => void each.close()))
      writer.exec('CREATE TABLE of_a_host (piece BLOB)')
      reader.exec('BEGIN; SELECT count(*) FROM users')
      for (let i = 0; i < 270; i++) {
        writer.exec('INSERT INTO of_a_host VALUES (randomblob(4194304))')
        await sleep(0)
      }
    },
  },
  'the process may open few files': {
    alerts: ['ChatFileDescriptors'],
    async begin(stage) {
      if (spawnSync('prlimit', ['--version']).error) throw new Missing('prlimit is not installed')
      const { pid, port } = await stage.serve(sqliteIn(stage.folder))
      spawnSync('prlimit', ['--pid', String(pid), '--nofile=200:200'])
      // Connections that ask nothing are closed after some seconds. The rest of the 200 is for Prometheus.
      stage.repeat(async () => {
        for (let open = readdirSync(`/proc/${pid}/fd`).length; open < 176; open++) {
          const socket = connect(port, '127.0.0.1').on('error', () => {})
          stage.onClose(() => socket.destroy())
        }
        await sleep(500)
      })
    },
  },
  'a module of the host leaks memory': {
    alerts: ['ChatMemory'],
    async begin(stage) {
      const leak = join(stage.folder, 'leak.mjs')
      writeFileSync(leak, 'globalThis.leaked = Array.from({ length: 16 }, () => Buffer.alloc(1e8, 1))')
      await stage.serve(sqliteIn(stage.folder), { NODE_OPTIONS: `--import ${leak}` })
    },
  },
  'the process dies again and again': {
    alerts: ['ChatRestarting'],
    second: 6,
    async begin(stage) {
      for (let i = 0; i < 5; i++) await (await stage.serve(sqliteIn(stage.folder))).kill()
      await stage.serve(sqliteIn(stage.folder))
    },
  },
  'the collector of the log hangs': {
    alerts: ['ChatLogLinesLost'],
    async begin(stage) {
      const service = await stage.serve(sqliteIn(stage.folder), { CHAT_LOG__REQUESTS: 'all' })
      service.stopReading()
      const cookie = await (await settle(service.base_url)).cookie()
      stage.repeat(async () => {
        await (await fetch(`${service.base_url}/api/conversations`, { headers: { cookie } })).text()
      }, 8)
    },
  },
}
