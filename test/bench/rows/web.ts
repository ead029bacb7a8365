import { hasBrowser, launchBrowser, type Page } from '../../support/browser.ts'
import { type Bench, oncePerBench, type Round, type Row } from '../row.ts'
import { ACCOUNT, type Service, startService } from '../servers/service.ts'

/** What a first visit and a delivered message take, in the browser of a user. */
interface Visit {
  /** Until something is painted, and until the form can be typed in; in milliseconds from the request of the page. */
  paint: number
  interactive: number
  /** What is transferred to the first screen, in kB. */
  size: number
  /** From the key in one browser to the screen of another one, in milliseconds. */
  delivery: number
  /** From the key to the frame that shows the own message. */
  own_post: number
}

const SCREEN = `(() => {
  const [page] = performance.getEntriesByType('navigation')
  // What is loaded later is not waited for.
  const linked = new Set([...document.querySelectorAll('link, script')].map(({ href, src }) => href ?? src))
  const files = performance.getEntriesByType('resource').filter(({ name }) => linked.has(name))
  return {
    paint: performance.getEntriesByName('first-contentful-paint')[0].startTime,
    interactive: window.interactiveAt,
    size: [page, ...files].reduce((sum, { encodedBodySize }) => sum + encodedBodySize, 0) / 1000,
  }
})()`

/** Notes when the sign-in form is there. */
const NOTE_INTERACTIVE = `new MutationObserver(() => {
  if (window.interactiveAt === undefined && document.querySelector('[name=password]'))
    window.interactiveAt = performance.now()
}).observe(document, { childList: true, subtree: true })`

/** When a text is on the screen, by the clock of this machine: a script. */
const SEEN = (text: string) => `new Promise((resolve) => {
  new MutationObserver(() => {
    if (document.querySelector('.thread .messages')?.textContent.includes('${text}'))
      requestAnimationFrame(() => resolve(performance.timeOrigin + performance.now()))
  }).observe(document, { childList: true, subtree: true, characterData: true })
})`

const measureVisits = oncePerBench(async ({ rounds, command }: Bench): Promise<Visit[]> => {
  const service = await startService(command)
  const browser = await launchBrowser()
  try {
    const visits: Visit[] = []
    // The first one is not counted: the service loads the page then.
    for (let round = -1; round < rounds; round++) {
      const visit = await measureVisit(service, async () => {
        const context = await browser.newContext({ locale: 'en-GB' })
        return context.newPage()
      })
      if (round >= 0) visits.push(visit)
    }
    return visits
  } finally {
    await browser.close()
    await service.stop()
  }
})

async function measureVisit({ port, conversationId, rootId }: Service, newPage: () => Promise<Page>): Promise<Visit> {
  const base = `http://127.0.0.1:${port}`
  const [writer, reader] = [await newPage(), await newPage()]
  await writer.addInitScript(NOTE_INTERACTIVE)
  const address = `${base}/#/c/${conversationId}/t/${rootId}`
  for (const page of [writer, reader]) await page.goto(address)
  await writer.waitForSelector('[name=password]')
  const screen = (await writer.evaluate(SCREEN)) as Omit<Visit, 'delivery' | 'own_post'>
  for (const page of [writer, reader]) {
    await page.fill('[name=email]', ACCOUNT.email)
    await page.fill('[name=password]', ACCOUNT.password)
    await page.press('[name=password]', 'Enter')
    await page.waitForSelector('.thread .composer textarea')
  }
  const text = `At ${Date.now()}`
  const seen = reader.evaluate(SEEN(text)) as Promise<number>
  await writer.fill('.thread .composer textarea', text)
  await writer.evaluate(`document.querySelector('.thread .composer textarea').addEventListener('keydown', () => {
    window.pressedAt = performance.timeOrigin + performance.now()
  }, { capture: true })`)
  const own = writer.evaluate(SEEN(text)) as Promise<number>
  await writer.press('.thread .composer textarea', 'Enter')
  const pressed = (await writer.evaluate('window.pressedAt')) as number
  const own_post = (await own) - pressed
  const delivery = (await seen) - pressed
  await Promise.all([writer.close(), reader.close()])
  return { ...screen, delivery, own_post }
}

function row(name: string, title: string, unit: string, reach: number, beyond: number, figure: keyof Visit): Row {
  return {
    name,
    title,
    unit,
    better: 'lower',
    reach,
    beyond,
    unavailable: () => (hasBrowser ? undefined : 'no chromium, or no playwright-core'),
    async measure(bench): Promise<Round[]> {
      return (await measureVisits(bench)).map((visit) => ({ service: visit[figure] }))
    },
  }
}

/** The web chat in Chromium. */
export const web: Row[] = [
  row('web-size', 'web chat, transferred to the first screen', 'kB', 70, 60, 'size'),
  row('web-paint', 'web chat, first paint', 'ms', 300, 150, 'paint'),
  row('web-interactive', 'web chat, sign-in form there', 'ms', 600, 300, 'interactive'),
  row('web-own-post', 'web chat, an own message from Enter to the frame that shows it', 'ms', 100, 50, 'own_post'),
  row('web-delivery', 'web chat, a message from one browser on the screen of another', 'ms', 100, 50, 'delivery'),
]
