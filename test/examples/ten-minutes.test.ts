import { describe, expect, it } from 'vitest'
import { hasBrowser, openBrowser, type Page } from '../support/browser.ts'
import { start } from '../support/example.ts'

describe.skipIf(!hasBrowser)('the application of ten minutes', () => {
  it('signs two people in, shows each what the other writes, and signs one out', async () => {
    const host = start('ten-minutes/server.js')
    const url = (await host.printed(/http:\S+/)).toString()
    const browser = await openBrowser()
    const problems: string[] = []

    async function open(username: string, password: string): Promise<Page> {
      const page = await (await browser.newContext()).newPage()
      page.on('pageerror', (error) => problems.push(error.message))
      page.on('console', (message) => message.type() === 'error' && problems.push(message.text()))
      await page.goto(url)
      await page.fill('#login [name=username]', username)
      await page.fill('#login [name=password]', password)
      await page.click('#login button')
      await page.waitForSelector('h1:text("Everybody")')
      return page
    }
    const [ada, grace] = await Promise.all([open('ada', 'correct horse'), open('grace', 'battery staple')])
    await ada.fill('.start input', 'Does it run?')
    await ada.click('.start button')
    await grace.waitForSelector('.sent:text("Does it run?")')
    await grace.fill('.reply input', 'It runs.')
    await grace.click('.reply button')
    await ada.waitForSelector('.sent:text("It runs.")')
    expect(problems).toEqual([])

    await ada.click('#logout button')
    await ada.waitForSelector('#login')
    const statusOfMe = (page: Page) => page.evaluate("fetch('/chat/api/auth/me').then(({ status }) => status)")
    expect([await statusOfMe(ada), await statusOfMe(grace)]).toEqual([401, 200])
    expect(await host.stop()).toBe(0)
  }, 60_000)
})
