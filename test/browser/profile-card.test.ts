import { describe, expect, it } from 'vitest'
import { hasBrowser } from '../support/browser.ts'
import { look, lookInModes } from './looks.ts'
import { openStage } from './people.ts'
import { openTalk } from './talk.ts'

const BOX = '.conversation .composer textarea'

describe.skipIf(!hasBrowser)('the card of a person', () => {
  it('opens from a name by the keys and from a photo, mentions the person, and begins a direct conversation', async () => {
    const stage = await openStage({})
    const { url, visit, problems } = stage
    const { ada, grace, signIn, conversation_id } = await openTalk(url)
    await ada.messages.postRoot(conversation_id, { content: 'Does it run?' })
    await grace.messages.postRoot(conversation_id, { content: 'It does' })
    const { page } = await visit(url)
    await signIn(page, 'ada')
    await page.goto(`${url}/#/c/${conversation_id}`)
    await page.press('.message:has-text("It does") .author', 'Enter')
    await page.waitForSelector('dialog .profile-card:has-text("@grace"):has-text("Member")')
    await look(page, 'profile-card')
    await lookInModes(page, 'profile-card')
    await page.press('dialog button:text-is("Mention")', 'Enter')
    await expect.poll(() => page.inputValue(BOX), { timeout: 30_000 }).toBe('@grace ')
    await page.waitForSelector(`${BOX}:focus`)

    await page.press('.message:has-text("Does it run?") .author', 'Enter')
    await page.waitForSelector('dialog a:has-text("Edit your profile")')
    expect(await page.locator('dialog .toolbar button').allTextContents()).toEqual([])
    await page.press('dialog', 'Escape')
    await page.waitForSelector('dialog', { state: 'detached' })
    await page.click('.message:has-text("It does") > .avatar')
    await page.press('dialog button:text-is("Message")', 'Enter')
    await page.waitForSelector('.conversation h2:text-is("grace")')

    await ada.messages.postRoot(conversation_id, {
      content: 'Thank you, @grace, [and @grace](https://example.org) @all',
    })
    await page.goto(`${url}/#/c/${conversation_id}`)
    await page.press('.message .mention[role=button]', 'Enter')
    await page.waitForSelector('dialog .profile-card:has-text("@grace")')
    await page.press('dialog', 'Escape')
    await page.waitForSelector('.mention[role=button]:focus')
    expect(await page.locator('.mention[role=button]').allTextContents()).toEqual(['@grace'])
    await page.click('.mention[role=button]')
    await page.waitForSelector('dialog .profile-card:has-text("@grace")')
    expect(problems).toEqual([])
  })

  it('offers no message to who may not begin a direct conversation', async () => {
    const { url, visit, problems } = await openStage({}, { access: { open_direct: 'admins' } })
    const { ada, signIn, conversation_id } = await openTalk(url)
    await ada.messages.postRoot(conversation_id, { content: 'Does it run?' })
    const { page } = await visit(url)
    await signIn(page, 'grace')
    await page.goto(`${url}/#/c/${conversation_id}`)
    await page.press('.message:has-text("Does it run?") .author', 'Enter')
    await page.waitForSelector('dialog .profile-card')
    await page.waitForSelector('dialog button:text-is("Mention")')
    expect(await page.locator('dialog .toolbar button').allTextContents()).toEqual(['Mention'])
    expect(problems).toEqual([])
  })
})
