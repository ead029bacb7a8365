import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { closeSync, openSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it, onTestFinished, vi } from 'vitest'
import { fileStream } from '../../../cli/logging/file.ts'
import { createLogger } from '../../../cli/logging/logger.ts'
import { mountSmall } from '../../fault/storage/mounts.ts'
import { commandOf, folder } from '../process.ts'

const linesOf = (file: string) => readFileSync(file, 'utf8').split('\n').slice(0, -1)
const CONFIG = { level: 'info', format: 'json' } as const

it('lines lost on a full disk are counted and reported once, and none is glued to the next', ({ skip }) => {
  const mount = mountSmall(1)
  if (!mount) return skip('this user may mount no file system')
  onTestFinished(mount.remove)
  const file = join(mount.path, 'chat.log')
  const fd = openSync(file, 'a')
  const log = createLogger(CONFIG, fileStream(fd))
  log.warn('before')
  const free = mount.fill()
  // The last page of the file has room for some lines, and the beginning of one.
  for (let n = 0; n < 100; n++) log.warn('while it is full', { cause: 'x'.repeat(300) })
  expect(log.dropped!()).toBeGreaterThan(50)
  const whole = 100 - log.dropped!()
  free()
  log.warn('after')
  log.warn('later')
  closeSync(fd)
  const lines = linesOf(file)
  const parsed = lines.flatMap((line) => {
    try {
      return [JSON.parse(line) as { message: string; lost?: number }]
    } catch {
      return []
    }
  })
  expect(lines.length - parsed.length).toBeLessThanOrEqual(1)
  expect(parsed.slice(-3)).toMatchObject([
    { message: 'Lines of the log were lost', lost: 100 - whole },
    { message: 'after' },
    { message: 'later' },
  ])
  expect(parsed.filter(({ message }) => message === 'while it is full')).toHaveLength(whole)
})

it('logrotate copies and truncates the log of a running service, which goes on in the empty file', async ({ skip }) => {
  if (spawnSync('logrotate', ['--version']).error) return skip('logrotate is not installed')
  const cwd = folder()
  const file = join(cwd, 'chat.log')
  const fd = openSync(file, 'a', 0o600)
  const [program, ...args] = commandOf(['serve', '--port', '0', '--json'])
  const child = spawn(program!, args, {
    cwd,
    env: { PATH: process.env.PATH!, CHAT_LOG__LEVEL: 'debug', CHAT_LOG__FORMAT: 'json' },
    stdio: ['ignore', 'pipe', fd],
  })
  closeSync(fd)
  onTestFinished(() => void child.kill('SIGKILL'))
  const [greeting] = (await once(child.stdout!.setEncoding('utf8'), 'data')) as [string]
  const { url } = JSON.parse(greeting) as { url: string }
  const ask = () => fetch(`${url}/healthz`).then((response) => response.text())
  await ask()
  await vi.waitUntil(() => linesOf(file).length > 0, { timeout: 30_000 })
  writeFileSync(join(cwd, 'chat.conf'), `${file} {\n  rotate 7\n  copytruncate\n  nodateext\n}\n`, { mode: 0o644 })
  const rotated = spawnSync('logrotate', ['--force', '--state', join(cwd, 'state'), join(cwd, 'chat.conf')])
  expect([rotated.status, String(rotated.stderr)]).toEqual([0, ''])
  await ask()
  child.kill('SIGTERM')
  await once(child, 'close')
  for (const each of [`${file}.1`, file]) {
    const lines = linesOf(each)
    expect(lines.length).toBeGreaterThan(0)
    for (const line of lines) expect(JSON.parse(line)).toHaveProperty('message')
  }
  rmSync(`${file}.1`)
})
