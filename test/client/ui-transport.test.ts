import { expect, it } from 'vitest'
import { uiTransport } from '../../lib/client/ai/index.ts'
import { createChatClient } from '../../lib/client/index.ts'

/** A transport, and the paths that it asks for; each page but the last has another behind it. */
function open(pages: number) {
  const paths: string[] = []
  const client = createChatClient({
    base_url: 'http://chat.example',
    fetch: async (input) => {
      paths.push(String(input).replace('http://chat.example', ''))
      const next = paths.length < pages ? { next_before: 'a b' } : {}
      return Response.json({ chats: [], messages: [{ id: String(paths.length) }], ...next })
    },
  })
  return { transport: uiTransport(client), paths }
}

it.each([
  ['nothing', undefined, ''],
  ['the end of the last page', { after: undefined, limit: undefined }, ''],
  ['the end of a page', { after: 'a&b', limit: 5 }, 'after=a%26b&limit=5'],
])('lists chats by %s', async (_, query, sent) => {
  const { transport, paths } = open(1)
  await transport.list(query as { after?: string })
  expect(paths).toEqual([`/api/ui/chats?${sent}`])
})

it('loads a chat page by page, down to a message or to the newest', async () => {
  const { transport, paths } = open(2)
  expect(await transport.load('my trip')).toEqual([{ id: '2' }, { id: '1' }])
  await transport.load('x', { leaf: 'm' })
  expect(paths).toEqual([
    '/api/ui/chat/my%20trip?limit=200',
    '/api/ui/chat/my%20trip?limit=200&before=a+b',
    '/api/ui/chat/x?limit=200&leaf=m',
  ])
})
