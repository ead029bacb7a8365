import { describe, expect, it } from 'vitest'
import { hasBrowser } from '../support/browser.ts'
import { filesInFolder } from '../support/files-folder.ts'
import { look, lookInModes } from './looks.ts'
import { closeDetails, openDetails, openStage, signInAsAda } from './people.ts'
import { openTalk } from './talk.ts'

const TABS = ['About', 'People', 'Pins', 'Files', 'Notifications', 'Policies', 'Invite links']

describe.skipIf(!hasBrowser)('the details of a conversation', () => {
  it('have a tab for each thing, beside the conversation, and give the focus back', async () => {
    const stage = await openStage({}, { attachments: await filesInFolder() })
    const { page, ada } = await signInAsAda(stage)
    const { chat, url, problems } = stage
    const { conversation_id } = await chat.conversations.create(ada, { title: 'Engines' })
    await page.goto(`${url}/#/c/${conversation_id}`)
    await page.press('.people-button', 'Enter')
    await page.waitForSelector('.details .participants li:has-text("Ada Lovelace")')
    await page.waitForSelector('.details h2:focus')
    expect(await page.locator('.details .tabs a').allTextContents()).toEqual(TABS)
    await closeDetails(page)
    await page.waitForSelector('.people-button:focus')
    for (const tab of TABS) {
      await openDetails(page, tab)
      await look(page, `details-${tab}`)
    }
    await openDetails(page, 'About')
    await lookInModes(page, 'details-about')
    await openDetails(page, 'Files')
    await page.waitForSelector('.details .quiet:text-is("No files yet. Files in messages appear here.")')

    await openDetails(page, 'About')
    await page.fill('.details [name=title]', 'Steam')
    await page.fill('.details [name=topic]', 'What drives them')
    await page.fill('.details [name=icon]', 'steam')
    await page.press('.details [name=icon]', 'Enter')
    await page.waitForSelector('.details [name=icon][aria-invalid]:focus')
    await page.fill('.details [name=icon]', '🚂')
    await page.press('.details [name=icon]', 'Enter')
    await page.waitForSelector('.conversation h2:text-is("Steam")')
    await page.waitForSelector('.conversations a:has-text("Steam") .sign:text-is("🚂")')
    await page.selectOption('.details select:has(option[value=topics])', 'topics')
    await page.waitForSelector('.topics-box')
    expect(await chat.conversations.get(ada, conversation_id)).toMatchObject({
      title: 'Steam',
      topic: 'What drives them',
      layout: 'topics',
    })
    expect(problems).toEqual([])
  }, 120_000)

  it('list the files of its messages, which lead to their message', async () => {
    const stage = await openStage({}, { attachments: await filesInFolder() })
    const { page, ada } = await signInAsAda(stage)
    const { chat, url, problems } = stage
    const { conversation_id } = await chat.conversations.create(ada, { title: 'Engines' })
    await page.goto(`${url}/#/c/${conversation_id}`)
    await page.setInputFiles('.composer input[type=file]', [
      { name: 'plan.txt', mimeType: 'text/plain', buffer: Buffer.from('a plan') },
    ])
    await page.waitForSelector('.draft-files li:has-text("plan.txt")')
    await page.press('.conversation .composer textarea', 'Enter')
    await page.waitForSelector('.message .file:has-text("plan.txt")')
    await openDetails(page, 'Files')
    await page.waitForSelector('.shared-files a[download="plan.txt"]')
    await look(page, 'details-with-files')
    await page.click('.shared-files a:has(time)')
    await page.waitForSelector('.conversation [data-target=true]:has-text("plan.txt")')
    await page.waitForSelector('.details', { state: 'detached' })
    expect(problems).toEqual([])
  })

  it('offer a member what a member may do; on a phone they are a pane of their own, one step behind the room', async () => {
    const { url, visit, problems } = await openStage({})
    const { conversation_id, signIn } = await openTalk(url)
    const { page } = await visit(url, { viewport: { width: 390, height: 800 }, locale: 'de-DE' })
    await signIn(page, 'grace')
    await page.goto(`${url}/#/c/${conversation_id}/details/invites`)
    await page.waitForSelector('.details a[aria-current]:text-is("Über")')
    expect(await page.locator('.details .tabs a').allTextContents()).toEqual([
      'Über',
      'Personen',
      'Angeheftet',
      'Benachrichtigungen',
    ])
    expect(await page.locator('.details button').allTextContents()).toEqual(['Archivieren', 'Verlassen'])
    await look(page, 'details-german')
    await page.setViewportSize({ width: 390, height: 800 })
    await page.waitForSelector('.conversation', { state: 'hidden' })
    await page.click('.details .back')
    await page.waitForSelector('.conversation h2:visible')
    expect(problems).toEqual([])
  })

  it('take a topic of 250 characters, and walk through the open links by arrows', async () => {
    const { url, visit, problems } = await openStage({})
    const { ada, conversation_id, signIn } = await openTalk(url)
    for (const max_uses of [1, 5, 25]) await ada.invites.create(conversation_id, { max_uses })
    const { page } = await visit(url)
    await page.addInitScript(`navigator.setAppBadge = async (count) => { window.badge = count }
      navigator.clearAppBadge = async () => { window.badge = 'none' }`)
    await page.reload()
    await signIn(page, 'ada')
    await page.goto(`${url}/#/c/${conversation_id}/details/about`)
    await page.fill('.details [name=topic]', 'x'.repeat(250))
    await page.press('.details [name=topic]', 'Enter')
    await page.waitForSelector('.said:has-text("Saved")')
    expect((await ada.conversations.get(conversation_id)).topic).toHaveLength(250)
    await page.goto(`${url}/#/c/${conversation_id}/details/invites`)
    const BUTTONS = '.invite .items button'
    await page.waitForSelector(`${BUTTONS} >> nth=2`)
    expect(await page.evaluate(`[...document.querySelectorAll('${BUTTONS}')].map(({ tabIndex }) => tabIndex)`)).toEqual(
      [0, -1, -1],
    )
    await page.press(`${BUTTONS} >> nth=0`, 'ArrowDown')
    expect(await page.evaluate(`[...document.querySelectorAll('${BUTTONS}')].indexOf(document.activeElement)`)).toBe(1)
    expect(await page.evaluate('window.badge')).toBe(0)
    await page.click('.sidebar > header .menu > button')
    await page.click('.sidebar .panel button:text-is("Sign out")')
    await page.waitForSelector('[name=email]')
    expect(await page.evaluate('window.badge')).toBe('none')
    expect(problems).toEqual([])
  })

  it('tell a member whose link creates no accounts', async () => {
    const { url, visit, problems } = await openStage({})
    const { ada, conversation_id, signIn } = await openTalk(url)
    await ada.conversations.rename(conversation_id, { policy: { invite: 'members' } })
    const { page } = await visit(url)
    await signIn(page, 'grace')
    await page.goto(`${url}/#/c/${conversation_id}`)
    await openDetails(page, 'Invite links')
    await page.click('.details .invite button:has-text("Copy invite link")')
    await page.waitForSelector('.details .made-invite small:has-text("It creates no accounts")')
    expect(problems).toEqual([])
  })
})
