import { describe, expect, it } from 'vitest'
import { hasBrowser, PLAIN_HOST } from '../support/browser.ts'
import { choose, openDetails, openStage, signInAsAda } from './people.ts'

describe.skipIf(!hasBrowser)('copying in the web chat', () => {
  it('works without HTTPS, where browsers have no clipboard for pages', async () => {
    const stage = await openStage({})
    const url = stage.url.replace('127.0.0.1', PLAIN_HOST)
    const { page, ada } = await signInAsAda({ ...stage, url })
    expect(await page.evaluate('[isSecureContext, navigator.clipboard]')).toEqual([false, undefined])
    const { conversation_id } = await stage.chat.conversations.create(ada, { title: 'Engines' })
    const { root_id } = await stage.chat.messages.postRoot(ada, conversation_id, {
      content: 'Run:\n```\nnpm start\n```',
    })
    await page.goto(`${url}/#/c/${conversation_id}/t/${root_id}`)

    /** What is copied is what can be pasted. */
    const paste = async () => {
      await page.fill('.thread .composer textarea', '')
      await page.press('.thread .composer textarea', 'Control+v')
      return page.inputValue('.thread .composer textarea')
    }
    await page.click('.thread .code .copy')
    await page.waitForSelector('.thread .code .copy:has-text("Copied")')
    expect(await page.evaluate('document.activeElement.className')).toBe('copy')
    expect(await paste()).toBe('npm start')
    await choose(page, 'npm start', 'Copy link')
    await page.waitForSelector('.toast:has-text("Copied")')
    expect(await paste()).toBe(`${url}/#/c/${conversation_id}/m/${root_id}`)

    await openDetails(page, 'Invite links')
    await page.click('.details .invite button')
    await page.click('.details .invite .copy')
    await page.waitForSelector('.details .invite .copy:has-text("Copied")')
    await page.goto(`${url}/#/c/${conversation_id}/t/${root_id}`)
    await page.waitForSelector('.thread .composer textarea')
    expect(await paste()).toContain('#/join/')
    // Over HTTP the browser says so, each time.
    expect(stage.problems.filter((each) => !each.startsWith('The Cross-Origin-Opener-Policy header'))).toEqual([])
  })
})
