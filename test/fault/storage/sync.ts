import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { startLoad } from './load.ts'
import { serve } from './serving.ts'
import { attach, whyNoStrace } from './strace.ts'

/** The process that writes to the disk: the service itself, or the server of its database. */
export interface SyncStage {
  url: string
  /** The process whose calls are traced besides the service's, with its children: PostgreSQL's. */
  pid?: number
  /** A part of the names of the WAL files. */
  wal: string
  posts: number
}

/** The number of writes with a completed sync before they were acknowledged. */
export interface SyncFigures {
  acknowledged: number
  synced: number
}

/**
 * Traces the system calls of a service: between the write of a message to the WAL and the first byte of it on a socket
 * there must be a completed sync.
 *
 * @returns the result, or the reason why that cannot be traced here
 */
export async function watchSyncs({ url, pid, wal, posts }: SyncStage): Promise<SyncFigures | string> {
  const missing = whyNoStrace()
  if (missing) return missing
  const folder = mkdtempSync(join(tmpdir(), 'chat-sync-'))
  const server = await serve(url)
  try {
    const load = await startLoad(server.base_url)
    // So that all connections are open.
    await load.successes(200)
    const output = join(folder, 'calls')
    const calls = 'trace=pwrite64,write,writev,sendto,sendmsg,fsync,fdatasync'
    // Whole pages with their file: a message may be anywhere in them.
    const how = ['-f', '-yy', '-s', '200000', '-e', calls, '-o', output]
    const others = pid === undefined ? [] : [String(pid), ...childrenOf(pid)]
    const detach = await attach(server.pid, [...others.flatMap((other) => ['-p', other]), ...how])
    // Messages in progress at the start of the trace are not counted.
    await load.successes(20)
    const before = load.acknowledged.size
    await load.successes(posts)
    const contents = [...load.acknowledged.values()].slice(before)
    await detach()
    await load.finish()
    const lines = joined(readFileSync(output, 'latin1').split('\n'))
    const seen = contents.map((content) => isSynced(lines, [content.slice(0, 24), content.slice(-24)], wal))
    return { acknowledged: seen.filter((each) => each !== undefined).length, synced: seen.filter(Boolean).length }
  } finally {
    if (server.isAlive()) await server.kill()
    rmSync(folder, { recursive: true })
  }
}

function childrenOf(pid: number): string[] {
  return readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').trim().split(' ')
}

/** An interrupted call has two lines; a sync counts where it ends, and a send where it begins. */
function joined(lines: string[]): string[] {
  const begun = new Map<string, string>()
  return lines.flatMap((line) => {
    const [, pid = ''] = /^(\d+)\s/.exec(line) ?? []
    if (line.endsWith('<unfinished ...>') && !line.includes('<TCP')) {
      begun.set(pid, line.slice(0, -'<unfinished ...>'.length))
      return []
    }
    const resumed = /^\d+\s+<\.\.\. \w+ resumed>/.exec(line)
    return resumed ? (begun.get(pid) ?? '') + line.slice(resumed[0].length) : line
  })
}

/** @returns `undefined` if the write itself was not traced */
function isSynced(lines: string[], markers: string[], wal: string): boolean | undefined {
  const has = (line: string) => markers.some((marker) => line.includes(marker))
  const isWal = (line: string) => line.includes(wal)
  const written = lines.findIndex((line) => /\bp?write(64|v)?\(/.test(line) && isWal(line) && has(line))
  const told = lines.findIndex(
    (line) => /<TCP/.test(line.slice(0, 200)) && has(line) && /message_id|message\.new/.test(line),
  )
  if (written < 0 || told < 0) return undefined
  return lines
    .slice(written, told)
    .some((line) => /\bf(data)?sync\(/.test(line) && isWal(line) && /\)\s+= 0/.test(line))
}
