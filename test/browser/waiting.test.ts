import { describe, expect, it } from 'vitest'
import { hasBrowser, type Page } from '../support/browser.ts'
import { filesInFolder } from '../support/files-folder.ts'
import { look } from './looks.ts'
import { openStage, signInAsAda } from './people.ts'

const BROKEN = JSON.stringify({ error: { code: 'internal', message: 'Broken' } })

/** Keeps back what the page reads. @returns a function that lets what is read from then on go its way */
async function hold(page: Page, url: RegExp): Promise<() => void> {
  let isHeld = true
  await page.route(url, async (route) => {
    if (!isHeld) await route.continue()
  })
  return () => {
    isHeld = false
  }
}

const heightOf = async (page: Page, selector: string) =>
  Math.round((await page.evaluate(`document.querySelector('${selector}').getBoundingClientRect().height`)) as number)

describe.skipIf(!hasBrowser)('what the page reads', () => {
  it('has outlines as high as its rows, and after five seconds a way to read it again', async () => {
    const stage = await openStage({})
    const { page, ada } = await signInAsAda(stage)
    const { conversation_id } = await stage.chat.conversations.create(ada, { title: 'Engines' })
    await stage.chat.messages.postRoot(ada, conversation_id, { content: 'Steam' })
    await page.goto(`${stage.url}/#/c/${conversation_id}`)
    await page.waitForSelector('.conversations a:has-text("Engines")')
    const row = await heightOf(page, '.conversations > [data-row]')
    await page.waitForSelector('.message:has-text("Steam")')
    const message = await heightOf(page, '.stream .row')

    const release = await hold(page, /\/api\/(conversations\?|conversations\/[^/]+\/messages)/)
    // Nothing that the device has kept takes its place.
    await page.evaluate(
      `indexedDB.databases().then((all) => Promise.all(all.map(({ name }) => indexedDB.deleteDatabase(name))))`,
    )
    await page.reload()
    await page.waitForSelector('.sidebar .outline')
    expect(await heightOf(page, '.sidebar .outline')).toBe(row)
    await page.waitForSelector('.conversation .outline')
    expect(await heightOf(page, '.conversation .outline')).toBe(message)
    await look(page, 'loading')
    await page.waitForSelector('.sidebar [role=status]:has-text("Still loading…")')
    await look(page, 'still-loading')
    release()
    await page.click('.sidebar button:text-is("Retry")')
    await page.waitForSelector('.conversations a:has-text("Engines")')
    await page.waitForSelector('.outline', { state: 'detached' })
    expect(stage.problems).toEqual([])
  })

  it('has outlines in each tab of the details that reads something', async () => {
    const stage = await openStage({}, { attachments: await filesInFolder() })
    const { page, ada } = await signInAsAda(stage)
    const { conversation_id } = await stage.chat.conversations.create(ada, { title: 'Engines' })
    await page.goto(`${stage.url}/#/c/${conversation_id}`)
    await page.waitForSelector('.message, .greeting')
    for (const [tab, read] of [
      ['people', /participants/],
      ['notifications', /settings/],
      ['invites', /invites/],
      ['files', /search/],
    ] as const) {
      const release = await hold(page, read)
      await page.goto(`${stage.url}/#/c/${conversation_id}/details/${tab}`)
      await page.waitForSelector('.details .outline')
      release()
      await page.unrouteAll({ behavior: 'ignoreErrors' })
      await page.reload()
      await page.waitForSelector('.details .tabs [aria-current]')
      await page.waitForSelector('.details .outline', { state: 'detached' })
    }
    expect(stage.problems).toEqual([])
  })

  it('says why a room cannot be shown, and reads it again', async () => {
    const stage = await openStage({})
    const { page, ada } = await signInAsAda(stage)
    const { conversation_id } = await stage.chat.conversations.create(ada, { title: 'Engines' })
    // An archived room is not in the list: it is read by itself.
    await stage.chat.conversations.setSettings(ada, conversation_id, { archived: true })
    let isBroken = true
    await page.route(/\/api\/conversations\/[^/?]+$/, (route) =>
      isBroken ? route.fulfill({ status: 500, contentType: 'application/json', body: BROKEN }) : route.continue(),
    )
    await page.goto(`${stage.url}/#/c/${conversation_id}`)
    await page.waitForSelector('.conversation [role=alert]:has-text("Something went wrong in the service.")')
    await look(page, 'room-failed')
    isBroken = false
    await page.click('.conversation [role=alert] button:text-is("Retry")')
    await page.waitForSelector('.conversation h2:text-is("Engines")')
    await page.goto(`${stage.url}/#/c/00000000-0000-7000-8000-000000000000/details/people`)
    await page.waitForSelector('.conversation [role=alert]:has-text("This does not exist")')
    await page.waitForSelector('.details [role=alert]:has-text("This does not exist")')
    expect(stage.problems.filter((problem) => !problem.includes('500'))).toEqual([])
  })

  it('says what has failed, under which id the service knows it, and reads it again', async () => {
    const stage = await openStage({})
    const { page } = await signInAsAda(stage)
    let isBroken = true
    await page.route(/\/api\/auth\/keys/, (route) =>
      isBroken
        ? route.fulfill({
            status: 500,
            headers: { 'x-request-id': 'request-1' },
            contentType: 'application/json',
            body: BROKEN,
          })
        : route.continue(),
    )
    await page.goto(`${stage.url}/#/account/keys`)
    await page.waitForSelector('[role=alert]:has-text("Something went wrong in the service.")')
    await page.click('[role=alert] summary:text-is("Details")')
    await page.waitForSelector('[role=alert] details[open]:has-text("Request request-1")')
    await look(page, 'failed')
    isBroken = false
    await page.click('[role=alert] button:text-is("Retry")')
    await page.waitForSelector('[role=alert]', { state: 'detached' })
    expect(stage.problems.filter((problem) => !problem.includes('500'))).toEqual([])
  })
})
