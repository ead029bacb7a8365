import { expect, it } from 'vitest'
import { hasBrowser, type Page } from '../support/browser.ts'
import { openStage } from './people.ts'
import { openTalk } from './talk.ts'
import { POLL } from './threads.ts'

const restores = (page: Page) => page.locator('.deleted button:text-is("Restore")').allTextContents()

it.skipIf(!hasBrowser)(
  'what is deleted is offered to be restored to its author and to moderators, and no longer to those who are refused or may not write',
  async () => {
    const { url, visit, problems } = await openStage({})
    const { ada, grace, signIn, conversation_id } = await openTalk(url)
    const ids: string[] = []
    for (const content of ['First', 'Second']) {
      const { message_id } = await grace.messages.postRoot(conversation_id, { content })
      ids.push(message_id)
      await grace.messages.remove(message_id)
    }
    const { page: adas } = await visit(url)
    await signIn(adas, 'ada')
    await adas.goto(`${url}/#/c/${conversation_id}`)
    await adas.click(`[data-message-id="${ids[0]}"] .deleted button`)
    await adas.waitForSelector('.message:has-text("First")')
    await ada.messages.remove(ids[0]!)

    const { page } = await visit(url)
    await signIn(page, 'grace')
    await page.goto(`${url}/#/c/${conversation_id}`)
    await page.click(`[data-message-id="${ids[1]}"] .deleted button`)
    await page.waitForSelector('.message:has-text("Second")')
    // No read says that a moderator has deleted it.
    await page.click(`[data-message-id="${ids[0]}"] .deleted button`)
    await page.waitForSelector(`[data-message-id="${ids[0]}"] .deleted [role=alert]`)
    await expect.poll(() => restores(page), POLL).toEqual([])

    await grace.messages.remove(ids[1]!)
    await expect.poll(() => restores(page), POLL).toHaveLength(1)
    await ada.participants.changeRole(conversation_id, (await grace.auth.me()).user.id, { role: 'viewer' })
    await expect.poll(() => restores(page), POLL).toEqual([])
    await page.waitForSelector(`[data-message-id="${ids[1]}"] .deleted`)
    expect(problems).toEqual([])
  },
  120_000,
)
