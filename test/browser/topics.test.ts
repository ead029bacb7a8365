import { describe, expect, it } from 'vitest'
import { sql } from '../../lib/storage/sql.ts'
import { createPuppet } from '../support/assistant.ts'
import { hasBrowser } from '../support/browser.ts'
import { innerState } from '../support/service.ts'
import { lookInModes } from './looks.ts'
import { address, openStage, write } from './people.ts'
import { openTalk } from './talk.ts'

const CARD = '.thread-card'
const TIMEOUT = { timeout: 30_000 }

/** A conversation of before layouts, with three threads; Ada owns it. */
async function openTopics(ports = {}) {
  const stage = await openStage(ports)
  const talk = await openTalk(stage.url)
  const { ada, grace, conversation_id } = talk
  const { root_id } = await grace.messages.postRoot(conversation_id, { content: 'Does it run?\n\nI have not seen it.' })
  const { message } = await ada.messages.reply(root_id, { content: 'It runs' })
  await grace.messages.postRoot(conversation_id, { content: 'A **plan** for the wheels', title: 'Wheels' })
  await grace.messages.postRoot(conversation_id, { content: 'Anything else?' })
  await innerState(stage.chat).db.write((tx) =>
    tx.run(sql`UPDATE conversations SET layout = NULL WHERE id = ${conversation_id}`),
  )
  const { page } = await stage.visit(stage.url)
  await talk.signIn(page, 'ada')
  return { ...stage, ...talk, page, root_id, reply_id: message.id }
}

