/** Code that uses the service through its OpenAPI document alone: a typed client, and a conversation. */
import createClient, { type Middleware } from 'openapi-fetch'
import type { components, paths } from './openapi.ts'

type ConversationStreamEvent = components['schemas']['ConversationStreamEvent']

const baseUrl = process.argv[2] ?? ''
const credentials = { email: 'ada@example.org', password: 'correct horse battery' }

/** What a browser does: keeps cookies; and what a page does: repeats one of them. */
function session(): Middleware {
  const jar = new Map<string, string>()
  return {
    onRequest({ request }) {
      request.headers.set('cookie', [...jar].map(([name, value]) => `${name}=${value}`).join('; '))
      request.headers.set('X-CSRF-TOKEN', jar.get('CSRF-TOKEN') ?? '')
    },
    onResponse({ response }) {
      for (const cookie of response.headers.getSetCookie()) {
        const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(cookie) ?? []
        jar.set(name, value)
      }
    },
  }
}

const client = createClient<paths>({ baseUrl })
client.use(session())

/** The answer, or the end: this path is a happy one. */
function good<T>({ data, error }: { data?: T; error?: { code?: string } | undefined }): T {
  if (error || data === undefined) throw new Error(`failed: ${JSON.stringify(error)}`)
  return data
}

const { is_setup } = good(await client.GET('/api/setup'))
console.log('set up before:', is_setup)
good(await client.POST('/api/setup', { body: { ...credentials, username: 'ada' } }))
const { user, session: signedIn } = good(await client.POST('/api/auth/login', { body: credentials }))
console.log('signed in:', user.username, user.roles.join('+'), signedIn.id.length)

const { conversation_id } = good(await client.POST('/api/conversations', { body: { title: 'Engines' } }))
const post = () =>
  client.POST('/api/threads/{conversation_id}/root', {
    params: { path: { conversation_id }, header: { 'Idempotency-Key': 'once' } },
    body: { content: 'Does it run?' },
  })
const { root_id } = good(await post())
const repeated = await post()
console.log('posted once:', repeated.data?.root_id === root_id, repeated.response.headers.get('Idempotency-Replayed'))

const threads = await client.GET('/api/conversations/{conversation_id}/threads', {
  params: { path: { conversation_id }, query: { limit: 10 } },
})
console.log(
  'threads:',
  good(threads)
    .threads.map((thread) => thread.root_excerpt)
    .join(),
)

const stream = await client.GET('/api/stream/conversations/{conversation_id}', {
  params: {
    path: { conversation_id },
    header: { 'Last-Event-ID': threads.response.headers.get('Stream-Position') ?? '' },
  },
  parseAs: 'stream',
})
const reply = good(
  await client.POST('/api/messages/{parent_id}/reply', {
    params: { path: { parent_id: root_id } },
    body: { content: 'It runs.' },
  }),
)
for await (const event of events(stream.data as ReadableStream<Uint8Array>)) {
  if (event.type === 'stream.ready') console.log('resumed:', event.payload.resumed)
  if (event.type !== 'message.new') continue
  console.log('arrived:', event.payload.message.content, event.payload.message.parent_id === root_id)
  break
}

const tree = good(await client.GET('/api/threads/{root_id}/tree', { params: { path: { root_id } } }))
console.log('tree:', tree.messages.map(({ depth, content }) => `${depth} ${content}`).join(', '))

const edited = await client.POST('/api/messages/{message_id}/edit', {
  params: { path: { message_id: reply.message_id } },
  body: { content: 'It runs well.' },
})
console.log('edited:', edited.response.status)
const missing = await client.GET('/api/messages/{message_id}', {
  params: { path: { message_id: '01980a3c-9000-7a10-8b20-0c4f1d2e3a45' } },
})
// Codes are known by name: one that is in no answer of this call does not compile.
if (missing.error?.code === 'not_found') console.log('failure:', missing.error.status, missing.error.title)

await client.POST('/api/auth/logout')
const after = await client.GET('/api/auth/me')
console.log('signed out:', after.error?.code)

async function* events(stream: ReadableStream<Uint8Array>): AsyncGenerator<ConversationStreamEvent> {
  const decoder = new TextDecoder()
  let text = ''
  for await (const piece of stream) {
    const blocks = (text + decoder.decode(piece, { stream: true })).split('\n\n')
    text = blocks.pop() ?? ''
    for (const block of blocks) {
      const data = /^data: (.*)$/m.exec(block)?.[1]
      if (data !== undefined) yield JSON.parse(data) as ConversationStreamEvent
    }
  }
}
