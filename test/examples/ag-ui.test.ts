import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { hasBrowser, openBrowser } from '../support/browser.ts'
import { start } from '../support/example.ts'
import { installExample, typeErrorsOf } from '../support/installed-example.ts'

const install = () =>
  installExample('ag-ui', ['package.json', 'page.ts', 'server.ts'], {
    '@ag-ui/client': 'test/tools/node_modules/@ag-ui/client',
    '@ag-ui/core': 'test/tools/node_modules/@ag-ui/core',
    '@types': 'node_modules/@types',
    esbuild: 'node_modules/esbuild',
    valibot: 'node_modules/valibot',
  })

/** What the newest answer of the page has beside it. */
const COUNT_VARIANTS = `fetch('/chat/api/ui/chat/' + new URLSearchParams(location.search).get('chat'))
  .then((response) => response.json())
  .then(({ messages }) => messages.at(-1).metadata?.variants?.length)`

describe('the page with the agent of AG-UI', () => {
  it('compiles, and so does its server', async () => {
    expect(await typeErrorsOf(await install())).toBe('')
  })

  it.skipIf(!hasBrowser)(
    'sends, goes on after a reload, stops, asks again, and decides on a call of a tool',
    async () => {
      const host = start(join(await install(), 'server.ts'))
      const url = await host.printed(/http:\S+/)
      const browser = await openBrowser()
      const page = await (await browser.newContext()).newPage()
      const problems: string[] = []
      page.on('pageerror', (error) => problems.push(error.message))
      await page.goto(url)
      const isReady = () => page.waitForSelector('main[data-status=ready]', { state: 'attached' })
      const has = (text: string) => page.waitForSelector(`.assistant:last-of-type:has-text("${text}")`)
      const texts = () => page.locator('main p').allTextContents()
      const send = async (text: string) => {
        await isReady()
        await page.fill('[name=text]', text)
        await page.click('button:text("Send")')
      }

      await send('Count to 3')
      await has('1 2 3 ')
      await isReady()
      // More than a test waits for.
      await send('Count to 9999')
      await has(' 5 ')
      await page.reload()
      await page.waitForSelector('main[data-status=running] .assistant:last-of-type:has-text(" 6 ")')
      await page.click('button:text("Stop")')
      await isReady()
      const stopped = (await texts()).at(-1)!
      const numbers = stopped.trim().split(' ').map(Number)
      expect(numbers).toEqual(numbers.map((_, n) => n + 1))
      expect(await texts()).toEqual(['Count to 3', '1 2 3 ', 'Count to 9999', stopped])

      await send('Count to 2')
      await has('1 2 ')
      await isReady()
      await page.click('button:text("Ask again")')
      await expect.poll(() => page.evaluate(COUNT_VARIANTS)).toBe(2)
      await has('1 2 ')
      await isReady()
      expect((await texts()).slice(-2)).toEqual(['Count to 2', '1 2 '])

      for (const [answer, text] of [
        ['Approve', 'A-1001 is paid back.'],
        ['Deny', 'Nothing is paid back.'],
      ]) {
        await send('Refund A-1001')
        await page.waitForSelector('main[data-status=waiting]')
        await page.reload()
        await page.waitForSelector('main[data-status=waiting]')
        await page.click(`button:text("${answer}")`)
        await has(text!)
        await isReady()
      }
      expect(problems).toEqual([])
      expect(await host.stop()).toBe(0)
    },
  )
})