describe.skipIf(!hasBrowser)('topics in the web chat', () => {
  it('show a card for each thread below the box, and open by one Tab and arrows', async () => {
    const { page, url, conversation_id, root_id, problems } = await openTopics()
    await page.goto(`${url}/#/c/${conversation_id}`)
    await page.waitForSelector(`${CARD}:has-text("Wheels")`)
    const excerpt = page.locator(`[data-message-id="${root_id}"] .excerpt`)
    expect(await excerpt.allTextContents()).toEqual(['Does it run?'])
    await page.waitForSelector(`[data-message-id="${root_id}"] .count:has-text("1 reply")`)
    const isAbove = `document.querySelector('.topics-box textarea').getBoundingClientRect().bottom <
      document.querySelector('.thread-list').getBoundingClientRect().top`
    expect(await page.evaluate(isAbove)).toBe(true)
    expect(await page.locator(`${CARD}[tabindex="0"]`).allTextContents()).toHaveLength(1)
    await lookInModes(page, 'topics')
    await page.press(`${CARD}[tabindex="0"]`, 'End')
    await page.press(`${CARD}[tabindex="0"]`, 'Enter')
    await page.waitForSelector('.thread .message:has-text("It runs")')
    expect(problems).toEqual([])
  })

  it('have the focus in the box when they are opened, and are all marked as read by Escape', async () => {
    const { page, ada, grace, conversation_id, problems } = await openTopics()
    const unread = async () => (await ada.threads.unread(conversation_id, {})).total
    expect(await unread()).toBe(3)
    for (const code of ['loaded', 'there']) {
      await page.click('.conversations a:has-text("Engines")')
      await page.waitForSelector(`${CARD}:has-text("Wheels")`)
      await expect
        .poll(() => page.evaluate('document.activeElement.ariaLabel'), { ...TIMEOUT, message: code })
        .toBe('Message Engines')
      await page.click('.sidebar a[href="#/threads"]')
      await page.waitForSelector('.topics-box', { state: 'detached' })
    }
    await page.click('.conversations a:has-text("Engines")')
    await page.click(`${CARD}:has-text("Does it run?")`)
    await page.waitForSelector('.thread .composer textarea:focus')
    await grace.messages.postRoot(conversation_id, { content: 'And more' })
    await page.press('.thread .composer textarea', 'Escape')
    await page.waitForSelector('.thread', { state: 'detached' })
    expect(await unread()).toBeGreaterThan(0)
    await page.press('.topic-title', 'Escape')
    await expect.poll(unread, TIMEOUT).toBe(0)
    expect(problems).toEqual([])
  })

  it('greet in an empty room those who may invite', async () => {
    const { page, url, ada, visit, signIn, grace, problems } = await openTopics()
    const { conversation_id } = await ada.conversations.create({ title: 'Wheels', layout: 'topics' })
    const { token = '' } = await ada.invites.create(conversation_id, {})
    await grace.invites.accept({ token })
    await page.goto(`${url}/#/c/${conversation_id}`)
    await page.waitForSelector('.greeting:has-text("Welcome to Wheels") button:has-text("Copy invite link")')
    await lookInModes(page, 'topics-greeting')
    const { page: graces } = await visit(url)
    await signIn(graces, 'grace')
    await graces.goto(`${url}/#/c/${conversation_id}`)
    await graces.waitForSelector('.conversation .empty')
    expect(await graces.locator('.greeting').allTextContents()).toEqual([])
    await write(page, 'conversation', 'Hello')
    await page.waitForSelector(`${CARD}:has-text("Hello")`)
    await page.waitForSelector('.greeting', { state: 'detached' })
    expect(problems).toEqual([])
  })

  it('begin with a title, where one is written', async () => {
    const { page, url, ada, conversation_id, problems } = await openTopics()
    await page.goto(`${url}/#/c/${conversation_id}`)
    await page.fill('.topic-title', '  Brakes ')
    await page.click('.sidebar a[href="#/drafts"]')
    await page.waitForSelector('.inbox a .excerpt:has-text("Brakes")')
    await page.click('.inbox a')
    await page.waitForSelector('.topics-box')
    expect(await page.inputValue('.topic-title')).toBe('  Brakes ')
    await page.press('.topic-title', 'Enter')
    await page.waitForSelector('.topics-box textarea:focus')
    await write(page, 'conversation', 'Who has them?')
    await page.waitForSelector(`${CARD}:has-text("Brakes")`)
    expect(await page.inputValue('.topic-title')).toBe('')
    await write(page, 'conversation', 'Without one')
    await page.waitForSelector(`${CARD}:has-text("Without one")`)
    const { threads } = await ada.threads.list(conversation_id, { limit: 2 })
    expect(threads.map(({ title }) => title)).toEqual([undefined, 'Brakes'])
    expect(problems).toEqual([])
  })

  it('offer Stop in place of Send while an answer runs that was asked for there', async () => {
    const puppet = createPuppet()
    const { page, url, conversation_id, problems } = await openTopics({ assistant: puppet.assistant })
    await page.goto(`${url}/#/c/${conversation_id}`)
    await page.waitForSelector(CARD)
    await address(page, 'conversation', 'Assistant')
    await write(page, 'conversation', 'What runs here?')
    const answer = await puppet.asked()
    answer.say('Engines')
    await page.waitForSelector('.thread .message:has-text("Engines")')
    await page.waitForSelector('.topics-box [aria-label=Send]', { state: 'detached' })
    await page.reload()
    await page.press('.topics-box [aria-label=Stop]', 'Enter')
    await answer.aborted
    await page.waitForSelector('.topics-box [aria-label=Send]')
    await page.waitForSelector('.thread .note:text("Stopped.")')
    expect(problems).toEqual([])
  })

  it('open the thread of the message of an address', async () => {
    const { page, url, conversation_id, root_id, reply_id, problems } = await openTopics()
    await page.goto(`${url}/#/c/${conversation_id}/m/${reply_id}`)
    await page.waitForSelector(`.thread [data-message-id="${reply_id}"][data-target=true]`)
    expect(page.url()).toContain(`/t/${root_id}/m/${reply_id}`)
    await page.goto(`${url}/#/c/${conversation_id}/m/${root_id}`)
    await page.waitForSelector(`.thread [data-message-id="${root_id}"][data-target=true]`)
    expect(problems).toEqual([])
  })

  it.each([
    ['Show as a stream', 'stream', '.stream'],
    ['Keep topics', 'topics', CARD],
  ])(
    'are offered as a stream where no layout was chosen, until an owner chooses: %s',
    async (choice, layout, sign) => {
      const { page, url, ada, grace, conversation_id, visit, signIn, problems } = await openTopics()
      const { page: graces } = await visit(url)
      await signIn(graces, 'grace')
      await graces.goto(`${url}/#/c/${conversation_id}`)
      await graces.waitForSelector(CARD)
      expect(await graces.locator('.layout-offer').allTextContents()).toEqual([])

      await page.goto(`${url}/#/c/${conversation_id}`)
      await page.waitForSelector('.layout-offer')
      await page.click(`.layout-offer button:text-is("${choice}")`)
      await page.waitForSelector('.layout-offer', { state: 'detached' })
      await page.waitForSelector(sign)
      await graces.waitForSelector(sign)
      const read = async () => {
        const { layout: now, layout_unset } = await ada.conversations.get(conversation_id)
        return { now, layout_unset }
      }
      await expect.poll(read, TIMEOUT).toEqual({ now: layout, layout_unset: undefined })
      expect((await grace.conversations.get(conversation_id)).layout).toBe(layout)
      expect(problems).toEqual([])
    },
    120_000,
  )
})
