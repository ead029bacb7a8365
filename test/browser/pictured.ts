import { readFile } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import { type ChatClient, createChatClient } from '../../lib/client/index.ts'
import { type ChatServer, serve } from '../../lib/http/node/serve.ts'
import { type Chat, createChatService, openStorage, type Ports, parseConfig } from '../../lib/index.ts'
import { createWebChat, type WebBrand } from '../../lib/web/index.ts'
import { memoryFiles } from '../chat/attachments/files.ts'
import { type Answer, createPuppet } from '../support/assistant.ts'

export const PASSWORD = 'correct horse battery'

/** When the story of the pictures begins. */
const BEGIN = Date.parse('2026-03-02T09:12:00Z')

export const LOGO = fileURLToPath(new URL('../../examples/web-chat/icon-512.png', import.meta.url))

const ANSWER = `Ada's note G computes **Bernoulli numbers**. In today's words:

\`\`\`js
const next = known.reduce(
  (sum, b, k) => sum - choose(n, k) * b, 0,
)
\`\`\`

1. The engine keeps each result in a *column* of the store.
2. The cards begin again, with one more column.`

/** A service whose clock and ids are the same each time. */
export interface Pictured {
  url: string
  chat: Chat
  /** The clock, in milliseconds since 1970; a minute passes with each call of `pass`. */
  now(): number
  pass(minutes?: number): void
  asked(): Promise<Answer>
  close(): Promise<void>
}

export async function openPictured(brand: WebBrand = {}, more: object = {}, ports: Ports = {}): Promise<Pictured> {
  let now = BEGIN
  let count = 0
  const puppet = createPuppet()
  const config = parseConfig({
    security: { password: { bcrypt_cost: 4 } },
    attachments: { enabled: true },
    assistant: { provider: 'echo', name: 'Babbage' },
    invites: { max_uses: 25 },
    // The clock stands still while many people write.
    rate_limits: { default_rps: 1000, burst: 10_000 },
    ...more,
  })
  const storage = await openStorage({ database: 'sqlite::memory:', files: memoryFiles() })
  const chat = createChatService(config, storage, {
    now: () => now * 1000 + (count % 1000),
    id: () => `019cae00-0000-7000-8000-${(++count).toString(16).padStart(12, '0')}`,
    assistant: puppet.assistant,
    ...ports,
  })
  await chat.start()
  const server: ChatServer = await serve(chat, { port: 0, web: createWebChat({ brand }) })
  return {
    url: server.url,
    chat,
    now: () => now,
    pass(minutes = 1) {
      now += minutes * 60_000
    },
    asked: puppet.asked,
    async close() {
      await server.close({ drain_seconds: 0 })
      await chat.close()
    },
  }
}

/** The people of the story. */
export type People = Record<'ada' | 'grace' | 'alan', ChatClient>

/** The ids of the places of the story, and its people. */
export interface Story {
  people: People
  engine: string
  root: string
  direct: string
  talk: string
  topics: string
  invite: string
}

/** Ada, Grace and Alan at the Analytical Engine. */
export async function tell({ url, pass, asked }: Pictured): Promise<Story> {
  const [ada, grace, alan] = [0, 1, 2].map(() => createChatClient({ base_url: url })) as [
    ChatClient,
    ChatClient,
    ChatClient,
  ]
  await ada.setup.run({ email: 'ada@example.org', password: PASSWORD, display_name: 'Ada Lovelace' })
  await ada.auth.login({ email: 'ada@example.org', password: PASSWORD })
  const room = async (title: string, layout: 'stream' | 'topics' = 'stream') =>
    (await ada.conversations.create({ title, layout })).conversation_id
  const walk = await room('Sunday walk')
  const topics = await room('Weaving patterns', 'topics')
  const engine = await room('Analytical Engine')
  const people = [
    [grace, 'grace', 'Grace Hopper'],
    [alan, 'alan', 'Alan Turing'],
  ] as const
  for (const [client, username, display_name] of people) {
    const { token = '' } = await ada.invites.create(engine, {})
    const email = `${username}@example.org`
    await client.invites.accept({ token, username, email, password: PASSWORD })
    await client.auth.changeProfile({ display_name })
    for (const id of [walk, topics]) await ada.participants.add(id, { username })
  }

  await alan.messages.postRoot(walk, { content: 'Ten o’clock at the bridge?' })
  for (const [title, content] of [
    ['Cards for the rose', 'Which of the 24,000 cards can we leave out?'],
    ['A loom for the north room', 'It has to fit below the beam: 2.80 m.'],
  ] as const) {
    pass(2)
    const { message } = await grace.messages.postRoot(topics, { title, content })
    pass()
    await alan.messages.reply(message.id, { content: 'I have a drawing of that.' })
  }
  pass(3)
  const { conversation: direct } = await grace.conversations.direct({ username: 'ada' })
  await grace.messages.postRoot(direct.id, { content: 'Are you in at noon?' })
  pass()
  await ada.messages.postRoot(direct.id, { content: 'Yes, in the north room.' })
  pass()
  await grace.messages.postRoot(direct.id, { content: 'I’ll bring the *moth*. It was in relay 70.' })

  pass(10)
  await alan.messages.postRoot(engine, { content: 'Who brings the punched cards?' })
  pass()
  await grace.messages.postRoot(engine, { content: 'I do. 25 of them, no jams so far.' })
  await grace.messages.postRoot(engine, { content: 'And a spare wheel: the one of the tens is worn.' })
  pass(4)
  const { message: root } = await ada.messages.postRoot(engine, { content: 'Does the engine run note G by now?' })
  pass()
  const { message: reply } = await grace.messages.reply(root.id, {
    content: 'It does, since this morning. @alan has the log.',
  })
  pass(2)
  await alan.messages.reply(reply.id, { content: 'All 25 cards, and the *right* numbers' })
  await ada.reactions.add(reply.id, '❤')
  await alan.reactions.add(reply.id, '❤')
  pass()
  await ada.messages.reply(root.id, { role: 'assistant', content: 'What does note G compute?' })
  await answer(ANSWER)
  pass(5)
  const picture = await alan.upload(engine, new File([new Uint8Array(await readFile(LOGO))], 'crank.png'))
  await alan.messages.postRoot(engine, { content: 'The crank, as of today:', attachment_ids: [picture.id] })
  pass()
  await grace.messages.postRoot(engine, { content: '@ada shall I oil it before the demonstration?' })
  await ada.threads.markRead(root.id)

  const { conversation_id: talk } = await ada.conversations.create({ title: 'Names for cards', layout: 'assistant' })
  const question = await ada.messages.postRoot(talk, {
    role: 'assistant',
    content: 'A name for a card that turns back?',
  })
  await answer('Call it a *backing card*.')
  pass()
  await ada.messages.postRoot(talk, {
    role: 'assistant',
    content: 'A name for a card that turns back?',
    variant_of: question.message.id,
  })
  await answer('**Loop card**, as it leads the others around again.')
  const { token: invite = '' } = await ada.invites.create(engine, { max_uses: 25 })
  return { people: { ada, grace, alan }, engine, root: root.id, direct: direct.id, talk, topics, invite }

  async function answer(text: string): Promise<void> {
    const begun = await asked()
    begun.say(text)
    begun.end()
  }
}
