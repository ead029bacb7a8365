// Makes the pictures of the documentation, and the icons of the page, with the built page: `npm run pictures`. The clock, the ids and the names are
// fixed, so that a picture changes only when the page has.
import { mkdir, writeFile } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import { defineTool } from '../../lib/index.ts'
import { type BrowserContext, launchBrowser, type Page } from '../support/browser.ts'
import { drawIcons } from './icons.ts'
import { openPictured, PASSWORD, type Pictured, tell } from './pictured.ts'

const FOLDER = fileURLToPath(new URL('../../docs/pictures/', import.meta.url))

/** What the assistant orders with, once Ada or another owner has approved it. */
const order = defineTool({
  description: 'Orders from a supplier',
  title: 'Order',
  input: {
    json_schema: { type: 'object' },
    validate: (value: unknown) => ({ value: value as Record<string, unknown> }),
  },
  approval: { by: 'admins' },
  run: () => 'ordered',
})

const PHONE = { viewport: { width: 390, height: 720 }, hasTouch: true, isMobile: true }

/** What a picture shows. */
interface Shot {
  /** Behind the `#` of the address. */
  at: string
  options?: object
  /** Run before the scripts of the page. */
  script?: string
  isSignedOut?: boolean
  /** What the user does, and what has to be there then. */
  act?: (page: Page) => Promise<unknown>
}

const browser = await launchBrowser()
try {
  await mkdir(FOLDER, { recursive: true })
  await drawIcons(browser)
  const service = await openPictured()
  const story = await tell(service)
  const engine = `/c/${story.engine}`
  const thread = `${engine}/t/${story.root}`
  const hasAnswer = (page: Page) => page.waitForSelector('.message[data-role=assistant] pre .hljs-keyword')
  const shots: Record<string, Shot> = {
    // Before the messages are seen.
    inbox: { at: '/inbox', act: (page) => page.waitForSelector('.inbox li:has-text("oil it")') },
    'chat-light': { at: thread, act: hasAnswer },
    'chat-dark': { at: thread, options: { colorScheme: 'dark' }, act: hasAnswer },
    compact: { at: thread, script: `localStorage.setItem('chat:density', 'compact')`, act: hasAnswer },
    german: { at: thread, options: { locale: 'de-DE' }, act: hasAnswer },
    'right-to-left': {
      at: thread,
      act: async (page) => {
        await hasAnswer(page)
        await page.evaluate(`document.documentElement.dir = 'rtl'`)
      },
    },
    phone: {
      at: `/c/${story.direct}`,
      options: PHONE,
      act: (page) => page.waitForSelector('.message:has-text("moth")'),
    },
    variants: { at: `/c/${story.talk}`, act: (page) => page.waitForSelector('.message:has-text("Loop card")') },
    topics: {
      at: `/c/${story.topics}`,
      act: (page) => page.waitForSelector('.thread-card:has-text("Cards for the rose")'),
    },
    join: { at: `/join/${story.invite}`, isSignedOut: true, act: (page) => page.waitForSelector('input[name=email]') },
    search: { at: '/search?q=card', act: (page) => page.waitForSelector('.found mark') },
    files: { at: `${engine}/details/files`, act: (page) => page.waitForSelector('.details :text("crank.png")') },
    lightbox: {
      at: engine,
      act: async (page) => {
        await page.click('.message .picture')
        await page.waitForSelector('dialog img')
      },
    },
    emoji: {
      at: engine,
      act: async (page) => {
        await page.click('.conversation footer [aria-label="Emoji"]')
        await page.waitForSelector('.emoji-picker button')
      },
    },
    keys: {
      at: engine,
      act: async (page) => {
        await page.press('body', 'Control+/')
        await page.waitForSelector('.key-sheet')
      },
    },
  }
  for (const [name, shot] of Object.entries(shots)) await take(service, name, shot)

  const branded = await openPictured({ name: 'Acme', colors: { accent: '#ffd600' } })
  await take(branded, 'brand', { at: (await tell(branded)).engine.replace(/^/, '/c/') })
  await branded.close()

  const deciding = await openPictured({}, { assistant: { name: 'Babbage', tools: ['order'] } }, { tools: { order } })
  await take(deciding, 'approval', {
    at: await askToOrder(deciding),
    act: (page) => page.waitForSelector('.thread .approval button:text-is("Approve")'),
  })
  await deciding.close()

  const fresh = await openPictured()
  await take(fresh, 'first-run', { at: '/', isSignedOut: true, act: setUp })
  await fresh.close()

  await take(service, 'service-away', {
    at: engine,
    act: async (page) => {
      await page.waitForSelector('.message:has-text("crank")')
      await service.close()
      await page.waitForSelector('.banner[data-shown=true]')
    },
  })
} finally {
  await browser.close()
}

/** Ada asks for more cards, and the assistant calls a tool on which she decides. @returns the place of the thread */
async function askToOrder(service: Pictured): Promise<string> {
  const { people, engine, root } = await tell(service)
  service.pass()
  await people.ada.messages.reply(root, { role: 'assistant', content: 'Order thirty more cards for Monday, please.' })
  const answer = await service.asked()
  const input = { supplier: 'Jacquard & Sons', item: 'punched cards', count: 30, deliver_by: '2026-03-09' }
  answer.say('I have found a supplier who delivers by then.', { tool_call: { name: 'order', input } })
  answer.end()
  await service.chat.idle()
  return `/c/${engine}/t/${root}`
}

async function setUp(page: Page): Promise<void> {
  await page.fill('[name=display_name]', 'Ada Lovelace')
  await page.fill('[name=email]', 'ada@example.org')
  await page.fill('[name=password]', PASSWORD)
  await page.click('button[type=submit]')
  await page.waitForSelector('.greeting')
}

async function take(service: Pictured, name: string, { at, options, script, isSignedOut, act }: Shot): Promise<void> {
  const context: BrowserContext = await browser.newContext({
    viewport: { width: 1440, height: 900 },
    locale: 'en-GB',
    timezoneId: 'UTC',
    colorScheme: 'light',
    reducedMotion: 'reduce',
    ...options,
  } as object)
  const page = await context.newPage()
  if (script) await page.addInitScript(script)
  await page.clock.setFixedTime(service.now() + 120_000)
  await page.goto(`${service.url}/#${at}`)
  if (!isSignedOut) {
    await page.fill('[name=email]', 'ada@example.org')
    await page.fill('[name=password]', PASSWORD)
    await page.click('button[type=submit]')
    await page.waitForSelector('.chat', { state: 'attached' })
  }
  await act?.(page)
  // Without the caret, and what the pointer or the focus show.
  await page.mouse.move(0, 0)
  await page.evaluate(`document.fonts.ready.then(() => document.activeElement?.blur())`)
  await writeFile(`${FOLDER}${name}.png`, (await page.screenshot({})) as Buffer)
  await page.close()
}
