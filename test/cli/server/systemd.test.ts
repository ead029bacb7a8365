import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import { ask } from '../../../cli/doctor/http.ts'
import { commandOf, folder, run } from '../process.ts'
import { logged, serve } from '../serving.ts'

const env = { CHAT_SECURITY__PASSWORD__BCRYPT_COST: '4', CHAT_DATABASE__URL: 'sqlite:chat.db' }

/** Node has no datagram sockets in the file system: Python receives, and prints each message as a line of JSON. */
const RECEIVER = `
import json, socket, sys
s = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
s.bind(sys.argv[1])
print('"bound"', flush=True)
while True:
  print(json.dumps(s.recv(65536).decode()), flush=True)
`

const missing = ['systemd-notify', 'python3'].filter((program) => spawnSync(program, ['--version']).error)
if (missing.length > 0) console.log(`Tests of notifications to systemd skipped: ${missing.join(', ')} not found`)

/** What systemd would receive. */
async function startReceiver(path: string): Promise<{ seen: string[]; waitFor(text: string): Promise<void> }> {
  const child: ChildProcess = spawn('python3', ['-c', RECEIVER, path], { stdio: ['ignore', 'pipe', 'inherit'] })
  onTestFinished(() => void child.kill('SIGKILL'))
  const seen: string[] = []
  let rest = ''
  child.stdout!.setEncoding('utf8').on('data', (text: string) => {
    const lines = (rest + text).split('\n')
    rest = lines.pop()!
    // systemd-notify waits with a BARRIER until its message was read.
    seen.push(...lines.map((line) => JSON.parse(line) as string).filter((each) => !each.startsWith('BARRIER')))
  })
  await once(child.stdout!, 'data')
  const waitFor = async (text: string) => {
    await expect.poll(() => seen.some((each) => each.includes(text)), { timeout: 60_000 }).toBe(true)
  }
  return { seen, waitFor }
}

it.skipIf(missing.length > 0)(
  'tells systemd that it is ready, reloads, stops, and still runs',
  { timeout: 150_000 },
  async () => {
    const cwd = folder()
    const NOTIFY_SOCKET = join(cwd, 'notify')
    const receiver = await startReceiver(NOTIFY_SOCKET)
    const server = await serve({ cwd, env: { ...env, NOTIFY_SOCKET, WATCHDOG_USEC: '2000000' } })
    await receiver.waitFor('READY=1')
    await receiver.waitFor('WATCHDOG=1')
    const reloaded = logged(server, 'Reloaded the configuration.')
    server.child.kill('SIGHUP')
    await reloaded
    await receiver.waitFor('RELOADING=1')
    server.child.kill('SIGTERM')
    expect((await server.end).code).toBe(0)
    const states = receiver.seen
      .flatMap((text) => text.split('\n'))
      .filter((each) => /^(READY|RELOADING|STOPPING)=/.test(each))
    expect(states).toEqual(['READY=1', 'RELOADING=1', 'READY=1', 'STOPPING=1'])
    const [reloading] = receiver.seen.filter((text) => text.includes('RELOADING=1'))
    expect(reloading).toMatch(/MONOTONIC_USEC=\d+/)
  },
)

it('serves without the program systemd-notify, and logs one warning', { timeout: 150_000 }, async () => {
  const cwd = folder()
  const server = await serve({ cwd, env: { ...env, NOTIFY_SOCKET: join(cwd, 'notify'), PATH: cwd } })
  expect((await fetch(`${server.url}/healthz`)).status).toBe(200)
  server.child.kill('SIGTERM')
  const { code, stderr } = await server.end
  expect([code, stderr.match(/systemd could not be notified/g)?.length]).toEqual([0, 1])
})

/** As systemd does it: opens the socket, and becomes the service. */
const ACTIVATOR = `
import os, socket, sys
s = socket.socket(socket.AF_INET if sys.argv[1] == 'tcp' else socket.AF_UNIX)
s.bind(('127.0.0.1', 0) if sys.argv[1] == 'tcp' else sys.argv[1])
s.listen()
os.dup2(s.fileno(), 3)
os.set_inheritable(3, True)
os.environ.update(LISTEN_PID=str(os.getpid()), LISTEN_FDS=sys.argv[2])
os.execv(sys.argv[3], sys.argv[3:])
`

function startActivated(cwd: string, socket: string, count = '1') {
  const args = ['-c', ACTIVATOR, socket, count, ...commandOf(['serve'])]
  const child = spawn('python3', args, { cwd, env: { ...process.env, ...env }, stdio: ['ignore', 'pipe', 'pipe'] })
  onTestFinished(() => void child.kill('SIGKILL'))
  return child
}

const python = missing.includes('python3')

it.skipIf(python).each(['tcp', 'activated.sock'])(
  'listens on the socket that systemd opened: %s',
  { timeout: 150_000 },
  async (socket) => {
    const cwd = folder()
    const child = startActivated(cwd, socket)
    const [line] = (await once(child.stdout!.setEncoding('utf8'), 'data')) as [string]
    const { url } = JSON.parse(line) as { url: string }
    expect(url).toMatch(socket === 'tcp' ? /^http:\/\/127\.0\.0\.1:\d+$/ : /^unix:$/)
    const { status } = await ask(socket === 'tcp' ? `${url}/healthz` : `unix:${join(cwd, socket)}:/healthz`)
    expect(status).toBe(200)
    child.kill('SIGTERM')
    expect(await once(child, 'exit')).toEqual([0, null])
  },
)

it.skipIf(python)('refuses several sockets of systemd', { timeout: 150_000 }, async () => {
  const child = startActivated(folder(), 'tcp', '2')
  const [code] = await once(child, 'exit')
  expect(code).toBe(2)
})

it('serves on --socket, where health and doctor find it', { timeout: 150_000 }, async () => {
  const cwd = folder()
  const server = await serve({ cwd, env: { ...env, CHAT_SERVER__SOCKET: 'chat.sock' } })
  expect(server.url).toBe(`unix:${join(cwd, 'chat.sock')}`)
  const found = { cwd, env: { CHAT_SERVER__SOCKET: 'chat.sock' } }
  expect(await run(['health', '--ready'], found)).toMatchObject({ code: 0 })
  server.child.kill('SIGTERM')
  expect((await server.end).code).toBe(0)
  const gone = await run(['health'], found)
  expect([gone.code, gone.stderr]).toEqual([1, expect.stringContaining('there is no such socket')])
})
