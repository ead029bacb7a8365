import { openHandle } from '../../lib/storage/connect.ts'
import { countNodes } from '../../lib/storage/inspect.ts'
import type { Storage } from '../../lib/storage/open.ts'
import { readDisk } from '../../lib/storage/space.ts'
import { type DatabaseSize, readDatabaseSize, roomFor, vacuumFile, vacuumTables } from '../../lib/storage/vacuum.ts'
import { commonArgs, defineCommand } from '../args/command.ts'
import { loadConfig } from '../config/load.ts'
import { sqliteFile } from '../doctor/files.ts'
import { oneLine, print, printNote } from '../output.ts'
import { withStorage } from '../with-chat.ts'

/** What a disk writes at least, for the estimate of the duration. */
const BYTES_PER_SECOND = 50 * 2 ** 20

export default defineCommand({
  meta: {
    name: 'vacuum',
    description: 'Give the space of deleted data back; beside a running service only with --force',
  },
  example: 'chat-server vacuum',
  args: {
    force: { type: 'boolean', description: 'Run beside a running service; with SQLite its writes wait, and may fail' },
    ...commonArgs,
  },
  run: async ({ args }) => {
    const file = sqliteFile(loadConfig(args).config.database.url)
    const before = await withStorage(args, ({ db }) => readDatabaseSize(db))
    const began = performance.now()
    if (file) {
      assertRoom(file, before)
      if (!args.json) printNote(describePlan(before, file))
      vacuumFile(file, await openHandle(file), { force: args.force === true })
    } else await withStorage(args, (storage) => vacuumServer(storage, before, args))
    const after = await withStorage(args, ({ db }) => readDatabaseSize(db))
    const seconds = Math.round((performance.now() - began) / 100) / 10
    const result = {
      before_bytes: before.bytes,
      after_bytes: after.bytes,
      freed_bytes: before.bytes - after.bytes,
      seconds,
    }
    print(args, result, oneLine(describeResult(before, after, seconds)))
  },
})

interface Flags {
  json?: boolean | undefined
  force?: boolean | undefined
}

async function vacuumServer(storage: Storage, before: DatabaseSize, flags: Flags): Promise<void> {
  const nodes = (await countNodes(storage.db)) ?? 0
  if (nodes > 0 && !flags.force)
    throw new Error('A service uses the database: stop it first, or add --force, and it is slower meanwhile')
  if (!flags.json)
    printNote(`VACUUM (ANALYZE) reads ${inMib(before.bytes)}: about ${secondsFor(before.bytes)}; it needs no room.`)
  await vacuumTables(storage.db)
}

function assertRoom(file: string, size: DatabaseSize): void {
  const [needed, free] = [roomFor(size), readDisk(file).free]
  if (free < needed) throw new Error(`VACUUM needs ${inMib(needed)} next to ${file}, and ${inMib(free)} are free`)
}

function describePlan(size: DatabaseSize, file: string): string {
  const room = `needs up to ${inMib(roomFor(size))} next to it (${inMib(readDisk(file).free)} are free)`
  return `VACUUM writes ${inMib(size.used_bytes)} of ${inMib(size.bytes)} anew: about ${secondsFor(2 * size.used_bytes)}; it ${room}.`
}

function describeResult(before: DatabaseSize, after: DatabaseSize, seconds: number): string {
  const sizes = `${inMib(before.bytes - after.bytes)} were freed: ${inMib(after.bytes)} remain, after ${seconds} s.`
  return before.dead_rows > 0
    ? `The space of about ${before.dead_rows} deleted rows can be used again; ${sizes}`
    : sizes
}

function secondsFor(bytes: number): string {
  return `${Math.max(1, Math.ceil(bytes / BYTES_PER_SECOND))} s`
}

function inMib(bytes: number): string {
  return `${Math.round(bytes / 2 ** 20)} MiB`
}
