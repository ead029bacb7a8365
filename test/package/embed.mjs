// Runs in a project that has installed the package, and tells in one line of JSON what embedding it does.
const listenersBefore = process.eventNames().map(String)

const { createChatService, openStorage, parseConfig } = await import('chat-server')
const { createChatApp, serve } = await import('chat-server/h3')
await import('chat-server/client')
await import('chat-server/client/admin')
await import('chat-server/client/store')
await import('chat-server/client/parts')
await import('chat-server/client/ai')
await import('chat-server/receive')
await import('chat-server/testing')
await import('chat-server/web')

async function askSetup() {
  const chat = createChatService(parseConfig({}), await openStorage({ database: 'sqlite::memory:' }))
  await chat.start()
  const answer = await createChatApp(chat).fetch(new Request('http://x/api/setup'))
  const server = await serve(chat, { port: 0 })
  const overHttp = await fetch(`${server.url}/api/setup`)
  await overHttp.body.cancel()
  await server.close({ drain_seconds: 1 })
  if (overHttp.status !== answer.status) throw new Error(`serve answers ${overHttp.status}`)
  return { chat, status: answer.status, body: await answer.json() }
}

// Two at once: nothing may be shared by the process.
const services = await Promise.all([askSetup(), askSetup()])
await Promise.all(services.map(({ chat }) => chat.close()))

console.log(
  JSON.stringify({
    answers: services.map(({ status, body }) => ({ status, body })),
    newListeners: process.eventNames().filter((name) => !listenersBefore.includes(String(name))),
  }),
)
// No process.exit: a timer or handle that is left open keeps the process, and fails the test.
