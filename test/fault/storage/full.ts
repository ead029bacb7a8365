import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import pg from 'pg'
import { type AdminClient, createAdminClient } from '../../../lib/client/admin.ts'
import { MIB } from '../../../lib/core/units.ts'
import { createReserve } from '../../../lib/storage/sqlite/reserve.ts'
import { startCluster } from '../../support/postgres.ts'
import { programArgs } from '../../support/programs.ts'
import { inconsistenciesIn } from '../invariants.ts'
import { ADA } from '../people.ts'
import { startLoad } from './load.ts'
import { type Mount, mountSmall } from './mounts.ts'
import { serve } from './serving.ts'
import { endure, type Figures } from './stage.ts'

/** Room for the reserve of SQLite, and the 64 MiB beside it. */
const WITH_RESERVE = 112
const FILES_ONLY = 16

/** A whole cluster: its files, and some segments of its WAL. */
const WHOLE_CLUSTER = 176

/** Disks that become full under a running service, by name: the result, or why it cannot be tried here. */
export const FULL_DISKS: Record<string, (cycles: number) => Promise<Figures | string>> = {
  'SQLite and its files': (cycles) => onMount(WITH_RESERVE, (mount) => fillBoth(mount, cycles)),
  'files alone': (cycles) => onMount(FILES_ONLY, (mount) => fillFiles(mount, cycles)),
  PostgreSQL: (cycles) => onMount(WHOLE_CLUSTER, (mount) => fillPostgres(mount, cycles)),
}

async function onMount<T>(mebibytes: number, run: (mount: Mount) => Promise<T>): Promise<T | string> {
  const mount = mountSmall(mebibytes)
  if (!mount) return 'nothing may be mounted'
  return run(mount).finally(mount.remove)
}

/** Uploads leave room for posts; then another program takes it, and what deletes uses the reserve. */
function fillBoth(mount: Mount, cycles: number): Promise<Figures> {
  const file = join(mount.path, 'chat.db')
  const url = `sqlite:${file}`
  const fault = {
    name: 'full disk with files, and deletions on it',
    answers: ['507 storage_full'],
    reads: true,
    ready: true,
    async begin({ base_url }: { base_url: string }) {
      createReserve(file).make()
      const ada = await signIn(base_url)
      const { conversation_id } = await ada.conversations.create({ title: 'Files' })
      const post = () => ada.messages.postRoot(conversation_id, { content: 'between uploads' })
      while ((await uploadTo(ada, conversation_id)) === 'done') await post()
      await post()
      const free = mount.fill()
      return async () => {
        await ada.conversations.remove(conversation_id)
        await runCommand('events', 'prune', '--database', url)
        await ada.auth.logout()
        free()
        // The bytes of its files stay for a day otherwise, and the next cycle has no room.
        await runCommand('attachments', 'gc', '--database', url)
      }
    },
  }
  return endure(fault, { database: 'sqlite', url, cycles, env: { CHAT_ATTACHMENTS__GRACE_HOURS: '0' } })
}

/** Uploads are refused, and nothing else. */
async function fillFiles(mount: Mount, cycles: number): Promise<Figures> {
  const folder = mkdtempSync(join(tmpdir(), 'chat-full-'))
  const url = `sqlite:${join(folder, 'chat.db')}`
  const server = await serve(url, 0, { CHAT_ATTACHMENTS__STORAGE: `fs:${join(mount.path, 'files')}` })
  const faults: string[] = []
  try {
    const load = await startLoad(server.base_url)
    const ada = await signIn(server.base_url)
    const { conversation_id } = await ada.conversations.create({ title: 'Files' })
    for (let cycle = 0; cycle < cycles; cycle++) {
      const free = mount.fill()
      const refused = await uploadTo(ada, conversation_id)
      if (refused !== 'storage_full') faults.push(`an upload: ${refused}`)
      await load.successes(10)
      free()
      const again = await uploadTo(ada, conversation_id, 1000)
      if (again !== 'done') faults.push(`an upload with room: ${again}`)
    }
    const wrong = await load.finish()
    faults.push(...wrong, ...[...load.failed.keys()].map((answer) => `a post was answered ${answer}`))
    await server.stop()
    faults.push(...(await inconsistenciesIn(url)))
    return {
      fault: 'full disk of files',
      database: 'sqlite',
      cycles,
      acknowledged: load.acknowledged.size,
      lost: wrong.length,
      seen: [...load.failed.keys()],
      reads: load.unread.size === 0 ? 'go on' : [...load.unread.keys()].join(', '),
      recovered_ms: 0,
      stall_ms: load.stall(),
      faults,
    }
  } finally {
    if (server.isAlive()) await server.kill()
    rmSync(folder, { recursive: true })
  }
}

/** The disk of the whole server, with its WAL. */
async function fillPostgres(mount: Mount, cycles: number): Promise<Figures | string> {
  const cluster = await startCluster(mount.path)
  if (!cluster) return 'PostgreSQL is not installed'
  try {
    const admin = new pg.Client(cluster.url)
    await admin.connect()
    await admin.query('CREATE DATABASE full_disk')
    await admin.end()
    const fault = {
      name: 'full disk of the server',
      answers: ['503 unavailable'],
      reads: true,
      ready: true,
      begin: async () => mount.fill(),
    }
    return await endure(fault, { database: 'postgresql', url: cluster.databaseUrl('full_disk'), cycles })
  } finally {
    await cluster.stop()
  }
}

async function signIn(base_url: string): Promise<AdminClient> {
  const ada = createAdminClient({ base_url })
  await ada.auth.login(ADA)
  return ada
}

/** @returns the code of its failure, or `done` */
async function uploadTo(ada: AdminClient, conversation_id: string, bytes = 4 * MIB): Promise<string> {
  const file = new Blob([new Uint8Array(bytes)])
  return ada.upload(conversation_id, Object.assign(file, { name: 'a.bin' })).then(
    () => 'done',
    (error) => error.code as string,
  )
}

async function runCommand(...args: string[]): Promise<void> {
  const command = [...programArgs('cli/main.ts'), ...args]
  const child = spawn(process.execPath, command, {
    cwd: tmpdir(),
    env: { PATH: process.env.PATH, CHAT_LOG__LEVEL: 'error', CHAT_ATTACHMENTS__GRACE_HOURS: '0' },
  })
  let text = ''
  child.stderr.setEncoding('utf8').on('data', (piece) => {
    text += piece
  })
  const [code] = await once(child, 'close')
  if (code !== 0) throw new Error(`${args.join(' ')} ended with ${code}: ${text}`)
}
