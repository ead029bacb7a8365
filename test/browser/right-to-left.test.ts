import { describe, expect, it } from 'vitest'
import { hasBrowser } from '../support/browser.ts'
import { look } from './looks.ts'
import { chooseOfThread, openStage } from './people.ts'
import { openTalk } from './talk.ts'

/** Where things are in the open thread: how far from the edges of the pane. */
const PLACES = `(() => {
  const pane = document.querySelector('.thread').getBoundingClientRect()
  const [, , reply] = document.querySelectorAll('.thread .messages > li')
  const avatar = reply.querySelector('.avatar').getBoundingClientRect()
  return {
    direction: getComputedStyle(document.documentElement).direction,
    isAvatarAtStart: pane.right - avatar.right < avatar.left - pane.left,
    guides: getComputedStyle(reply).backgroundImage.includes('to left'),
    from: getComputedStyle(reply).backgroundPositionX,
    mark: getComputedStyle(reply.querySelector('.message')).boxShadow.includes('-3px 0px'),
    sidebar: document.querySelector('.sidebar').getBoundingClientRect().right,
  }
})()`

/** Whether the at sign is left of the name, as it is written. */
const STARTS_WITH_AT = `(() => {
  const { firstChild: at, lastChild: name } = document.querySelector('.participants bdi')
  const leftOf = (node) => {
    const range = document.createRange()
    range.selectNodeContents(node)
    return range.getBoundingClientRect().left
  }
  return at.data === '@' && leftOf(at) < leftOf(name)
})()`

describe.skipIf(!hasBrowser)('the web chat from right to left', () => {
  it('is mirrored, and keeps names, counts and code as they are written', async () => {
    const { url, visit, problems } = await openStage({})
    const { ada, grace, signIn, conversation_id } = await openTalk(url)
    const { message: root } = await ada.messages.postRoot(conversation_id, { content: 'שלום `code`' })
    await grace.messages.reply(root.id, { content: 'מה שלומך?' })
    const { message } = await grace.messages.reply(root.id, { content: '@ada look' })
    const { page } = await visit(url)
    await signIn(page, 'ada')
    expect(await page.evaluate('document.documentElement.dir')).toBe('ltr')
    // As a language that is written so sets it.
    await page.evaluate(`document.documentElement.dir = 'rtl'`)
    await page.goto(`${url}/#/c/${conversation_id}/t/${root.id}/m/${message.id}`)
    await page.waitForSelector('.thread .messages > [data-target=true] .mention')
    await look(page, 'rtl-thread-flat')
    await chooseOfThread(page, 'As a tree')
    await page.waitForSelector('.thread [data-level="1"][data-target=true] .mention')
    expect(await page.evaluate(PLACES)).toEqual({
      direction: 'rtl',
      isAvatarAtStart: true,
      guides: true,
      from: 'calc(100% - 8px)',
      mark: true,
      sidebar: 1280,
    })
    await page.click('.people-button')
    await page.waitForSelector('.details .participants bdi')
    expect(await page.evaluate(STARTS_WITH_AT)).toBe(true)
    await look(page, 'rtl-details')
    await page.goto(`${url}/#/c/${conversation_id}/t/${root.id}/m/${message.id}`)
    await page.waitForSelector('.thread .messages > [data-target=true] .mention')
    await look(page, 'rtl-thread')
    expect(problems).toEqual([])
  })
})
