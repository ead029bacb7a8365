import { describe, expect, it } from 'vitest'
import { hasBrowser, openBrowser, type Page } from '../support/browser.ts'
import { start } from '../support/example.ts'

describe.skipIf(!hasBrowser)('the page in React', () => {
  it('hydrates what the server rendered, signs in, and shows two people what each of them writes', async () => {
    const host = start('react/server.ts')
    const url = await host.printed(/http:\S+/)
    const html = await (await fetch(url)).text()
    expect(html).toContain('<p id="state">idle</p>')
    expect(html).toMatch(/<p id="inbox">Inbox \(<!-- -->0<!-- -->\)<\/p>/)
    const browser = await openBrowser()
    const problems: string[] = []

    async function open(email: string): Promise<Page> {
      const page = await (await browser.newContext()).newPage()
      page.on('pageerror', (error) => problems.push(error.message))
      // React reports mismatches and misused hooks there.
      page.on('console', (message) => {
        if (message.type() === 'error' && !/status of 401/.test(message.text())) problems.push(message.text())
      })
      await page.goto(url)
      await page.fill('#sign-in [name=email]', email)
      await page.fill('#sign-in [name=password]', 'correct horse battery')
      await page.click('#sign-in button')
      await page.waitForSelector('#state:text("online")')
      await page.waitForSelector('.text:text("Does it run?")')
      return page
    }
    const [ada, grace] = await Promise.all([open('ada@example.org'), open('grace@example.org')])

    // Ada has added her to the conversation.
    await grace.waitForSelector('#inbox:text("Inbox (1)")')
    await grace.waitForSelector('.notification:text("added")')
    await grace.click('#read-all')
    await grace.waitForSelector('#inbox:text("Inbox (0)")')
    await grace.waitForSelector('body:not(:has(.notification))')

    await grace.waitForSelector('h1:text("(1 unread)")')
    await grace.click('.read')
    await grace.waitForSelector('h1:text("(0 unread)")')
    await ada.waitForSelector('.seen:text("Seen by 1")')
    await grace.click('.pin')
    await ada.waitForSelector('.pins:text("1 pinned")')
    await grace.fill('.reply input', 'It runs.')
    await ada.waitForSelector('.typing')
    await grace.click('.reply button')
    await ada.waitForSelector('.online .text:text("It runs.")')
    await ada.waitForSelector('body:not(:has(.typing))')

    await ada.fill('.ask input', 'Why does it run?')
    await ada.click('.ask button')
    await grace.waitForSelector('.text:text("Why does it run?")')
    await ada.waitForSelector('body:not(:has(.stop))')

    await ada.fill('.new-thread input', 'Another one.')
    await ada.click('.new-thread button')
    await grace.waitForSelector('article:nth-child(2)')
    await grace.waitForSelector('.text:text("Another one.")')
    expect(await grace.locator('.text').allTextContents()).toEqual(await ada.locator('.text').allTextContents())

    const ask = async (question: string) => {
      await ada.fill('.talk input', question)
      await ada.click('.talk button:text("Ask the assistant")')
    }
    await ask('Are you there?')
    await ada.waitForSelector('.answer:text("You ask: Are you there?")')
    await ask('Is there a table?')
    await ada.click('.approval button:text("Approve")')
    await ada.waitForSelector('.answer:text("The table is booked.")')
    await ada.waitForSelector('.talk:not(:has(.approval))')
    await ada.click('.talk button:text("Ask again")')
    await ada.waitForSelector('.approval')
    await ada.click('.talk button:text("Stop the answer")')
    await ada.waitForSelector('.talk[data-status=ready]:not(:has(.approval))')

    await ada.click('h2 .archive')
    await ada.waitForSelector('#archived:text("Archived (1)")')
    await ada.waitForSelector('body:not(:has(h2))')
    await ada.click('.archive:text("Bring back")')
    await ada.waitForSelector('h2:has-text("Engines")')
    expect(problems).toEqual([])
    expect(await host.stop()).toBe(0)
  }, 60_000)
})
