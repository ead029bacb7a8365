// Makes the pictures of the documentation, and the icons of the page, with the built page: `npm run pictures`. The clock, the ids and the names are
// fixed, so that a picture changes only when the page has.
import { mkdir, writeFile } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import type { ChatClient } from '../../lib/client/index.ts'
import { createChatClient } from '../../lib/client/index.ts'
import { serve } from '../../lib/http/node/serve.ts'
import { createChatService, openStorage, parseConfig } from '../../lib/index.ts'
import { createWebChat } from '../../lib/web/index.ts'
import { createPuppet } from '../support/assistant.ts'
import { launchBrowser } from '../support/browser.ts'
import { drawIcons } from './icons.ts'

const FOLDER = fileURLToPath(new URL('../../docs/pictures/', import.meta.url))
const PASSWORD = 'correct horse battery'
const BEGIN = Date.parse('2026-03-02T09:12:00Z')

const ANSWER = `Ada's note G computes **Bernoulli numbers**. In today's words:

\`\`\`js
const next = known.reduce(
  (sum, b, k) => sum - choose(n, k) * b, 0,
)
\`\`\`

1. The engine keeps each result in a *column* of the store.
2. The cards begin again, with one more column.`

let now = BEGIN
let count = 0
const ports = {
  now: () => now * 1000 + (count % 1000),
  id: () => `019cae00-0000-7000-8000-${(++count).toString(16).padStart(12, '0')}`,
}

const puppet = createPuppet()
const config = parseConfig({ security: { password: { bcrypt_cost: 4 } } })
const chat = createChatService(config, await openStorage({ database: 'sqlite::memory:' }), {
  ...ports,
  assistant: puppet.assistant,
})
await chat.start()
const server = await serve(chat, { port: 0, web: createWebChat() })
const browser = await launchBrowser()
try {
  const address = await seed(server.url)
  await mkdir(FOLDER, { recursive: true })
  await drawIcons(browser)
  await picture('chat-light', address, { colorScheme: 'light' })
  await picture('chat-dark', address, { colorScheme: 'dark' })
  await picture('phone', address, {
    colorScheme: 'light',
    viewport: { width: 390, height: 720 },
    hasTouch: true,
    isMobile: true,
  })
} finally {
  await browser.close()
  await server.close({ drain_seconds: 0 })
  await chat.close()
}

/** A conversation of three with an answer. @returns the address of its thread */
async function seed(url: string): Promise<string> {
  const [ada, grace, alan] = [0, 1, 2].map(() => createChatClient({ base_url: url })) as [
    ChatClient,
    ChatClient,
    ChatClient,
  ]
  await ada.setup.run({ email: 'ada@example.org', password: PASSWORD, display_name: 'Ada Lovelace' })
  await ada.auth.login({ email: 'ada@example.org', password: PASSWORD })
  for (const title of ['Weaving patterns', 'Sunday walk']) await ada.conversations.create({ title })
  now += 180_000
  const { conversation_id } = await ada.conversations.create({ title: 'Analytical Engine' })
  const join = async (client: ChatClient, username: string, display_name: string) => {
    const { token = '' } = await ada.invites.create(conversation_id, {})
    const account = { username, email: `${username}@example.org`, password: PASSWORD }
    await client.invites.accept({ token, ...account })
    await client.auth.changeProfile({ display_name })
  }
  await join(grace, 'grace', 'Grace Hopper')
  await join(alan, 'alan', 'Alan Turing')
  await alan.messages.postRoot(conversation_id, { content: 'Who brings the punched cards?' })
  now += 240_000
  const { message: root } = await ada.messages.postRoot(conversation_id, {
    content: 'Does the engine run note G by now?',
  })
  now += 60_000
  const { message: reply } = await grace.messages.reply(root.id, {
    content: 'It does, since this morning. @alan has the log.',
  })
  now += 120_000
  await alan.messages.reply(reply.id, { content: '25 cards, *no* jams' })
  await ada.reactions.add(reply.id, '❤')
  await alan.reactions.add(reply.id, '❤')
  now += 60_000
  await ada.messages.reply(root.id, { role: 'assistant', content: 'What does note G compute?' })
  const answer = await puppet.asked()
  answer.say(ANSWER)
  answer.end()
  await ada.threads.markRead(root.id)
  return `${url}/#/c/${conversation_id}/t/${root.id}`
}

async function picture(name: string, address: string, options: object): Promise<void> {
  const context = await browser.newContext({
    viewport: { width: 1280, height: 800 },
    locale: 'en-GB',
    timezoneId: 'UTC',
    reducedMotion: 'reduce',
    ...options,
  } as object)
  const page = await context.newPage()
  await page.clock.setFixedTime(BEGIN + 900_000)
  await page.goto(address)
  await page.fill('[name=email]', 'ada@example.org')
  await page.fill('[name=password]', PASSWORD)
  await page.click('button[type=submit]')
  await page.waitForSelector('.message[data-role=assistant] pre .hljs-keyword')
  // Without the caret, and what the pointer or the focus show.
  await page.evaluate(`document.fonts.ready.then(() => document.activeElement?.blur())`)
  await page.waitForSelector('.message .name:has-text("Grace Hopper")')
  await writeFile(`${FOLDER}${name}.png`, (await page.screenshot({})) as Buffer)
}
