import { describe, expect, it } from 'vitest'
import { hasBrowser } from '../support/browser.ts'
import { openStage } from './people.ts'
import { openTalk } from './talk.ts'

/** How far the end of the open thread is below what is shown, in pixels. */
const BELOW = `(() => {
  const { scrollHeight, scrollTop, clientHeight } = document.querySelector('.thread .scroll')
  return scrollHeight - scrollTop - clientHeight
})()`

describe.skipIf(!hasBrowser)('a thread in the web chat', () => {
  it('is shown at its end when it is opened, and stays there, until the user scrolls up', async () => {
    const { url, visit, problems } = await openStage({})
    const { ada, signIn, conversation_id } = await openTalk(url)
    const { message: root } = await ada.messages.postRoot(conversation_id, { content: 'Begin' })
    for (const each of Array(100).keys()) await ada.messages.reply(root.id, { content: `Reply ${each}` })

    const { page } = await visit(url)
    const below = () => page.evaluate(BELOW)
    await signIn(page, 'grace')
    await page.goto(`${url}/#/c/${conversation_id}/t/${root.id}`)
    await page.waitForSelector('.thread .messages > li:nth-child(50)', { state: 'attached' })
    await expect.poll(below).toBeLessThanOrEqual(1)
    // The browser tells of this scrolling with the next frame, for which more may have been rendered below.
    await page.evaluate(`(() => {
      document.querySelector('.thread .messages > li:last-child').style.paddingBottom = '600px'
      document.querySelector('.thread .scroll').dispatchEvent(new Event('scroll'))
    })()`)
    await expect.poll(below).toBeLessThanOrEqual(1)

    await ada.messages.reply(root.id, { content: 'One more\n\n'.repeat(8) })
    await page.waitForSelector('.message:has-text("One more")')
    await expect.poll(below).toBeLessThanOrEqual(1)

    // The browser tells of this scrolling with the next frame as well, which a busy machine may not have for long.
    await page.evaluate(`(() => {
      document.addEventListener('scroll', (event) => event.stopPropagation(), { capture: true })
      document.querySelector('.thread .scroll').scrollBy(0, -600)
    })()`)
    expect(await below()).toBeGreaterThan(400)
    await ada.messages.reply(root.id, { content: 'The last one' })
    await page.waitForSelector('.message:has-text("The last one")', { state: 'attached' })
    expect(await below()).toBeGreaterThan(400)
    expect(problems).toEqual([])
  })
})
