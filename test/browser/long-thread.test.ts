import { describe, expect, it } from 'vitest'
import { hasBrowser } from '../support/browser.ts'
import { choose, chooseOfThread, expectOne, openStage } from './people.ts'
import { openTalk } from './talk.ts'

const PHONE = { viewport: { width: 390, height: 780 }, hasTouch: true, isMobile: true }

describe.skipIf(!hasBrowser)('a long thread in the web chat', () => {
  it('as a tree keeps an edit open while others reply above it, and its actions beside each message', async () => {
    const { url, visit, problems } = await openStage({})
    const { ada, grace, signIn, conversation_id } = await openTalk(url)
    const { message: root } = await ada.messages.postRoot(conversation_id, { content: 'Begin' })
    const { message: first } = await ada.messages.reply(root.id, { content: 'First' })
    for (const each of Array(40).keys()) await ada.messages.reply(root.id, { content: `Reply ${each}.` })

    const { page } = await visit(url)
    await signIn(page, 'ada')
    await page.goto(`${url}/#/c/${conversation_id}/t/${root.id}`)
    await page.waitForSelector('.message:has-text("Reply 39.")')
    await chooseOfThread(page, 'As a tree')
    // The first one of another block of rows than those before it.
    await choose(page, 'Reply 30.', 'Edit')
    await page.fill('.edit textarea', 'Reply 30, better')
    for (const each of [1, 2, 3]) await grace.messages.reply(first.id, { content: `Above ${each}` })
    await page.waitForSelector('.thread .messages > li:nth-child(45)', { state: 'attached' })
    await page.waitForSelector('[aria-live=polite]:has-text("grace")', { state: 'attached' })
    expect(await page.inputValue('.edit textarea')).toBe('Reply 30, better')
    await page.press('.edit textarea', 'Enter')
    await expectOne(page, '.message:has-text("Reply 30, better")')
    const order = `[...document.querySelectorAll('.thread .messages > li')].map((row) => row.querySelector('.markdown').textContent)`
    const texts = (await page.evaluate(order)) as string[]
    expect(texts.slice(0, 5)).toEqual(['Begin', 'First', 'Above 1', 'Above 2', 'Above 3'])
    expect(texts).toHaveLength(45)
    await page.evaluate(`document.querySelector('.thread .scroll').scrollTo(0, 0)`)
    await page.hover('.message:has-text("Above 2")')
    await page.click('.message:has-text("Above 2") [aria-label=Reply]')
    await expectOne(page, '.replying:has-text("Reply to grace")')
    expect(problems).toEqual([])
  })

  it('gives the focus back to its line when it is closed, and leaves the composer as high as its text', async () => {
    const { url, visit, problems } = await openStage({})
    const { ada, signIn, conversation_id } = await openTalk(url)
    const { message: root } = await ada.messages.postRoot(conversation_id, { content: 'Begin' })
    await ada.messages.reply(root.id, { content: 'First' })
    const { page } = await visit(url, PHONE)
    await signIn(page, 'ada')
    // The composer of the conversation is not rendered while its thread is open.
    await page.goto(`${url}/#/c/${conversation_id}/t/${root.id}`)
    await page.waitForSelector('.thread .composer textarea')
    await page.waitForSelector('.thread-line', { state: 'attached' })
    const heightOf = (pane: string) =>
      page.evaluate(`document.querySelector('.${pane} .composer textarea').offsetHeight`) as Promise<number>
    const height = await heightOf('thread')
    await page.press('.thread > header .back', 'Enter')
    await page.waitForSelector('.conversation .composer textarea')
    await expect.poll(() => heightOf('conversation')).toBe(height)
    expect(await page.evaluate('document.activeElement.getAttribute("href")')).toBe(
      `#/c/${conversation_id}/t/${root.id}`,
    )
    expect(problems).toEqual([])
  })
})
