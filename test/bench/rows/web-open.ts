import { createChatClient } from '../../../lib/client/index.ts'
import { hasBrowser, launchBrowser, type Page } from '../../support/browser.ts'
import { type Bench, interleaveWarm, oncePerBench, type Round, type Row } from '../row.ts'
import { ACCOUNT, startService } from '../servers/service.ts'
import { repeat } from './web-long.ts'

const MANY = 10_000
const FEW = 50

/** The same for short rounds (`--quick`). */
const QUICK_SECONDS = 1
const QUICK = 500

/** Notes the frame that shows the first conversation of the list. */
const NOTE_LIST = `new MutationObserver((_, observer) => {
  if (!document.querySelector('.conversations a')) return
  observer.disconnect()
  requestAnimationFrame(() => { window.listedAt = performance.now() })
}).observe(document, { childList: true, subtree: true })`

/** Opens a room. @returns the milliseconds to the frame that shows its end: a script */
const openRoom = (id: string, end: string) => `new Promise((resolve) => {
  const began = performance.now()
  const look = () => {
    const stream = document.querySelector('.stream[data-open=true]')
    if (stream?.textContent.includes(${JSON.stringify(end)})) resolve(performance.now() - began)
    else requestAnimationFrame(look)
  }
  location.hash = ${JSON.stringify(`#/c/${id}`)}
  requestAnimationFrame(look)
})`

/** The rounds of the list, and of a large room beside a small one. */
interface Measured {
  list: Round[]
  room: Round[]
}

const measureOpening = oncePerBench(async ({ rounds, seconds, command }: Bench): Promise<Measured> => {
  const many = seconds <= QUICK_SECONDS ? QUICK : MANY
  const service = await startService(command)
  const browser = await launchBrowser()
  try {
    const base = `http://127.0.0.1:${service.port}`
    const client = createChatClient({ base_url: base })
    await client.auth.login(ACCOUNT)
    await repeat(many, (n) => client.conversations.create({ title: `Conversation ${n}` }))
    const fill = async (count: number) => {
      const { conversation_id } = await client.conversations.create({ title: `A room of ${count}` })
      await repeat(count - 1, (n) =>
        client.messages.postRoot(conversation_id, { content: `Message **${n}**, which runs` }),
      )
      await client.messages.postRoot(conversation_id, { content: `The end of ${count}` })
      return openRoom(conversation_id, `The end of ${count}`)
    }
    const [small, large] = [await fill(FEW), await fill(many)]
    const context = await browser.newContext({ locale: 'en-GB', viewport: { width: 1280, height: 800 } })
    const page = await context.newPage()
    await page.addInitScript(NOTE_LIST)
    await page.goto(base)
    await page.fill('[name=email]', ACCOUNT.email)
    await page.fill('[name=password]', ACCOUNT.password)
    await page.press('[name=password]', 'Enter')
    await page.waitForSelector('.conversations a')
    const list: Round[] = []
    for (let round = 0; round < rounds; round++) list.push({ service: await openList(page, base) })
    const open = (script: string) => async () => {
      await openList(page, base)
      return (await page.evaluate(script)) as number
    }
    return { list, room: await interleaveWarm(rounds, open(large), open(small)) }
  } finally {
    await browser.close()
    await service.stop()
  }
})

/** Loads the page of a signed-in user anew. @returns the milliseconds to the frame that shows the list */
async function openList(page: Page, base: string): Promise<number> {
  await page.goto(`${base}/#/`)
  await page.reload()
  await page.waitForSelector('.conversations a')
  return (await page.evaluate(`new Promise((resolve) => {
    const look = () => window.listedAt === undefined ? requestAnimationFrame(look) : resolve(window.listedAt)
    look()
  })`)) as number
}

function row(figure: keyof Measured, rest: Pick<Row, 'title' | 'peer' | 'unit' | 'reach' | 'beyond'>): Row {
  return {
    ...rest,
    name: `web-${figure}`,
    better: 'lower',
    unavailable: () => (hasBrowser ? undefined : 'no chromium, or no playwright-core'),
    measure: async (bench) => (await measureOpening(bench))[figure],
  }
}

/** What a signed-in user waits for, in Chromium. */
export const webOpen: Row[] = [
  row('list', {
    title: `web chat, from the request of the page to a list of ${MANY.toLocaleString('en-US')} conversations`,
    unit: 'ms',
    reach: 1_200,
    beyond: 600,
  }),
  row('room', {
    title: `web chat, a room of ${MANY.toLocaleString('en-US')} messages opened`,
    peer: `one of ${FEW}`,
    unit: 'ms',
    reach: 2,
    beyond: 1.2,
  }),
]
