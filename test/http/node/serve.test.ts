import { expect, it, onTestFinished, vi } from 'vitest'
import { serve } from '../../../lib/http/index.ts'
import { createChatService, openStorage, parseConfig } from '../../../lib/index.ts'
import { openStream, signInByHand } from '../../support/stream.ts'

const ADA = { email: 'ada@example.org', password: 'correct horse battery' }

it('listens with the configured limits, adds no listener to the process, and prints nothing', async () => {
  const write = vi.spyOn(process.stdout, 'write')
  onTestFinished(() => write.mockRestore())
  const before = process.eventNames()
  const chat = await startChat({ server: { max_header_bytes: 4096 } })
  const server = await serve(chat, { port: 0 })
  expect(server.url).toBe(`http://127.0.0.1:${server.port}`)
  expect(await (await fetch(`${server.url}/api/setup`)).json()).toEqual({ is_setup: false })
  const large = await fetch(server.url, { headers: { 'x-large': 'x'.repeat(5000) } })
  expect(large.status).toBe(431)
  await server.close()
  expect(process.eventNames()).toEqual(before)
  expect(write).not.toHaveBeenCalled()
})

it('takes host and port from the configuration, and throws the reason when it cannot listen there', async () => {
  const first = await serve(await startChat({}), { port: 0 })
  onTestFinished(() => first.close())
  const chat = await startChat({ server: { host: '127.0.0.1', port: first.port } })
  await expect(serve(chat)).rejects.toThrow(`Cannot listen on 127.0.0.1:${first.port}: the port is taken`)
})

it('ends its streams when it is closed, leaves the chat open, and closes once', async () => {
  const chat = await startChat({})
  const { user } = await chat.setup.run(ADA)
  const server = await serve(chat, { port: 0 })
  const ada = await chat.users.actor(user.id)
  const { conversation_id } = await chat.conversations.create(ada, {})
  const { cookie } = await signInByHand(server.url, ADA.email, ADA.password)
  const stream = await openStream(server.url, conversation_id, { cookie })
  await stream.until('stream.ready')
  const closed = Promise.all([server.close({ delay_seconds: 0, drain_seconds: 1 }), server.close()])
  await stream.until('stream.closed')
  await closed
  await expect(fetch(server.url)).rejects.toThrow()
  expect(await chat.conversations.list(ada)).toMatchObject({ conversations: [{ id: conversation_id }] })
})

async function startChat(config: Parameters<typeof parseConfig>[0]) {
  const cheap = { security: { password: { bcrypt_cost: 4 } }, ...(config as object) }
  const chat = createChatService(parseConfig(cheap), await openStorage({ database: 'sqlite::memory:' }))
  onTestFinished(() => chat.close())
  await chat.start()
  return chat
}
