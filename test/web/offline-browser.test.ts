import { describe, expect, it } from 'vitest'
import { hasBrowser } from '../support/browser.ts'
import { look } from './looks.ts'
import { openStage } from './people.ts'
import { openTalk } from './talk.ts'

/** Resolves when the files of the page are kept. */
const KEPT = `navigator.serviceWorker.ready.then(() => caches.keys())`

describe.skipIf(!hasBrowser)('the web chat without a network', () => {
  it('is kept by the browser with its files, and nothing of the API is', async () => {
    const { url, visit, problems } = await openStage({})
    const { signIn } = await openTalk(url)
    const { page } = await visit(url)
    await signIn(page, 'ada')
    expect(await page.evaluate(KEPT)).toEqual([expect.stringMatching(/^chat-page:\/:[\w-]{12}$/)])
    const paths = (await page.evaluate(
      `caches.keys().then(([name]) => caches.open(name)).then((cache) => cache.keys())
        .then((all) => all.map((request) => new URL(request.url).pathname))`,
    )) as string[]
    expect(paths).toEqual(expect.arrayContaining(['/', '/icon.svg']))
    expect(paths.filter((path) => !/^\/(assets\/[\w.-]+|icon\.svg)?$/.test(path))).toEqual([])
    expect(problems).toEqual([])
  }, 60_000)

  it('offers a new version, and goes on with it', async () => {
    let version = ''
    const { url, visit, problems } = await openStage({}, {}, {}, (web) => ({
      ...web,
      async fetch(request) {
        if (!request.url.endsWith('/sw.js')) return web.fetch(request)
        const { headers, body } = await web.fetch(new Request(request.url))
        headers.delete('content-length')
        return new Response(`${await new Response(body).text()}\n// ${version}`, { headers })
      },
    }))
    const { signIn } = await openTalk(url)
    const { page } = await visit(url)
    await signIn(page, 'ada')
    await page.evaluate(KEPT)
    version = 'new'
    await page.reload()
    await page.waitForSelector('.update button:text("Reload")')
    await look(page, 'new-version')
    await page.evaluate('window.isOld = true')
    await page.click('.update button')
    await page.waitForSelector('.update', { state: 'detached' })
    await page.waitForSelector('.conversations a')
    expect(await page.evaluate('window.isOld')).toBeUndefined()
    expect(problems).toEqual([])
  }, 60_000)
})
