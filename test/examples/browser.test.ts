import { describe, expect, it } from 'vitest'
import { hasBrowser, openBrowser, type Page } from '../support/browser.ts'
import { start } from '../support/example.ts'

describe.skipIf(!hasBrowser)('the page of the browser example', () => {
  it('signs in, loads, and shows live what others and the assistant write', async () => {
    const host = start('browser/server.ts')
    const url = await host.printed(/http:\S+/)
    const { ada, grace, problems } = await openTwice(url)

    await ada.click('li button')
    await ada.fill('li form:not([hidden]) input', 'It runs, <b>surely</b>.')
    await ada.click('li form:not([hidden]) button')
    await grace.waitForSelector('text=It runs, <b>surely</b>.')
    await grace.fill('#new-thread input', 'Another one.')
    await grace.click('#new-thread button')
    await ada.waitForSelector('text=Another one.')
    expect(await ada.locator('.text').allTextContents()).toEqual([
      'Another one.',
      'Does it run?',
      'It runs, <b>surely</b>.',
    ])
    await ada.waitForSelector('#people .online:nth-child(2)')
    expect(await ada.locator('#people .online').allTextContents()).toEqual(['Ada Lovelace', 'Grace Hopper'])

    const question = Array.from({ length: 200 }, (_, index) => `word-${index}`).join(' ')
    await ada.fill('#new-thread input', question)
    await ada.click('#new-thread [value=assistant]')
    // The messages before she opened the page, and those after, once each.
    await grace.reload()
    await grace.waitForSelector('.text:text("word-99")')
    const [begun] = await grace.locator('.text').allTextContents()
    expect(question.startsWith(begun!.trimEnd())).toBe(true)
    await grace.waitForSelector('body:not(:has(.streaming))')
    expect((await grace.locator('.prompt').allTextContents())[0]).toBe(`Ada Lovelace asked: ${question}`)
    expect((await grace.locator('.text').allTextContents())[0]).toBe(question)

    await stopAnAnswer(ada, question)
    await grace.waitForSelector('.status:text("cancelled")')
    const [stopped] = await grace.locator('.text').allTextContents()
    expect(question.startsWith(stopped!.trimEnd())).toBe(true)
    await ada.waitForSelector('body:not(:has(.streaming))')
    expect((await ada.locator('.text').allTextContents())[0]).toBe(stopped)

    await ada.click('#sign-out')
    await ada.waitForSelector('#sign-in')
    await host.stop()
    await grace.waitForSelector('text=reconnecting')
    expect(problems).toEqual([])
  }, 60_000)
})

/** Asks until an answer was stopped: on a busy machine one can end before the click. */
async function stopAnAnswer(page: Page, question: string): Promise<void> {
  do {
    await page.fill('#new-thread input', question)
    // In the page, as soon as the button appears: the echo takes two seconds, and a click from outside as long.
    await page.evaluate(`new MutationObserver((_, observer) => {
      const stop = document.querySelector('.streaming > .stop')
      if (!stop) return
      observer.disconnect()
      stop.click()
    }).observe(document.querySelector('#threads'), { subtree: true, childList: true, attributes: true })`)
    await page.click('#new-thread [value=assistant]')
    await page.waitForSelector('li:nth-child(1) > .status:text-matches("streaming|cancelled")')
    await page.waitForSelector('body:not(:has(.streaming))')
  } while ((await page.locator('.status').allTextContents())[0] !== 'cancelled')
}

/** The page of Ada and of Grace, signed in. */
async function openTwice(url: string): Promise<{ ada: Page; grace: Page; problems: Error[] }> {
  const browser = await openBrowser()
  const problems: Error[] = []
  async function open(email: string): Promise<Page> {
    const page = await (await browser.newContext()).newPage()
    page.on('pageerror', (error) => problems.push(error))
    await page.goto(url)
    await page.fill('#sign-in [name=email]', email)
    await page.click('#sign-in button')
    await page.waitForSelector('#state.online')
    return page
  }
  const [ada, grace] = await Promise.all([open('ada@example.org'), open('grace@example.org')])
  return { ada, grace, problems }
}
