import { describe, expect, it } from 'vitest'
import { hasBrowser } from '../support/browser.ts'
import { look } from './looks.ts'
import { expectOne, openStage, write } from './people.ts'
import { openTalk } from './talk.ts'

/** Resolves when the files of the page are kept. */
const KEPT = `navigator.serviceWorker.ready.then(() => caches.keys())`

/** What is kept to be sent. */
const UNSENT = `Object.keys(localStorage).filter((key) => key.startsWith('chat:unsent:'))`

/** What was seen, as it is kept. */
const ALL = `new Promise((resolve) => {
  const opening = indexedDB.open('chat', 1)
  opening.onsuccess = () => {
    const reading = opening.result.transaction('responses').objectStore('responses').getAll()
    reading.onsuccess = () => {
      opening.result.close()
      resolve(reading.result)
    }
  }
})`
const POLL = { timeout: 60_000 }
const ENTRIES = `${ALL}.then((all) => all.map(({ path }) => path))`
const TEXTS = `${ALL}.then((all) => all.map(({ text }) => text).join())`

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
  })

  it('sends what was posted without a network when the page is opened again, once and in order', async () => {
    const { url, visit, problems } = await openStage({})
    const { ada, signIn, conversation_id } = await openTalk(url)
    const { message: root } = await ada.messages.postRoot(conversation_id, { content: 'Begin' })
    const { page, context } = await visit(url)
    await signIn(page, 'grace')
    await page.goto(`${url}/#/c/${conversation_id}/t/${root.id}`)
    await write(page, 'thread', 'Before')
    await page.waitForSelector('.message:has-text("Before"):not([data-pending])')
    await context.setOffline(true)
    await write(page, 'thread', 'First')
    await write(page, 'thread', 'Second')
    await write(page, 'conversation', 'A thread')
    await page.waitForSelector('.message[data-pending=failed]:has-text("Second")')
    await page.waitForSelector(
      '.conversation .message[data-pending=failed]:has-text("A thread") .note:has-text("Waiting to be sent.")',
    )
    await page.close()
    await context.setOffline(false)

    const again = await context.newPage()
    await again.goto(`${url}/#/c/${conversation_id}`)
    await again.waitForSelector('.conversation .message:not([data-pending]):has-text("A thread")')
    await again.click('.row:has-text("Begin") .thread-line')
    for (const text of ['Before', 'First', 'Second'])
      await expectOne(again, `.message:has-text("${text}"):not([data-pending])`)
    const { messages } = await ada.threads.tree(root.id)
    expect(messages.map(({ content }) => content)).toEqual(['Begin', 'Before', 'First', 'Second'])
    expect((await ada.threads.list(conversation_id)).threads).toHaveLength(2)
    expect(await again.evaluate(UNSENT)).toEqual([])
    expect(problems).toEqual([])
  })

  it('sends what failed when the network is back, also for a thread that is not open', async () => {
    const { url, visit, problems } = await openStage({})
    const { ada, signIn, conversation_id } = await openTalk(url)
    const { message: root } = await ada.messages.postRoot(conversation_id, { content: 'Begin' })
    const { page, context } = await visit(url)
    await signIn(page, 'grace')
    await page.goto(`${url}/#/c/${conversation_id}/t/${root.id}`)
    await page.waitForSelector('.thread textarea')
    await context.setOffline(true)
    await write(page, 'thread', 'From the train')
    await page.waitForSelector('.message[data-pending=failed]')
    await page.goto(`${url}/#/`)
    const other = await context.newPage()
    await context.setOffline(false)
    await other.goto(`${url}/#/c/${conversation_id}/t/${root.id}`)
    await expectOne(other, '.message:has-text("From the train"):not([data-pending])')
    await page.waitForSelector('.conversations a')
    expect((await ada.threads.tree(root.id)).messages).toHaveLength(2)
    expect(await other.evaluate(UNSENT)).toEqual([])
    expect(problems).toEqual([])
  })

  it('shows what was seen, and forgets what is deleted, or left, and everything at a sign-out', async () => {
    const { url, visit, problems } = await openStage({})
    const { ada, grace, signIn, conversation_id } = await openTalk(url)
    const { message: root } = await ada.messages.postRoot(conversation_id, { content: 'Begin' })
    const { message: secret } = await ada.messages.postRoot(conversation_id, { content: 'To be deleted' })
    const { page, context } = await visit(url)
    await signIn(page, 'grace')
    await page.evaluate(KEPT)
    for (const { id } of [secret, root]) {
      await page.goto(`${url}/#/c/${conversation_id}/t/${id}`)
      await page.waitForSelector(`.thread [data-message-id="${id}"] .name:has-text("Ada Lovelace")`)
      await expect.poll(() => page.evaluate(ENTRIES), POLL).toContain(`/api/threads/${id}/messages`)
    }
    await ada.messages.reply(root.id, { content: 'Live' })
    await page.waitForSelector('.message:has-text("Live")')
    await ada.messages.remove(secret.id)
    await expect.poll(() => page.evaluate(TEXTS), POLL).not.toContain('To be deleted')
    await expect.poll(() => page.evaluate(TEXTS), POLL).toMatch(/"Live"/)
    await expect.poll(() => page.evaluate(ENTRIES), POLL).toContain(`/api/conversations/${conversation_id}/messages`)

    await context.setOffline(true)
    await page.reload()
    await page.waitForSelector('.banner:has-text("You’re offline")')
    await page.waitForSelector('.conversations a:has-text("Engines")')
    await page.waitForSelector('.conversation .message:has-text("Begin")')
    await page.waitForSelector('.thread .message:has-text("Live")')
    await page.waitForSelector('.thread .name:has-text("Ada Lovelace")')
    await look(page, 'offline-reload')
    await write(page, 'thread', 'Later')
    await page.reload()
    await page.waitForSelector('.message[data-pending]:has-text("Later")')
    await context.setOffline(false)
    await page.waitForSelector('.message:has-text("Later"):not([data-pending])')
    expect((await grace.threads.tree(root.id)).messages).toHaveLength(3)

    await ada.participants.remove(conversation_id, (await grace.auth.me()).user.id)
    await expect.poll(() => page.evaluate(TEXTS), POLL).not.toContain(conversation_id)
    await page.goto(`${url}/#/`)
    await page.click('[aria-label="Your account"]')
    await page.click('button:text("Sign out")')
    await page.waitForSelector('[name=email]')
    await expect.poll(() => page.evaluate(ENTRIES), POLL).toEqual(['/api/features'])
    // What is read again of a conversation that grace is no longer in.
    expect(problems.filter((each) => !each.includes('status of 404'))).toEqual([])
  })

  it('forgets what was removed while no page was open, and keeps the rest', async () => {
    const { url, visit, problems } = await openStage({})
    const { ada, grace, signIn, conversation_id } = await openTalk(url)
    const create = async (title: string) => {
      const other = await ada.conversations.create({ title })
      const { token = '' } = await ada.invites.create(other.conversation_id, {})
      await grace.invites.accept({ token })
      return other.conversation_id
    }
    const [left, deleted] = [await create('Left'), await create('Deleted')]
    const post = async (place: string, content: string) => (await ada.messages.postRoot(place, { content })).message.id
    const threads = {
      [await post(conversation_id, 'To stay')]: conversation_id,
      [await post(conversation_id, 'To be removed')]: conversation_id,
      [await post(conversation_id, 'To be changed')]: conversation_id,
      [await post(left, 'Of the left one')]: left,
      [await post(deleted, 'Of the deleted one')]: deleted,
    }
    const [, removed, changed] = Object.keys(threads)
    const { page, context } = await visit(url)
    await signIn(page, 'grace')
    await page.evaluate(KEPT)
    for (const [id, place] of Object.entries(threads)) {
      await page.goto(`${url}/#/c/${place}/t/${id}`)
      await expect.poll(() => page.evaluate(ENTRIES), POLL).toContain(`/api/threads/${id}/messages`)
    }
    // The place up to which the events were followed, without which nothing would be known to be there still.
    await expect.poll(() => page.evaluate(ENTRIES), POLL).toContain('/events')
    await page.goto(`${url}/#/c/${conversation_id}`)
    await page.close()

    await ada.messages.remove(removed!)
    await ada.messages.edit(changed!, { content: 'Changed' })
    await ada.participants.remove(left, (await grace.auth.me()).user.id)
    await ada.conversations.remove(deleted)
    const again = await context.newPage()
    await again.goto(`${url}/#/`)
    for (const text of ['To be removed', 'To be changed', 'Of the left one', 'Of the deleted one', left, deleted])
      await expect.poll(() => again.evaluate(TEXTS), POLL).not.toContain(text)
    await context.setOffline(true)
    await again.goto(`${url}/#/c/${conversation_id}/t/${Object.keys(threads)[0]}`)
    await again.reload()
    await again.waitForSelector('.message:has-text("To stay")')
    await again.goto(`${url}/#/c/${conversation_id}/t/${removed}`)
    await again.waitForSelector('.thread .error, .thread [role=alert]')
    expect(await again.locator('.message').allTextContents()).toEqual([])
    expect(problems).toEqual([])
  })

  it('forgets what was seen before where the service no longer knows what has happened since', async () => {
    const { url, visit } = await openStage({})
    const { ada, signIn, conversation_id } = await openTalk(url)
    const { message: root } = await ada.messages.postRoot(conversation_id, { content: 'Begin' })
    const { page, context } = await visit(url)
    await signIn(page, 'grace')
    await page.evaluate(KEPT)
    await page.goto(`${url}/#/c/${conversation_id}/t/${root.id}`)
    await expect.poll(() => page.evaluate(ENTRIES), POLL).toContain(`/api/threads/${root.id}/messages`)
    await expect.poll(() => page.evaluate(ENTRIES), POLL).toContain('/events')
    await page.goto('about:blank')
    await page.goto(`${url}/icon.svg`)
    // As after a restored backup, whose events are others.
    await page.evaluate(`new Promise((resolve) => {
      const opening = indexedDB.open('chat', 1)
      opening.onsuccess = () => {
        const writing = opening.result.transaction('responses', 'readwrite')
        writing.objectStore('responses').put({ path: '/events', at: Date.now(), text: '0123456789abcdef.1' })
        writing.oncomplete = resolve
      }
    })`)
    const again = await context.newPage()
    await again.goto(`${url}/#/`)
    await expect.poll(() => again.evaluate(ENTRIES), POLL).not.toContain(`/api/threads/${root.id}/messages`)
  })

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
  })
})
