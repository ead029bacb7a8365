import { spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { connect, type Socket } from 'node:net'
import { setTimeout } from 'node:timers/promises'
import { expect, it, onTestFinished } from 'vitest'
import { createSqliteFile } from '../support/databases.ts'
import { startServe } from './serving.ts'

const LIMIT = 64
const CONNECTIONS = 100
const REQUEST = 'GET /healthz HTTP/1.1\r\nHost: a\r\n\r\n'

const isInstalled = spawnSync('prlimit', ['--version']).error === undefined
if (!isInstalled) console.log('Test without file descriptors skipped: prlimit not found')

it.skipIf(!isInstalled)(
  'serves connected clients when no file descriptors are left, does not spin, and continues after',
  { timeout: 60_000 },
  async () => {
    const { url, remove } = await createSqliteFile()
    const server = await startServe(url)
    onTestFinished(() => server.signal('SIGKILL'))
    // After the start: loading a program needs more.
    spawnSync('prlimit', ['--pid', String(server.pid), `--nofile=${LIMIT}`])
    const first = await open(server.port)
    expect(await ask(first)).toMatch(/^HTTP\/1\.1 200 /)

    const others = await Promise.all(Array.from({ length: CONNECTIONS }, () => open(server.port)))
    const answers = await Promise.all(others.map(ask))
    const served = answers.filter((answer) => answer.startsWith('HTTP/1.1 200 ')).length
    expect(served).toBeGreaterThan(0)
    expect(served).toBeLessThan(LIMIT)
    expect(answers.filter((answer) => answer === '')).toHaveLength(CONNECTIONS - served)
    expect(await ask(first)).toMatch(/^HTTP\/1\.1 200 /)

    const waiting = await open(server.port)
    expect(await ask(first)).toMatch(/^HTTP\/1\.1 200 /)
    const before = processorMs(server.pid)
    // With nothing to do, however slow the machine: a loop that retries a failing accept would use a whole core.
    await setTimeout(1_000)
    expect(processorMs(server.pid) - before).toBeLessThan(300)
    expect(await ask(first)).toMatch(/^HTTP\/1\.1 200 /)

    for (const socket of [...others, waiting]) socket.destroy()
    let again = ''
    while (!again.startsWith('HTTP/1.1 200 ')) again = await ask(await open(server.port))
    server.signal('SIGTERM')
    expect(await server.exit).toBe(0)
    await remove()
  },
)

function open(port: number): Promise<Socket> {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1')
    socket.on('error', () => {})
    socket.once('connect', () => resolve(socket))
    onTestFinished(() => void socket.destroy())
  })
}

/** @returns the first bytes; `undefined` when the connection is closed instead */
function ask(socket: Socket): Promise<string> {
  return new Promise((resolve) => {
    if (socket.destroyed) return resolve('')
    const onEnd = () => resolve('')
    socket.once('close', onEnd)
    socket.once('data', (data) => {
      socket.off('close', onEnd)
      resolve(String(data))
    })
    socket.write(REQUEST)
  })
}

/** The CPU time of a process: fields 14 and 15 of `stat`, in hundredths of a second. */
function processorMs(pid: number): number {
  const fields = readFileSync(`/proc/${pid}/stat`, 'utf8')
    .replace(/^.*\) /s, '')
    .split(' ')
  return (Number(fields[11]) + Number(fields[12])) * 10
}
