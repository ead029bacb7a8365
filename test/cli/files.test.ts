import { execFile } from 'node:child_process'
import { existsSync, linkSync, mkdirSync, readFileSync, statSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { expect, it, onTestFinished } from 'vitest'
import { commandOf, type Finished, finished, folder, run, start } from './process.ts'

const LONG = { timeout: 120_000 }
const env = { CHAT_SECURITY__PASSWORD__BCRYPT_COST: '4', CHAT_LOG__LEVEL: 'warn' }
const PASSWORD = 'correct horse battery'
const sh = promisify(execFile)

/** Runs a command in a shell line, as `$@`. */
async function inShell(cwd: string, line: string, args: string[]): Promise<Finished> {
  const options = { cwd, env: { PATH: process.env.PATH, CHAT_PASSWORD: PASSWORD, ...env } }
  return sh('bash', ['--norc', '-c', line, 'bash', ...commandOf(args)], options).then(
    ({ stdout, stderr }) => ({ code: 0, stdout, stderr }),
    ({ code, stdout, stderr }) => ({ code, stdout, stderr }),
  )
}

it('every written file can be read by this user only, whatever the umask', LONG, async () => {
  const cwd = folder()
  const openly = (...args: string[]) => inShell(cwd, 'umask 000; exec "$@"', args)
  const made = [
    await openly('setup', '--email', 'ada@example.org'),
    await openly('backup', 'backup.db'),
    await openly('export', 'chat.jsonl'),
    await openly('restore', 'backup.db', '--database', 'sqlite:deep/er/restored.db'),
    await openly('import', 'chat.jsonl', '--database', 'sqlite:new/imported.db'),
    await openly('config', 'init'),
    await openly('openapi', '--output', 'openapi.json'),
  ]
  expect(made.map(({ code, stderr }) => [code, stderr])).toEqual(made.map(() => [0, '']))
  const serving = start(['serve', '--port', '0'], { cwd, env })
  const end = finished(serving)
  await new Promise((resolve) => serving.stdout.once('data', resolve))
  const modes = ['data/chat.db', 'data/chat.db-wal', 'data/chat.db-shm', 'backup.db', 'chat.jsonl']
  modes.push('deep/er/restored.db', 'new/imported.db', 'chat-server.toml', 'openapi.json')
  for (const name of modes) expect([name, statSync(join(cwd, name)).mode & 0o777]).toEqual([name, 0o600])
  for (const name of ['data', 'deep', 'deep/er', 'new'])
    expect([name, statSync(join(cwd, name)).mode & 0o777]).toEqual([name, 0o700])
  serving.kill('SIGTERM')
  expect((await end).code).toBe(0)
})

it('closed or full output ends a command with 1 and no stack', LONG, async () => {
  const cwd = folder()
  await run(['setup', '--email', 'ada@example.org'], { cwd, env, input: PASSWORD })
  for (const args of [['user', 'list'], ['user', 'list', '--json'], ['--help'], ['fsck'], ['completion', 'bash']]) {
    const full = await inShell(cwd, '"$@" > /dev/full', args)
    expect([full.code, full.stderr], args.join(' ')).toEqual([
      1,
      'chat-server: the output could not be written (ENOSPC)\n',
    ])
  }
  const cut = await inShell(cwd, 'set -o pipefail; "$@" | head -n 1', ['openapi'])
  expect([cut.code, cut.stdout, cut.stderr]).toEqual([1, '{\n', ''])
  const unresponsive = await inShell(cwd, '"$@" 2> /dev/full', [
    'user',
    'create',
    '--username',
    'x',
    '--email',
    'ada@example.org',
  ])
  expect([unresponsive.code, unresponsive.stdout]).toEqual([1, ''])
  const closed = await inShell(cwd, '"$@" <&-', ['user', 'list'])
  expect([closed.code, closed.stderr]).toEqual([0, ''])
})

it('a file is replaced as a whole or not at all: a full disk leaves the old one (tmpfs)', LONG, async () => {
  const cwd = folder()
  const disk = join(cwd, 'disk')
  mkdirSync(disk)
  const mounted = await sh('mount', ['-t', 'tmpfs', '-o', 'size=64k', 'tmpfs', disk]).catch(() => undefined)
  if (!mounted) return console.log('A full disk was not tried: this user may mount none')
  onTestFinished(() => sh('umount', ['-l', disk]).then(() => {}))
  await run(['setup', '--email', 'ada@example.org'], { cwd, env, input: PASSWORD })
  for (const [command, name] of [
    ['backup', 'copy.db'],
    ['openapi --output', 'openapi.json'],
  ] as const) {
    writeFileSync(join(disk, name), 'precious')
    const { code, stderr } = await run([...command.split(' '), join(disk, name), '--force'], { cwd, env })
    expect([code, stderr], command).toEqual([1, expect.stringMatching(/^chat-server: .*(full|ENOSPC).*\n$/)])
    expect(readFileSync(join(disk, name), 'utf8')).toBe('precious')
    expect(existsSync(join(disk, `${name}.partial`))).toBe(false)
  }
})

it('no backup overwrites the database, under any name', LONG, async () => {
  const cwd = folder()
  await run(['setup', '--email', 'ada@example.org'], { cwd, env, input: PASSWORD })
  symlinkSync(join('data', 'chat.db'), join(cwd, 'link.db'))
  linkSync(join(cwd, 'data', 'chat.db'), join(cwd, 'hard.db'))
  for (const name of ['link.db', 'hard.db', 'data/../data/chat.db']) {
    for (const command of ['backup', 'export']) {
      const { code, stderr } = await run([command, name, '--force'], { cwd, env })
      expect([code, stderr]).toEqual([1, `chat-server: ${name} is the database itself\n`])
    }
  }
  expect((await run(['user', 'list'], { cwd, env })).stdout).toContain('ada@example.org')
  expect((await run(['backup', 'data'], { cwd, env })).stderr).toBe('chat-server: data is not a file\n')
  expect((await run(['backup', 'no/such/folder.db'], { cwd, env })).code).toBe(1)
})
