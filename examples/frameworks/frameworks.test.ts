import { once } from 'node:events'
import type { Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { type Chat, OPERATOR } from 'chat-server'
import { describe, vi } from 'vitest'
import { type Host, type Person, walkHost } from '../../test/support/hosts.ts'

/** What an example exports. */
interface Example {
  chat: Chat
  server: unknown
}

const EXAMPLES: Record<string, () => Promise<Example>> = {
  'node.ts': () => import('./node.ts'),
  'express-session.ts': () => import('./express-session.ts'),
  'express-passport.ts': () => import('./express-passport.ts'),
  'fastify.ts': () => import('./fastify.ts'),
  'hono.ts': () => import('./hono.ts'),
  'h3.ts': () => import('./h3.ts'),
  'fetch.ts': () => import('./fetch.ts'),
  'better-auth.ts': () => import('./better-auth.ts'),
}

const printed = [vi.spyOn(process.stderr, 'write'), vi.spyOn(console, 'warn'), vi.spyOn(console, 'error')]
vi.spyOn(console, 'info').mockReturnValue()

describe.each(Object.entries(EXAMPLES))('%s', (name, load) => {
  walkHost(async () => {
    process.env.PORT = '0'
    printed.forEach((spy) => void spy.mockClear())
    const example = await load()
    const host = await toHost(example)
    return name === 'better-auth.ts' ? { ...host, ...throughBetterAuth(host.url) } : host
  })
})

async function toHost({ chat, ...example }: Example): Promise<Host> {
  const server = example.server as Server
  if (!server.listening) await once(server, 'listening')
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    async addressOfAcceptance() {
      const { entries } = await chat.audit.list(OPERATOR, { act: 'invite.accepted' })
      return entries[0]?.ip
    },
    complaints: () => printed.flatMap((spy) => spy.mock.calls.map(([line]) => String(line))),
    async close() {
      chat.drain()
      server.close()
      server.closeAllConnections()
      await chat.close()
    },
  }
}

/** It has routes of its own, and compares the origin with its own address. */
function throughBetterAuth(url: string): Pick<Host, 'login' | 'logout'> {
  const call = (path: string, body: object, cookie = '') => {
    const headers = { cookie, 'content-type': 'application/json', origin: 'http://127.0.0.1:3000' }
    return fetch(`${url}/api/auth/${path}`, { method: 'POST', headers, body: JSON.stringify(body) })
  }
  return {
    login: ({ username, password }: Person) =>
      call('sign-up/email', { name: username, email: `${username}@example.org`, password }),
    logout: (cookie) => call('sign-out', {}, cookie),
  }
}
