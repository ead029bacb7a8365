import { execFileSync } from 'node:child_process'
import { once } from 'node:events'
import { chmodSync, existsSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { commandOf, folder, run, start } from '../process.ts'

const env = { CHAT_SECURITY__PASSWORD__BCRYPT_COST: '4' }

async function withAda(): Promise<string> {
  const cwd = folder()
  await run(['setup', '--email', 'ada@example.org'], { cwd, env, input: 'correct horse battery' })
  return cwd
}

it('an archive moves from one database to another, and only its user may read it', async () => {
  const cwd = await withAda()
  const archive = join(cwd, 'chat.jsonl')
  writeFileSync(archive, 'precious')
  chmodSync(archive, 0o644)
  const kept = await run(['export', 'chat.jsonl'], { cwd })
  expect([kept.code, kept.stderr]).toEqual([1, 'chat-server: chat.jsonl already exists; --force replaces it\n'])
  expect(readFileSync(archive, 'utf8')).toBe('precious')

  const written = await run(['export', 'chat.jsonl', '--force', '--json'], { cwd })
  expect(JSON.parse(written.stdout)).toMatchObject({ file: 'chat.jsonl', counts: { users: 1 } })
  expect(statSync(archive).mode & 0o777).toBe(0o600)
  expect(existsSync(`${archive}.partial`)).toBe(false)

  const other = ['--database', 'sqlite:./other.db']
  expect((await run(['import', 'chat.jsonl', ...other], { cwd })).code).toBe(0)
  expect(await run(['fsck', ...other], { cwd })).toMatchObject({ code: 0, stdout: expect.stringContaining('hold') })
  expect((await run(['user', 'list', ...other], { cwd })).stdout).toContain('ada@example.org')
})

it('a folder is not accepted as an archive, and no database is created for it', async () => {
  const cwd = folder()
  const refused = await run(['import', '.'], { cwd })
  expect([refused.code, refused.stderr]).toEqual([1, 'chat-server: . is a folder, not an archive\n'])
  expect(readdirSync(cwd)).toEqual([])
})

it('no command overwrites the database it reads, whatever its flags', async () => {
  const cwd = await withAda()
  for (const command of ['export', 'backup']) {
    const refused = await run([command, join('data', 'chat.db'), '--force'], { cwd })
    const stderr = `chat-server: ${join('data', 'chat.db')} is the database itself\n`
    expect([refused.code, refused.stderr]).toEqual([1, stderr])
  }
  expect((await run(['user', 'list'], { cwd })).stdout).toContain('ada@example.org')
})

it('an archive and a copy are piped, with nothing else on standard output', async () => {
  const cwd = await withAda()
  const exported = await run(['export', '-'], { cwd })
  expect(exported).toMatchObject({
    code: 0,
    stderr: expect.stringMatching(/^Written to standard output, \d+ rows\.\n$/),
  })
  for (const line of exported.stdout.trimEnd().split('\n')) expect(JSON.parse(line)).toBeTypeOf('object')
  const other = ['--database', 'sqlite:./other.db']
  expect(await run(['import', '-', ...other], { cwd, input: exported.stdout })).toMatchObject({ code: 0 })
  expect((await run(['user', 'list', ...other], { cwd })).stdout).toContain('ada@example.org')

  const [program, ...args] = commandOf(['backup', '-'])
  writeFileSync(
    join(cwd, 'copy.db'),
    execFileSync(program!, args, { cwd, stdio: ['ignore', 'pipe', 'ignore'], maxBuffer: 2 ** 26 }),
  )
  const copied = await run(['user', 'list', '--database', 'sqlite:./copy.db'], { cwd })
  expect(copied.stdout).toContain('ada@example.org')
  expect(readdirSync(join(cwd, 'data')).filter((name) => name.includes('copy'))).toEqual([])
})

it.each(['export', 'backup'])('%s ends without a stack trace when the reader of its output leaves', async (command) => {
  const cwd = await withAda()
  const child = start([command, '-'], { cwd })
  child.stdout.destroy()
  let stderr = ''
  child.stderr.setEncoding('utf8').on('data', (text) => {
    stderr += text
  })
  await once(child, 'close')
  expect(stderr).not.toMatch(/\n\s+at |EPIPE/)
})

it('an archive that is cut off while it is piped is refused', async () => {
  const cwd = await withAda()
  const { stdout } = await run(['export', '-'], { cwd })
  const half = stdout.slice(0, stdout.lastIndexOf('{"end"'))
  const refused = await run(['import', '-', '--database', 'sqlite:./other.db'], { cwd, input: half })
  expect(refused).toMatchObject({ code: 1, stderr: 'chat-server: The archive is not whole: its end is missing\n' })
})
