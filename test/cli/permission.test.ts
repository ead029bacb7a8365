import { chmodSync, chownSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it, type TestContext } from 'vitest'
import { commandOf, folder, run } from './process.ts'

const LONG = { timeout: 120_000 }
const env = { CHAT_SECURITY__PASSWORD__BCRYPT_COST: '4', CHAT_DATABASE__URL: 'sqlite:data/chat.db' }
const PASSWORD = 'correct horse battery'

/** The user that the commands run as: permissions do not hold for root. */
const [, uid, gid] = /^nobody:[^:]*:(\d+):(\d+):/m.exec(readFileSync('/etc/passwd', 'utf8')) ?? []
const NOBODY = { uid: Number(uid), gid: Number(gid) }

/** A folder of nobody's with a database of nobody's, or a skipped test. */
async function databaseOfNobody(test: TestContext): Promise<string> {
  if (process.getuid?.() !== 0 || !uid) test.skip('needs root, to run commands as another user')
  const cwd = folder({ 'chat.toml': '[log]\nlevel = "warn"\n' })
  chmodSync(cwd, 0o755)
  const probe = await run(['--version'], { cwd: '/', ...NOBODY })
  if (probe.code !== 0) test.skip(`the user nobody cannot run ${commandOf([]).join(' ')}`)
  mkdirSync(join(cwd, 'data'))
  for (const path of [cwd, join(cwd, 'data')]) chownSync(path, NOBODY.uid, NOBODY.gid)
  const made = await run(['setup', '--email', 'ada@example.org'], { cwd, env, ...NOBODY, input: PASSWORD })
  expect(made).toMatchObject({ code: 0 })
  return cwd
}

/** Commands that read or write the database, each in its own way. */
const COMMANDS = [
  ['serve', '--port', '0'],
  ['setup', '--email', 'ada@example.org'],
  ['migrate'],
  ['user', 'list'],
  ['audit', 'list'],
  ['backup', '../copy.db'],
  ['export', '../copy.jsonl'],
  ['events', 'prune'],
  ['fsck'],
  ['nodes', 'list'],
]

const asNobody = (cwd: string, args: string[]) => run(args, { cwd, env, ...NOBODY, input: PASSWORD })

it('names the folder that a user may not enter, the user and the owner, in every command', LONG, async (test) => {
  const cwd = await databaseOfNobody(test)
  const data = join(cwd, 'data')
  chownSync(data, 0, 0)
  chmodSync(data, 0o700)
  for (const args of COMMANDS) {
    const { code, stderr } = await asNobody(cwd, args)
    expect([code, stderr.split('\n').filter((line) => line.startsWith('chat-server: '))], args.join(' ')).toEqual([
      1,
      [
        `chat-server: nobody, uid ${uid} may not enter the folder ${data} (owner root, uid 0, mode 0700): run this command as the user of the service, or grant the permission`,
      ],
    ])
  }
})

it.each([
  ['a file that may not be read', 'data/chat.db', 0o000, 'read the file'],
  ['a file that may not be written to', 'data/chat.db', 0o444, 'write to the file'],
  ['a folder that may not be written to', 'data', 0o555, 'create files in the folder'],
])('names %s', LONG, async (_, name, mode, may, ...[test]: unknown[]) => {
  const cwd = await databaseOfNobody(test as TestContext)
  const path = join(cwd, name)
  chownSync(path, 0, 0)
  chmodSync(path, mode)
  for (const args of [
    ['user', 'list'],
    ['serve', '--port', '0'],
  ]) {
    const { code, stderr } = await asNobody(cwd, args)
    expect([code, stderr]).toEqual([
      1,
      expect.stringContaining(`chat-server: nobody, uid ${uid} may not ${may} ${path} (owner root, uid 0, `),
    ])
    expect(stderr).not.toMatch(/There is no database|EACCES|SQLITE/)
  }
})

it('names what a check that only reads may not use, and shows no migration as pending', LONG, async (test) => {
  const cwd = await databaseOfNobody(test)
  const data = join(cwd, 'data')
  chownSync(data, 0, 0)
  chmodSync(data, 0o555)
  const refusal = `nobody, uid ${uid} may not create files in the folder ${data} (owner root, uid 0, mode 0555)`
  expect((await asNobody(cwd, ['fsck'])).stderr).toContain(`chat-server: ${refusal}`)
  const doctor = await asNobody(cwd, ['doctor', '--read-only'])
  expect(doctor.stdout).toContain(refusal)
  expect(doctor.stdout).not.toContain('restore')
  chmodSync(data, 0o700)
  const status = await asNobody(cwd, ['migrate', '--status'])
  expect(status).toMatchObject({ code: 1, stdout: '', stderr: expect.stringContaining('may not enter the folder') })
})

it('names files of its own that it may not read or write', LONG, async (test) => {
  const cwd = await databaseOfNobody(test)
  const closed = join(cwd, 'closed')
  mkdirSync(closed, { mode: 0o755 })
  writeFileSync(join(closed, 'chat.toml'), '', { mode: 0o600 })
  const target = `${closed}/copy.db`
  const [config, backup] = [
    await asNobody(cwd, ['config', 'check', '--config', join(closed, 'chat.toml')]),
    await asNobody(cwd, ['backup', target]),
  ]
  expect([config.code, config.stderr]).toEqual([
    2,
    expect.stringContaining(`may not read the file ${closed}/chat.toml (owner root, uid 0, mode 0600)`),
  ])
  expect([backup.code, backup.stderr]).toEqual([
    1,
    expect.stringContaining(`may not create files in the folder ${closed} (owner root, `),
  ])
  expect(existsSync(target)).toBe(false)
})
