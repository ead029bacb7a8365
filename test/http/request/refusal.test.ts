import { expect, it } from 'vitest'
import { createChatApp } from '../../../lib/http/app.ts'
import { createChatService, OPERATOR, openStorage, parseConfig } from '../../../lib/index.ts'

it('asks programs with an invalid key for another one, and all others to sign in', async () => {
  const chat = createChatService(parseConfig(), await openStorage({ database: 'sqlite::memory:' }))
  await chat.start()
  const app = createChatApp(chat)
  const detailFor = async (headers: Record<string, string>) => {
    const response = await app.fetch(new Request('http://localhost/api/auth/me', { headers }))
    expect(response.status).toBe(401)
    return (await response.json()).detail
  }
  for (const authorization of ['Bearer csb_unknown', 'Bearer cs_unknown', 'csb_without_bearer', 'Basic YTpi'])
    expect(await detailFor({ authorization })).toMatch(
      /^The key or token is not valid: .*"Authorization: Bearer <key>"/,
    )
  expect(await detailFor({ cookie: 'SESSION=unknown' })).toBe('Sign in first.')
  expect(await detailFor({})).toBe('Sign in first.')
  await chat.close()
})

it('names the key of the configuration that turns a feature off', async () => {
  const config = parseConfig({ attachments: { enabled: false }, receipts: { enabled: false } })
  const chat = createChatService(config, await openStorage({ database: 'sqlite::memory:' }))
  await chat.start()
  const { user } = await chat.setup.run({ email: 'ada@example.org', password: 'correct horse battery' })
  const ada = await chat.users.actor(user.id)
  const { conversation_id } = await chat.conversations.create(ada, { title: 'Engines' })
  const { root_id } = await chat.messages.postRoot(ada, conversation_id, { content: 'Does it run?' })
  const calls = {
    'webhooks.enabled': () => chat.webhooks.list(OPERATOR),
    'bots.enabled': () => chat.bots.list(ada),
    'hooks.enabled': () => chat.hooks.list(ada, conversation_id),
    'receipts.enabled': () => chat.receipts.ofThread(ada, root_id),
  }
  for (const [key, call] of Object.entries(calls))
    await expect(call(), key).rejects.toMatchObject({
      code: 'not_found',
      message: `This is turned off here, by ${key}.`,
    })
  await chat.close()
})
