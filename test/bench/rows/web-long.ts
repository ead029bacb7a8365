import { type ChatClient, createChatClient } from '../../../lib/client/index.ts'
import { type BrowserContext, hasBrowser, launchBrowser, type Page } from '../../support/browser.ts'
import { type Bench, oncePerBench, type Round, type Row } from '../row.ts'
import { ACCOUNT, startService } from '../servers/service.ts'

const MESSAGES = 1_000
const CONVERSATIONS = 10_000
const PASSING = 10_000

/** The same for short rounds (`--quick`). */
const QUICK_SECONDS = 1
const QUICK = 500

/** Rounds of ten thousand messages, each of which takes a while. */
const MAX_MEMORY_ROUNDS = 3

/** How many posts are in progress. */
const AT_ONCE = 50

interface Devtools {
  send(method: string): Promise<{ metrics?: { name: string; value: number }[] }>
}

/** The longest frames in milliseconds, and the growth of the heap in MB. */
interface Measured {
  thread: number[]
  list: number[]
  memory: number[]
}

/** Opens an address, then scrolls an element to its end, a window each frame. @returns the longest time between two frames */
const scrollThrough = (hash: string, selector: string, sign: string) => `new Promise((resolve) => {
  let longest = 0
  let last = performance.now()
  let still = 0
  let frames = 0
  location.hash = ${JSON.stringify(hash)}
  const step = (now) => {
    longest = Math.max(longest, now - last)
    last = now
    const element = document.querySelector(${JSON.stringify(selector)})
    if (element && document.querySelector(${JSON.stringify(sign)})) {
      const before = element.scrollTop
      element.scrollTop += element.clientHeight
      still = element.scrollTop === before ? still + 1 : 0
    }
    if (still > 60 || ++frames > 3_000) resolve(longest)
    else requestAnimationFrame(step)
  }
  requestAnimationFrame(step)
})`

const measureLong = oncePerBench(async ({ rounds, seconds, command }: Bench): Promise<Measured> => {
  const isQuick = seconds <= QUICK_SECONDS
  const service = await startService(command)
  const browser = await launchBrowser()
  try {
    const base = `http://127.0.0.1:${service.port}`
    const client = createChatClient({ base_url: base })
    await client.auth.login(ACCOUNT)
    await repeat(isQuick ? QUICK : CONVERSATIONS, (n) => client.conversations.create({ title: `Conversation ${n}` }))
    await repeat(MESSAGES, (n) => client.messages.reply(service.rootId, { content: `Message **${n}**, which runs` }))
    const context = await browser.newContext({ locale: 'en-GB', viewport: { width: 1280, height: 800 } })
    const page = await context.newPage()
    await page.goto(base)
    await page.fill('[name=email]', ACCOUNT.email)
    await page.fill('[name=password]', ACCOUNT.password)
    await page.press('[name=password]', 'Enter')
    await page.waitForSelector('.conversations a')
    const measured: Measured = { thread: [], list: [], memory: [] }
    const thread = `#/c/${service.conversationId}/t/${service.rootId}`
    for (let round = 0; round < rounds; round++) {
      for (const [figure, script] of [
        ['list', scrollThrough('#/', '.conversations', '.conversations a')],
        ['thread', scrollThrough(thread, '.thread .scroll', '.thread .message')],
      ] as const) {
        await page.goto(`${base}/#/`)
        await page.reload()
        await page.waitForSelector('.conversations a')
        measured[figure].push((await page.evaluate(script)) as number)
      }
    }
    await page.goto(`${base}/${thread}`)
    await page.reload()
    await page.waitForSelector('.thread .message')
    for (let round = 0; round < Math.min(rounds, MAX_MEMORY_ROUNDS); round++)
      measured.memory.push(await growthOf(context, page, client, isQuick ? QUICK : PASSING))
    return measured
  } finally {
    await browser.close()
    await service.stop()
  }
})

/** The growth of the heap of a page while messages pass, of a thread that is not open. */
async function growthOf(context: BrowserContext, page: Page, client: ChatClient, count: number): Promise<number> {
  const { conversation_id } = await client.conversations.create({ title: 'Elsewhere' })
  const { message: root } = await client.messages.postRoot(conversation_id, { content: 'Elsewhere' })
  const pass = async (some: number) => {
    await repeat(some, (n) => client.messages.reply(root.id, { content: `Message ${n}` }))
    const title = `Seen ${Math.random()}`
    await client.conversations.rename(conversation_id, { title })
    await page.waitForSelector(`.conversations a:has-text("${title}")`)
  }
  const devtools = await (context as unknown as { newCDPSession(page: Page): Promise<Devtools> }).newCDPSession(page)
  const heap = async () => {
    await devtools.send('HeapProfiler.collectGarbage')
    const { metrics = [] } = await devtools.send('Performance.getMetrics')
    return metrics.find(({ name }) => name === 'JSHeapUsedSize')!.value / 1_000_000
  }
  await devtools.send('Performance.enable')
  await pass(count / 10)
  const before = await heap()
  await pass(count)
  return (await heap()) - before
}

/** Calls it so often, some at once. */
export async function repeat(count: number, act: (n: number) => Promise<unknown>): Promise<void> {
  let next = 0
  const work = async () => {
    while (next < count) await act(next++)
  }
  await Promise.all(Array.from({ length: AT_ONCE }, work))
}

function row(name: string, title: string, unit: string, reach: number, beyond: number, figure: keyof Measured): Row {
  return {
    name,
    title,
    unit,
    better: 'lower',
    reach,
    beyond,
    unavailable: () => (hasBrowser ? undefined : 'no chromium, or no playwright-core'),
    async measure(bench): Promise<Round[]> {
      return (await measureLong(bench))[figure].map((service) => ({ service }))
    },
  }
}

/** The web chat with much to show, in Chromium. */
export const webLong: Row[] = [
  row('web-thread-frame', `web chat, longest frame of a thread of ${MESSAGES} messages`, 'ms', 50, 34, 'thread'),
  row('web-list-frame', `web chat, longest frame of a list of ${CONVERSATIONS} conversations`, 'ms', 50, 34, 'list'),
  row('web-memory', `web chat, growth of the heap over ${PASSING} messages elsewhere`, 'MB', 5, 1, 'memory'),
]
