import { createChatClient } from '../../../lib/client/index.ts'
import { type Browser, hasBrowser, launchBrowser, type Page } from '../../support/browser.ts'
import { HOSTILE_TEXTS } from '../../web-chat/markdown/hostile-texts.ts'
import { type Bench, oncePerBench, type Round, type Row } from '../row.ts'
import { ACCOUNT, startService } from '../servers/service.ts'

/** A phone: of a narrow column each few letters are a line. */
const VIEWPORT = { width: 360, height: 740 }

/** Rounds of a hundred texts, each of which takes a while. */
const MAX_ROUNDS = 3

/** The texts of short rounds (`--quick`). */
const QUICK = ['"> "', '">"', 'quotes in lists', '"*a_"', '"[a]("']
const QUICK_SECONDS = 1

interface TraceEvent {
  name: string
  pid: number
  tid: number
  ts: number
  dur?: number
  /** CPU time of the thread. */
  tdur?: number
  args?: { name?: string }
}

interface Tracing {
  startTracing(page: Page, options: object): Promise<void>
  stopTracing(): Promise<Buffer>
}

/** Shows an address, and resolves when a message of it is rendered and painted as a whole. */
const show = (hash: string) => `new Promise((resolve) => {
  location.hash = ${JSON.stringify(hash)}
  const step = () => {
    const messages = document.querySelectorAll('.thread .message').length
    const waiting = document.querySelectorAll('.thread .markdown.plain, .thread [aria-busy]').length
    const folded = document.querySelector('.thread .unfold[aria-expanded=false]')
    if (messages === 2 && waiting === 0 && !folded) return setTimeout(resolve, 200)
    if (waiting === 0) folded?.click()
    requestAnimationFrame(step)
  }
  step()
})`

const measureTexts = oncePerBench(async ({ rounds, seconds, command }: Bench): Promise<number[]> => {
  const service = await startService(command)
  const browser = await launchBrowser()
  try {
    const base = `http://127.0.0.1:${service.port}`
    const client = createChatClient({ base_url: base })
    await client.auth.login(ACCOUNT)
    const context = await browser.newContext({ locale: 'en-GB', viewport: VIEWPORT })
    const page = await context.newPage()
    await page.goto(base)
    await page.fill('[name=email]', ACCOUNT.email)
    await page.fill('[name=password]', ACCOUNT.password)
    await page.press('[name=password]', 'Enter')
    await page.waitForSelector('.conversations a')
    const texts = [...HOSTILE_TEXTS].filter(([name, text]) => {
      const isTaken = seconds > QUICK_SECONDS || QUICK.includes(name)
      return isTaken && text.trim() !== ''
    })
    const threads: string[] = []
    for (const [, content] of texts) {
      const { message } = await client.messages.postRoot(service.conversationId, { content: 'The first one' })
      await client.messages.reply(message.id, { content })
      threads.push(`#/c/${service.conversationId}/t/${message.id}`)
    }
    const worst: number[] = []
    for (let round = 0; round < Math.min(rounds, MAX_ROUNDS); round++) {
      const longest: number[] = []
      for (const thread of threads) longest.push(await longestTask(browser, page, base, thread))
      worst.push(Math.max(...longest))
    }
    return worst
  } finally {
    await browser.close()
    await service.stop()
  }
})

/** The longest task of the page's thread while a thread is opened, in milliseconds of its CPU time: other programs do not count. */
async function longestTask(browser: Browser, page: Page, base: string, thread: string): Promise<number> {
  await page.goto('about:blank')
  await page.goto(`${base}/#/`)
  await page.waitForSelector('.conversations a')
  const tracing = browser as unknown as Tracing
  await tracing.startTracing(page, { categories: ['toplevel', 'devtools.timeline'] })
  await page.evaluate(show(thread))
  const { traceEvents } = JSON.parse(String(await tracing.stopTracing())) as { traceEvents: TraceEvent[] }
  const isNamed = ({ name, args }: TraceEvent) => name === 'thread_name' && args?.name === 'CrRendererMain'
  const mains = new Set(traceEvents.filter(isNamed).map(placeOf))
  const events = traceEvents.filter((event) => mains.has(placeOf(event)))
  // What the commands of this program take in the page.
  const own = events.filter(({ args }) => JSON.stringify(args ?? {}).includes('DevToolsSession'))
  const isOwn = (task: TraceEvent) =>
    own.some((event) => placeOf(event) === placeOf(task) && event.ts >= task.ts && event.ts <= task.ts + task.dur!)
  const tasks = events.filter(({ name, tdur }) => name.endsWith('RunTask') && tdur !== undefined)
  return Math.max(...tasks.filter((task) => !isOwn(task)).map(({ tdur = 0 }) => tdur)) / 1000
}

const placeOf = ({ pid, tid }: TraceEvent) => `${pid} ${tid}`

/** The message that keeps the page of its readers busy for longest, of those that were made for it; all of it is shown. */
export const webHostile: Row = {
  name: 'web-hostile',
  title: 'web chat, longest task for a hostile text of 64 KiB, on a phone',
  unit: 'ms',
  better: 'lower',
  reach: 50,
  beyond: 30,
  unavailable: () => (hasBrowser ? undefined : 'no chromium, or no playwright-core'),
  async measure(bench): Promise<Round[]> {
    return (await measureTexts(bench)).map((service) => ({ service }))
  },
}
