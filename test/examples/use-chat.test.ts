import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { hasBrowser, openBrowser, type Page } from '../support/browser.ts'
import { start } from '../support/example.ts'
import { installExample, typeErrorsOf } from '../support/installed-example.ts'

/** Where the packages of the example are for the tests. */
const PACKAGES = {
  '@ai-sdk/react': 'test/tools/node_modules/ai-react6',
  ai: 'test/tools/node_modules/ai6',
  react: 'test/tools/node_modules/react',
  'react-dom': 'test/tools/node_modules/react-dom',
  '@types': 'node_modules/@types',
  esbuild: 'node_modules/esbuild',
}

/** What the newest answer of the page has beside it. */
const COUNT_VARIANTS = `fetch('/chat/api/ui/chat/' + new URLSearchParams(location.search).get('chat'))
  .then((response) => response.json())
  .then(({ messages }) => messages.at(-1).metadata?.variants?.length)`

const install = () => installExample('use-chat', ['package.json', 'page.tsx', 'server.ts'], PACKAGES)

describe('the page with useChat', () => {
  it('compiles, and so does its server', async () => {
    expect(await typeErrorsOf(await install())).toBe('')
  })

  it.skipIf(!hasBrowser)(
    'sends, resumes after a reload, stops, asks again, and lists the chats of the caller',
    async () => {
      const host = start(join(await install(), 'server.ts'))
      const url = await host.printed(/http:\S+/)
      const browser = await openBrowser()
      const problems: string[] = []

      async function signIn(name: string, password: string): Promise<Page> {
        const page = await (await browser.newContext()).newPage()
        page.on('pageerror', (error) => problems.push(error.message))
        await page.goto(url)
        await page.fill('[name=name]', name)
        await page.fill('[name=password]', password)
        await page.click('button')
        return page
      }
      const wrong = new URLSearchParams({ name: 'ada', password: 'wrong' })
      const refused = await fetch(`${url}login`, { method: 'POST', body: wrong, redirect: 'manual' })
      expect(refused.headers.getSetCookie()).toEqual([])
      expect((await fetch(`${url}chat/api/ui/chats`)).status).toBe(401)
      const page = await signIn('ada', 'correct horse')
      const send = async (text: string) => {
        await page.fill('[name=text]', text)
        await page.click('button:text("Send")')
      }
      const has = (text: string) => page.waitForSelector(`.assistant:last-child:has-text("${text}")`)
      const isReady = () => page.waitForSelector('main[data-status=ready]')
      const texts = () => page.locator('main p').allTextContents()

      await send('Count to 3')
      await has('1 2 3 ')
      await isReady()
      await page.waitForSelector('nav a:text("Count to 3")')

      // More than a test waits for.
      await send('Count to 9999')
      await has(' 5 ')
      await page.reload()
      await page.waitForSelector('main[data-status=streaming]')
      const before = (await texts()).at(-1)!
      expect(before).toMatch(/^1 2 3 4 5 /)
      const next = `${Number(before.trim().split(' ').at(-1)) + 5}`
      await has(` ${next} `)
      await page.click('button:text("Stop")')
      await isReady()
      const stopped = (await texts()).at(-1)!
      const numbers = stopped.trim().split(' ').map(Number)
      expect(numbers).toEqual(numbers.map((_, n) => n + 1))
      await page.reload()
      await has(stopped.trim())
      expect(await texts()).toEqual(['Count to 3', '1 2 3 ', 'Count to 9999', stopped])

      await page.click('a:text("New chat")')
      await page.waitForSelector('main:not(:has(p))', { state: 'attached' })
      await send('Count to 2')
      await has('1 2 ')
      await isReady()
      await page.click('button:text("Ask again")')
      await expect.poll(() => page.evaluate(COUNT_VARIANTS)).toBe(2)
      await has('1 2 ')
      await isReady()
      expect(await texts()).toEqual(['Count to 2', '1 2 '])
      await page.click('nav a:text("Count to 3")')
      await has(stopped.trim())

      const grace = await signIn('grace', 'battery staple')
      await grace.waitForSelector('nav')
      expect(await grace.locator('nav a').allTextContents()).toEqual(['New chat'])
      expect(problems).toEqual([])
      expect(await host.stop()).toBe(0)
    },
  )
})
