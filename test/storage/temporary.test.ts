import { spawnSync } from 'node:child_process'
import {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import {
  isAbandoned,
  listAbandoned,
  removeAbandoned,
  toTargetPath,
  toTemporaryPath,
  withTemporary,
} from '../../lib/storage/temporary.ts'

const OWN = toTemporaryPath('chat.db')
const HOURS_AGO = Date.now() - 2 * 3_600_000

/** The number of a process that has ended. */
const DEAD = String(spawnSync(process.execPath, ['--version']).pid)

/** The name of a temporary file with another process in it. */
const by = (pid: string, start = '1') => OWN.replace(/-\d+-\d+-/, `-${pid}-${start}-`)
const ELSEWHERE = OWN.replace(/\.[\da-f]{8}-/, '.01234567-')

function folder(files: string[]): string {
  const path = mkdtempSync(join(tmpdir(), 'chat-temporary-'))
  onTestFinished(() => rmSync(path, { recursive: true, force: true }))
  for (const name of files) writeFileSync(join(path, name), 'half')
  return path
}

it.each([
  ['of this process is not, however old it is', OWN, HOURS_AGO, false],
  ['of a process that has ended is, at once', by(DEAD), Date.now(), true],
  ['of a running process is not', by(String(process.ppid), startOf(process.ppid)), HOURS_AGO, false],
  ['of an earlier process with the number of a running one is', by(String(process.pid)), Date.now(), true],
  ['of another machine or container is not while it is changed', ELSEWHERE, Date.now(), false],
  ['of another machine or container is two hours after its last change', ELSEWHERE, HOURS_AGO, true],
])('a temporary file %s abandoned', (_, name, changedAt, expected) => {
  expect(isAbandoned(name, changedAt)).toBe(expected)
})

function startOf(pid: number): string {
  const stat = readFileSync(`/proc/${pid}/stat`, 'latin1')
  return stat.slice(stat.lastIndexOf(')') + 2).split(' ')[19]!
}

it('those that killed processes have left are deleted, with what SQLite has beside them, and nothing else', async () => {
  const uuid = '01938c2e-7d1a-7000-8000-000000000000'
  const outdated = [`chat.db.copy-${uuid}`, 'chat.db.before-0009-x.20260101T000000Z.partial']
  const left = [by(DEAD), `${by(DEAD)}-wal`, `${by(DEAD)}-journal`, ...outdated]
  const others = [OWN, ELSEWHERE, 'chat.db', 'notes.partial', `chat.db.copy-${uuid.replace('0000', '1111')}`]
  const path = folder([...left, ...others])
  for (const name of outdated) utimesSync(join(path, name), HOURS_AGO / 1000, HOURS_AGO / 1000)
  const verified = join(path, by(DEAD).replace('chat.db', 'chat-server-verify'))
  mkdirSync(verified)
  writeFileSync(join(verified, 'chat.db'), 'whole')
  // What an attacker may place in the folder for temporary files.
  const target = folder(['kept'])
  const link = by(DEAD).replace('chat.db', 'link')
  symlinkSync(target, join(path, link))
  const found = await listAbandoned(path)
  expect(found.map((each) => basename(each.path)).sort()).toEqual([...left, basename(verified)].sort())
  expect(found.find((each) => each.path === verified)?.bytes).toBe(5)
  await removeAbandoned(path)
  expect(readdirSync(path).sort()).toEqual([...others, link].sort())
  expect(readdirSync(target)).toEqual(['kept'])
})

it('a folder that does not exist has none', async () => {
  expect(await listAbandoned('/no/such/folder')).toEqual([])
})

it('two at once in one folder do not delete each other, and a long name has one, too', async () => {
  const path = folder([])
  const file = join(path, 'ä'.repeat(120))
  await withTemporary(file, async (one) => {
    await withTemporary(file, async (other) => {
      expect(readdirSync(path).sort()).toEqual([one, other].map((each) => basename(each)).sort())
    })
    expect(readdirSync(path)).toEqual([basename(one)])
  })
  expect(readdirSync(path)).toEqual([])
  expect(toTargetPath(toTemporaryPath('/a/chat.db'))).toBe('/a/chat.db')
})

/** What of node:fs creates or fills a file or folder. */
const WRITERS =
  /^(open|openAsBlob|createWriteStream|write|writev|writeFile|appendFile|truncate|copyFile|cp|mkdir|mkdtemp|rename|link|symlink)(Sync)?$/

const COMPLETE = 'of withTemporary: deleted by its process, or found by the name of the process in it'
const FOR_GOOD = 'is what was asked for, and is used again if its process dies'

/** Every way in which this program creates files, and what becomes of one if its process is killed at that moment. */
const UNFINISHED = 'in the folder that was named, which the next export refuses; the page is its last file'

const DECISIONS: Record<string, string> = {
  'cli/archive-file.ts openSync': COMPLETE,
  'cli/archive-file.ts writeSync': COMPLETE,
  'cli/commands/restore.ts openSync': 'reads',
  'cli/config/permissions.ts writeFile': COMPLETE,
  'cli/init/write.ts mkdirSync': FOR_GOOD,
  'cli/init/write.ts writeFile': COMPLETE,
  'cli/logging/file.ts writeSync': 'appends to a log',
  'lib/backups/sqlite-copy.ts VACUUM INTO': COMPLETE,
  'lib/backups/verify.ts createWriteStream': 'in the folder of verify.ts mkdir',
  'lib/backups/verify.ts mkdir': 'of holdTemporary: as with withTemporary',
  'lib/backups/write.ts createWriteStream': COMPLETE,
  'lib/backups/write.ts writeFile': COMPLETE,
  'lib/ops/user-export/export.ts appendFile': UNFINISHED,
  'lib/ops/user-export/export.ts mkdir': UNFINISHED,
  'lib/ops/user-export/export.ts open': UNFINISHED,
  'lib/ops/user-export/page.ts open': UNFINISHED,
  'lib/storage/archive/backup.ts VACUUM INTO': COMPLETE,
  'lib/storage/archive/backup.ts createWriteStream': COMPLETE,
  'lib/storage/archive/copy.ts open': 'reads a file whose name is deleted then',
  'lib/storage/archive/files.ts linkSync': 'gives a complete file its name',
  'lib/storage/archive/files.ts openSync': 'reserves a name where there are no hard links, and syncs',
  'lib/storage/archive/files.ts renameSync': 'gives a complete file its name',
  'lib/storage/objects/fs.ts mkdir': FOR_GOOD,
  'lib/storage/objects/fs.ts open':
    'by the name of its process: deleted with the next object, or the last one, of its folder',
  'lib/storage/objects/fs.ts rename': 'gives a complete file its name',
  'lib/storage/restore.ts mkdirSync': FOR_GOOD,
  'lib/storage/sqlite/file.ts mkdirSync': FOR_GOOD,
  'lib/storage/sqlite/file.ts openSync': FOR_GOOD,
  'lib/storage/sqlite/reserve.ts openSync': 'by the name of its process: deleted as with withTemporary',
  'lib/storage/sqlite/reserve.ts renameSync': 'gives a complete file its name',
  'lib/storage/sqlite/reserve.ts truncateSync': FOR_GOOD,
  'lib/storage/sqlite/reserve.ts writeSync': 'by the name of its process: deleted as with withTemporary',
  'lib/storage/sqlite/signals-file.ts openSync': FOR_GOOD,
  'lib/storage/temporary.ts openSync': COMPLETE,
  'lib/storage/vacuum.ts VACUUM':
    'SQLite deletes the name of its temporary file when it opens it, and rolls its journal back',
}

it('every way in which a file is created has a decision what a killed process leaves of it', () => {
  const root = new URL('../..', import.meta.url)
  const paths = ['lib', 'cli'].flatMap((top) =>
    readdirSync(new URL(top, root), { recursive: true, encoding: 'utf8' }).map((path) => `${top}/${path}`),
  )
  const found = paths
    .filter((path) => path.endsWith('.ts'))
    .flatMap((path) => {
      const text = readFileSync(new URL(path, root), 'utf8')
      const imports = [...text.matchAll(/^import (?:\{([^}]*)\}|(.+)) from '(?:node:)?fs(?:\/promises)?'/gm)]
      const names = imports.flatMap(([, list, other]) => list?.split(',') ?? [`all as ${other}`])
      const writers = names
        .map((name) => name.trim().replace(/ as .*/, ''))
        .filter((name) => WRITERS.test(name) || name === 'all')
      const sql = /(?:'|sql`)(VACUUM( INTO)?)[ ']/.exec(text)
      return [...writers, ...(sql ? [sql[1]!] : [])].map((name) => `${path} ${name}`)
    })
  // The word of a statement, which is not run there.
  expect(found.filter((each) => each !== 'lib/storage/names/qualify.ts VACUUM').sort()).toEqual(
    Object.keys(DECISIONS).sort(),
  )
})
