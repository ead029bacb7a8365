import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { describe, expect, it, onTestFinished } from 'vitest'
import { createNodeListener } from '../../lib/http/node/listener.ts'
import { createChatService, openStorage, parseConfig } from '../../lib/index.ts'
import { memoryFiles } from '../chat/attachments/files.ts'
import { hasBrowser, openBrowser, type Page } from '../support/browser.ts'
import { bytesOf, HOSTILE } from '../support/pictures.ts'
import { wave } from '../support/wave.ts'

const ADA = { email: 'ada@example.org', password: 'correct horse battery' }
const PART = 4 * 1024 * 1024

/** A page of the same origin as the service, with a browser in which Ada is signed in. */
async function start() {
  const storage = await openStorage({ database: 'sqlite::memory:', files: memoryFiles() })
  const config = parseConfig({ attachments: { enabled: true }, security: { password: { bcrypt_cost: 4 } } })
  const chat = createChatService(config, storage)
  await chat.start()
  const { user } = await chat.setup.run(ADA)
  const actor = await chat.users.actor(user.id)
  const { conversation_id } = await chat.conversations.create(actor, { title: 'Files' })
  const listener = createNodeListener(chat)
  const ranges: number[] = []
  const server = createServer((request, response) => {
    const path = request.url!
    if (path === '/host')
      return response.setHeader('content-type', 'text/html').end('<!doctype html><title>host</title>')
    const [, from] = /^bytes=(\d+)-/.exec(request.headers.range ?? '') ?? []
    if (from) ranges.push(Number(from))
    return listener(request, response)
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const base_url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  onTestFinished(async () => {
    server.closeAllConnections()
    server.close()
    await chat.close()
  })
  const upload = async (name: string, bytes: Buffer) => {
    const { attachment, parts } = await chat.attachments.create(actor, conversation_id, { name, size: bytes.length })
    for (let n = 1; n <= parts; n++)
      await chat.attachments.putPart(actor, attachment.id, n, { bytes: bytes.subarray((n - 1) * PART, n * PART) })
    return `/api/attachments/${attachment.id}/content?inline=true`
  }
  const page = await (await (await openBrowser()).newContext()).newPage()
  await page.goto(`${base_url}/host`)
  const signIn = `fetch('/api/auth/login', { method: 'POST', headers: { 'content-type': 'application/json' },
    body: ${JSON.stringify(JSON.stringify(ADA))} }).then((response) => response.status)`
  expect(await page.evaluate(signIn)).toBe(200)
  return { base_url, upload, page, ranges }
}

/** What a page may do with an address; each script of the file would set `ran`, here or in its own window. */
async function embed(page: Page, path: string): Promise<string[]> {
  return (await page.evaluate(`(async () => {
    const found = []
    const ends = (element) => new Promise((done) => {
      element.onload = element.onerror = done
      setTimeout(done, 500)
    })
    for (const [tag, name] of [['iframe', 'src'], ['object', 'data'], ['embed', 'src'], ['script', 'src'], ['img', 'src']]) {
      const element = document.createElement(tag)
      element[name] = ${JSON.stringify(path)}
      const end = ends(element)
      document.body.append(element)
      if (tag !== 'embed' && tag !== 'object') await end
      let isOpen = false
      try { isOpen = element.contentWindow?.ran === true } catch {}
      if (isOpen || window.ran) found.push(tag)
      element.remove()
    }
    return found
  })()`)) as string[]
}

describe.skipIf(!hasBrowser)('a file in a browser', () => {
  it('runs nothing, whatever it is and however it is opened', { timeout: 120_000 }, async () => {
    const { base_url, upload, page } = await start()
    const script = 'window.ran = true; parent.ran = true; document.title = "ran"'
    const hostile = Object.entries(HOSTILE).filter(([, [, bytes]]) => bytes.includes('alert(1)'))
    expect(hostile.length).toBeGreaterThanOrEqual(8)
    for (const [name, [, bytes]] of hostile) {
      const armed = bytesOf(bytes.toString('latin1').replaceAll('alert(1)', script))
      const path = await upload(`${name}.html`, armed)
      await page.goto(`${base_url}/host`)
      expect([name, await embed(page, path)]).toEqual([name, []])
      // What is saved opens no page.
      await page.goto(base_url + path).catch(() => {})
      expect([name, await page.evaluate('[window.ran, document.title === "ran"]')]).toEqual([name, [undefined, false]])
    }
  })

  it('is played and sought by ranges', { timeout: 120_000 }, async () => {
    const { base_url, upload, page, ranges } = await start()
    const path = await upload('engine.wav', wave(70))
    await page.goto(`${base_url}/host`)
    const played = await page.evaluate(`(async () => {
      const video = document.createElement('video')
      video.preload = 'metadata'
      video.src = ${JSON.stringify(path)}
      document.body.append(video)
      await new Promise((done, fail) => {
        video.onloadedmetadata = done
        video.onerror = () => fail(new Error(video.error.message))
      })
      const sought = new Promise((done) => { video.onseeked = done })
      video.currentTime = 65
      await sought
      return [Math.round(video.duration), Math.round(video.currentTime)]
    })()`)
    expect(played).toEqual([70, 65])
    // It reads from there, and not everything before.
    expect(Math.max(...ranges)).toBeGreaterThan(2 * PART)
  })
})
