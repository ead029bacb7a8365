import { existsSync, mkdirSync, renameSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { listBackups, openTarget } from '../../lib/backups/backups.ts'
import { contextOf } from '../../lib/core/context-of.ts'
import { MARKER_KEY } from '../../lib/files/marker.ts'
import { ChatError, createChatService, openStorage, parseConfig } from '../../lib/index.ts'
import { statement } from '../../lib/storage/sql.ts'

type Chat = ReturnType<typeof createChatService>
type Actor = Awaited<ReturnType<Chat['users']['actor']>>

/** Storages that are moved about. */
export interface MountMoves {
  /** An empty database. */
  url: string
  /** An empty folder, for the storages. */
  folder: string
  steps: number
  random: () => number
}

/** The result of a run. */
export interface MountFigures {
  steps: number
  /** Acknowledged uploads. */
  files: number
  backups: number
  /** How often a call was refused because a storage was missing. */
  refused: number
  /** What was lost, or wrong. */
  faults: string[]
}

/** What becomes of a folder: it is there, or its disk is not mounted, with or without a mount point. */
const STATES = ['here', 'away', 'empty'] as const

/** Moves the storages of files and of backups of two nodes away and back at random, while they work. */
export async function moveStorages({ url, folder, steps, random }: MountMoves): Promise<MountFigures> {
  const places = { files: join(folder, 'files'), backups: join(folder, 'backups') }
  const config = parseConfig({
    security: { password: { bcrypt_cost: 4 } },
    attachments: { enabled: true, storage: `fs:${places.files}` },
    backup: { target: places.backups, schedule: '1h', keep: 1000, files: true },
  })
  const nodes: Chat[] = []
  for (let n = 0; n < 2; n++) {
    const chat = createChatService(config, await openStorage({ database: url }))
    await chat.start()
    nodes.push(chat)
  }
  const load = await startLoad(nodes as [Chat, Chat], random)
  // The first bytes mark the places.
  await load.begin()
  const { faults } = load
  try {
    for (let step = 0; step < steps; step++) {
      const working = load.work()
      await turns(Math.floor(random() * 50))
      for (const place of Object.values(places)) {
        if (random() < 1 / 3) continue
        const state = STATES[Math.floor(random() * STATES.length)]!
        if (moveTo(place, state)) faults.push(`step ${step}: the empty ${place} was marked`)
      }
      await working
      await load.look()
      const gone = await load.countGone()
      if (gone > 0) faults.push(`step ${step}: ${gone} files are gone`)
      if (faults.length > 0) break
    }
    for (const place of Object.values(places)) moveTo(place, 'here')
    await load.look()
    await load.backUp(nodes[0]!)
    await load.check(config)
    return { steps, files: load.files.size, backups: load.backups.length, refused: load.refused(), faults }
  } finally {
    for (const node of nodes) await node.close()
  }
}

/** @returns whether a folder without a disk has got a marker, so that it would be taken for the storage */
function moveTo(place: string, state: (typeof STATES)[number]): boolean {
  const away = `${place}-away`
  const isAway = existsSync(away)
  const isMarked = isAway && existsSync(join(place, MARKER_KEY))
  if (isAway) rmSync(place, { recursive: true, force: true })
  if (state === 'here' && isAway) renameSync(away, place)
  if (state !== 'here' && !isAway && existsSync(place)) renameSync(place, away)
  if (state === 'empty' && existsSync(away)) mkdirSync(place)
  return isMarked
}

async function turns(count: number): Promise<void> {
  for (let n = 0; n < count; n++) await new Promise((resolve) => setImmediate(resolve))
}

/** What is done with the nodes, and what they have acknowledged. */
async function startLoad(nodes: readonly [Chat, Chat], random: () => number) {
  const { actor, conversation_id } = await setUp(nodes[0])
  const files = new Map<string, Buffer>()
  const backups: string[] = []
  const faults: string[] = []
  let [named, refused] = [0, 0]

  const node = () => nodes[random() < 0.5 ? 0 : 1]

  /** A storage that is missing may refuse anything, in its words only. */
  async function attempt(what: string, call: () => Promise<unknown>): Promise<void> {
    try {
      await call()
    } catch (error) {
      const isRefusal =
        (error instanceof ChatError && error.code === 'unavailable') ||
        /place of the backups|ENOENT/.test(String(error))
      if (isRefusal) refused++
      else if (!/Another process is making a backup/.test(String(error))) faults.push(`${what}: ${describe(error)}`)
    }
  }

  async function upload(chat: Chat): Promise<void> {
    const bytes = Buffer.from(`file ${++named} `.repeat(1 + Math.floor(random() * 3000)))
    const { attachment } = await chat.attachments.upload(actor, conversation_id, { name: `${named}.bin`, bytes })
    // Without its message it would be deleted after a day.
    await chat.messages.postRoot(actor, conversation_id, { content: '', attachment_ids: [attachment.id] })
    files.set(attachment.id, bytes)
  }

  async function read(chat: Chat, id: string): Promise<void> {
    const pieces: Uint8Array[] = []
    for await (const piece of (await chat.attachments.open(actor, id)).bytes) pieces.push(piece)
    if (!Buffer.concat(pieces).equals(files.get(id)!)) faults.push(`${id} has other bytes`)
  }

  async function backUp(chat: Chat): Promise<void> {
    backups.push((await contextOf(chat).backups.run()).name)
  }

  /** What operators do, and jobs. */
  const chores: ((chat: Chat) => Promise<unknown>)[] = [
    backUp,
    (chat) => contextOf(chat).files.place.inspect(),
    (chat) => chat.ops.collectFiles({ now: true }),
    (chat) => chat.ops.fsckFiles({ repair: true }),
    (chat) => chat.ops.recoverFiles(),
  ]

  return {
    files,
    backups,
    faults,
    refused: () => refused,
    async begin(): Promise<void> {
      for (const chat of nodes) await upload(chat)
      await backUp(nodes[0])
    },
    backUp,
    async work(): Promise<void> {
      const known = [...files.keys()]
      const chore = chores[Math.floor(random() * chores.length)]!
      await Promise.all([
        ...nodes.flatMap((chat) => [1, 2].map(() => attempt('an upload', () => upload(chat)))),
        ...Array.from({ length: Math.min(6, known.length) }, () => {
          const id = known[Math.floor(random() * known.length)]!
          return attempt(`a read of ${id}`, () => read(node(), id))
        }),
        attempt(`a chore, ${chore}`, () => chore(node())),
      ])
    },
    /** As each node does every 30 seconds. */
    async look(): Promise<void> {
      for (const chat of nodes) await contextOf(chat).files.place.inspect()
    },
    async countGone(): Promise<number> {
      const sql = "SELECT count(*) AS n FROM attachments WHERE status = 'gone'"
      return Number((await contextOf(nodes[0]).db.get<{ n: number }>(statement(sql)))!.n)
    },
    /** Whether all is as if nothing had been moved. */
    async check(config: Parameters<typeof openTarget>[0]): Promise<void> {
      for (const chat of nodes)
        for (const id of files.keys())
          await read(chat, id).catch((error) => faults.push(`${id} is not read at the end: ${describe(error)}`))
      const kept = new Set((await listBackups(openTarget(config))).map(({ key }) => key))
      faults.push(...backups.filter((name) => !kept.has(name)).map((name) => `the backup ${name} is missing`))
      const findings = [
        ...(await nodes[0].ops.fsckFiles({ read: true })).findings,
        ...(await nodes[1].ops.fsck()).findings,
      ]
      faults.push(...findings.map(({ name, count }) => `fsck: ${name} (${count})`))
    },
  }
}

async function setUp(chat: Chat): Promise<{ actor: Actor; conversation_id: string }> {
  const { user } = await chat.setup.run({ email: 'ada@example.org', password: 'correct horse battery' })
  const actor = await chat.users.actor(user.id)
  const { conversation_id } = await chat.conversations.create(actor, { title: 'Files' })
  return { actor, conversation_id }
}

function describe(error: unknown): string {
  const { cause } = Object(error) as { cause?: unknown }
  return `${error}${cause ? ` (${cause})` : ''}`
}
