import { chmodSync, existsSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { folder, run } from './process.ts'

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
