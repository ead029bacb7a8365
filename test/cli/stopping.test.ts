import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { type AddressInfo, connect, createServer } from 'node:net'
import { join } from 'node:path'
import { Client } from 'pg'
import { describe, expect, inject, it, onTestFinished } from 'vitest'
import { createChatClient } from '../../lib/client/index.ts'
import { createPostgresDatabase } from '../support/databases.ts'
import { openStream, signInByHand } from '../support/stream.ts'
import { commandOf, finished, folder, run, start } from './process.ts'
import { logged, type Serving, serve } from './serving.ts'

const ADA = { email: 'ada@example.org', password: 'correct horse battery' }
const env = { CHAT_SECURITY__PASSWORD__BCRYPT_COST: '4', CHAT_DATABASE__URL: 'sqlite:chat.db' }

describe('a stopping service', () => {
  it('first reports itself as not ready to load balancers, and serves for as long as they need', async () => {
    const server = await serve({ cwd: folder(), env: { ...env, CHAT_SERVER__DRAIN_DELAY_SECONDS: '2' } })
    const { ada, conversation_id, stream } = await settle(server)
    await stream.until('stream.ready')
    const readiness = async () => (await fetch(`${server.url}/readyz`)).status
    expect(await readiness()).toBe(200)
    server.child.kill('SIGTERM')
    while ((await readiness()) === 200);
    const { message_id } = await ada.messages.postRoot(conversation_id, { content: 'still here' })
    const [post] = (await stream.until('message.new')).slice(-1)
    expect(post!.event).toMatchObject({ payload: { message: { id: message_id } } })
    const answered = await fetch(`${server.url}/healthz`)
    expect(answered.headers.get('connection')).toBe('close')
    await stream.until('stream.closed')
    expect(await stream.next()).toBeUndefined()
    expect((await server.end).code).toBe(0)
  })

  it('ignores signals that ask for something else, and opens no debugger', async () => {
    const server = await serve({ cwd: folder(), env })
    const reloaded = logged(server, 'Reloaded the configuration.')
    for (const signal of ['SIGUSR1', 'SIGUSR2', 'SIGHUP'] as const) server.child.kill(signal)
    await reloaded
    expect((await fetch(`${server.url}/readyz`)).status).toBe(200)
    server.child.kill('SIGTERM')
    const { code, stderr } = await server.end
    expect([code, stderr]).toEqual([0, expect.not.stringMatching(/debugger|inspector/i)])
  })

  it.skipIf(!existsSync('/usr/bin/script'))('drains when its terminal is closed', async () => {
    const command = commandOf(['serve', '--port', '0']).map((part) => `'${part}'`)
    const terminal = spawn('script', ['-qec', `exec ${command.join(' ')}`, '/dev/null'], {
      cwd: folder(),
      env: { PATH: process.env.PATH, ...env },
    })
    onTestFinished(() => void terminal.kill('SIGKILL'))
    let output = ''
    while (!/listens on http\S+:\d+\s/.test(output)) output += String((await once(terminal.stdout, 'data'))[0])
    const [url] = /http:\/\/[\d.]+:\d+/.exec(output)!
    const { stream } = await settle({ url })
    await stream.until('stream.ready')
    terminal.kill('SIGKILL')
    await stream.until('stream.closed')
  })

  it('answers pipelined requests of one connection, in order', async () => {
    const server = await serve({ cwd: folder(), env })
    const { port } = new URL(server.url)
    const socket = connect(Number(port), '127.0.0.1')
    const asked = (path: string) => `GET ${path} HTTP/1.1\r\nHost: a\r\nConnection: keep-alive\r\n\r\n`
    // The first request waits for its body, so that all others wait behind it.
    const body = JSON.stringify({ email: 'nobody@example.org', password: 'wrong password' })
    const head = `POST /api/auth/login HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\nExpect: 100-continue`
    socket.write(`${head}\r\nContent-Length: ${body.length}\r\n\r\n`)
    await once(socket, 'data')
    const draining = logged(server, 'Draining.')
    server.child.kill('SIGTERM')
    await draining
    socket.write(body + asked('/healthz').repeat(20) + asked('/api/setup'))
    let received = ''
    for await (const chunk of socket) received += chunk
    const statuses = [...received.matchAll(/HTTP\/1\.1 (\d+)/g)].map(([, status]) => Number(status))
    expect(statuses).toEqual([401, ...Array(20).fill(200), 200])
    expect(received.match(/connection: close/gi)).toHaveLength(1)
    expect(received.endsWith('{"is_setup":false}')).toBe(true)
    expect((await server.end).code).toBe(0)
  })

  it('ends at once when it waits for a database that does not respond', async () => {
    const silent = createServer().listen(0, '127.0.0.1')
    await once(silent, 'listening')
    const { port } = silent.address() as AddressInfo
    const child = start(['serve', '--port', '0', '--database', `postgres://chat@127.0.0.1:${port}/chat`], {
      cwd: folder(),
    })
    const end = finished(child)
    const [socket] = await once(silent, 'connection')
    onTestFinished(() => void socket.destroy())
    onTestFinished(() => void silent.close())
    child.kill('SIGTERM')
    expect(await end).toMatchObject({ code: 0, stdout: '', stderr: expect.stringContaining('before it was up') })
  })

  it('leaves a usable database, whenever it is stopped during its start', async () => {
    const cwd = folder()
    const child = start(['serve', '--port', '0'], { cwd, env })
    const end = finished(child)
    while (!existsSync(join(cwd, 'chat.db'))) await new Promise((resolve) => setImmediate(resolve))
    child.kill('SIGTERM')
    expect((await end).code).toBe(0)
    const server = await serve({ cwd, env })
    expect((await fetch(`${server.url}/readyz`)).status).toBe(200)
    server.child.kill('SIGTERM')
    expect((await server.end).code).toBe(0)
    expect((await run(['fsck'], { cwd, env })).code).toBe(0)
  })

  it.skipIf(!inject('postgres_url'))('ends while it waits for a migration', async () => {
    const { url, remove } = await createPostgresDatabase()
    const other = new Client({ connectionString: url })
    await other.connect()
    // Another process migrates, slowly.
    await other.query('BEGIN')
    await other.query('CREATE TABLE migrations (id INTEGER)')
    const options = { cwd: folder(), env: { ...env, CHAT_DATABASE__URL: url } }
    const child = start(['serve', '--port', '0'], options)
    const end = finished(child)
    const waiting = `SELECT 1 FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`
    // Its view of other sessions stays the same within a transaction, unless it is refreshed.
    do await other.query('SELECT pg_stat_clear_snapshot()')
    while ((await other.query(waiting)).rowCount === 0)
    child.kill('SIGTERM')
    expect(await end).toMatchObject({ code: 0, stderr: expect.stringContaining('before it was up') })
    await other.query('ROLLBACK')
    await other.end()
    const server = await serve(options)
    expect((await fetch(`${server.url}/readyz`)).status).toBe(200)
    server.child.kill('SIGTERM')
    expect((await server.end).code).toBe(0)
    await remove()
  })
})

