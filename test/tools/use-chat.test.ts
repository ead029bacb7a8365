import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import { defineTool } from '../../lib/index.ts'
import { startBalancer } from '../fault/balancer.ts'
import { settle } from '../fault/people.ts'
import { startProcess } from '../fault/process.ts'
import { createPuppet } from '../support/assistant.ts'
import { hasBrowser, openBrowser, type Page } from '../support/browser.ts'
import { createSqliteFile } from '../support/databases.ts'
import { type ServiceOptions, startService, startThread } from '../support/service.ts'
import { servePage } from './use-chat/serve-page.ts'

const ANY = { json_schema: { type: 'object' }, validate: (value: unknown) => ({ value: value as object }) }
const TOOL = defineTool({
  description: 'Refunds.',
  input: ANY,
  run: async () => 'refunded',
  approval: { by: 'asker', keys: true },
})
const CALL = { tool_call: { name: 'refund', input: {} } }

/** What a page opens: a service, and the key of a user. */
interface Target {
  base_url: string
  key: string
}

describe.skipIf(!hasBrowser).each([
  [5, 'ours'],
  [6, 'ours'],
  [6, 'default'],
  [7, 'ours'],
] as const)('a page with useChat %i and the transport %s', (version, via) => {
  async function start(origin: string, { config, ports }: ServiceOptions = {}) {
    const puppet = createPuppet()
    const database = await createSqliteFile()
    const options = {
      config: {
        server: { cors: { allowed_origins: [origin] } },
        assistant: { tools: ['refund'] },
        ...config,
      },
      ports: { assistant: puppet.assistant, tools: { refund: TOOL }, ...ports },
    }
    const startNode = async () => {
      const service = await startService(database.url, options)
      onTestFinished(() => service.close())
      return service
    }
    onTestFinished(database.remove)
    const service = await startNode()
    const { ada } = await startThread(service)
    return { service, startNode, puppet, ada, key: (await ada.keys.create({ name: 'a page' })).key }
  }

  /** Pages of one chat in one browser. */
  async function openPages(origin: string, { base_url, key }: Target): Promise<() => Promise<Page>> {
    const context = await (await openBrowser()).newContext()
    const options = { base_url, key, id: 'trip', via, ...(version === 5 && { ui_version: '5' }) }
    return async () => {
      const page = await context.newPage()
      page.on('pageerror', (error) => expect.soft(error).toBeUndefined())
      await page.goto(`${origin}/#${new URLSearchParams(options as Record<string, string>)}`)
      await page.waitForSelector('main')
      return page
    }
  }

  const shows = (page: Page, status: string) => page.waitForSelector(`main[data-status=${status}]`)
  const has = (page: Page, n: number, text: string) =>
    page.waitForSelector(`article:nth-of-type(${n}) p:text-is(${JSON.stringify(text)})`)
  const texts = (page: Page) => page.locator('article p').allTextContents()

  async function ask(page: Page, text: string, button = '#send'): Promise<void> {
    await page.fill('input', text)
    await page.click(button)
  }

  it('sends, is reloaded in the middle, is read in a second tab, and a stop ends both', async () => {
    const origin = await servePage(version)
    const { service, puppet, key } = await start(origin)
    const open = await openPages(origin, { base_url: service.base_url, key })
    const first = await open()
    await ask(first, 'Why?')
    const answer = await puppet.asked()
    answer.say('The ')
    await has(first, 2, 'The ')
    await first.reload()
    await has(first, 2, 'The ')
    await shows(first, 'streaming')
    const second = await open()
    answer.say('sky.')
    for (const page of [first, second]) await has(page, 2, 'The sky.')
    await second.click('#stop')
    for (const page of [first, second]) {
      await shows(page, 'ready')
      expect(await texts(page)).toEqual(['Why?', 'The sky.'])
    }
    await answer.aborted
    await ask(first, 'And?')
    const next = await puppet.asked()
    next.say('The sea.')
    next.end()
    await has(first, 4, 'The sea.')
    await shows(first, 'ready')
    await second.reload()
    await has(second, 4, 'The sea.')
  })

  it('regenerates, edits the first question, and has the branch after a reload', async () => {
    const origin = await servePage(version)
    const { service, puppet, key } = await start(origin)
    const page = await (await openPages(origin, { base_url: service.base_url, key }))()
    const respond = async (text: string) => {
      const answer = await puppet.asked()
      answer.say(text)
      answer.end()
      await page.waitForSelector(`article[data-role=assistant]:last-of-type p:text-is(${JSON.stringify(text)})`)
      await shows(page, 'ready')
    }
    await ask(page, 'One?')
    await respond('First.')
    await ask(page, 'Two?')
    await respond('Second.')
    await page.click('#again')
    await respond('Second again.')
    expect(await texts(page)).toEqual(['One?', 'First.', 'Two?', 'Second again.'])
    // The page knows the question by an id of its own.
    await ask(page, 'Zero?', '#edit')
    await respond('Anew.')
    expect(await texts(page)).toEqual(['Zero?', 'Anew.'])
    await page.reload()
    await has(page, 2, 'Anew.')
    await ask(page, 'Null?', '#edit')
    await respond('Nothing.')
    await ask(page, 'More?')
    await respond('Yes.')
    await page.reload()
    await has(page, 4, 'Yes.')
    expect(await texts(page)).toEqual(['Null?', 'Nothing.', 'More?', 'Yes.'])
  })

  const decided =
    version === 5
      ? []
      : ([
          ['approve', 'output-available'],
          ['deny', 'output-denied'],
        ] as const)

  it.each(decided)('lets the user %s a call, and goes on in the same message', async (button, state) => {
    const origin = await servePage(version)
    const { service, key } = await start(origin, {
      ports: {
        assistant: async function* ({ step }) {
          if (step === 1) yield* ['Let me. ', CALL]
          else yield 'Done.'
        },
      },
    })
    const open = await openPages(origin, { base_url: service.base_url, key })
    const page = await open()
    await ask(page, 'Refund it.')
    await shows(page, 'ready')
    // It waits for another page, too.
    const other = await open()
    await other.waitForSelector('section[data-state=approval-requested]')
    await page.click(`button[name=${button}]`)
    await page.waitForSelector(`section[data-state=${state}]`, { state: 'attached' })
    await has(page, 2, 'Let me. Done.')
    await shows(page, 'ready')
    await other.reload()
    await has(other, 2, 'Let me. Done.')
    await other.waitForSelector(`section[data-state=${state}]`, { state: 'attached' })
  })

  it.runIf(version === 5)('shows that a call waits, and goes on when it was decided elsewhere', async () => {
    const origin = await servePage(version)
    const { service, key, ada } = await start(origin, {
      ports: {
        assistant: async function* ({ step }) {
          if (step === 1) yield* ['Let me. ', CALL]
          else yield 'Done.'
        },
      },
    })
    const page = await (await openPages(origin, { base_url: service.base_url, key }))()
    await ask(page, 'Refund it.')
    await shows(page, 'ready')
    await page.waitForSelector('[data-approval=waiting]', { state: 'attached' })
    const [approval] = (await ada.approvals.list()).approvals
    await ada.approvals.decide(approval!.call_id, { approve: true })
    await expect.poll(async () => (await ada.messages.get(approval!.message_id)).status).toBe('complete')
    await page.reload()
    await has(page, 2, 'Let me. Done.')
  })

  it('reads on at another node while its own one drains', async () => {
    const origin = await servePage(version)
    const { service, startNode, puppet, key } = await start(origin, { config: { assistant: { drain_seconds: 60 } } })
    const balancer = await startBalancer()
    onTestFinished(() => balancer.close())
    const port = (url: string) => Number(new URL(url).port)
    await balancer.add(port(service.base_url))
    const page = await (await openPages(origin, { base_url: balancer.base_url, key }))()
    await ask(page, 'Why?')
    const answer = await puppet.asked()
    answer.say('The ')
    await has(page, 2, 'The ')
    await balancer.add(port((await startNode()).base_url))
    service.chat.drain()
    if (via === 'default') {
      await shows(page, 'error')
      await page.click('#resume')
    }
    answer.say('sky.')
    answer.end()
    await has(page, 2, 'The sky.')
    await shows(page, 'ready')
    expect(await texts(page)).toEqual(['Why?', 'The sky.'])
  })

  it('has the text that was stored, and the end of the answer, when the server is killed', async () => {
    const origin = await servePage(version)
    const folder = await mkdtemp(join(tmpdir(), 'use-chat-'))
    onTestFinished(() => rm(folder, { recursive: true }))
    const effects = join(folder, 'effects')
    await writeFile(effects, '')
    const config = { server: { cors: { allowed_origins: [origin] } } }
    const startNode = async () => {
      const server = await startProcess(`sqlite:${join(folder, 'chat.db')}`, { config, effects })
      onTestFinished(() => server.kill())
      return server
    }
    const killed = await startNode()
    const { signIn } = await settle(killed.base_url)
    const { key } = await (await signIn()).keys.create({ name: 'a page' })
    const balancer = await startBalancer()
    onTestFinished(() => balancer.close())
    await balancer.add(killed.port)
    const page = await (await openPages(origin, { base_url: balancer.base_url, key }))()
    await ask(page, 'endless 1')
    await page.waitForSelector('article:nth-of-type(2) p:has-text("3 ")')
    await killed.kill()
    balancer.remove(killed.port)
    if (via === 'default') await shows(page, 'error')
    const server = await startNode()
    await balancer.add(server.port)
    if (via === 'default') await page.click('#resume')
    await page.waitForSelector('main[data-status=error][title*="interrupted"]')
    const [question, text] = await texts(page)
    expect(question).toBe('endless 1')
    await page.reload()
    await page.waitForSelector('article:nth-of-type(2) p:has-text("3 ")')
    expect(await texts(page)).toEqual([question, text])
    // The chat goes on.
    await ask(page, 'write 2')
    await page.waitForSelector('article:nth-of-type(4) p:has-text("3 ")')
    await shows(page, 'ready')
  })
})
