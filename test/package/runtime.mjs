// A host's program for Bun and Deno: behind the server of the runtime, and behind `serve`, which is one of node:http, it
// signs in, follows a conversation, uploads a file, and searches.
import { createChatService, openStorage, parseConfig } from 'chat-server'
import { createChatClient } from 'chat-server/client'
import { createChatApp, serve } from 'chat-server/h3'

const credentials = { email: 'ada@example.org', password: 'correct horse battery' }
const config = parseConfig({
  security: { password: { bcrypt_cost: 4 } },
  attachments: { enabled: true, storage: 'fs:./files' },
})
const addresses = new WeakMap()

/** The server of the runtime. */
function serveNatively(app) {
  const answer = (request, address) => {
    addresses.set(request, address)
    return app.fetch(request)
  }
  if (globalThis.Bun) {
    // Bun ends a response that is silent for ten seconds: a stream is, between its heartbeats.
    const server = Bun.serve({
      port: 0,
      hostname: '127.0.0.1',
      idleTimeout: 0,
      fetch: (request, server) => answer(request, server.requestIP(request)?.address),
    })
    return { url: `http://127.0.0.1:${server.port}`, close: () => server.stop(true) }
  }
  const server = Deno.serve({ port: 0, hostname: '127.0.0.1', onListen() {} }, (request, { remoteAddr }) =>
    answer(request, remoteAddr.hostname),
  )
  return { url: `http://127.0.0.1:${server.addr.port}`, close: () => server.shutdown() }
}

async function use(url) {
  const client = createChatClient({ base_url: url })
  await client.auth.login(credentials)
  const { conversation_id } = await client.conversations.create({ title: 'Engines' })
  for await (const { event } of client.events.follow(conversation_id)) {
    if (event.type === 'stream.ready') {
      const file = await client.upload(conversation_id, new File(['bytes'], 'a.txt', { type: 'text/plain' }))
      await client.messages.postRoot(conversation_id, { content: 'Does it run?', attachment_ids: [file.id] })
    }
    if (event.type === 'message.new') break
  }
  const { results } = await client.search.messages({ q: `run in:${conversation_id}` })
  const { message } = results[0]
  return `${message.content} ${message.attachments.length}`
}

const [database, schema] = process.argv.slice(2)
const chat = createChatService(config, await openStorage({ database, ...(schema && { schema }) }))
await chat.start()
await chat.setup.run({ ...credentials, username: 'ada' })
const native = serveNatively(createChatApp(chat, { addressOf: (request) => addresses.get(request) }))
console.log(await use(native.url))
const server = await serve(chat, { port: 0 })
console.log(await use(server.url))
await server.close({ drain_seconds: 1 })
await native.close()
await chat.close()