it('continues after the machine was suspended, and answers requests that arrived meanwhile', async () => {
  const server = await serve({ cwd: folder(), env })
  const { ada, conversation_id, stream } = await settle(server)
  await stream.until('stream.ready')
  const question = Array.from({ length: 100 }, (_, i) => `word-${i}`).join(' ')
  const { message_id } = await ada.messages.postRoot(conversation_id, { role: 'assistant', content: question })
  await stream.until('message.delta')
  server.child.kill('SIGSTOP')
  const posts = ['one', 'two', 'three'].map((content) => ada.messages.postRoot(conversation_id, { content }))
  await new Promise((resolve) => setTimeout(resolve, 3_000))
  server.child.kill('SIGCONT')
  const ids = (await Promise.all(posts)).map((post) => post.message_id)
  const seen = (await stream.until('message.done')).map(({ event }) => event)
  expect(seen.filter(({ type }) => type === 'message.done' || type === 'stream.closed')).toHaveLength(1)
  const { content, status } = await ada.messages.get(message_id)
  expect({ content, status }).toEqual({ content: question, status: 'complete' })
  const { threads } = await ada.threads.list(conversation_id)
  expect(threads.map(({ root_id }) => root_id).sort()).toEqual([message_id, ...ids].sort())
  server.child.kill('SIGTERM')
  expect((await server.end).code).toBe(0)
})

/** Ada, with an open stream of her conversation. */
async function settle({ url }: Pick<Serving, 'url'>) {
  const ada = createChatClient({ base_url: url })
  await ada.setup.run(ADA)
  await ada.auth.login(ADA)
  const { conversation_id } = await ada.conversations.create()
  const { cookie } = await signInByHand(url, ADA.email, ADA.password)
  return { ada, conversation_id, stream: await openStream(url, conversation_id, { cookie }) }
}
