import { expect, it, onTestFinished } from 'vitest'
import { OF_PARTICIPANT_ROLE } from '../../../lib/core/access.ts'
import { checkedFetch } from '../../support/answers.ts'
import { startService, UNREACHABLE_PROVIDER } from '../../support/service.ts'

const DEFAULTS = {
  sign_in: true,
  providers: [],
  mail: false,
  sign_up: true,
  web: false,
  search: true,
  avatars: { max_bytes: 1024 * 1024 },
  default_layout: 'stream',
  direct: true,
  bots: true,
  hooks: true,
  webhooks: true,
  protocols: ['ui_stream', 'openai_api', 'ag_ui'],
  mcp: { url: '/mcp' },
  csrf: { cookie_name: 'CSRF-TOKEN', header_name: 'X-CSRF-TOKEN' },
  access: {
    guests: false,
    directory: true,
    roles: ['admin', 'member', 'read_only', 'guest'],
    participant_roles: Object.entries(OF_PARTICIPANT_ROLE).map(([name, rights]) => ({ name, rights })),
  },
  limits: {
    message_bytes: 65_536,
    max_depth: 100,
    reactions_per_message: 32,
    pins: 100,
    invite_uses: 100,
    sign_up_uses: 25,
  },
}

async function start(options: Parameters<typeof startService>[1] = {}) {
  const service = await startService('sqlite::memory:', options)
  onTestFinished(() => service.close())
  return service
}

it('returns the same to every caller, before and after a sign-in', async () => {
  const service = await start()
  expect(await service.client().capabilities.get()).toEqual(DEFAULTS)
  const ada = await service.signIn('ada')
  expect(await ada.capabilities.get()).toEqual(DEFAULTS)
  expect(await service.chat.capabilities.get()).toEqual(DEFAULTS)
})

it('follows the configuration, and discloses no secret of it', async () => {
  const { client } = await start({
    config: {
      server: { web: true },
      oauth: { own_one: UNREACHABLE_PROVIDER, acme: { ...UNREACHABLE_PROVIDER, title: 'Acme & Söhne' } },
      mail: { smtp: { url: 'smtp://mailer:secret@127.0.0.1:9', from: 'chat@example.org' } },
      invites: { allow_signup: false },
      direct: { enabled: false },
      bots: { enabled: false },
      hooks: { enabled: false },
      webhooks: { enabled: false },
      limits: { message_bytes: 1000 },
      security: { csrf: { enabled: false }, password: { bcrypt_cost: 4 } },
    },
  })
  const { csrf: _, ...defaults } = DEFAULTS
  expect(await client().capabilities.get()).toEqual({
    ...defaults,
    providers: [
      { name: 'own_one', title: 'Own_one' },
      { name: 'acme', title: 'Acme & Söhne' },
    ],
    mail: true,
    sign_up: false,
    web: true,
    direct: false,
    bots: false,
    hooks: false,
    webhooks: false,
    limits: { ...DEFAULTS.limits, message_bytes: 1000 },
  })
})

it('offers an assistant that is set in the configuration or by the host, and no other', async () => {
  const offered = async (options: Parameters<typeof startService>[1]) =>
    (await (await start(options)).client().capabilities.get()).assistant
  expect(await offered({ config: { assistant: { provider: 'echo', name: 'Hal' } } })).toEqual({ name: 'Hal' })
  expect(await offered({ config: { assistant: { provider: 'none' } } })).toBeUndefined()
  expect(
    await offered({
      config: { assistant: { provider: 'none' } },
      ports: {
        async *assistant() {
          yield 'Yes.'
        },
      },
    }),
  ).toEqual({ name: 'Assistant' })
})

it('refuses questions where there is no assistant', async () => {
  const service = await start({ config: { assistant: { provider: 'none' } } })
  const ada = await service.signIn('ada')
  const { conversation_id } = await ada.conversations.create({})
  const question = { content: 'Is anybody there?', role: 'assistant' as const }
  await expect(ada.messages.postRoot(conversation_id, question)).rejects.toMatchObject({ code: 'conflict' })
  const { message_id } = await ada.messages.postRoot(conversation_id, { content: 'Hello' })
  await expect(ada.messages.reply(message_id, question)).rejects.toMatchObject({ code: 'conflict' })
  const talk = await ada.conversations.create({ layout: 'assistant' })
  await expect(ada.messages.postRoot(talk.conversation_id, { content: 'Hello' })).rejects.toMatchObject({
    code: 'conflict',
  })
})

it('offers no sign-in where the application around the service identifies callers', async () => {
  const { client, base_url } = await start({
    config: { oauth: { provider_a: UNREACHABLE_PROVIDER } },
    ports: { identity: () => undefined },
  })
  const { csrf: _, ...defaults } = DEFAULTS
  expect(await client().capabilities.get()).toEqual({ ...defaults, sign_in: false, sign_up: false })
  expect((await checkedFetch(`${base_url}/api/features`, { method: 'POST' })).status).toBe(405)
})

it('is not found where the API is off', async () => {
  const { base_url } = await start({ config: { features: { auth_v1: false } } })
  expect((await checkedFetch(`${base_url}/api/features`)).status).toBe(404)
})
