import { expect, onTestFinished } from 'vitest'
import { serve } from '../../lib/http/node/serve.ts'
import { type Actor, type Chat, createChatService, openStorage, type Ports, parseConfig } from '../../lib/index.ts'
import { createWebChat, type WebChat, type WebChatOptions } from '../../lib/web/index.ts'
import { type BrowserContext, type ContextOptions, openBrowser, type Page } from '../support/browser.ts'

export const PASSWORD = 'correct horse battery'

/** What a browser reports of requests that fail as they must: those of a page without a session, or without a network. */
const EXPECTED = /status of 401|status of 40[349]|status of 410|status of 422|net::ERR_INTERNET_DISCONNECTED/

/** A user at a browser. */
export interface Visitor {
  page: Page
  context: BrowserContext
}

/** A service with its page, and a browser. */
export interface Stage {
  url: string
  chat: Chat
  /** @param options the device */
  visit(address: string, options?: ContextOptions): Promise<Visitor>
  /** What the consoles of all pages have reported. */
  problems: string[]
}

export async function openStage(
  ports: Ports,
  config: object = {},
  options: WebChatOptions = {},
  change: (web: WebChat) => WebChat = (web) => web,
): Promise<Stage> {
  const all = { security: { password: { bcrypt_cost: 4 } }, ...config }
  const chat = createChatService(parseConfig(all), await openStorage({ database: 'sqlite::memory:' }), ports)
  await chat.start()
  const { port = 0 } = (config as { server?: { port?: number } }).server ?? {}
  const server = await serve(chat, { port, web: change(createWebChat(options)) })
  onTestFinished(async () => {
    await server.close({ drain_seconds: 0 })
    await chat.close()
  })
  const browser = await openBrowser()
  const problems: string[] = []
  return {
    url: server.url,
    chat,
    problems,
    async visit(address, options) {
      const context = await browser.newContext({ viewport: { width: 1280, height: 800 }, locale: 'en-GB', ...options })
      const page = await context.newPage()
      page.on('pageerror', (error) => problems.push(error.message))
      // Also what the policy of the page forbids.
      page.on('console', (message) => {
        if (message.type() === 'error' && !EXPECTED.test(message.text())) problems.push(message.text())
      })
      await page.goto(address)
      return { page, context }
    },
  }
}

/** Creates the first administrator, Ada, and signs her in. */
export async function signInAsAda(
  { url, chat, visit }: Stage,
  options?: ContextOptions,
): Promise<Visitor & { ada: Actor }> {
  const { user } = await chat.setup.run({ email: 'ada@example.org', password: PASSWORD, display_name: 'Ada Lovelace' })
  return { ...(await signIn({ url, visit }, 'ada@example.org', options)), ada: await chat.users.actor(user.id) }
}

/** Signs in at the page. */
export async function signIn(
  { url, visit }: Pick<Stage, 'url' | 'visit'>,
  email: string,
  options?: ContextOptions,
): Promise<Visitor> {
  const visitor = await visit(url, options)
  await visitor.page.fill('[name=email]', email)
  await visitor.page.fill('[name=password]', PASSWORD)
  await visitor.page.press('[name=password]', 'Enter')
  await visitor.page.waitForSelector('.sidebar')
  return visitor
}

/** Writes in the composer of a pane, and sends it. */
export async function write(page: Page, pane: 'conversation' | 'thread', text: string): Promise<void> {
  await page.fill(`.${pane} .composer textarea`, text)
  await page.press(`.${pane} .composer textarea`, 'Enter')
}

/** Addresses the assistant, or everyone, in the composer of a pane. */
export async function address(page: Page, pane: 'conversation' | 'thread', name: string): Promise<void> {
  await page.click(`.${pane} .composer .chip`)
  await page.click(`.${pane} .composer .panel button:has-text("${name}")`)
}

/** Chooses an entry of the menu of the message that has a text. */
export async function choose(page: Page, text: string, entry: string): Promise<void> {
  await page.hover(`.message:has-text("${text}")`)
  await page.click(`.message:has-text("${text}") .actions > .menu > button`)
  await page.click(`.message:has-text("${text}") .panel button:text-is("${entry}")`)
}

/** Opens a tab of the details of the open conversation. */
export async function openDetails(page: Page, tab: string): Promise<void> {
  await page.click('.details-button')
  await page.click(`.details .tabs a:text-is("${tab}")`)
  await page.waitForSelector(`.details .tabs a[aria-current]:text-is("${tab}")`)
}

/** Closes the details by the keys. */
export async function closeDetails(page: Page): Promise<void> {
  await page.press('.details h2', 'Escape')
  await page.waitForSelector('.details', { state: 'detached' })
}

/** Chooses an entry of the menu of the open thread. */
export async function chooseOfThread(page: Page, entry: string): Promise<void> {
  await page.click('.thread > header .menu > button')
  await page.click(`.thread > header .panel button:text-is("${entry}")`)
}

/** The text of each message of the open thread. */
export function textsOf(page: Page): Promise<string[]> {
  return page.locator('.thread .message .markdown').allTextContents()
}

/** Fails unless it finds exactly one. */
export async function expectOne(page: Page, selector: string): Promise<void> {
  await page.waitForSelector(selector)
  expect(await page.locator(selector).allTextContents()).toHaveLength(1)
}
