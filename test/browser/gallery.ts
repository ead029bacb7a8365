// Takes a picture of every screen in every state, on a laptop and two phones, in light and dark, and the main ones in
// German, from right to left and with more contrast: `npm run gallery -- <folder> [expression for their names]`. The sheets in it
// have many of them side by side.
import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import { type BrowserContext, launchBrowser, type Page } from '../support/browser.ts'
import { type Screen, screensOf } from './gallery-screens.ts'
import { makeSheets, type Picture } from './gallery-sheets.ts'
import { tellMore } from './gallery-story.ts'
import { openPictured, PASSWORD, tell } from './pictured.ts'

const DEVICES = {
  laptop: { viewport: { width: 1440, height: 900 } },
  phone: { viewport: { width: 390, height: 844 }, hasTouch: true, isMobile: true },
  small: { viewport: { width: 320, height: 640 }, hasTouch: true, isMobile: true },
}
type Device = keyof typeof DEVICES

/** What is shown in German, from right to left and with more contrast, too. */
const MAIN =
  /^(list|inbox|room|room-topics|room-composing|thread|about|people|search|profile|users|join|preferences|message-menu)$/

const [folder = '', wanted = ''] = process.argv.slice(2)
if (!folder) throw new Error('Name a folder: npm run gallery -- <folder>')
await mkdir(folder, { recursive: true })

interface Seat {
  page: Page
  context: BrowserContext
}

const pictures: Picture[] = []
const missed: string[] = []
const browser = await launchBrowser()
const service = await openPictured(
  {},
  {
    rate_limits: { default_rps: 1000, burst: 10_000, admin_api_enabled: true },
    server: { public_url: 'http://127.0.0.1:1' },
    bots: { enabled: true },
    hooks: { enabled: true },
    webhooks: { enabled: true },
  },
  { mail: () => {} },
)
try {
  const places = await tellMore(service, await tell(service))
  const all = Object.values(screensOf(places)).flatMap((screens) => Object.entries(screens))
  const screens = all.filter(([name]) => new RegExp(wanted).test(name))
  for (const device of Object.keys(DEVICES) as Device[]) {
    const seats = new Map<string | null, Seat>()
    for (const [name, screen] of screens) {
      const { as = 'ada@example.org' } = screen
      const seat = seats.get(as) ?? (await sit(device, as))
      seats.set(as, seat)
      await show(seat, name, screen, device)
      await snap(seat.page, name, device, 'light')
      await seat.page.emulateMedia({ colorScheme: 'dark' })
      await snap(seat.page, name, device, 'dark')
      if (MAIN.test(name) && device !== 'small') {
        await seat.page.emulateMedia({ colorScheme: 'light', contrast: 'more' })
        await snap(seat.page, name, device, 'contrast')
        await seat.page.evaluate(`document.documentElement.dir = 'rtl'`)
        await seat.page.emulateMedia({ colorScheme: 'light', contrast: null })
        await snap(seat.page, name, device, 'rtl')
        await seat.page.evaluate(`document.documentElement.dir = 'ltr'`)
      }
      await seat.page.emulateMedia({ colorScheme: 'light', contrast: null })
      await seat.context.setOffline(false)
      await seat.page.unrouteAll({ behavior: 'ignoreErrors' })
    }
    if (device === 'small') continue
    const german = new Map<string | null, Seat>()
    for (const [name, screen] of screens.filter(([name]) => MAIN.test(name))) {
      const { as = 'ada@example.org' } = screen
      const seat = german.get(as) ?? (await sit(device, as, 'de-DE'))
      german.set(as, seat)
      await show(seat, name, screen, device)
      await snap(seat.page, name, device, 'german')
    }
  }
  await makeSheets(browser, folder, pictures)
} finally {
  await browser.close()
  await service.close()
}
if (missed.length > 0) {
  console.error(`Not as expected:\n${missed.join('\n')}`)
  process.exitCode = 1
}

/** A page of a user, or of a visitor. */
async function sit(device: Device, as: string | null, locale = 'en-GB'): Promise<Seat> {
  const options = { ...DEVICES[device], locale, timezoneId: 'UTC', colorScheme: 'light', reducedMotion: 'reduce' }
  const context = await browser.newContext(options as object)
  const page = await context.newPage()
  await page.clock.setFixedTime(service.now() + 120_000)
  await page.goto(`${service.url}/`)
  if (as !== null) {
    await page.fill('[name=email]', as)
    await page.fill('[name=password]', PASSWORD)
    await page.press('[name=password]', 'Enter')
    await page.waitForSelector('.chat', { state: 'attached' })
  }
  return { page, context }
}

/** Opens a screen in its state. */
async function show({ page, context }: Seat, name: string, { at, sign, act, state }: Screen, device: Device) {
  try {
    if (state && state !== 'offline') {
      await page.route('held' in state ? state.held : state.failed, async (route) => {
        if ('failed' in state)
          await route.fulfill({
            status: 500,
            headers: { 'x-request-id': 'req-4711' },
            contentType: 'application/json',
            body: JSON.stringify({ error: { code: 'internal', message: 'Broken' } }),
          })
      })
      // What the device has kept would take its place.
      await page.evaluate(
        `indexedDB.databases().then((all) => Promise.all(all.map(({ name }) => indexedDB.deleteDatabase(name))))`,
      )
    }
    await page.goto(`${service.url}/#${at}`)
    await page.reload()
    await page.waitForSelector(sign, { state: 'attached', timeout: 8_000 })
    if (state === 'offline') {
      await context.setOffline(true)
      await page.waitForSelector('.banner[data-shown=true]')
    }
    await act?.(page)
  } catch (error) {
    missed.push(`${name} on ${device}: ${String(error).split('\n')[0]}`)
  }
}

async function snap(page: Page, name: string, device: Device, mode: string): Promise<void> {
  const file = `${name}-${device}-${mode}.png`
  await page.evaluate('document.fonts.ready')
  await page.screenshot({ path: join(folder, file) })
  pictures.push({ file, kind: `${device}-${mode}`, width: DEVICES[device].viewport.width })
}
