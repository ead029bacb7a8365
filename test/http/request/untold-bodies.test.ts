import { beforeAll, expect, it } from 'vitest'
import { createChatApp } from '../../../lib/http/app.ts'
import { OPERATOR } from '../../../lib/index.ts'
import { setUpService } from '../../support/describe-service.ts'
import { type Person, startService } from '../../support/service.ts'

const service = setUpService(() => startService('sqlite::memory:'))
let ada: Person
let token: string
let conversation_id: string
beforeAll(async () => {
  ada = await service.signIn('ada')
  token = (await service.chat.tokens.issue(OPERATOR, { user_id: ada.id, ttl_seconds: 3600 })).token
  conversation_id = (await ada.conversations.create()).conversation_id
})

/** A body of these chunks, as a framework gives it with each request: without a type and a length. */
function bodyOf(...chunks: string[]): ReadableStream<Uint8Array> {
  return new ReadableStream({
    start(controller) {
      for (const chunk of chunks) controller.enqueue(new TextEncoder().encode(chunk))
      controller.close()
    },
  })
}

const newMessage = async () => (await ada.messages.postRoot(conversation_id, { content: 'Hello' })).message_id

async function remove(message_id: string, body: ReadableStream, headers: Record<string, string> = {}) {
  const init = {
    method: 'POST',
    headers: { authorization: `Bearer ${token}`, ...headers },
    body,
    duplex: 'half',
  } as const
  const request = new Request(`${service.base_url}/api/messages/${message_id}/delete`, init)
  const response = await createChatApp(service.chat).fetch(request)
  return [response.status, ((await response.json().catch(() => ({}))) as { code?: string }).code]
}

it.each([[['{"reason":"spam"}']], [['', '{"reason":', '"spam"}']], [[' ']]])(
  'a body without a type and a length is refused, not left out (%j)',
  async (chunks) => {
    const message_id = await newMessage()
    expect(await remove(message_id, bodyOf(...chunks))).toEqual([415, 'unsupported_media_type'])
    expect((await ada.messages.get(message_id)).content).toBe('Hello')
  },
)

it.each([[[]], [['']]])('an empty one is none (%j)', async (chunks) => {
  expect(await remove(await newMessage(), bodyOf(...chunks))).toEqual([204, undefined])
})

it('one that the host is reading is not taken for none', async () => {
  const body = bodyOf('{"reason":"spam"}')
  const init = { method: 'POST', headers: { authorization: `Bearer ${token}` }, body, duplex: 'half' } as const
  const request = new Request(`${service.base_url}/api/messages/${await newMessage()}/delete`, init)
  request.body!.getReader()
  expect((await createChatApp(service.chat).fetch(request)).status).toBe(400)
})

it('nobody who is unknown makes the service wait for one', async () => {
  const endless = new ReadableStream({ pull: () => new Promise(() => {}) })
  expect(await remove(await newMessage(), endless, { authorization: 'Bearer ct_unknown' })).toEqual([
    401,
    'unauthenticated',
  ])
})
