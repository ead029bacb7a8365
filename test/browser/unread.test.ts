import { describe, expect, it } from 'vitest'
import { hasBrowser, type Page } from '../support/browser.ts'
import { look } from './looks.ts'
import { chooseOfThread, expectOne, openStage, write } from './people.ts'
import { openTalk, type Talk } from './talk.ts'

/** Chooses that threads are shown as trees, in one that is not the one to look at. */
async function showTrees(page: Page, url: string, { ada, conversation_id }: Talk): Promise<void> {
  const { root_id } = await ada.messages.postRoot(conversation_id, { content: 'Another thread' })
  await page.goto(`${url}/#/c/${conversation_id}/t/${root_id}`)
  await chooseOfThread(page, 'As a tree')
}

describe.skipIf(!hasBrowser)('what is unread in a tree of the web chat', () => {
  it('begins at a line, to which a button leads, and who has read it is shown to its author', async () => {
    const { url, visit, problems } = await openStage({})
    const talk = await openTalk(url)
    const { ada, grace, signIn, conversation_id } = talk
    await ada.conversations.rename(conversation_id, { policy: { receipts: 'on' } })
    const { message: root } = await ada.messages.postRoot(conversation_id, { content: 'Begin' })
    for (const each of Array(2).keys()) await ada.messages.reply(root.id, { content: `Before ${each}` })
    await grace.threads.markRead(root.id)
    for (const each of Array(20).keys()) await ada.messages.reply(root.id, { content: `After ${each}` })

    const { page } = await visit(url)
    await signIn(page, 'grace')
    await showTrees(page, url, talk)
    await page.goto(`${url}/#/c/${conversation_id}/t/${root.id}`)
    await page.waitForSelector('.message:has-text("After 19")')
    await page.waitForSelector('.jump[data-to=above] button')
    await page.click('.jump button')
    await expectOne(page, 'li:has(> .unread-from):has-text("After 0")')
    await page.waitForSelector('.jump', { state: 'detached' })
    expect(
      await page.evaluate(`(() => {
        const { top, bottom } = document.querySelector('.unread-from').getBoundingClientRect()
        const pane = document.querySelector('.thread .scroll').getBoundingClientRect()
        return top >= pane.top - 1 && bottom <= pane.bottom
      })()`),
    ).toBe(true)
    await look(page, 'unread-from')

    await write(page, 'thread', 'Of grace')
    await page.waitForSelector('.message:has-text("Of grace"):not([data-pending])')
    const { page: author } = await visit(url, { colorScheme: 'dark', locale: 'de-DE' })
    await signIn(author, 'ada')
    await author.goto(`${url}/#/c/${conversation_id}/t/${root.id}`)
    await author.waitForSelector('.message:has-text("Of grace")')
    await page.waitForSelector('.message:has-text("Of grace") .read-by:text("Read by Ada Lovelace")')
    await grace.threads.markRead(root.id)
    await author.waitForSelector('.message:has-text("After 19") .read-by:text("Gelesen von grace")')
    await look(author, 'read-by')
    expect(problems).toEqual([])
  })

  it('is led to in a thread that is not read to its end', async () => {
    const { url, visit, problems } = await openStage({})
    const talk = await openTalk(url)
    const { ada, signIn, conversation_id } = talk
    const { message: root } = await ada.messages.postRoot(conversation_id, { content: 'Begin' })
    await Promise.all(Array.from({ length: 230 }, () => ada.messages.reply(root.id, { content: 'x' })))
    const { page } = await visit(url)
    await signIn(page, 'grace')
    await showTrees(page, url, talk)
    await page.goto(`${url}/#/c/${conversation_id}/t/${root.id}`)
    await page.click('.jump[data-to=below] button')
    await page.waitForSelector('li:has(> .unread-from):has-text("Begin")')
    await page.waitForSelector('.thread .messages > li:nth-child(231)', { state: 'attached' })
    // Screen readers hear of what arrives, not of what is read page by page.
    expect(await page.locator('[aria-live=polite]').allTextContents()).toEqual([''])
    // Every message is there to be read and searched; what can be done with it once it is near.
    await page.waitForSelector('.thread .message:has-text("Begin") .actions button', { state: 'attached' })
    const LAST = `document.querySelector('.thread .messages > li:last-child')`
    expect(await page.evaluate(`${LAST}.querySelectorAll('.actions button').length`)).toBe(0)
    await page.evaluate(`${LAST}.scrollIntoView()`)
    await page.waitForSelector('.thread .messages > li:last-child .actions button', { state: 'attached' })
    expect(problems).toEqual([])
  })
})
