import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { hasBrowser, openBrowser } from '../support/browser.ts'
import { start } from '../support/example.ts'
import { installExample, typeErrorsOf } from '../support/installed-example.ts'

/** Where the packages of the example are for the tests. */
const PACKAGES = {
  '@ai-sdk/react': 'test/tools/node_modules/@ai-sdk/react',
  '@assistant-ui/react': 'test/tools/node_modules/@assistant-ui/react',
  '@assistant-ui/react-ai-sdk': 'test/tools/node_modules/@assistant-ui/react-ai-sdk',
  ai: 'test/tools/node_modules/ai7',
  react: 'test/tools/node_modules/react',
  'react-dom': 'test/tools/node_modules/react-dom',
  '@types': 'node_modules/@types',
  esbuild: 'node_modules/esbuild',
}

const install = () => installExample('assistant-ui', ['package.json', 'page.tsx', 'server.ts'], PACKAGES)

describe('the page of assistant-ui', () => {
  it('compiles, and so does its server', async () => {
    expect(await typeErrorsOf(await install())).toBe('')
  })

  it.skipIf(!hasBrowser)(
    'sends, resumes after a reload, stops the answer itself, asks again, and switches between threads',
    async () => {
      const host = start(join(await install(), 'server.ts'))
      const url = await host.printed(/http:\S+/)
      const browser = await openBrowser()
      const page = await (await browser.newContext()).newPage()
      const problems: string[] = []
      page.on('pageerror', (error) => problems.push(error.message))
      await page.goto(url)
      const send = async (text: string) => {
        await page.fill('textarea', text)
        await page.click('button:text("Send")')
      }
      const has = (text: string) => page.waitForSelector(`.assistant:last-of-type:has-text("${text}")`)
      const isReady = () => page.waitForSelector('main[data-status=ready]')
      const texts = () => page.locator('main p').allTextContents()

      await send('Count to 3')
      await has('1 2 3 ')
      await isReady()
      await page.waitForSelector('button:text("Count to 3")')

      // More than a test waits for.
      await send('Count to 9999')
      await has(' 5 ')
      await page.reload()
      await page.waitForSelector('main[data-status=streaming]')
      await has(' 6 ')
      const thread = page.url()
      await page.click('button:text("Stop")')
      await isReady()
      const stopped = (await texts()).at(-1)!
      const numbers = stopped.trim().split(' ').map(Number)
      expect(numbers).toEqual(numbers.map((_, n) => n + 1))
      // The service has stopped it, not only the page.
      await page.reload()
      await has(stopped.trim())
      await isReady()
      expect(await texts()).toEqual(['Count to 3', '1 2 3 ', 'Count to 9999', stopped])

      await page.click('button:text("New thread")')
      await page.waitForSelector('main:not(:has(p))', { state: 'attached' })
      await send('Count to 2')
      await has('1 2 ')
      await isReady()
      await page.click('button:text("Ask again")')
      await page.waitForSelector('.assistant:has-text("2 / 2")')
      await has('1 2 ')
      await isReady()
      expect(await texts()).toEqual(['Count to 2', '1 2 '])

      // An answer goes on while another thread is shown.
      await send('Count to 9999')
      await has(' 3 ')
      await page.click('button:text("Count to 3")')
      await has(stopped.trim())
      expect(page.url()).toBe(thread)
      await page.click('button:text("Count to 2")')
      await page.waitForSelector('main[data-status=streaming]')
      await has(' 5 ')
      await page.click('button:text("Stop")')
      await isReady()
      expect((await texts()).slice(0, 3)).toEqual(['Count to 2', '1 2 ', 'Count to 9999'])
      expect(problems).toEqual([])
      expect(await host.stop()).toBe(0)
    },
  )
})
