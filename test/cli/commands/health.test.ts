import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { createServer } from 'node:net'
import { expect, it } from 'vitest'
import { folder, run } from '../process.ts'
import { serve } from '../serving.ts'

it('tells whether the service that runs here is alive and ready', { timeout: 60_000 }, async () => {
  const cwd = folder()
  const server = await serve({ cwd })
  const env = { CHAT_SERVER__PORT: new URL(server.url).port, CHAT_SERVER__PUBLIC_URL: 'https://chat.example.org' }
  const ask = (...args: string[]) => run(['health', ...args], { cwd, env })
  expect(await ask()).toEqual({ code: 0, stdout: `The service at ${server.url} responds: ok.\n`, stderr: '' })
  expect(await ask('--ready')).toMatchObject({ code: 0, stdout: `The service at ${server.url} responds: ready.\n` })
  expect(JSON.parse((await ask('--ready', '--json')).stdout)).toMatchObject({ status: 'ready', checks: {} })
  server.child.kill('SIGTERM')
  await server.end
  expect(await ask()).toMatchObject({ code: 1, stderr: expect.stringContaining('the connection was refused') })
  expect(await run(['health'], { cwd, env: { CHAT_SERVER__PORT: '0' } })).toMatchObject({ code: 1 })
})

it('does not take another program for the service', { timeout: 60_000 }, async () => {
  const other = createServer((socket) => {
    socket.on('error', () => {})
    socket.end('HTTP/1.1 500 Oh\r\ncontent-length: 5\r\nconnection: close\r\n\r\n\x1b[2Jx')
  }).listen(0, '127.0.0.1')
  await once(other, 'listening')
  const { port } = other.address() as AddressInfo
  const asked = await run(['health'], { cwd: folder(), env: { CHAT_SERVER__PORT: String(port) } })
  other.close()
  expect(asked).toMatchObject({ code: 1, stdout: expect.stringContaining('responds: status 500.') })
})
