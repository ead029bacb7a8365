import { spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { type IncomingMessage, request } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { expect, it, onTestFinished } from 'vitest'
import { serve } from '../../../lib/http/index.ts'
import { createAddressReader, SOCKET_PEER } from '../../../lib/http/request/client-address.ts'
import { type ConfigInput, createChatService, openStorage, parseConfig } from '../../../lib/index.ts'

function folder(): string {
  const path = mkdtempSync(join(tmpdir(), 'chat-socket-'))
  onTestFinished(() => rmSync(path, { recursive: true }))
  return path
}

async function startChat(server: ConfigInput['server'], onAddress = (_ip: string | undefined) => {}) {
  const identity = ({ ip }: { ip?: string | undefined }) => {
    onAddress(ip)
    return { subject: '42' }
  }
  const chat = createChatService(parseConfig({ server }), await openStorage({ database: 'sqlite::memory:' }), {
    identity,
  })
  onTestFinished(() => chat.close())
  await chat.start()
  return chat
}

async function get(socketPath: string, path: string, headers: Record<string, string> = {}) {
  const [response] = (await once(request({ socketPath, path, headers }).end(), 'response')) as [IncomingMessage]
  return { status: response.statusCode, body: await text(response) }
}

it('listens on a Unix domain socket with the configured permissions, and removes it at its end', async () => {
  const socket = join(folder(), 'chat.sock')
  const server = await serve(await startChat({ socket, socket_mode: '600' }))
  expect(server).toMatchObject({ url: `unix:${socket}`, port: 0, address: `unix:${socket}` })
  expect(statSync(socket).mode & 0o777).toBe(0o600)
  expect(await get(socket, '/healthz')).toEqual({ status: 200, body: '{"status":"ok"}' })
  await server.close()
  expect(existsSync(socket)).toBe(false)
})

it('prefers a port that is asked for, and a socket that is asked for', async () => {
  const cwd = folder()
  const chat = await startChat({ socket: join(cwd, 'configured.sock') })
  const [onPort, onSocket] = await Promise.all([
    serve(chat, { port: 0 }),
    serve(chat, { socket: join(cwd, 'asked.sock') }),
  ])
  expect([onPort.url, onSocket.url]).toEqual([`http://127.0.0.1:${onPort.port}`, `unix:${join(cwd, 'asked.sock')}`])
  await Promise.all([onPort.close(), onSocket.close()])
})

it('takes the address of a caller from the proxy at the socket', async () => {
  const socket = join(folder(), 'chat.sock')
  const seen: (string | undefined)[] = []
  const server = await serve(await startChat({ socket }, (ip) => seen.push(ip)))
  await get(socket, '/api/auth/me', { 'x-forwarded-for': '198.51.100.9, 192.0.2.7' })
  await get(socket, '/api/auth/me')
  // What the client itself wrote before the address that the proxy appended counts for nothing.
  expect(seen).toEqual(['192.0.2.7', undefined])
  await server.close()
})

it('follows trusted proxies behind the one at the socket', () => {
  const read = createAddressReader(['192.0.2.0/24'])
  expect(read(SOCKET_PEER, '198.51.100.9, 192.0.2.7')).toBe('198.51.100.9')
  expect(read(SOCKET_PEER, 'nonsense')).toBeUndefined()
  expect(read(undefined, '198.51.100.9')).toBeUndefined()
})

it('replaces the socket of a dead process, and no other file', async () => {
  const cwd = folder()
  const socket = join(cwd, 'chat.sock')
  const die = `require('net').createServer().listen(${JSON.stringify(socket)}, () => process.kill(process.pid, 'SIGKILL'))`
  spawnSync(process.execPath, ['-e', die])
  expect(existsSync(socket)).toBe(true)
  const chat = await startChat({ socket })
  const server = await serve(chat)
  expect((await get(socket, '/healthz')).status).toBe(200)
  await expect(serve(chat)).rejects.toThrow(`Cannot listen on unix:${socket}: another process listens there`)
  expect((await get(socket, '/healthz')).status).toBe(200)
  await server.close()
  writeFileSync(socket, 'not ours')
  await expect(serve(chat)).rejects.toThrow('a file that is no socket exists there')
  await expect(serve(chat, { socket: join(cwd, 'none', 'x.sock') })).rejects.toThrow('its folder does not exist')
})

it.each([
  [{ socket: '' }, 'server.socket'],
  [{ socket: `/${'a'.repeat(100)}` }, 'server.socket'],
  [{ socket: '/run/chat.sock', socket_mode: '999' }, 'server.socket_mode'],
])('refuses %j', (server, key) => {
  expect(() => parseConfig({ server })).toThrow(key)
})

it('is refused for several workers', () => {
  expect(() => parseConfig({ server: { socket: '/run/chat.sock' }, cluster: { workers: 2 } })).toThrow(
    'cluster.workers',
  )
})
