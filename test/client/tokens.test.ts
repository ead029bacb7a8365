import { SignJWT } from 'jose'
import { describe, expect, it, onTestFinished } from 'vitest'
import { type ClientOptions, createChatClient } from '../../lib/client/index.ts'
import { SECOND } from '../../lib/core/units.ts'
import { OPERATOR } from '../../lib/index.ts'
import { filesInFolder } from '../support/files-folder.ts'
import { codeOf, startService } from '../support/service.ts'

const SECRET = 'a secret of at least thirty-two bytes'
const JWT = { issuer: 'https://shop.example.org', audience: 'chat', secret: SECRET }

async function start(config: object = {}) {
  let ahead = 0
  const now = () => Date.now() * 1000 + ahead
  const service = await startService('sqlite::memory:', { config: { ...config, auth: { jwt: JWT } }, ports: { now } })
  onTestFinished(() => service.close())
  const asked: boolean[] = []
  const sign = (seconds: number, shift = 0) => {
    const iat = Math.floor(now() / SECOND) + shift
    const claims = { iss: JWT.issuer, aud: JWT.audience, sub: 'ada', iat, exp: iat + seconds }
    return new SignJWT(claims).setProtectedHeader({ alg: 'HS256' }).sign(new TextEncoder().encode(SECRET))
  }
  const clientOf = (token: NonNullable<ClientOptions['token']>) =>
    createChatClient({
      base_url: service.base_url,
      retry_ms: 10,
      token: (options) => {
        asked.push(options.expired)
        return token(options)
      },
    })
  return {
    service,
    asked,
    sign,
    clientOf,
    async read(path: string, token: string) {
      const headers = { authorization: `Bearer ${token}` }
      return Buffer.from(await (await fetch(new URL(path, service.base_url), { headers })).arrayBuffer())
    },
    pass: (seconds: number) => {
      ahead += seconds * SECOND
    },
  }
}

describe('a client with tokens', () => {
  it('asks once for all calls that wait, and keeps the token', async () => {
    const { asked, sign, clientOf } = await start()
    const client = clientOf(() => sign(600))
    const all = await Promise.all([client.auth.me(), client.auth.me(), client.conversations.list()])
    expect(all[0].user.id).toBe(all[1].user.id)
    await client.conversations.create({ title: 'Orders' })
    expect(asked).toEqual([false])
  })

  it('asks again, once for all, when the service refuses a token, and repeats the calls', async () => {
    const { service, asked, sign, clientOf } = await start()
    const client = clientOf(({ expired }) => (expired ? sign(600) : sign(600, -700)))
    const posted = await Promise.all(
      Array.from({ length: 5 }, (_, n) => client.conversations.create({ title: `${n}` })),
    )
    expect(new Set(posted.map(({ conversation_id }) => conversation_id)).size).toBe(5)
    expect(asked).toEqual([false, true])
    const { user } = await client.auth.me()
    await service.chat.users.change(OPERATOR, user.id, { disabled: true })
    expect(await codeOf(client.auth.me())).toBe('unauthenticated')
    expect(asked).toEqual([false, true, true])
  })

  it('passes on what the host throws, and asks again at the next call', async () => {
    const { asked, sign, clientOf } = await start()
    let isAway = true
    const client = clientOf(() => {
      if (isAway) throw new Error('The shop is away')
      return sign(600)
    })
    await expect(client.conversations.create({})).rejects.toThrow('The shop is away')
    isAway = false
    await client.conversations.create({})
    expect(asked).toEqual([false, false])
  })

  it('follows on with the next token when one has expired, without a missed event', async () => {
    const { asked, sign, clientOf, pass } = await start()
    const client = clientOf(() => sign(60))
    const { conversation_id } = await client.conversations.create({})
    const events = client.events.follow(conversation_id)
    const titles: string[] = []
    const next = async () => {
      for (;;) {
        const { value, done } = await events.next()
        if (done) throw new Error('The loop has ended')
        if (value.event.type !== 'conversation.updated') continue
        titles.push(value.event.payload.conversation.title ?? '')
        return
      }
    }
    const first = next()
    await client.conversations.rename(conversation_id, { title: 'first' })
    await first
    pass(100)
    const second = next()
    await client.conversations.rename(conversation_id, { title: 'second' })
    await second
    expect(titles).toEqual(['first', 'second'])
    expect(asked.slice(1)).toContain(true)
    await events.return(undefined)
  })

  it('uploads on with the next token when one expires between two parts', async () => {
    const { asked, sign, clientOf, pass, read } = await start({ attachments: await filesInFolder() })
    const client = clientOf(() => sign(60))
    const { conversation_id } = await client.conversations.create({})
    const bytes = Buffer.alloc(5 * 4 * 1024 * 1024 + 10, 'engine')
    let isLate = false
    const attachment = await client.upload(conversation_id, new File([bytes], 'engine.bin'), {
      onProgress({ sent }) {
        if (sent > 0 && !isLate) pass(100)
        isLate ||= sent > 0
      },
    })
    expect(attachment).toMatchObject({ size: bytes.length, status: 'ready' })
    expect(asked).toEqual([false, true])
    const { url } = await client.attachments.link(attachment.id, {})
    for (const path of [url, `/api/attachments/${attachment.id}/content`])
      expect(Buffer.compare(await read(path, await sign(60)), bytes)).toBe(0)
  })

  it('is no client with an API key', () => {
    const both = { base_url: 'http://127.0.0.1:9', api_key: 'cs_x', token: () => 'x' }
    expect(() => createChatClient(both)).toThrow('exclude each other')
  })
})
