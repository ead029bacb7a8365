import { beforeAll, describe, expect, it } from 'vitest'
import { setUpService } from '../support/describe-service.ts'
import { PASSWORD, startService } from '../support/service.ts'
import { signInByHand } from '../support/stream.ts'

const TEXTS: [name: string, text: string][] = [
  ['a short one', 'é漢👍'],
  ['one in ASCII', 'text '.repeat(8_000)],
  ['one in Latin-1', 'é'.repeat(30_000)],
  ['one of three bytes each', '漢'.repeat(20_000)],
  ['one of emoji', '👍'.repeat(15_000)],
  ['one of quotes and escapes', '"\\\n\u0001'.repeat(10_000)],
]

describe('the text of a response', () => {
  const service = setUpService(() => startService('sqlite::memory:'))
  let headers: Record<string, string>
  let conversation: string
  const ids = new Map<string, string>()

  beforeAll(async () => {
    const ada = await service.signIn('ada')
    const { cookie } = await signInByHand(service.base_url, ada.email, PASSWORD)
    headers = { cookie }
    conversation = (await ada.conversations.create()).conversation_id
    for (const [name, content] of TEXTS)
      ids.set(name, (await ada.messages.postRoot(conversation, { content })).message_id)
  })

  it.each(TEXTS)('is sent whole with the length of its bytes: %s', async (name, text) => {
    const url = `${service.base_url}/api/messages/${ids.get(name)}`
    const response = await fetch(url, { headers })
    const bytes = Buffer.from(await response.arrayBuffer())
    expect(response.headers.get('content-length')).toBe(String(bytes.length))
    expect((JSON.parse(bytes.toString()) as { content: string }).content).toBe(text)
    const head = await fetch(url, { method: 'HEAD', headers })
    expect(head.headers.get('content-length')).toBe(String(bytes.length))
    expect(await head.text()).toBe('')
  })
})
