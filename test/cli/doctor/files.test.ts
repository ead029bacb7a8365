import { execFile } from 'node:child_process'
import { chmodSync, truncateSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { expect, it, onTestFinished } from 'vitest'
import { checkFile, judgeFileSystem } from '../../../cli/doctor/files.ts'
import { openStorage } from '../../../lib/index.ts'
import { openHandle } from '../../storage/handles.ts'
import { folder } from '../process.ts'
import { runDoctor, wrong } from '../run-checks.ts'

const LONG = { timeout: 120_000 }

async function database() {
  const cwd = folder()
  chmodSync(cwd, 0o700)
  const path = join(cwd, 'chat.db')
  const storage = await openStorage({ database: `sqlite:${path}` })
  await storage.migrate()
  await storage.close()
  return { cwd, path, config: { server: { port: 9 }, database: { url: `sqlite:${path}` } } }
}

it('reports an intact SQLite file as such, and writes nothing', LONG, async () => {
  const { config } = await database()
  const findings = await runDoctor(config)
  expect(wrong(findings.values())).toEqual([])
  expect([...findings.keys()]).toEqual(
    expect.arrayContaining(['database.permissions', 'disk.space', 'database.durable', 'database.schema']),
  )
  expect((await runDoctor({ ...config, database: { url: 'sqlite::memory:' } })).has('database.in_memory')).toBe(true)
})

it('reports a SQLite file that is missing, or is no database', LONG, async () => {
  const { cwd, path, config } = await database()
  expect(wrong(checkFile(join(cwd, 'no.db')))).toEqual(['database.missing'])
  expect(wrong(checkFile(cwd))).toEqual(['database.no_file'])
  writeFileSync(path, 'x'.repeat(8192))
  const damaged = await runDoctor(config)
  expect(wrong(damaged.values())).toEqual(['database.unusable'])
  expect(damaged.get('stream')?.severity).toBe('skipped')
  truncateSync(path)
  expect(wrong((await runDoctor(config)).values())).toEqual(['database.empty'])
})

it('reports a database that others may read or replace', async () => {
  const { cwd, path } = await database()
  chmodSync(path, 0o640)
  chmodSync(cwd, 0o777)
  expect(wrong(checkFile(path))).toEqual(['database.file_readable', 'database.folder_writable'])
})

it.skipIf(process.getuid?.() !== 0)('reports a database that belongs to another user (root)', LONG, async () => {
  const { cwd, path, config } = await database()
  const asNobody = async () => {
    process.seteuid!(65534)
    return runDoctor(config).finally(() => process.seteuid!(0))
  }
  const shut = await asNobody()
  expect(wrong(shut.values())).toEqual(['database.unusable'])
  expect(shut.get('database.unusable')?.remedy).toBe('Run this command as the user of the service.')
  chmodSync(cwd, 0o755)
  expect(wrong((await asNobody()).values())).toEqual(['database.other_owner', 'database.unusable'])
  expect(wrong(checkFile(path))).toEqual([])
})

it('reports a database with an unfinished import', LONG, async () => {
  const { path, config } = await database()
  const db = await openHandle(path)
  db.prepare("INSERT INTO meta (name, value) VALUES ('import', 'x')").run()
  db.close()
  const found = await runDoctor(config)
  expect(found.get('database.unusable')?.message).toContain('run "chat-server import" again')
  expect(found.get('database.unusable')?.remedy).toBe('Run the import again with the same archive: it continues.')
})

it('reports a database with an older or a newer schema', LONG, async () => {
  const { path, config } = await database()
  const db = await openHandle(path)
  db.prepare("UPDATE migrations SET id = 999, name = '0999-later' WHERE id = (SELECT max(id) FROM migrations)").run()
  expect(wrong((await runDoctor(config)).values())).toEqual(['database.unusable'])
  db.prepare('DELETE FROM migrations WHERE id = 999').run()
  expect(wrong((await runDoctor(config)).values())).toEqual(['database.schema_old'])
  db.close()
})

it('reports a database on which the service does not start, as its tables were changed', LONG, async () => {
  const { path, config } = await database()
  const db = await openHandle(path)
  db.exec('CREATE TRIGGER t AFTER INSERT ON users BEGIN SELECT 1; END')
  db.close()
  const found = await runDoctor(config)
  expect(found.get('database.unusable')?.message).toContain('the trigger t on users')
  expect(found.get('database.unusable')?.remedy).not.toContain('restore')
})

it('reports a database of a newer program, without a remedy that would lose what it wrote', LONG, async () => {
  const { path, config } = await database()
  const db = await openHandle(path)
  const id = (db.prepare('SELECT max(id) AS id FROM migrations').get() as { id: number }).id + 1
  db.prepare("INSERT INTO migrations (id, name, checksum, applied_at) VALUES (?, '0999-later', 'x', 0)").run(id)
  expect((await runDoctor(config)).get('database.schema_newer')?.severity).toBe('note')
  db.exec("INSERT INTO meta (name, value) VALUES ('schema_major', '2')")
  const found = await runDoctor(config)
  expect(found.get('database.unusable')?.remedy).toContain('Install the version')
  expect(found.has('database.schema')).toBe(false)
  db.close()
})

it('reports a database whose WAL is not checkpointed, and one without a WAL', LONG, async () => {
  const { path } = await database()
  const [writer, reader] = [await openHandle(path), await openHandle(path)]
  writer.exec('PRAGMA synchronous = OFF; CREATE TABLE junk (bytes BLOB)')
  reader.exec('BEGIN')
  reader.prepare('SELECT count(*) FROM junk').get()
  const insert = writer.prepare('INSERT INTO junk VALUES (zeroblob(8388608))')
  for (let count = 0; count < 9; count++) insert.run()
  expect(wrong(checkFile(path))).toEqual(['database.large_wal'])
  reader.exec('ROLLBACK')
  reader.close()
  writer.exec('PRAGMA journal_mode = DELETE')
  writer.close()
  expect(checkFile(path)).toContainEqual(expect.objectContaining({ severity: 'note', code: 'database.not_wal' }))
})

it.each([
  [0xef53, 10_000, 1, 'disk.space'],
  [0xef53, 300, 1, 'disk.nearly_full'],
  [0xef53, 10, 1, 'disk.full'],
  [0xef53, 1000, 2000, 'disk.no_room_for_backup'],
  [0x6969, 10_000, 1, 'database.network_file_system'],
])('reports, of a file system of type %i with %i MiB free, for a database of %i MiB: %s', (type, free, size, code) => {
  expect(judgeFileSystem('chat.db', { type, free: free * 1024 * 1024 }, size * 1024 * 1024)[0]!.code).toBe(code)
})

it('reports a database on a disk that is really full (tmpfs)', LONG, async () => {
  const mount = folder()
  const sh = promisify(execFile)
  const mounted = await sh('mount', ['-t', 'tmpfs', '-o', 'size=4m,mode=700', 'tmpfs', mount]).catch(() => undefined)
  if (!mounted) return console.log('A full disk was not tried: this user may mount none')
  onTestFinished(() => sh('umount', ['-l', mount]).then(() => {}))
  const url = `sqlite:${join(mount, 'chat.db')}`
  const storage = await openStorage({ database: url })
  await storage.migrate()
  await storage.close()
  expect(wrong((await runDoctor({ server: { port: 9 }, database: { url } })).values())).toEqual(['disk.full'])
})
